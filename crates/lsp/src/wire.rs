//! Messages as they come and go: a head that says how long the text is, and the text.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// Bytes of a message, and of a line of its head, that are taken.
const MOST: usize = 64 << 20;
const MOST_LINE: u64 = 4096;
const MOST_LINES: usize = 32;

/// What was heard.
#[derive(Debug)]
pub enum Heard {
    Message(Value),
    /// Text that is no message; what follows it may be one.
    Nonsense(String),
    /// Where the next message begins is not known, or nobody is there any more.
    End(Option<String>),
}

/// Hears one message.
pub fn hear(input: &mut impl BufRead) -> Heard {
    let end = |why: &str| Heard::End(Some(why.to_string()));
    let mut length = None;
    for number in 0..MOST_LINES {
        let mut line = Vec::new();
        match input.by_ref().take(MOST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) if number == 0 => return Heard::End(None),
            Ok(_) if line.ends_with(b"\n") => {}
            _ => return end("the head of a message has no end"),
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            let Some(length) = length else { return end("a message does not say how long it is") };
            return text(input, length);
        }
        if let Some((name, value)) =
            line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        {
            match value.trim().parse::<usize>() {
                Ok(bytes) if bytes <= MOST => length = Some(bytes),
                Ok(_) => return end(&format!("a message may have {MOST} bytes")),
                Err(_) => return end(&format!("{name} is no number of bytes")),
            }
        }
    }
    end("the head of a message has too many lines")
}

fn text(input: &mut impl BufRead, length: usize) -> Heard {
    let mut text = Vec::new();
    match input.by_ref().take(length as u64).read_to_end(&mut text) {
        Ok(read) if read == length => {}
        _ => return Heard::End(None),
    }
    match serde_json::from_slice(&text) {
        Ok(message @ Value::Object(_)) => Heard::Message(message),
        Ok(_) => Heard::Nonsense("a message is an object".into()),
        Err(error) => Heard::Nonsense(error.to_string()),
    }
}

pub fn say(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_heard_one_by_one() {
        let mut told = Vec::new();
        say(&mut told, &json!({ "id": 1 })).unwrap();
        told.extend(b"content-length: 1\r\nother: x\r\n\r\n{");
        told.extend(b"Content-Length: 2\r\n\r\n[]");
        say(&mut told, &json!({ "id": "\u{e9}" })).unwrap();
        let mut input = &told[..];
        assert!(matches!(hear(&mut input), Heard::Message(message) if message["id"] == 1));
        assert!(matches!(hear(&mut input), Heard::Nonsense(_)));
        assert!(matches!(hear(&mut input), Heard::Nonsense(_)));
        assert!(matches!(hear(&mut input), Heard::Message(message) if message["id"] == "\u{e9}"));
        assert!(matches!(hear(&mut input), Heard::End(None)));
    }

    #[test]
    fn lengths_that_nobody_means_are_refused() {
        for head in ["Content-Length: 99999999999999\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "a: b\r\n\r\n{}", "x"] {
            assert!(matches!(hear(&mut head.as_bytes()), Heard::End(Some(_))), "{head}");
        }
        let endless = "a".repeat(1 << 20);
        assert!(matches!(hear(&mut endless.as_bytes()), Heard::End(Some(_))));
        let many = "a: b\r\n".repeat(1000);
        assert!(matches!(hear(&mut many.as_bytes()), Heard::End(Some(_))));
        assert!(matches!(hear(&mut "Content-Length: 5\r\n\r\n{}".as_bytes()), Heard::End(None)));
    }
}
