//! A log: JSON lines, read one after the other, so that a log may be larger than memory.

use crate::place::wrong;
use scrimp_checker::CheckError;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that a line may have.
const LONGEST: u64 = 16 << 20;

/// A log that can be read, more than once.
#[derive(Debug, Clone)]
pub enum Log {
    /// A file.
    File(PathBuf),
    /// A text, and what messages call it.
    Text(String, Arc<[u8]>),
}

impl Log {
    /// The log of this name; `-` is the standard input. What is no ordinary file is read at once.
    pub fn named(path: &Path) -> io::Result<Log> {
        let whole = |mut from: Box<dyn Read>, name: &str| {
            let mut text = Vec::new();
            from.read_to_end(&mut text).map(|_| Log::Text(name.into(), text.into()))
        };
        if path == Path::new("-") {
            return whole(Box::new(io::stdin()), "-");
        }
        match path.metadata()? {
            found if found.is_dir() => Err(io::Error::other("this is a folder")),
            found if !found.is_file() => whole(Box::new(File::open(path)?), &path.display().to_string()),
            _ => Ok(Log::File(path.into())),
        }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match self {
            Log::File(path) => path.display().to_string(),
            Log::Text(name, _) => name.clone(),
        }
    }

    pub(crate) fn read(&self) -> Result<Reader, CheckError> {
        let mut input: Box<dyn BufRead> = match self {
            Log::File(path) => {
                let file = File::open(path).map_err(|error| CheckError::file(path, error))?;
                Box::new(BufReader::with_capacity(1 << 16, file))
            }
            Log::Text(_, text) => Box::new(Cursor::new(text.clone())),
        };
        let start = input.fill_buf().map_err(|error| unreadable(&self.name(), &error))?;
        if start.starts_with(&[0x1f, 0x8b]) {
            let help = "unpack it on the way: `zcat FILE | scrimp conform MODEL -`";
            return Err(CheckError::file(self.name().as_ref(), format!("this log is compressed\nhelp: {help}")));
        }
        Ok(Reader { name: self.name(), input, number: 0, buffer: Vec::new(), cut: None })
    }
}

fn unreadable(name: &str, error: &io::Error) -> CheckError {
    CheckError::file(name.as_ref(), format!("cannot read the log: {error}"))
}

/// What is read of a log.
pub(crate) struct Reader {
    pub name: String,
    input: Box<dyn BufRead>,
    number: u64,
    buffer: Vec<u8>,
    /// The last line, where it has no end and is not whole: who wrote it was stopped.
    pub cut: Option<u64>,
}

/// One line of a log.
pub(crate) struct Line {
    pub number: u64,
    pub text: String,
    pub record: Map<String, Value>,
}

impl Reader {
    /// The next record.
    pub fn next(&mut self) -> Result<Option<Line>, CheckError> {
        loop {
            self.buffer.clear();
            let mut limited = Read::take(&mut self.input, LONGEST + 1);
            let read = limited.read_until(b'\n', &mut self.buffer).map_err(|error| unreadable(&self.name, &error))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 > LONGEST {
                let message = format!("line {} has more than {} MiB", self.number, LONGEST >> 20);
                return Err(CheckError::file(self.name.as_ref(), message));
            }
            let whole = self.buffer.ends_with(b"\n");
            let text = match std::str::from_utf8(&self.buffer) {
                Ok(text) => text.trim_end().trim_start_matches('\u{feff}'),
                Err(error) if !whole && error.error_len().is_none() => {
                    self.cut = Some(self.number);
                    return Ok(None);
                }
                Err(error) => {
                    let known = String::from_utf8_lossy(&self.buffer[..error.valid_up_to()]).into_owned();
                    let at = known.len()..known.len();
                    return Err(wrong(&self.name, self.number, &known, at, "this is not UTF-8", None).into());
                }
            };
            if text.trim().is_empty() {
                continue;
            }
            match serde_json::from_str(text) {
                Ok(Value::Object(record)) => {
                    if said(text) != members(&record) {
                        return Err(self.twice(text, &record));
                    }
                    return Ok(Some(Line { number: self.number, text: text.to_string(), record }));
                }
                Ok(other) => return Err(self.no_object(text, &other)),
                Err(error) if error.is_eof() && !whole => {
                    self.cut = Some(self.number);
                    return Ok(None);
                }
                Err(error) => return Err(self.no_json(text, &error)),
            }
        }
    }

    /// A name stands twice in an object, so that what it says is not known.
    fn twice(&self, text: &str, record: &Map<String, Value>) -> CheckError {
        let quoted = |name: &String| serde_json::to_string(name).unwrap_or_default();
        let name = record.keys().map(quoted).find(|name| text.matches(name.as_str()).count() > 1);
        let at = name.as_ref().and_then(|name| Some((text.rfind(name.as_str())?, name.len())));
        let (start, length) = at.unwrap_or((0, 1));
        let message = match &name {
            Some(name) => format!("this record has the field {name} twice, or an object in it has a field twice"),
            None => "an object of this record has a field twice".to_string(),
        };
        wrong(&self.name, self.number, text, start..start + length, message, None).into()
    }

