//! As much of HTTP/1.1 as a page on this machine needs: a thread a connection, requests one after another on it.
//!
//! Nothing is believed about who connects. A head and a body have a largest size and a longest time, connections have a
//! largest number, and whoever is refused before its body was read is closed after the reply. Bodies without a length are
//! refused: no browser sends them.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest body that is taken.
const MOST_BYTES: u64 = 64 << 20;
/// The longest head, and the most headers in it.
const MOST_HEAD: usize = 64 << 10;
const MOST_HEADERS: usize = 100;
/// Connections at a time; whoever comes then waits.
const MOST_CONNECTIONS: usize = 256;
/// How long a connection may stay silent, and how long a whole request may take to come.
const SILENCE: Duration = Duration::from_secs(30);
const WHOLE: Duration = Duration::from_secs(120);

/// Everything of a request but its body.
#[derive(Debug, Clone, Default)]
pub struct Head {
    pub method: String,
    /// The host that the address itself names, where it is a whole one.
    pub authority: Option<String>,
    pub path: String,
    /// What is behind the question mark.
    pub query: String,
    /// Names in lower case; a value that is no text is a question mark.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The first value of a header.
    pub fn header<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).next()
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(own, _)| own == name).map(|(_, value)| &value[..])
    }

    /// The words of the query, each with its value; the last one counts.
    pub fn words(&self) -> HashMap<String, String> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(a, b)| (decoded(a), decoded(b))).collect()
    }

    /// From the method and address of a request; none where that is no address.
    fn of(method: &str, address: &str) -> Option<Head> {
        let (authority, rest) = match address.split_once("://") {
            Some(("http", rest)) => {
                let end = rest.find(['/', '?']).unwrap_or(rest.len());
                (Some(rest[..end].to_string()), &rest[end..])
            }
            _ if address.starts_with('/') => (None, address),
            _ => return None,
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = if path.is_empty() { "/" } else { path };
        let (method, path, query) = (method.into(), path.into(), query.into());
        Some(Head { method, authority, path, query, headers: Vec::new() })
    }
}

/// Text as forms write it: plus signs are spaces, and `%41` is an A.
fn decoded(text: &str) -> String {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    let digit = |at: usize| bytes.get(at).and_then(|byte| (*byte as char).to_digit(16));
    while let Some(&byte) = bytes.get(at) {
        let code = digit(at + 1).zip(digit(at + 2)).filter(|_| byte == b'%');
        out.push(code.map_or(if byte == b'+' { b' ' } else { byte }, |(high, low)| (high * 16 + low) as u8));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What is sent back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// Whoever answers, first to the head alone, which it may refuse, then to the whole.
pub trait Answers: Send + Sync + 'static {
    fn refuses(&self, head: &Head) -> Option<Reply>;
    fn answer(&self, head: &Head, body: &[u8]) -> Reply;
    /// To what is no request; with the status.
    fn misunderstood(&self, status: u16, why: &str) -> Reply;
}

/// Answers until the program ends.
pub fn serve(listener: &TcpListener, answers: Arc<impl Answers>) -> io::Result<()> {
    let open = Arc::new(Places::new(MOST_CONNECTIONS));
    loop {
        let place = Places::take(&open);
        let connection = match listener.accept() {
            Ok((connection, _)) => connection,
            // Whoever connected is gone, or there are too many open files: others may do better in a moment.
            Err(error) => {
                if !matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) {
                    std::thread::sleep(Duration::from_millis(50));
                }
                continue;
            }
        };
        let answers = answers.clone();
        let talk = move || {
            let _place = place;
            // Nobody is left to be told of an error.
            let _ = converse(connection, &*answers);
        };
        // Without a thread the connection is closed, and the page asks again.
        let _ = std::thread::Builder::new().name("connection".into()).spawn(talk);
    }
}

