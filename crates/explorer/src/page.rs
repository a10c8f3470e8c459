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
    "index.html"
}
