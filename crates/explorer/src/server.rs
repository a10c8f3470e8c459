//! The server: addresses to requests, answers to replies.

use crate::guard::Guard;
use crate::http::{self, Answers, Head, Places, Reply};
use crate::page;
use crate::request::{CheckOptions, Explored, Refusal, Request};
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Requests that are answered at a time.
const AT_ONCE: usize = 4;
/// What the page may load and do: its own files, and nothing from anywhere else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'";
/// Who may show the page within a page of his own: nobody, or VS Code, whose panels are pages within its own.
const FRAMES: [&str; 2] = ["frame-ancestors 'none'", "frame-ancestors vscode-webview: vscode-file:"];

type Asked = Result<Request, Refusal>;
type Words = HashMap<String, String>;

/// A server that has its address already, so that the address can be told before anything is answered.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    port: u16,
    framed: bool,
}

impl Server {
    /// On a port that is free, or on this one; for programs on this machine only.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        Ok(Server { listener, guard: Guard::new(port)?, port, framed: false })
    }

    /// Lets panels of VS Code show the page.
    pub fn framed(mut self) -> Server {
        self.framed = true;
        self.guard = self.guard.framed();
        self
    }

    /// Where the page is.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{}/", self.port, self.guard.prefix())
    }

    /// Answers until the program ends.
    pub fn run(self, explored: Arc<dyn Explored>) -> io::Result<()> {
        let places = Arc::new(Places::new(AT_ONCE));
        http::serve(
            &self.listener,
            Arc::new(Site { guard: self.guard, explored, api: api(), places, framed: self.framed }),
        )
    }
}

/// Everything that is found behind the secret.
struct Site {
    guard: Guard,
    explored: Arc<dyn Explored>,
    api: Routes,
    places: Arc<Places>,
    framed: bool,
}

