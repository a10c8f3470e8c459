//! The page: its files are part of the program, its modules are served as one script.

use crate::bundle::bundle;
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
    LazyLock::new(|| ["style.css", "panels.css"].map(|name| part(name).unwrap_or_default()).concat());

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
    "chart.js"
    "check.js"
    "colouring.js"
    "curve.js"
    "dom.js"
    "events.js"
    "graph.js"
    "history.js"
    "index.html"
    "keys.js"
    "lanes.js"
    "layout.js"
    "list.js"
    "net.js"
    "panels.css"
    "rows.js"
    "sheet.js"
    "source.js"
    "state.js"
    "style.css"
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
        let script = bundle("app.js", part).unwrap();
        for name in names() {
            let text = part(&name).unwrap_or_else(|| panic!("{name} is not listed"));
            let served = match name.rsplit('.').next() {
                Some("js") => script.contains(&format!("const module_{} =", name.trim_end_matches(".js"))),
                Some("css") => file("page.css").unwrap().text.contains(text),
                _ => file("").unwrap().text == text,
            };
            assert!(served, "{name}");
        }
        assert!(file("../Cargo.toml").is_none());
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
