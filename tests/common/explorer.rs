//! A running explorer: the program as a user starts it, asked by hand-made requests.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Ends with the value that stands for it, unless it is served by the test itself.
pub struct Served {
    process: Option<Child>,
    pub port: u16,
    pub secret: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e} in {self:?}"))
    }

    /// What an error says to people.
    #[track_caller]
    pub fn error(&self) -> String {
        assert!((400..500).contains(&self.status), "{self:?}");
        self.json()["error"].as_str().expect("a text").to_string()
    }
}

impl Served {
    /// Serves a model, by its path in the repository.
    pub fn model(model: &str) -> Served {
        Served::with(&super::manifest().join(model), &[])
    }

    pub fn with(model: &Path, words: &[&str]) -> Served {
        let mut process = Command::new(env!("CARGO_BIN_EXE_scrimp"))
            .arg("explore")
            .arg(model)
            .arg("--no-browser")
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command can be run");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("an address");
        Served::at(line.trim(), Some(process))
    }

    /// What is served at an address, by a process if it is not the test itself.
    pub fn at(address: &str, process: Option<Child>) -> Served {
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("an address: {address:?}"));
        let (port, secret) = rest.trim_end_matches('/').split_once('/').expect("a secret");
        let served = Served { port: port.parse().expect("a port"), secret: secret.to_string(), process };
        served.wait();
        served
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.secret)
    }

    /// Until the model is read.
    fn wait(&self) {
        let begun = Instant::now();
        while self.get("api/model").json().get("loading").is_some() {
            assert!(begun.elapsed().as_secs() < 60, "the model is not read");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends bytes and takes whatever comes back soon; `None` when that is no reply.
    pub fn send(&self, bytes: &[u8]) -> Option<Reply> {
        reply(&self.exchange(bytes, Duration::from_secs(2)))
    }

    /// Sends bytes and takes what comes back until the connection is closed, or nothing comes for a while.
    pub fn exchange(&self, bytes: &[u8], patience: Duration) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(patience)).expect("a timeout");
        // It may have closed the connection already: what it said counts.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// A request with these lines as headers, and its own host unless one is among them.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|line| line.to_ascii_lowercase().starts_with("host:")) {
            text += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        headers.iter().for_each(|line| text += &format!("{line}\r\n"));
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        let answer = self.exchange(format!("{text}\r\n{body}").as_bytes(), Duration::from_secs(30));
        reply(&answer).expect("a reply")
    }

    /// Asks for something behind the secret.
    #[track_caller]
    pub fn get(&self, path: &str) -> Reply {
        self.ask("GET", &format!("/{}/{path}", self.secret), &[], "")
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", &format!("/{}/{path}", self.secret), &["Content-Type: application/json"], &body.to_string())
    }

    /// Waits for what a check says at its end.
    #[track_caller]
    pub fn ended(&self) -> Value {
        let begun = Instant::now();
        loop {
            let told = self.get("api/check").json();
            if told["running"] == false {
                return told;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{told}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Bytes of memory that the program uses, where the system tells.
    pub fn memory(&self) -> Option<usize> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.trim().trim_end_matches(" kB").trim().parse::<usize>().ok()? << 10)
    }

    /// Has the program ended by itself?
    pub fn has_ended(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| process.try_wait().is_ok_and(|status| status.is_some()))
    }

    pub fn id(&self) -> u32 {
        self.process.as_ref().map_or_else(std::process::id, Child::id)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn reply(answer: &[u8]) -> Option<Reply> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut body = String::from_utf8_lossy(&answer[end + 4..]).into_owned();
    if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        body = unchunked(&body);
    }
    Some(Reply { status, head, body })
}

fn unchunked(text: &str) -> String {
    let (mut rest, mut whole) = (text, String::new());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let Ok(length) = usize::from_str_radix(length.trim(), 16) else { break };
        whole += after.get(..length).unwrap_or_default();
        rest = after.get(length + 2..).unwrap_or_default();
    }
    whole
}
