//! A text that is open in an editor. The protocol counts lines from 0, and columns in units of UTF-16.

use serde_json::{Value, json};
use std::ops::Range;

#[derive(Debug, Clone)]
pub struct Text {
    pub text: String,
    /// The bytes at which lines begin.
    lines: Vec<usize>,
}

impl Text {
    pub fn new(text: String) -> Text {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Text { text, lines }
    }

    /// The text with a change: of a stretch of it, or of all.
    pub fn with(&self, change: &Value) -> Option<Text> {
        let new = change["text"].as_str()?;
        if change["range"].is_null() {
            return Some(Text::new(new.to_string()));
        }
        let start = self.byte(&change["range"]["start"]);
        let end = self.byte(&change["range"]["end"]).max(start);
        Some(Text::new([&self.text[..start], new, &self.text[end..]].concat()))
    }

    /// Is this the same text, as it is in a file? Editors leave out a mark of the order of bytes, and may end lines otherwise.
    pub fn is(&self, other: &str) -> bool {
        fn plain(text: &str) -> impl Iterator<Item = &str> {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
        }
        plain(&self.text).eq(plain(other))
    }

    /// The bytes of a line, without its end.
    fn line(&self, line: usize) -> Range<usize> {
        let start = self.lines.get(line).copied().unwrap_or(self.text.len());
        let end = self.lines.get(line + 1).map_or(self.text.len(), |next| next - 1);
        let end = if self.text[start..end].ends_with('\r') { end - 1 } else { end };
        start..end
    }

    /// The byte at a position; what is beyond the end of a line is its end.
    pub fn byte(&self, position: &Value) -> usize {
        let number = |name: &str| position[name].as_u64().unwrap_or(0) as usize;
        let line = self.line(number("line"));
        let mut units = number("character");
        for (at, c) in self.text[line.clone()].char_indices() {
            if units < c.len_utf16() {
                return line.start + at;
            }
            units -= c.len_utf16();
        }
        line.end
    }

    pub fn position(&self, byte: usize) -> Value {
        let byte = byte.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= byte) - 1;
        let before = self.text.get(self.lines[line]..byte).unwrap_or("");
        json!({ "line": line, "character": before.encode_utf16().count() })
    }

    pub fn range(&self, bytes: &Range<usize>) -> Value {
        json!({ "start": self.position(bytes.start), "end": self.position(bytes.end) })
    }

    /// A whole line, counted from 1 as messages do.
    pub fn whole_line(&self, line: u32) -> Value {
        let bytes = self.line((line.max(1) - 1) as usize);
        let indent = self.text[bytes.clone()].len() - self.text[bytes.clone()].trim_start().len();
        self.range(&(bytes.start + indent..bytes.end))
    }
}

/// Text as a check reads it: UTF-8, or else a character a byte.
pub fn decoded(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().iter().map(|byte| *byte as char).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_changed_in_stretches() {
        let text = Text::new("a😀b\nc".into());
        let at = |line: u32, character: u32| json!({ "line": line, "character": character });
        let change = |start: Value, end: Value| json!({ "range": { "start": start, "end": end }, "text": "X" });
        let changed = |start: Value, end: Value| text.with(&change(start, end)).map(|text| text.text);
        assert_eq!(changed(at(0, 3), at(1, 0)).unwrap(), "a😀Xc");
        assert_eq!(changed(at(0, 1), at(0, 3)).unwrap(), "aXb\nc");
        assert_eq!(changed(at(9, 9), at(0, 0)).unwrap(), "a😀b\ncX");
        assert_eq!(text.with(&json!({ "text": "new" })).unwrap().text, "new");
        assert!(text.with(&json!({})).is_none());
    }

    #[test]
    fn texts_of_editors_and_files_are_compared() {
        let text = Text::new("a\nb\n".into());
        assert!(text.is("a\r\nb\r\n") && text.is("\u{feff}a\nb\n") && !text.is("a\nb"));
        assert_eq!(decoded(b"caf\xe9".to_vec()), "café");
    }

    #[test]
    fn columns_are_counted_in_utf_16() {
        let text = Text::new("a😀b\r\nc\n".into());
        assert_eq!(text.position(5), json!({ "line": 0, "character": 3 }));
        assert_eq!(text.byte(&json!({ "line": 0, "character": 3 })), 5);
        assert_eq!(text.byte(&json!({ "line": 0, "character": 99 })), 6);
        assert_eq!(text.byte(&json!({ "line": 1, "character": 0 })), 8);
        assert_eq!(text.byte(&json!({ "line": 9, "character": 0 })), text.text.len());
        assert_eq!(text.whole_line(2)["end"], json!({ "line": 1, "character": 1 }));
        assert_eq!(text.position(1000), json!({ "line": 2, "character": 0 }));
    }
}
