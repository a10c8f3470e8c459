//! A browser without a window, driven by the W3C's WebDriver protocol over a plain connection.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a page may take to do something before a test fails; machines can be busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// A browser with one page. It ends with the value that stands for it.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
}

impl Browser {
    /// `None`, saying so, where there is no browser.
    pub fn open() -> Option<Browser> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let chromium = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(program);
        let (Some(chromium), Some(driver)) = (chromium, program("chromedriver")) else {
            println!("skipped: there is no chromium or no chromedriver");
            return None;
        };
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let mut lines = BufReader::new(driver.stdout.take().expect("piped")).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("ChromeDriver was started successfully on port ")?.trim_end_matches('.').parse().ok()
        });
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let profile =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{}-{number}", std::process::id()));
        let mut browser = Browser { driver, port: port.expect("a port"), session: String::new(), profile };
        let mut arguments: Vec<String> = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,800",
        ]
        .map(String::from)
        .to_vec();
        arguments.push(format!("--user-data-dir={}", browser.profile.display()));
        let chrome = json!({ "binary": chromium, "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": chrome } } });
        let made = browser.call("POST", "/session", &wanted);
        browser.session = made["sessionId"].as_str().expect("a session").to_string();
        browser.size(1280, 800);
        Some(browser)
    }

    /// One command of the protocol.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n", self.port);
        let kind = "Content-Type: application/json; charset=utf-8";
        let request = format!("{head}{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).expect("chromedriver reads");
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).expect("a reply") > 2 {
            if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().expect("a length");
            }
            line.clear();
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).expect("the whole reply");
        let mut answer: Value = serde_json::from_slice(&answer).expect("JSON");
        let value = answer["value"].take();
        if let Some(error) = value.get("error").filter(|_| value.get("stacktrace").is_some()) {
            panic!("{error}: {}", value["message"]);
        }
        value
    }

    fn command(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("/session/{}/{path}", self.session), body)
    }

    /// A command of Chrome's own protocol.
    pub fn chrome(&self, command: &str, parameters: Value) -> Value {
        self.command("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// The size of the page, as if it were on a screen of that size.
    pub fn size(&self, width: u32, height: u32) {
        let mobile = width < 600;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.chrome("Emulation.setDeviceMetricsOverride", size);
    }

    pub fn dark(&self, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.chrome("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Opens an address, and waits until the page shows its first state.
    pub fn go(&self, address: &str) {
        self.command("url", &json!({ "url": address }));
        self.wait("document.body.dataset.ready === 'true'");
    }

    /// The value of an expression in the page.
    pub fn value(&self, expression: &str) -> Value {
        self.command("execute/sync", &json!({ "script": format!("return ({expression})"), "args": [] }))
    }

    /// Runs a script that calls its only argument with a value when it is done.
    pub fn later(&self, script: &str) -> Value {
        self.command("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// How many elements there are.
    pub fn count(&self, selector: &str) -> usize {
        self.value(&format!("document.querySelectorAll({}).length", json!(selector))).as_u64().unwrap_or(0) as usize
    }

    pub fn text(&self, selector: &str) -> String {
        let text = self.value(&format!("document.querySelector({})?.textContent ?? ''", json!(selector)));
        text.as_str().unwrap_or_default().to_string()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait(&self, expression: &str) {
        let begun = Instant::now();
        while self.value(&format!("Boolean({expression})")) != json!(true) {
            if begun.elapsed() > PATIENCE {
                self.picture("failed");
                let problem = self.text("#problem-text");
                panic!("not within {PATIENCE:?}: {expression}\nthe page says: {problem:?}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until nothing is asked of the server any more.
    #[track_caller]
    pub fn rest(&self) {
        self.wait("document.body.dataset.busy === undefined || document.body.dataset.busy === 'false'");
    }

    /// Clicks as a user does, where the element is seen.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.wait(&format!("document.querySelector({})", json!(selector)));
        let found = self.command("element", &json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().and_then(|map| map.values().next()?.as_str()).expect("an element").to_string();
        self.command(&format!("element/{id}/click"), &json!({}));
        self.rest();
    }

    /// Presses keys one after the other; WebDriver has characters of its own for those without one.
    #[track_caller]
    pub fn keys(&self, keys: &str) {
        for key in keys.chars() {
            let press = |kind: &str| json!({ "type": kind, "value": key.to_string() });
            let actions = json!([{ "type": "key", "id": "keys", "actions": [press("keyDown"), press("keyUp")] }]);
            self.command("actions", &json!({ "actions": actions }));
            self.rest();
        }
    }

    /// A picture of the page, where `SCRIMP_SCREENSHOTS` names a directory.
    pub fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("SCRIMP_SCREENSHOTS").map(PathBuf::from) else { return };
        let picture = self.call("GET", &format!("/session/{}/screenshot", self.session), &Value::Null);
        let bytes = base64(picture.as_str().unwrap_or_default());
        let _ = std::fs::create_dir_all(&folder);
        let _ = std::fs::write(folder.join(format!("{name}.png")), bytes);
    }

    /// What the page has complained of.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.command("se/log", &json!({ "type": "browser" }));
        let message = |entry: &Value| entry["message"].as_str().map(String::from);
        log.as_array().into_iter().flatten().filter_map(message).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        // The browser ends when its driver does.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// A program in the search path.
fn program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn base64(text: &str) -> Vec<u8> {
    let six = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for six in text.bytes().filter_map(six) {
        (bits, held) = (bits << 6 | six as u32, held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
