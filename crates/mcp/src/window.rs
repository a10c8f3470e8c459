//! Some lines of a text that may be very long: the text streams by, and only what is shown is kept.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read};

/// Bytes of a text that are shown where nothing is said, and where more lines are asked for.
pub const USUAL: usize = 32 << 10;
pub const MOST: usize = 256 << 10;

/// Which lines are shown: from the first one, counted from 1, so many of them, in so many bytes.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub first: u64,
    pub lines: u64,
    pub bytes: usize,
}

/// What a window shows of a text.
#[derive(Debug, Default, PartialEq)]
pub struct Shown {
    pub text: Vec<u8>,
    /// Of the whole text.
    pub lines: u64,
    /// The number of the last line that is shown at least in part.
    last: u64,
    /// That one line was too long.
    cut: bool,
}

impl Shown {
    /// Is something left out at the end?
    pub fn is_part(&self) -> bool {
        self.last < self.lines || self.cut
    }
}

impl Window {
    /// The beginning of a text.
    pub const BEGINNING: Window = Window { first: 1, lines: 200, bytes: USUAL };

    /// Reads a text to its end.
    pub fn read(&self, input: impl Read) -> io::Result<Shown> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let (mut shown, mut number, mut full) = (Shown::default(), 0, false);
        loop {
            number += 1;
            let wanted = number >= self.first && number - self.first < self.lines && !full;
            let begins = shown.text.len();
            let (mut ends, mut any) = (false, false);
            while !ends {
                let piece = input.fill_buf()?;
                if piece.is_empty() {
                    break;
                }
                any = true;
                let end = piece.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
                ends = end.is_some();
                let length = end.unwrap_or(piece.len());
                if wanted {
                    // A little more, to see that it is too much.
                    let room = (self.bytes + 1).saturating_sub(shown.text.len());
                    shown.text.extend_from_slice(&piece[..length.min(room)]);
                }
                input.consume(length);
            }
            if !any {
                return Ok(shown);
            }
            shown.lines = number;
            if !wanted {
                continue;
            }
            if shown.text.len() <= self.bytes {
                shown.last = number;
                continue;
            }
            full = true;
            match begins {
                // One line alone has no room: its beginning is shown.
                0 => {
                    shown.text.truncate(self.bytes);
                    (shown.last, shown.cut) = (number, true);
                }
                begins => shown.text.truncate(begins),
            }
        }
    }

    /// What is shown, as an answer that says what is left out, and how to ask for it.
    pub fn told(&self, shown: &Shown) -> Value {
        let text = String::from_utf8_lossy(&shown.text);
        let text = if shown.cut { text.trim_end_matches('\u{fffd}') } else { text.strip_suffix('\n').unwrap_or(&text) };
        let mut answer = json!({ "text": text, "lines": shown.lines });
        if shown.text.is_empty() && shown.lines > 0 {
            answer["shown"] = json!([]);
        } else if shown.last < shown.lines || self.first > 1 || shown.cut {
            answer["shown"] = json!([self.first.max(1), shown.last]);
        }
        let mut advice = Vec::new();
        advice.extend(shown.cut.then(|| format!("line {} is cut after {} bytes", shown.last, self.bytes)));
        if (shown.last < shown.lines) && !shown.text.is_empty() {
            advice.push(format!("this is a part; ask `trace` with first = {} for more", shown.last + 1));
        }
        if !advice.is_empty() {
            answer["advice"] = advice.join("; ").into();
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, first: u64, lines: u64, bytes: usize) -> Value {
        let window = Window { first, lines, bytes };
        window.told(&window.read(text.as_bytes()).unwrap())
    }

    #[test]
    fn long_texts_come_in_parts() {
        let text = "a\nb\nc\n";
        assert_eq!(told(text, 1, 5, 9), json!({ "text": "a\nb\nc", "lines": 3 }));
        assert_eq!(told(text, 0, u64::MAX, 9), json!({ "text": "a\nb\nc", "lines": 3 }));
        let part = told(text, 2, 1, 9);
        assert_eq!((&part["text"], &part["shown"]), (&json!("b"), &json!([2, 2])));
        assert!(part["advice"].as_str().unwrap().contains("first = 3"));
        assert_eq!(told(text, 3, 1, 9), json!({ "text": "c", "lines": 3, "shown": [3, 3] }));
        assert_eq!(told(text, 9, 1, 9), json!({ "text": "", "lines": 3, "shown": [] }));
        assert_eq!(told("", 1, 1, 9), json!({ "text": "", "lines": 0 }));
    }

    #[test]
    fn an_answer_keeps_within_its_bytes() {
        let text = "one\ntwo\nthree\n";
        let part = told(text, 1, 9, 8);
        assert_eq!((&part["text"], &part["shown"], &part["lines"]), (&json!("one\ntwo"), &json!([1, 2]), &json!(3)));
        assert!(part["advice"].as_str().unwrap().contains("first = 3"));
        let part = told("äää\nb\n", 1, 9, 3);
        assert_eq!((&part["text"], &part["shown"]), (&json!("ä"), &json!([1, 1])));
        let advice = part["advice"].as_str().unwrap();
        assert!(advice.contains("line 1 is cut") && advice.contains("first = 2"), "{advice}");
        let long = "x".repeat(300_000);
        assert_eq!(told(&long, 1, 1, 100)["text"].as_str().unwrap().len(), 100);
    }
}
