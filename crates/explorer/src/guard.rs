//! Who may ask: the page that was opened with the address this program printed, and no other.
//!
//! Three things are looked at. The secret at the beginning of the path, which only the user knows. The host, so that a
//! name that is made to point to this machine does not help a site to reach it. And what browsers say about where a request
//! comes from, so that a page of another site cannot use a secret that it has learnt.

use crate::http::Head;

#[derive(Debug, Clone)]
pub struct Guard {
    secret: String,
    port: u16,
    /// The page may be opened in a frame of another page, which says itself who may do so.
    framed: bool,
}

impl Guard {
    /// With a new secret of 128 random bits.
    pub fn new(port: u16) -> std::io::Result<Guard> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(e.to_string()))?;
        let secret = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Guard { secret, port, framed: false })
    }

    pub fn framed(self) -> Guard {
        Guard { framed: true, ..self }
    }

    /// What all paths begin with.
    pub fn prefix(&self) -> String {
        format!("/{}", self.secret)
    }

    /// Why a request is not answered, if it is not, with the status of the refusal.
    pub fn refuses(&self, head: &Head) -> Option<(u16, &'static str)> {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let mut named = head.all("host");
        let (Some(host), None) = (named.next(), named.next()) else {
            return Some((400, "a request needs one host"));
        };
        if !hosts.iter().any(|own| own == host) {
            return Some((403, "this is not the host of the explorer"));
        }
        // A request in absolute form may name another host than the header does.
        if head.authority.as_ref().is_some_and(|authority| !hosts.contains(authority)) {
            return Some((403, "this is not the host of the explorer"));
        }
        if head.all("origin").any(|origin| origin != format!("http://{host}")) {
            return Some((403, "requests from pages of other sites are refused"));
        }
        let own = head.all("sec-fetch-site").all(|site| matches!(site, "same-origin" | "none"));
        if !own && !self.opens_page(head) {
            return Some((403, "requests from pages of other sites are refused"));
        }
        let rest = head.path.strip_prefix('/').unwrap_or_default();
        let given = rest.split('/').next().unwrap_or_default();
        match same(given.as_bytes(), self.secret.as_bytes()) {
            true => None,
            false => Some((403, "the address has no secret; use the address that scrimp printed")),
        }
    }

    /// A link to the page itself may be anywhere, such as in a terminal that runs in the browser: what is shown then is the
    /// page, which whoever has set the link learns nothing of.
    fn opens_page(&self, head: &Head) -> bool {
        let fetch = [head.header("sec-fetch-mode"), head.header("sec-fetch-dest")];
        let shown = |dest| fetch == [Some("navigate"), Some(dest)];
        let whole = shown("document") || self.framed && shown("iframe");
        whole && head.method == "GET" && head.path == format!("/{}/", self.secret)
    }
}

/// Are they equal? It takes the same time wherever they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(method: &str, path: &str, pairs: &[(&str, &str)]) -> Head {
        let headers = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Head { method: method.into(), path: path.into(), headers, ..Head::default() }
    }

    #[test]
    fn only_the_own_page_is_answered() {
        let guard = Guard { secret: "abc".into(), port: 7, framed: false };
        let asked =
            |path: &str, pairs: &[(&str, &str)]| guard.refuses(&head("GET", path, pairs)).map(|(status, _)| status);
        let host = ("host", "127.0.0.1:7");
        assert_eq!(asked("/abc/api/model", &[host]), None);
        assert_eq!(asked("/abc/api/model", &[("host", "localhost:7"), ("origin", "http://localhost:7")]), None);
        assert_eq!(asked("/abc/", &[host, ("sec-fetch-site", "none")]), None);
        for path in ["/", "/abd/", "/ab/", "/abcd/", "/api/model", "//abc/", "/ABC/"] {
            assert_eq!(asked(path, &[host]), Some(403), "{path}");
        }
        assert_eq!(asked("/abc/", &[]), Some(400));
        assert_eq!(asked("/abc/", &[host, host]), Some(400));
        for other in ["127.0.0.1", "127.0.0.1:8", "evil.example:7", "127.0.0.1:7.evil.example", "[::1]:7"] {
            assert_eq!(asked("/abc/", &[("host", other)]), Some(403), "{other}");
        }
        let elsewhere = Head { authority: Some("evil.example".into()), ..head("GET", "/abc/", &[host]) };
        assert_eq!(guard.refuses(&elsewhere).map(|(status, _)| status), Some(403));
        for origin in ["http://evil.example", "null", "http://127.0.0.1:8", "https://127.0.0.1:7", "http://localhost:7"]
        {
            assert_eq!(asked("/abc/api/model", &[host, ("origin", origin)]), Some(403), "{origin}");
        }
        for site in ["cross-site", "same-site", "?"] {
            assert_eq!(asked("/abc/", &[host, ("sec-fetch-site", site)]), Some(403), "{site}");
        }
    }

    #[test]
    fn a_link_opens_the_page_and_nothing_else() {
        let guard = Guard { secret: "abc".into(), port: 7, framed: false };
        let asked_of = |guard: &Guard, method: &str, path: &str, dest: &str| {
            let pairs = [
                ("host", "127.0.0.1:7"),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", dest),
            ];
            guard.refuses(&head(method, path, &pairs)).is_none()
        };
        let asked = |method: &str, path: &str, dest: &str| asked_of(&guard, method, path, dest);
        assert!(asked("GET", "/abc/", "document"));
        assert!(!asked("GET", "/abc/", "iframe"));
        assert!(!asked("POST", "/abc/", "document"));
        assert!(!asked("GET", "/abc/api/model", "document"));
        assert!(!asked("GET", "/abd/", "document"));
        let framed = guard.clone().framed();
        assert!(asked_of(&framed, "GET", "/abc/", "iframe") && !asked_of(&framed, "GET", "/abc/api/model", "iframe"));
    }

    #[test]
    fn secrets_differ() {
        let [a, b] = [(); 2].map(|()| Guard::new(1).unwrap().prefix());
        assert!(a != b && a.len() == 33);
    }
}
