//! The page: its files are part of the program, its modules are served as one script.

use crate::bundle::bundle;
use serde_json::Value;
use std::sync::LazyLock;

/// A file as it is served: what kind of file it is, and its text.
pub struct File {
    pub kind: &'static str,
    pub text: &'static str,
}

static SCRIPT: LazyLock<String> = LazyLock::new(|| match bundle("app.js", part) {
    Ok(script) => script,
    // The tests see to it that this is never needed.
    Err(error) => format!("document.body.textContent = {error:?};"),
});
static STYLES: LazyLock<String> =
    LazyLock::new(|| ["style.css", "panels.css", "text.css"].map(|name| part(name).unwrap_or_default()).concat());

/// The file of this name; the empty name is that of the page itself.
pub fn file(name: &str) -> Option<File> {
    let (kind, text) = match name {
        "" | "index.html" => ("text/html; charset=utf-8", part("index.html")?),
        "page.js" => ("text/javascript; charset=utf-8", SCRIPT.as_str()),
        "page.css" => ("text/css; charset=utf-8", STYLES.as_str()),
        _ => return None,
    };
    Some(File { kind, text })
}

static ALONE: LazyLock<String> = LazyLock::new(|| match bundle("shared.js", part) {
    Ok(script) => script,
    Err(error) => format!("document.body.textContent = {error:?};"),
});

/// A page that needs no server: it has its styles, its script and what it shows within itself.
pub fn alone(title: &str, data: &Value) -> String {
    let escaped = title.replace('&', "&amp;").replace('<', "&lt;");
    // In a script nothing is markup, but for what ends it.
    let data = data.to_string().replace('<', "\\u003c");
    let frame = part("shared.html").unwrap_or_default();
    let mut page = String::with_capacity(frame.len() + STYLES.len() + ALONE.len() + data.len());
    for piece in frame.split_inclusive("-->") {
        let (before, mark) = piece.rfind("<!--").map_or((piece, ""), |at| piece.split_at(at));
        page.push_str(before);
        page.push_str(match mark {
            "<!--title-->" => &escaped,
            "<!--styles-->" => &STYLES,
            "<!--script-->" => &ALONE,
            "<!--data-->" => &data,
            other => other,
        });
    }
    page
}

macro_rules! parts {
    ($($name:literal)*) => {
        /// What the page is made of.
        fn part(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../page/", $name))),)*
                _ => None,
            }
        }
    };
}

parts! {
    "address.js"
    "api.js"
    "app.js"
    "canvas.js"
    "card.js"
    "chart.js"
    "check.js"
    "colouring.js"
    "curve.js"
    "dom.js"
    "editor.js"
    "events.js"
    "graph.js"
    "history.js"
    "index.html"
    "keys.js"
    "lanes.js"
    "layout.js"
    "list.js"
    "live.js"
    "net.js"
    "panels.css"
    "problem.js"
    "replay.js"
    "rows.js"
    "shared.html"
    "shared.js"
    "sheet.js"
    "source.js"
    "state.js"
    "style.css"
    "text.css"
    "theme.js"
    "walk.js"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn names() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        std::fs::read_dir(folder).unwrap().map(name).collect()
    }

    #[test]
    fn every_file_is_served() {
        let script = bundle("app.js", part).unwrap() + &bundle("shared.js", part).unwrap();
        for name in names() {
            let text = part(&name).unwrap_or_else(|| panic!("{name} is not listed"));
            let served = match name.rsplit('.').next() {
                Some("js") => script.contains(&format!("const module_{} =", name.trim_end_matches(".js"))),
                Some("css") => file("page.css").unwrap().text.contains(text),
                _ => file("").unwrap().text == text || name == "shared.html",
            };
            assert!(served, "{name}");
        }
        assert!(file("../Cargo.toml").is_none());
    }

    #[test]
    fn a_page_by_itself_has_all_it_needs() {
        let page = alone("a<b", &serde_json::json!({ "text": "</script><!--styles-->" }));
        assert!(page.contains("<title>a&lt;b</title>") && page.contains("\\u003c/script>\\u003c!--styles-->"));
        assert_eq!(page.matches("</script").count(), page.matches("<script").count());
        assert!(page.contains("const module_replay =") && page.contains("--accent"));
        assert!(!page.contains("<!--data") && !page.contains("src=") && !page.contains("stylesheet"));
    }

    /// What a page loads by itself is its own.
    #[test]
    fn nothing_comes_from_elsewhere() {
        for name in names() {
            let text = part(&name).unwrap();
            for address in text.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"))
            {
                assert!(address.starts_with("://www.w3.org/"), "{}", address.chars().take(60).collect::<String>());
            }
        }
    }
}
