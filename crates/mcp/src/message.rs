//! Messages: an object of JSON-RPC a line, or, in one version of the protocol, an array of them.

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
    pub data: Option<Box<Value>>,
}

pub const NO_JSON: i64 = -32700;
pub const NO_REQUEST: i64 = -32600;
pub const NO_METHOD: i64 = -32601;
pub const NO_PARAMETERS: i64 = -32602;
pub const NO_VERSION: i64 = -32022;

impl Wrong {
    pub fn new(code: i64, message: impl Into<String>) -> Wrong {
        Wrong { code, message: message.into(), data: None }
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

/// The value that a line is the text of.
pub fn value(line: &[u8]) -> Result<Value, Wrong> {
    serde_json::from_slice(line).map_err(|error| Wrong::new(NO_JSON, format!("this is not JSON: {error}")))
}

/// Reads a message. Where it is none, an answer is owed under the id, which is null if that cannot be told.
pub fn read(mut message: Value) -> Result<Message, (Value, Wrong)> {
    let wrong = |id: Value, why: &str| Err((id, Wrong::new(NO_REQUEST, why)));
    if message.is_array() {
        return wrong(Value::Null, "this version of the protocol has no batches; send one message a line");
    }
    let Some(fields) = message.as_object_mut() else {
        return wrong(Value::Null, "expected a message of JSON-RPC, an object");
    };
    let mut take = |name: &str| fields.get_mut(name).map(Value::take);
    let (id, version, params) = (take("id"), take("jsonrpc"), take("params"));
    let (method, is_answer) = (take("method"), take("result").or(take("error")).is_some());
    if id.as_ref().is_some_and(|id| !(id.is_string() || id.is_number())) && !is_answer {
        return wrong(Value::Null, "an id is a number or a string");
    }
    if version.is_none_or(|version| version != "2.0") {
        let id = id.unwrap_or_default();
        return wrong(id, "expected a message of JSON-RPC, with \"jsonrpc\": \"2.0\"");
    }
    let params = params.unwrap_or_default();
    match (method, id) {
        (Some(Value::String(method)), None) => Ok(Message::Notification { method, params }),
        (Some(Value::String(_)), Some(id)) if !(params.is_null() || params.is_object()) => {
            Err((id, Wrong::new(NO_PARAMETERS, "expected an object as \"params\"")))
        }
        (Some(Value::String(method)), Some(id)) => Ok(Message::Request { id, method, params }),
        (None, _) if is_answer => Ok(Message::Answer),
        (_, id) => wrong(id.unwrap_or_default(), "expected a \"method\""),
    }
}

pub fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub fn error(id: &Value, wrong: &Wrong) -> Value {
    let mut error = json!({ "code": wrong.code, "message": wrong.message });
    if let Some(data) = &wrong.data {
        error["data"] = *data.clone();
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Message, (Value, Wrong)> {
        read(value(text.as_bytes()).map_err(|wrong| (Value::Null, wrong))?)
    }

    #[test]
    fn messages_are_told_apart() {
        let request = read_text(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).unwrap();
        assert_eq!(request, Message::Request { id: "a".into(), method: "ping".into(), params: Value::Null });
        let told = read_text(r#"{"jsonrpc":"2.0","method":"m","params":{"x":1}}"#).unwrap();
        assert_eq!(told, Message::Notification { method: "m".into(), params: json!({ "x": 1 }) });
        assert_eq!(read_text(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap(), Message::Answer);
        for (text, id, code) in [
            ("{", Value::Null, NO_JSON),
            ("[]", Value::Null, NO_REQUEST),
            ("7", Value::Null, NO_REQUEST),
            ("true", Value::Null, NO_REQUEST),
            ("null", Value::Null, NO_REQUEST),
            ("\"x\"", Value::Null, NO_REQUEST),
            ("{}", Value::Null, NO_REQUEST),
            (r#"{"id":{},"method":"x"}"#, Value::Null, NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null, NO_REQUEST),
            (r#"{"id":3,"method":"x"}"#, json!(3), NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":3,"method":[]}"#, json!(3), NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":3,"method":"x","params":[1]}"#, json!(3), NO_PARAMETERS),
        ] {
            let (named, wrong) = read_text(text).unwrap_err();
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