/// Requests and replies, until one side has enough.
fn converse(connection: TcpStream, answers: &impl Answers) -> io::Result<()> {
    connection.set_nodelay(true)?;
    connection.set_write_timeout(Some(SILENCE))?;
    let mut reader = BufReader::new(Timed { connection: &connection, until: Instant::now() });
    loop {
        reader.get_mut().until = Instant::now() + WHOLE;
        let (head, goes_on) = match head(&mut reader)? {
            Parsed::Nothing => return Ok(()),
            Parsed::Wrong(status, why) => return last(&connection, &answers.misunderstood(status, why)),
            Parsed::Head(head, goes_on) => (head, goes_on),
        };
        if let Some(reply) = answers.refuses(&head) {
            return last(&connection, &reply);
        }
        let length = match length(&head) {
            Ok(length) => length,
            Err((status, why)) => return last(&connection, &answers.misunderstood(status, why)),
        };
        if head.header("expect").is_some_and(|what| what.eq_ignore_ascii_case("100-continue")) && length > 0 {
            (&connection).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let mut body = Vec::new();
        (&mut reader).take(length).read_to_end(&mut body)?;
        if body.len() as u64 != length {
            return Ok(());
        }
        let reply = answers.answer(&head, &body);
        if !goes_on {
            return write(&connection, &head, &reply, false);
        }
        write(&connection, &head, &reply, true)?;
    }
}

/// A connection that is given up after a time, however slowly something comes.
struct Timed<'a> {
    connection: &'a TcpStream,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now()).min(SILENCE);
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.connection.set_read_timeout(Some(left))?;
        self.connection.read(buffer)
    }
}