/// What can be asked below `/api`, each at its address.
#[derive(Default)]
struct Routes(Vec<(&'static str, Ways)>);

/// The ways in which an address may be asked: a method, and how to understand it.
struct Ways(Vec<(&'static str, Understands)>);

/// From what stands for `{node}` in the address, the head, and the body.
type Understands = Box<dyn Fn(&str, &Head, &[u8]) -> Asked + Send + Sync>;

impl Routes {
    fn route(mut self, address: &'static str, ways: Ways) -> Routes {
        self.0.push((address, ways));
        self
    }

    /// The ways of an address, and what stands for `{node}` in it.
    fn find<'a>(&self, address: &'a str) -> Option<(&Ways, &'a str)> {
        self.0.iter().find_map(|(own, ways)| match own.strip_suffix("{node}") {
            Some(before) => {
                let node = address.strip_prefix(before)?;
                (!node.is_empty() && !node.contains('/')).then_some((ways, node))
            }
            None => (*own == address).then_some((ways, "")),
        })
    }
}

impl Ways {
    fn merge(mut self, others: Ways) -> Ways {
        self.0.extend(others.0);
        self
    }
}

impl Site {
    fn reply(&self, head: &Head, body: &[u8]) -> Reply {
        let nothing = || refused(&Refusal::unknown("there is nothing here"));
        let another_way =
            || refused(&Refusal { status: 405, message: "this address does not accept this method".into() });
        let prefix = self.guard.prefix();
        let Some(inner) = head.path.strip_prefix(&prefix) else { return nothing() };
        let read = matches!(&head.method[..], "GET" | "HEAD");
        if let Some(address) = inner.strip_prefix("/api") {
            let Some((ways, node)) = self.api.find(address) else { return nothing() };
            let method = if read { "GET" } else { &head.method };
            let Some((_, understands)) = ways.0.iter().find(|(own, _)| *own == method) else { return another_way() };
            return self.answered(understands(node, head, body));
        }
        let file = match inner.strip_prefix('/') {
            // What the page asks for is found beside its address, if that ends with a slash.
            None if inner.is_empty() => None,
            None => return nothing(),
            Some(name) => match page::file(name) {
                None => return nothing(),
                Some(file) => Some(file),
            },
        };
        match file {
            _ if !read => another_way(),
            None => redirected(format!("{prefix}/")),
            Some(file) => told(200, file.kind, file.text.as_bytes().to_vec()),
        }
    }

    /// What every reply says besides.
    fn sealed(&self, mut reply: Reply) -> Reply {
        let policy = format!("{POLICY}; {}", FRAMES[usize::from(self.framed)]);
        let headers = [
            ("content-security-policy", policy.as_str()),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cache-control", "no-store"),
        ];
        reply.headers.extend(headers.map(|(name, value)| (name, value.to_string())));
        if !self.framed {
            reply.headers.push(("x-frame-options", "DENY".into()));
        }
        reply
    }

    fn answered(&self, asked: Asked) -> Reply {
        let request = match asked {
            Ok(request) => request,
            Err(refusal) => return refused(&refusal),
        };
        let _place = Places::take(&self.places);
        match catch_unwind(AssertUnwindSafe(|| self.explored.answer(request).map(|value| value.to_string()))) {
            Ok(Ok(text)) => told(200, "application/json", text.into_bytes()),
            Ok(Err(refusal)) => refused(&refusal),
            Err(_) => told(500, "application/json", b"{\"error\":\"it failed\"}".to_vec()),
        }
    }
}

impl Answers for Site {
    /// Looks at every request before anything else does.
    fn refuses(&self, head: &Head) -> Option<Reply> {
        self.guard.refuses(head).map(|(status, why)| self.sealed(refused(&Refusal { status, message: why.into() })))
    }

    fn answer(&self, head: &Head, body: &[u8]) -> Reply {
        self.sealed(self.reply(head, body))
    }

    fn misunderstood(&self, status: u16, why: &str) -> Reply {
        self.sealed(refused(&Refusal { status, message: why.into() }))
    }
}

fn api() -> Routes {
    Routes::default()
        .route("/model", with_words(|_| Ok(Request::Model)))
        .route(
            "/node/{node}",
            with_node(|node, words| {
                let word = |name| words.get(name).filter(|text| !text.is_empty()).cloned();
                Ok(Request::Node { node, values: word("values"), enabled: word("enabled") })
            }),
        )
        .route(
            "/path/{node}",
            with_node(|node, words| {
                let most = number(words, "most")?.unwrap_or(usize::MAX);
                Ok(Request::Path { node, after: number(words, "after")?, most })
            }),
        )
        .route("/trace/{node}", with_node(|node, words| Ok(Request::Trace { node, again: number(words, "loop")? })))
        .route(
            "/source/{node}",
            with_node(|file, words| {
                let (from, count) = (number(words, "from")?.unwrap_or(1), number(words, "count")?.unwrap_or(500));
                Ok(Request::Source { file: file as usize, from, count })
            }),
        )
        .route(
            "/graph",
            with_words(|words| {
                let list = words.get("expanded").map_or("", String::as_str).split(',').filter(|word| !word.is_empty());
                let expanded = list.map(|word| word.parse().map_err(|_| no_number("expanded", word)));
                let expanded = expanded.collect::<Result<_, _>>()?;
                Ok(Request::Graph { node: node(words)?, expanded, most: number(words, "most")?.unwrap_or(200) })
            }),
        )
        .route("/net", with_words(|words| Ok(Request::Net { node: node(words)?, drawing: number(words, "drawing")? })))
        .route("/step", with_body(|Step { node, choice }| Request::Step { node, choice }))
        .route("/random", with_body(|Random { node, steps, seed }| Request::Random { node, steps, seed }))
        .route("/trace", with_body(|trace| Request::Replay { trace }))
        .route("/go", with_body(|Go { node, vertex }| Request::Go { node, vertex }))
        .route(
            "/check",
            with_body(|Check { properties, options }| Request::Check { properties, options })
                .merge(with_words(|words| Ok(Request::Checked { from: number(words, "from")?.unwrap_or(0) }))),
        )
        .route("/vertex/{node}", with_node(|vertex, words| Ok(Request::Vertex { node: node(words)?, vertex })))
        .route("/export", with_body(|Export { node, again, property }| Request::Export { node, again, property }))
        .route("/watch", with_words(|_| Ok(Request::Watch)))
        .route("/text", with_words(|_| Ok(Request::Text)))
        .route("/diagnose", with_body(|Text { text, .. }| Request::Diagnose { text }))
        .route("/try", with_body(|Text { text, .. }| Request::Try { text }))
        .route("/save", with_body(|Text { text, stamp }| Request::Save { text, stamp }))
        .route("/reload", with_body(|Nothing {}| Request::Reload))
        .route("/carry", with_body(|Carry { node, at, again }| Request::Carry { node, at, again }))
        .route("/check/stop", with_body(|Nothing {}| Request::StopCheck))
        .route("/check/load", with_body(|Load { property }| Request::LoadRun { property }))
}

fn told(status: u16, kind: &str, body: Vec<u8>) -> Reply {
    Reply { status, headers: vec![("content-type", kind.to_string())], body }
}

/// Sends a browser to another address.
fn redirected(address: String) -> Reply {
    let mut reply = told(308, "text/plain", Vec::new());
    reply.headers.push(("location", address));
    reply
}

fn refused(refusal: &Refusal) -> Reply {
    told(refusal.status, "application/json", json!({ "error": refusal.message }).to_string().into_bytes())
}

fn with_node(to: fn(u32, &Words) -> Asked) -> Ways {
    let understands = move |node: &str, head: &Head, _: &[u8]| {
        let node = node.parse().map_err(|_| no_number("the address", node))?;
        to(node, &head.words())
    };
    Ways(vec![("GET", Box::new(understands))])
}

fn with_words(to: fn(&Words) -> Asked) -> Ways {
    Ways(vec![("GET", Box::new(move |_, head, _| to(&head.words())))])
}

/// A form of another site can send text, but no JSON.
fn with_body<T: for<'a> Deserialize<'a> + 'static>(to: fn(T) -> Request) -> Ways {
    let understands = move |_: &str, head: &Head, body: &[u8]| {
        let kind = head.header("content-type").unwrap_or_default();
        match kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json") {
            false => Err(Refusal { status: 415, message: "expected JSON".into() }),
            true => serde_json::from_slice(body)
                .map(to)
                .map_err(|e| Refusal { status: 400, message: format!("the request cannot be read: {e}") }),
        }
    };
    Ways(vec![("POST", Box::new(understands))])
}

fn node(words: &Words) -> Result<u32, Refusal> {
    number(words, "node")?.ok_or_else(|| Refusal { status: 400, message: "`node` is missing".into() })
}

fn number<T: std::str::FromStr>(words: &Words, name: &str) -> Result<Option<T>, Refusal> {
    let parse = |word: &String| word.parse().map_err(|_| no_number(name, word));
    words.get(name).filter(|word| !word.is_empty()).map(parse).transpose()
}

fn no_number(name: &str, word: &str) -> Refusal {
    Refusal { status: 400, message: format!("{name}: expected a positive integer, found '{word}'") }
}

#[derive(Deserialize)]
struct Step {
    node: u32,
    choice: usize,
}

#[derive(Deserialize)]
struct Random {
    node: u32,
    steps: usize,
    #[serde(default)]
    seed: u64,
}

#[derive(Deserialize)]
struct Go {
    node: u32,
    vertex: u32,
}

#[derive(Deserialize)]
struct Check {
    #[serde(default)]
    properties: Vec<String>,
    #[serde(default)]
    options: CheckOptions,
}

#[derive(Deserialize)]
struct Load {
    property: usize,
}

#[derive(Deserialize)]
struct Export {
    node: u32,
    #[serde(rename = "loop")]
    again: Option<u32>,
    property: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    stamp: Option<String>,
}

#[derive(Deserialize)]
struct Carry {
    node: u32,
    at: u32,
    #[serde(rename = "loop")]
    again: Option<u32>,
}

#[derive(Deserialize)]
struct Nothing {}
