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

#[cfg(test)]
mod tests {
    use super::*;

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