enum Parsed {
    /// The other side has closed, or sent half a head.
    Nothing,
    /// With the status of the reply, and why.
    Wrong(u16, &'static str),
    /// And whether another request may follow.
    Head(Head, bool),
}

fn head(reader: &mut impl BufRead) -> io::Result<Parsed> {
    let mut text = Vec::new();
    loop {
        let from = text.len();
        let most = (MOST_HEAD - from) as u64;
        if reader.take(most).read_until(b'\n', &mut text)? == 0 {
            return Ok(match most {
                0 => Parsed::Wrong(431, "the head of this request is too long"),
                _ => Parsed::Nothing,
            });
        }
        match &text[from..] {
            // Empty lines before a request are left out.
            b"\r\n" | b"\n" if from == 0 => text.clear(),
            b"\r\n" | b"\n" => break,
            _ => {}
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(&text) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(Parsed::Wrong(400, "this is no request")),
        Err(httparse::Error::TooManyHeaders) => return Ok(Parsed::Wrong(431, "there are too many headers")),
        Err(_) => return Ok(Parsed::Wrong(400, "this is no request")),
    }
    let (Some(method), Some(address), Some(version)) = (request.method, request.path, request.version) else {
        return Ok(Parsed::Wrong(400, "this is no request"));
    };
    let Some(mut head) = Head::of(method, address) else { return Ok(Parsed::Wrong(400, "this is no address")) };
    let printable = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~');
    head.headers.extend(request.headers.iter().map(|header| {
        let value = if header.value.iter().all(printable) { header.value } else { b"?" };
        (header.name.to_ascii_lowercase(), String::from_utf8_lossy(value).into_owned())
    }));
    let closes = head.all("connection").flat_map(|value| value.split(',')).any(|word| {
        let word = word.trim();
        word.eq_ignore_ascii_case("close") || word.eq_ignore_ascii_case("upgrade")
    });
    let goes_on = version == 1 && !closes;
    Ok(Parsed::Head(head, goes_on))
}

/// How many bytes follow the head.
fn length(head: &Head) -> Result<u64, (u16, &'static str)> {
    if head.header("transfer-encoding").is_some() {
        return Err((411, "say how long this is"));
    }
    let mut lengths = head.all("content-length");
    let Some(length) = lengths.next() else { return Ok(0) };
    let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || lengths.next().is_some() {
        return Err((400, "this is no length"));
    }
    match length.parse() {
        Ok(length) if length <= MOST_BYTES => Ok(length),
        _ => Err((413, "this is too large")),
    }
}

fn write(mut connection: &TcpStream, head: &Head, reply: &Reply, goes_on: bool) -> io::Result<()> {
    let reason = match reply.status {
        200 => "OK",
        308 => "Permanent Redirect",
        400..=499 => "Refused",
        _ => "Failed",
    };
    let mut text = format!("HTTP/1.1 {} {reason}\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
    for (name, value) in &reply.headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += if goes_on { "\r\n" } else { "connection: close\r\n\r\n" };
    let mut bytes = text.into_bytes();
    if head.method != "HEAD" {
        bytes.extend_from_slice(&reply.body);
    }
    connection.write_all(&bytes)
}

/// Says why there is no answer, and closes: what is on its way is read for a moment, or the reply would be lost with it.
fn last(mut connection: &TcpStream, reply: &Reply) -> io::Result<()> {
    write(connection, &Head::default(), reply, false)?;
    connection.shutdown(Shutdown::Write)?;
    connection.set_read_timeout(Some(Duration::from_millis(300)))?;
    let (begun, mut left) = (Instant::now(), [0; 1 << 16]);
    while begun.elapsed() < Duration::from_secs(1) && connection.read(&mut left)? > 0 {}
    Ok(())
}

/// So many at a time, and no more.
pub struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

/// One of them, until it is dropped.
pub struct Place(Arc<Places>);

impl Places {
    pub fn new(number: usize) -> Places {
        Places { free: Mutex::new(number), freed: Condvar::new() }
    }

    /// Waits until one is free.
    pub fn take(places: &Arc<Places>) -> Place {
        let free = places.free.lock().unwrap_or_else(PoisonError::into_inner);
        *places.freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner) -= 1;
        Place(places.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(Head, bool), u16> {
        match head(&mut text.as_bytes()).unwrap() {
            Parsed::Head(head, goes_on) => Ok((head, goes_on)),
            Parsed::Wrong(status, _) => Err(status),
            Parsed::Nothing => Err(0),
        }
    }

    #[test]
    fn heads_are_read() {
        let (head, goes_on) =
            parsed("\r\nGET /a/b?c=d%20e+f&g HTTP/1.1\r\nHost: x\r\nX-Y: z\r\nhost: y\r\n\r\n").unwrap();
        assert_eq!((&head.method[..], &head.path[..], head.authority.is_none(), goes_on), ("GET", "/a/b", true, true));
        assert_eq!((head.words()["c"].as_str(), head.words()["g"].as_str()), ("d e f", ""));
        assert_eq!((head.header("x-y"), head.all("host").count()), (Some("z"), 2));
        let (head, goes_on) = parsed("GET http://evil.example/a HTTP/1.1\r\nConnection: TE, close\r\n\r\n").unwrap();
        assert_eq!((head.authority.as_deref(), &head.path[..], goes_on), (Some("evil.example"), "/a", false));
        assert!(!parsed("GET / HTTP/1.0\r\n\r\n").unwrap().1);
        for wrong in ["GET\r\n\r\n", "GET a HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nA : b\r\n\r\n", "\u{1}\r\n\r\n"] {
            assert_eq!(parsed(wrong).err(), Some(400), "{wrong:?}");
        }
        assert_eq!(parsed(&format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(MOST_HEAD))).err(), Some(431));
        assert_eq!(parsed(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(101))).err(), Some(431));
        assert_eq!(parsed("GET / HTTP/1.1\r\nHost").err(), Some(0));
    }

    #[test]
    fn lengths_are_numbers() {
        let asked = |headers: &str| length(&parsed(&format!("POST / HTTP/1.1\r\n{headers}\r\n")).unwrap().0);
        assert_eq!((asked(""), asked("Content-Length: 17\r\n")), (Ok(0), Ok(17)));
        for (headers, status) in [
            ("Content-Length: +1\r\n", 400),
            ("Content-Length:\r\n", 400),
            ("Content-Length: 1\r\nContent-Length: 1\r\n", 400),
            ("Content-Length: 67108865\r\n", 413),
            ("Content-Length: 99999999999999999999\r\n", 413),
            ("Transfer-Encoding: chunked\r\n", 411),
        ] {
            assert_eq!(asked(headers).map_err(|(status, _)| status), Err(status), "{headers}");
        }
    }

    #[test]
    fn what_is_no_code_stays_as_it_is() {
        assert_eq!(["%41%zz%", "%e4", "a%2Bb"].map(decoded), ["A%zz%", "\u{fffd}", "a+b"]);
    }
}
