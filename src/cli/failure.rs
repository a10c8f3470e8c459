//! Why a command could not do its work. That it is an error is said here and once, whoever tells what went wrong.

use std::fmt::Display;

#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// What went wrong; an error that says where is told as it is.
    pub fn because(error: impl Display) -> Failure {
        let text = error.to_string();
        let says_where = text.lines().next().is_some_and(|first| first.contains(": error: "));
        Failure(if says_where { text } else { format!("error: {}", bare(&text)) })
    }

    /// What went wrong with a file.
    pub fn at(file: impl Display, error: impl Display) -> Failure {
        Failure(format!("{file}: error: {}", bare(&error.to_string())))
    }

    /// What is wrong with a flag and its value.
    pub fn with(flag: &str, value: impl Display, error: impl Display) -> Failure {
        Failure(format!("error: {flag} {value}: {}", bare(&error.to_string())))
    }

    pub fn message(&self) -> &str {
        &self.0
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::because(error)
    }
}

/// What went wrong, without saying that something did.
fn bare(text: &str) -> &str {
    text.strip_prefix("error: ").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn an_error_says_so_once() {
        for (said, told) in [
            ("no memory", "error: no memory"),
            ("error: this cannot be; do that", "error: this cannot be; do that"),
            ("m.dve:1:2: error: wrong\n  x", "m.dve:1:2: error: wrong\n  x"),
            ("wrong\nhelp: not: error: here", "error: wrong\nhelp: not: error: here"),
        ] {
            assert_eq!(Failure::because(said).message(), told);
        }
        assert_eq!(Failure::at("m.dve", "error: wrong").message(), "m.dve: error: wrong");
        assert_eq!(Failure::with("--layers", "x", "error: wrong").message(), "error: --layers x: wrong");
    }
}
