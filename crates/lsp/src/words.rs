//! A text as words and signs. It need not be right: this is how names are found in a text that somebody is writing.

/// A word or a sign, by its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'t> {
    pub text: &'t str,
    pub start: usize,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Name,
    Number,
    /// One sign, or two that belong together.
    Sign,
    /// The word after `#`, such as `define`.
    Directive,
}

impl Word<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Signs of two characters.
const PAIRS: [&str; 15] = ["::", "->", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "++", "--", "??", "!!", ".."];

/// All words, without comments and texts in quotes.
pub fn words(text: &str) -> Vec<Word<'_>> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    let until = |from: usize, end: &str| text.get(from..).and_then(|rest| rest.find(end)).map(|found| from + found);
    while at < bytes.len() {
        let byte = bytes[at];
        let rest = &bytes[at..];
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if rest.starts_with(b"//") {
            at = until(at, "\n").unwrap_or(bytes.len());
        } else if rest.starts_with(b"/*") {
            at = until(at + 2, "*/").map_or(bytes.len(), |end| end + 2);
        } else if byte == b'"' {
            let line = until(at, "\n").unwrap_or(bytes.len());
            at = until(at + 1, "\"").filter(|end| *end < line).map_or(line, |end| end + 1);
        } else if byte == b'#' {
            let name = rest[1..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
            words.push(Word { text: &text[at + 1..at + 1 + name], start: at + 1, kind: Kind::Directive });
            at += 1 + name;
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
            let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            words.push(Word { text: &text[at..at + length], start: at, kind: Kind::Name });
            at += length;
        } else if byte.is_ascii_digit() {
            let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            words.push(Word { text: &text[at..at + length], start: at, kind: Kind::Number });
            at += length;
        } else if byte.is_ascii() {
            let pair = PAIRS.iter().any(|pair| rest.starts_with(pair.as_bytes()));
            let length = if pair { 2 } else { 1 };
            words.push(Word { text: &text[at..at + length], start: at, kind: Kind::Sign });
            at += length;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_left_out() {
        let text = "#define N 3 // x\nbyte a; /* b */ c::d -> \"e f\" 'g é h\n/* open";
        let found: Vec<&str> = words(text).iter().map(|word| word.text).collect();
        assert_eq!(found, ["define", "N", "3", "byte", "a", ";", "c", "::", "d", "->", "'", "g", "h"]);
        for word in words(text) {
            assert_eq!(&text[word.start..word.end()], word.text);
        }
        assert!(words("\"open\n a").iter().any(|word| word.text == "a"));
    }
}
