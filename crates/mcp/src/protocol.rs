//! Versions of the protocol, and what is answered at once. Up to 2025-11-25 a client shakes hands; since then each request says its
//! version.

use crate::message::{NO_METHOD, NO_PARAMETERS, NO_REQUEST, NO_VERSION, Wrong};
use crate::tools::list;
use serde_json::{Value, json};

/// Versions that begin with a handshake, newest first.
const SHAKEN: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The version that knows batches.
const WITH_BATCHES: &str = "2025-03-26";
/// Versions that each request names.
const NAMED: [&str; 1] = ["2026-07-28"];
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const ABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// How long a client may keep what does not change while a server runs, in milliseconds.
const KEPT: u64 = 3_600_000;
const INSTRUCTIONS: &str = "\
Scrimp decides properties of finite-state models: Promela, DVE, Petri nets, labelled transition systems. Begin with `open`. \
`check` says verified, violated (with the number of a run: ask `explain`), or incomplete (ask `next`). Only `verified` is a proof.";

/// How a request is answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Era {
    /// As one after the handshake.
    Shaken,
    /// As one that names its version.
    Named,
}

/// What the handshake has settled.
#[derive(Debug, Default)]
pub struct Session {
    version: Option<&'static str>,
}

impl Session {
    pub fn has_batches(&self) -> bool {
        self.version == Some(WITH_BATCHES)
    }

    /// How this request is to be answered; not at all before there is a version.
    pub fn era(&self, method: &str, params: &Value) -> Result<Era, Wrong> {
        let about = &params["_meta"];
        match &about[VERSION] {
            Value::Null if self.version.is_some() || matches!(method, "initialize" | "ping") => Ok(Era::Shaken),
            Value::Null if is_known(method) => Err(Wrong::new(NO_REQUEST, "expected `initialize` first")),
            Value::Null => Err(unknown(method)),
            Value::String(version) if NAMED.contains(&version.as_str()) => match about[ABILITIES].is_object() {
                true => Ok(Era::Named),
                false => Err(Wrong::new(NO_PARAMETERS, format!("expected an object as `{ABILITIES}` in `_meta`"))),
            },
            Value::String(version) => {
                let mut wrong = Wrong::new(NO_VERSION, format!("requests of version {version} are not supported"));
                wrong.data = Some(Box::new(json!({ "supported": NAMED, "requested": version })));
                Err(wrong)
            }
            _ => Err(Wrong::new(NO_PARAMETERS, format!("expected a text as `{VERSION}` in `_meta`"))),
        }
    }

    /// The answer to a request that uses no tool.
    pub fn answer(&mut self, era: Era, method: &str, params: &Value) -> Result<Value, Wrong> {
        let abilities = json!({ "tools": {} });
        match (era, method) {
            (Era::Shaken, "initialize") => {
                let Some(asked) = params["protocolVersion"].as_str() else {
                    return Err(Wrong::new(NO_PARAMETERS, "expected a text as `protocolVersion`"));
                };
                let version = SHAKEN.into_iter().find(|version| *version == asked).unwrap_or(SHAKEN[0]);
                self.version = Some(version);
                let (server, instructions) = (about_server(), INSTRUCTIONS);
                Ok(json!({ "protocolVersion": version, "capabilities": abilities, "serverInfo": server,
                    "instructions": instructions }))
            }
            (Era::Shaken, "ping") => Ok(json!({})),
            (Era::Named, "server/discover") => Ok(stamped(
                json!({ "supportedVersions": NAMED, "capabilities": abilities, "instructions": INSTRUCTIONS,
                    "ttlMs": KEPT, "cacheScope": "public" }),
                era,
            )),
            (_, "tools/list") if !params["cursor"].is_null() => {
                Err(Wrong::new(NO_PARAMETERS, "there is no such cursor: the list has one page"))
            }
            (Era::Shaken, "tools/list") => Ok(list()),
            (Era::Named, "tools/list") => {
                let mut answer = list();
                (answer["ttlMs"], answer["cacheScope"]) = (KEPT.into(), "public".into());
                Ok(stamped(answer, era))
            }
            _ => Err(unknown(method)),
        }
    }
}

/// A result with what its version wants beside it.
pub fn stamped(mut result: Value, era: Era) -> Value {
    if era == Era::Named {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": about_server() });
    }
    result
}

fn about_server() -> Value {
    json!({ "name": "scrimp", "version": env!("CARGO_PKG_VERSION") })
}

fn is_known(method: &str) -> bool {
    matches!(method, "tools/list" | "tools/call")
}

fn unknown(method: &str) -> Wrong {
    Wrong::new(NO_METHOD, format!("there is no method {method}; there are tools/list and tools/call"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initialized(version: &str) -> (Session, Value) {
        let mut session = Session::default();
        let params = json!({ "protocolVersion": version });
        let era = session.era("initialize", &params).unwrap();
        let answer = session.answer(era, "initialize", &params).unwrap();
        (session, answer)
    }

    #[test]
    fn versions_are_settled() {
        for (asked, got) in [("2025-03-26", "2025-03-26"), ("2026-07-28", SHAKEN[0]), ("1.0", SHAKEN[0])] {
            let (session, answer) = initialized(asked);
            assert_eq!(answer["protocolVersion"], got, "{asked}");
            assert_eq!(session.has_batches(), got == WITH_BATCHES);
            assert_eq!(session.era("tools/list", &Value::Null), Ok(Era::Shaken));
        }
        let mut session = Session::default();
        for params in [Value::Null, json!({ "protocolVersion": 7 })] {
            assert_eq!(session.answer(Era::Shaken, "initialize", &params).unwrap_err().code, NO_PARAMETERS);
        }
        assert_eq!(session.era("tools/call", &Value::Null).unwrap_err().code, NO_REQUEST);
        assert_eq!(session.era("server/discover", &Value::Null).unwrap_err().code, NO_METHOD);
    }

    #[test]
    fn a_request_may_name_its_version() {
        let mut session = Session::default();
        let named = |version: &str| json!({ "_meta": { VERSION: version, ABILITIES: {} } });
        let params = named("2026-07-28");
        assert_eq!(session.era("server/discover", &params), Ok(Era::Named));
        let told = session.answer(Era::Named, "server/discover", &params).unwrap();
        assert_eq!((&told["supportedVersions"], &told["resultType"]), (&json!(NAMED), &json!("complete")));
        assert!(told["ttlMs"].is_number() && told["cacheScope"] == "public", "{told}");
        let tools = session.answer(Era::Named, "tools/list", &params).unwrap();
        assert!(tools["tools"].is_array() && tools["resultType"] == "complete" && tools["ttlMs"].is_number());
        for method in ["initialize", "ping", "subscriptions/listen"] {
            assert_eq!(session.answer(Era::Named, method, &params).unwrap_err().code, NO_METHOD, "{method}");
        }
        let wrong = session.era("tools/list", &named("2031-01-01")).unwrap_err();
        assert_eq!((wrong.code, &wrong.data.unwrap()["requested"]), (NO_VERSION, &json!("2031-01-01")));
        let half = json!({ "_meta": { VERSION: "2026-07-28" } });
        assert_eq!(session.era("tools/list", &half).unwrap_err().code, NO_PARAMETERS);
        let paged = json!({ "cursor": "x" });
        assert_eq!(session.answer(Era::Shaken, "tools/list", &paged).unwrap_err().code, NO_PARAMETERS);
    }
}
