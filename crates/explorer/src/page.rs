//! The page: its files are part of the program.

/// A file of the page: its name, what kind of file it is, and its text.
pub struct File {
    pub kind: &'static str,
    pub text: &'static str,
}

macro_rules! files {
    ($($name:literal)*) => {
        /// The file of this name; the empty name is that of the page itself.
        pub fn file(name: &str) -> Option<File> {
            let name = if name.is_empty() { "index.html" } else { name };
            let text = match name {
                $($name => include_str!(concat!("../page/", $name)),)*
                _ => return None,
            };
            let kind = match name.rsplit('.').next() {
                Some("html") => "text/html; charset=utf-8",
                Some("css") => "text/css; charset=utf-8",
                Some("svg") => "image/svg+xml",
                _ => "text/javascript; charset=utf-8",
            };
            Some(File { kind, text })
        }
    };
}

files! {
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

    #[test]
    fn every_file_is_served() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(file(&name).is_some(), "{name} is not listed");
        }
        assert!(file("").is_some_and(|page| page.kind.starts_with("text/html")));
        assert!(file("../Cargo.toml").is_none());
    }

    /// All parts of the program are asked for at once, not one after another as each names the next.
    #[test]
    fn every_module_is_announced() {
        let page = file("").unwrap().text;
        for entry in std::fs::read_dir(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.ends_with(".js") || page.contains(&format!("\"{name}\"")), "{name}");
        }
    }

    /// What a page loads by itself is its own.
    #[test]
    fn nothing_comes_from_elsewhere() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for address in text.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"))
            {
                assert!(address.starts_with("://www.w3.org/"), "{}", address.chars().take(60).collect::<String>());
            }
        }
    }
}