    fn no_object(&self, text: &str, found: &Value) -> CheckError {
        let kind = match found {
            Value::Array(_) => "a list",
            Value::String(_) => "a text",
            Value::Number(_) => "a number",
            _ => "no object",
        };
        let help = match found {
            Value::Array(_) => "a log has one object a line: `jq -c '.[]' FILE` makes such lines of a list",
            _ => "a log has one object a line, such as {\"process\": \"P\", \"event\": \"send\"}",
        };
        let message = format!("a record is a JSON object, and this is {kind}");
        wrong(&self.name, self.number, text, 0..1, message, Some(help.into())).into()
    }

    fn no_json(&self, text: &str, error: &serde_json::Error) -> CheckError {
        let column = error.column().saturating_sub(1).min(text.len());
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or(&said);
        let help = match (error.is_eof(), text.trim()) {
            (_, "{" | "[") => "a log has one object a line: `jq -c . FILE` writes each object on a line of its own",
            (true, _) => "the line is not whole; only the last line of a log may be cut, and has no line end then",
            _ => "a log is JSON lines: one object a line",
        };
        let message = format!("this is not JSON: {said}");
        wrong(&self.name, self.number, text, column..column + 1, message, Some(help.into())).into()
    }
}

/// How many fields a text of JSON has: one for each colon that is in no string.
fn said(text: &str) -> usize {
    let (mut quoted, mut escaped, mut colons) = (false, false, 0);
    for c in text.bytes() {
        match c {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b':' if !quoted => colons += 1,
            _ => {}
        }
    }
    colons
}

/// How many fields were read: of those with one name, one is left.
fn members(record: &Map<String, Value>) -> usize {
    fn within(value: &Value) -> usize {
        match value {
            Value::Object(object) => members(object),
            Value::Array(list) => list.iter().map(within).sum(),
            _ => 0,
        }
    }
    record.len() + record.values().map(within).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (Vec<u64>, Result<Option<u64>, String>) {
        let mut reader = Log::Text("l".into(), text.into()).read().unwrap();
        let mut numbers = Vec::new();
        loop {
            match reader.next() {
                Ok(Some(line)) => numbers.push(line.number),
                Ok(None) => return (numbers, Ok(reader.cut)),
                Err(error) => return (numbers, Err(error.to_string())),
            }
        }
    }

    #[test]
    fn lines_are_records() {
        assert_eq!(read(b"{\"a\": 1}\n\n{\"b\": 2}"), (vec![1, 3], Ok(None)));
        assert_eq!(read(b""), (vec![], Ok(None)));
        assert_eq!(read(br#"{"a:\":": {"b": [{"c": ":"}, {"c": 1}]}, "b": {}}"#), (vec![1], Ok(None)));
        assert_eq!(read(b"\xef\xbb\xbf{}\r\n{}\r\n"), (vec![1, 2], Ok(None)));
    }

    #[test]
    fn a_cut_last_line_is_left_out() {
        for cut in ["{\"a\": 1", "{\"a\": \"b", "{", "{\"a\": tr", "{\"a\": 1,", "{\"a"] {
            assert_eq!(read(format!("{{}}\n{cut}").as_bytes()), (vec![1], Ok(Some(2))), "{cut}");
        }
        assert_eq!(read(b"{}\n{\"a\": \"\xc3"), (vec![1], Ok(Some(2))));
    }

    #[test]
    fn what_is_no_record_is_shown() {
        for (text, told) in [
            ("{}\n{\"a\": }\n", "l:2:7: error: this is not JSON: expected value"),
            ("{\"a\": 1\n{}\n", "l:1:7: error: this is not JSON: EOF while parsing an object"),
            ("[{}]\n", "l:1:1: error: a record is a JSON object, and this is a list"),
            ("{}\n7\n", "l:2:1: error: a record is a JSON object, and this is a number"),
            ("{\"a\": 1, \"b\": 2, \"a\": 1}\n", "l:1:18: error: this record has the field \"a\" twice"),
            ("{\"b\": [{\"a\": 1, \"\\u0061\": 1}]}\n", "l:1:1: error: an object of this record has a field twice"),
            ("{\n\"a\": 1\n}\n", "`jq -c . FILE` writes each object on a line of its own"),
        ] {
            let error = read(text.as_bytes()).1.unwrap_err();
            assert!(error.contains(told), "{error}");
        }
        assert!(read(b"{\"a\": \"\xff\"}\n").1.unwrap_err().starts_with("l:1:8: error: this is not UTF-8"));
    }
}
