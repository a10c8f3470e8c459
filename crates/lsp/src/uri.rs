//! Addresses of files, as editors write them.

use std::path::{Path, PathBuf};

/// The path of a `file:` address.
pub fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        match byte {
            b'%' => {
                let digits = [left.next()?, left.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // `/C:/…` is a path of Windows.
    let drive = cfg!(windows) && text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { &text[1..] } else { &text }))
}

/// The address of a file.
pub fn of(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~:".contains(&byte);
    let mut uri = format!("file://{slash}");
    for byte in text.bytes() {
        match plain(byte) {
            true => uri.push(byte as char),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_are_the_same_files() {
        for name in ["/a/b.pml", "/a b/ü%.dve"] {
            assert_eq!(path(&of(Path::new(name))).unwrap(), Path::new(name));
        }
        assert_eq!(path("file://host/a").unwrap(), Path::new("/a"));
        assert_eq!(path("untitled:1"), None);
        assert_eq!(path("file:///a%2"), None);
    }
}
