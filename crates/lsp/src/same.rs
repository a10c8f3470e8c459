//! Whether two models are the same but for a name: all that was read is written as text, in which some names count as one
//! and places in the text as nothing, and the sums of these texts are compared.

use std::fmt::{self, Debug, Write};
use std::hash::{DefaultHasher, Hasher};

/// Of numbers behind these, nothing is kept: they are places.
const PLACES: [&str; 3] = ["start", "end", "column"];

/// The sum of what is written.
#[derive(Default)]
pub struct Sum<'n> {
    names: &'n [&'n str],
    hash: DefaultHasher,
    word: String,
    /// The last word is that of a place, and nothing else than a colon was behind it.
    place: bool,
    escaped: bool,
}

impl Sum<'_> {
    pub fn of(read: &impl Debug, names: &[&str]) -> u64 {
        let mut sum = Sum { names, hash: DefaultHasher::new(), word: String::new(), place: false, escaped: false };
        // Writing to a sum cannot fail.
        let _ = write!(sum, "{read:?}");
        sum.end_word();
        sum.hash.finish()
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        if self.names.contains(&word.as_str()) {
            self.hash.write_u8(0);
        } else if !(self.place && word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.hash.write(word.as_bytes());
        }
        self.hash.write_u8(1);
        self.place = PLACES.contains(&word.as_str());
    }
}

impl fmt::Write for Sum<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                // `\n` ends a word and begins none.
                _ if self.escaped => self.escaped = false,
                c if c.is_alphanumeric() || c == '_' => {
                    self.word.push(c);
                    continue;
                }
                _ => {
                    self.end_word();
                    self.escaped = c == '\\';
                }
            }
            self.place &= matches!(c, ':' | ' ');
            self.hash.write_u32(c.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_some_names_do_not_count() {
        let sum = |text: &str| Sum::of(&format_args!("{text}"), &["x", "y"]);
        assert_eq!(sum("Place { start: 12, end: 3 } \"\\nx = 1\""), sum("Place { start: 7, end: 44 } \"\\ny = 1\""));
        assert_ne!(sum("id: 12"), sum("id: 13"));
        assert_ne!(sum("x z"), sum("x x"));
        assert_ne!(sum("start, 1"), sum("start, 2"));
    }
}
