//! Messages: an object of JSON-RPC a line.

use serde_json::{Value, json};
use std::io::{self, BufRead, Read};

/// Bytes of a line that are taken.
const LONGEST: u64 = 4 << 20;

/// What a client sends.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// It is answered, under this id.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// An answer, though nothing was asked.
    Answer,
}

/// Why a request gets no result.
#[derive(Debug, PartialEq)]
pub struct Wrong {
    pub code: i64,
    pub message: String,
}

pub const NO_JSON: i64 = -32700;
pub const NO_REQUEST: i64 = -32600;
pub const NO_METHOD: i64 = -32601;
pub const NO_PARAMETERS: i64 = -32602;

impl Wrong {
    pub fn new(code: i64, message: impl Into<String>) -> Wrong {
        Wrong { code, message: message.into() }
    }
}

/// The next line that is not empty, without its end; nothing at the end of the input. What is too long is passed over.
pub fn line(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, Wrong>>> {
    loop {
        let mut line = Vec::new();
        if input.take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            return Ok(Some(Err(Wrong::new(NO_REQUEST, format!("a message has at most {LONGEST} bytes")))));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(Ok(line)));
        }
    }
}

/// Reads a message. Where it is none, an answer is owed under the id, which is null if that cannot be told.
pub fn read(line: &[u8]) -> Result<Message, (Value, Wrong)> {
    let mut message: Value = serde_json::from_slice(line)
        .map_err(|error| (Value::Null, Wrong::new(NO_JSON, format!("this is not JSON: {error}"))))?;
    if message.is_array() {
        let why = "batches are not part of the protocol any more; send one message a line";
        return Err((Value::Null, Wrong::new(NO_REQUEST, why)));
    }
    let id = message["id"].take();
    let wrong = |id: Value, why: &str| Err((id, Wrong::new(NO_REQUEST, why)));
    if !(id.is_null() || id.is_string() || id.is_number()) {
        return wrong(Value::Null, "an id is a number or a string");
    }
    if message["jsonrpc"] != "2.0" {
        return wrong(id, "expected a message of JSON-RPC, with \"jsonrpc\": \"2.0\"");
    }
    let params = message["params"].take();
    match (message["method"].take(), id) {
        (Value::String(method), Value::Null) => Ok(Message::Notification { method, params }),
        (Value::String(method), id) => Ok(Message::Request { id, method, params }),
        (Value::Null, _) if message.get("result").or(message.get("error")).is_some() => Ok(Message::Answer),
        (_, id) => wrong(id, "expected a \"method\""),
    }
}

pub fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub fn error(id: &Value, wrong: &Wrong) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": wrong.code, "message": wrong.message } })
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let request = read(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).unwrap();
        assert_eq!(request, Message::Request { id: "a".into(), method: "ping".into(), params: Value::Null });
        let told = read(br#"{"jsonrpc":"2.0","method":"m","params":{"x":1}}"#).unwrap();
        assert_eq!(told, Message::Notification { method: "m".into(), params: json!({ "x": 1 }) });
        assert_eq!(read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap(), Message::Answer);
        for (text, id, code) in [
            ("{", Value::Null, NO_JSON),
            ("[]", Value::Null, NO_REQUEST),
            ("7", Value::Null, NO_REQUEST),
            (r#"{"id":{},"method":"x"}"#, Value::Null, NO_REQUEST),
            (r#"{"id":3,"method":"x"}"#, json!(3), NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":3,"method":[]}"#, json!(3), NO_REQUEST),
        ] {
            let (named, wrong) = read(text.as_bytes()).unwrap_err();
            assert_eq!((named, wrong.code), (id, code), "{text}");
        }
    }

    #[test]
    fn lines_that_are_too_long_are_passed_over() {
        let mut input = vec![b' '; 3];
        input.extend(b"\n\none\n");
        input.extend(vec![b'x'; LONGEST as usize + 5]);
        input.extend(b"\ntwo");
        let mut input = &input[..];
        assert_eq!(line(&mut input).unwrap(), Some(Ok(b"one\n".to_vec())));
        assert!(line(&mut input).unwrap().unwrap().is_err());
        assert_eq!(line(&mut input).unwrap(), Some(Ok(b"two".to_vec())));
        assert_eq!(line(&mut input).unwrap(), None);
    }
}
