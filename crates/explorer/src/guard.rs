//! Who may ask: the page that was opened with the address this program printed, and no other.
//!
//! Three things are looked at. The secret at the beginning of the path, which only the user knows. The host, so that a
//! name that is made to point to this machine does not help a site to reach it. And what browsers say about where a request
//! comes from, so that a page of another site cannot use a secret that it has learnt.

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};

#[derive(Debug, Clone)]
pub struct Guard {
    secret: String,
    port: u16,
}

impl Guard {
    /// With a new secret of 128 random bits.
    pub fn new(port: u16) -> std::io::Result<Guard> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(e.to_string()))?;
        let secret = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Guard { secret, port })
    }

    /// What all paths begin with.
    pub fn prefix(&self) -> String {
        format!("/{}", self.secret)
    }

    /// Why a request is not answered, if it is not.
    pub fn refuses(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return Some((StatusCode::BAD_REQUEST, "a request needs one host"));
        };
        let Some(host) = host.to_str().ok().filter(|host| hosts.iter().any(|own| own == host)) else {
            return Some((StatusCode::FORBIDDEN, "this is not the host of the explorer"));
        };
        // A request in absolute form may name another host than the header does.
        if uri.authority().is_some_and(|authority| !hosts.iter().any(|own| own == authority.as_str())) {
            return Some((StatusCode::FORBIDDEN, "this is not the host of the explorer"));
        }
        if text("origin").is_some_and(|origin| origin != format!("http://{host}")) {
            return Some((StatusCode::FORBIDDEN, "pages of other sites are not answered"));
        }
        let own = matches!(text("sec-fetch-site"), None | Some("same-origin" | "none"));
        if !own && !self.opens_page(method, uri, &text) {
            return Some((StatusCode::FORBIDDEN, "pages of other sites are not answered"));
        }
        let rest = uri.path().strip_prefix('/').unwrap_or_default();
        let given = rest.split('/').next().unwrap_or_default();
        match same(given.as_bytes(), self.secret.as_bytes()) {
            true => None,
            false => Some((StatusCode::FORBIDDEN, "the address lacks its secret; use the one that scrimp has printed")),
        }
    }

    /// A link to the page itself may be anywhere, such as in a terminal that runs in the browser: what is shown then is the
    /// page, which whoever has set the link learns nothing of.
    fn opens_page<'a>(&self, method: &Method, uri: &Uri, text: &impl Fn(&str) -> Option<&'a str>) -> bool {
        let whole = text("sec-fetch-mode") == Some("navigate") && text("sec-fetch-dest") == Some("document");
        whole && method == Method::GET && uri.path() == format!("/{}/", self.secret)
    }
}

/// Are they equal? It takes the same time wherever they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    #[test]
    fn only_the_own_page_is_answered() {
        let guard = Guard { secret: "abc".into(), port: 7 };
        let asked = |path: &str, pairs: &[(&'static str, &'static str)]| {
            guard.refuses(&Method::GET, &path.parse().unwrap(), &headers(pairs)).map(|(status, _)| status.as_u16())
        };
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
        assert_eq!(asked("http://evil.example/abc/", &[host]), Some(403));
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
        let guard = Guard { secret: "abc".into(), port: 7 };
        let asked = |method: Method, path: &str, dest: &'static str| {
            let pairs = [
                ("host", "127.0.0.1:7"),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", dest),
            ];
            guard.refuses(&method, &path.parse().unwrap(), &headers(&pairs)).is_none()
        };
        assert!(asked(Method::GET, "/abc/", "document"));
        assert!(!asked(Method::GET, "/abc/", "iframe"));
        assert!(!asked(Method::POST, "/abc/", "document"));
        assert!(!asked(Method::GET, "/abc/api/model", "document"));
        assert!(!asked(Method::GET, "/abd/", "document"));
    }

    #[test]
    fn secrets_differ() {
        let [a, b] = [(); 2].map(|()| Guard::new(1).unwrap().prefix());
        assert!(a != b && a.len() == 33);
    }
}
