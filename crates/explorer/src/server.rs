//! The server: addresses to requests, answers to replies.

use crate::guard::Guard;
use crate::page;
use crate::request::{CheckOptions, Explored, Refusal, Request};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::routing::{MethodRouter, get, post};
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

/// The longest trace that is taken.
const MOST_BYTES: usize = 64 << 20;
/// What the page may load and do: its own files, and nothing from anywhere else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Reply = Response<Body>;
type Asked = Result<Request, Refusal>;
type Words = HashMap<String, String>;

/// A server that has its address already, so that the address can be told before anything is answered.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    port: u16,
}

impl Server {
    /// On a port that is free, or on this one; for programs on this machine only.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok(Server { listener, guard: Guard::new(port)?, port })
    }

    /// Where the page is.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{}/", self.port, self.guard.prefix())
    }

    /// Answers until the program ends.
    pub fn run(self, explored: Arc<dyn Explored>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            axum::serve(listener, router(self.guard, explored)).await
        })
    }
}

fn router(guard: Guard, explored: Arc<dyn Explored>) -> Router {
    let with_node = |to: fn(u32, &Words) -> Asked| {
        get(move |State(explored): Shared, path: Path<String>, words: Query<Words>| {
            let node = path.0.parse().map_err(|_| no_number("the address", &path.0));
            reply(explored, node.and_then(|node| to(node, &words.0)))
        })
    };
    let api = Router::new()
        .route("/model", get(|State(explored): Shared| reply(explored, Ok(Request::Model))))
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
        .route("/check/stop", with_body(|Nothing {}| Request::StopCheck))
        .route("/check/load", with_body(|Load { property }| Request::LoadRun { property }))
        .with_state(explored);
    let home = format!("{}/", guard.prefix());
    let inner = Router::new()
        .nest("/api", api)
        // What the page asks for is found beside its address, if that ends with a slash.
        .route("/", get(|| async move { redirected(&home) }))
        .route("/{name}", get(|Path(name): Path<String>| file(name)));
    Router::new()
        .nest(&guard.prefix(), inner)
        // The prefix alone is nested without its slash.
        .route(&format!("{}/", guard.prefix()), get(|| file(String::new())))
        .fallback(|| async { refused(&Refusal::unknown("there is nothing here")) })
        .method_not_allowed_fallback(|| async {
            refused(&Refusal { status: 405, message: "this is asked in another way".into() })
        })
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(from_fn_with_state(Arc::new(guard), guarded))
}

type Shared = State<Arc<dyn Explored>>;

/// Looks at every request before anything else does, and seals every reply.
async fn guarded(State(guard): State<Arc<Guard>>, request: axum::extract::Request, next: Next) -> Reply {
    let mut reply = match guard.refuses(request.method(), request.uri(), request.headers()) {
        Some((status, why)) => refused(&Refusal { status: status.as_u16(), message: why.into() }),
        None => next.run(request).await,
    };
    let headers = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in headers {
        reply.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    reply
}

async fn file(name: String) -> Reply {
    match page::file(&name) {
        None => refused(&Refusal::unknown("there is nothing here")),
        Some(file) => told(StatusCode::OK, file.kind, file.text.as_bytes().to_vec()),
    }
}

/// Answers a request beside the server, which goes on meanwhile.
async fn reply(explored: Arc<dyn Explored>, asked: Asked) -> Reply {
    let request = match asked {
        Ok(request) => request,
        Err(refusal) => return refused(&refusal),
    };
    let work = move || explored.answer(request).map(|value| value.to_string());
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(text)) => told(StatusCode::OK, "application/json", text.into_bytes()),
        Ok(Err(refusal)) => refused(&refusal),
        Err(_) => told(StatusCode::INTERNAL_SERVER_ERROR, "application/json", b"{\"error\":\"it failed\"}".to_vec()),
    }
}

fn told(status: StatusCode, kind: &'static str, text: Vec<u8>) -> Reply {
    let mut reply = Response::new(Body::from(text));
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

/// Sends a browser to another address.
fn redirected(address: &str) -> Reply {
    let mut reply = told(StatusCode::PERMANENT_REDIRECT, "text/plain", Vec::new());
    if let Ok(address) = HeaderValue::from_str(address) {
        reply.headers_mut().insert(header::LOCATION, address);
    }
    reply
}

fn refused(refusal: &Refusal) -> Reply {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    told(status, "application/json", json!({ "error": refusal.message }).to_string().into_bytes())
}

fn with_words(to: fn(&Words) -> Asked) -> MethodRouter<Arc<dyn Explored>> {
    get(move |State(explored): Shared, words: Query<Words>| reply(explored, to(&words.0)))
}

/// A form of another site can send text, but no JSON.
fn with_body<T: for<'a> Deserialize<'a> + 'static>(to: fn(T) -> Request) -> MethodRouter<Arc<dyn Explored>> {
    post(move |State(explored): Shared, headers: HeaderMap, body: Bytes| {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let asked = match kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json") {
            false => Err(Refusal { status: 415, message: "only JSON is understood".into() }),
            true => serde_json::from_slice(&body)
                .map(to)
                .map_err(|e| Refusal { status: 400, message: format!("this is not understood: {e}") }),
        };
        reply(explored, asked)
    })
}

fn node(words: &Words) -> Result<u32, Refusal> {
    number(words, "node")?.ok_or_else(|| Refusal { status: 400, message: "which node?".into() })
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
struct Nothing {}
