//! Colours, where there is someone to see them, and the width of a line.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub colour: bool,
    /// Columns of a line.
    pub width: usize,
    /// Are runs told as tables, and not step by step?
    pub tables: bool,
}

impl Style {
    pub const PLAIN: Style = Style { colour: false, width: 100, tables: false };
    /// Colours of which neighbours are told apart; none of them means good or bad.
    const MANY: [&'static str; 5] = ["36", "35", "33", "34", "96"];

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    pub fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    pub fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub fn warn(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// One of a few colours that mean nothing by themselves.
    pub fn colour_of(self, number: usize, text: &str) -> String {
        self.paint(Style::MANY[number % Style::MANY.len()], text)
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
}
