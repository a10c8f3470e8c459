//! Which files a check reads: its process says so, a line of standard error for each, before it opens the file. No look at the text
//! of a model tells as much, for what it includes may be known to its macros alone.

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Set for processes that are to say it.
pub const ASKED: &str = "SCRIMP_TELL_OPENED";

/// A file, and what was in it just before it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub path: PathBuf,
    pub digest: String,
}

/// Says that a file is opened now.
pub fn tell(path: &Path) {
    let line = json!({ "opened": path.to_string_lossy(), "digest": digest_of(path) });
    // In one piece, so that no other line comes between.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// What was said so.
pub fn told(line: &str) -> Option<Opened> {
    let line: Json = serde_json::from_str(line).ok()?;
    Some(Opened { path: line["opened"].as_str()?.into(), digest: line["digest"].as_str()?.to_string() })
}

/// A digest of the content of a file; nothing where there is no such file.
pub fn digest_of(path: &Path) -> String {
    let mut sum = Sha256::new();
    // Opening a pipe could wait for ever.
    let file = path.is_file().then(|| File::open(path).ok()).flatten();
    match file.and_then(|mut file| io::copy(&mut file, &mut sum).ok()) {
        Some(_) => written(sum),
        None => String::new(),
    }
}

/// A digest of these parts.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut sum = Sha256::new();
    for part in parts {
        if parts.len() > 1 {
            sum.update((part.len() as u64).to_le_bytes());
        }
        sum.update(part);
    }
    written(sum)
}

fn written(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_understood() {
        let said = told("{\"opened\":\"a b.pml\",\"digest\":\"12\"}");
        assert_eq!(said, Some(Opened { path: "a b.pml".into(), digest: "12".into() }));
        assert!(told("{\"states\":3}").is_none() && told("warning: opened").is_none());
        let file = std::env::temp_dir().join(format!("scrimp-opened-{}", std::process::id()));
        std::fs::write(&file, "text").unwrap();
        assert_eq!(digest_of(&file), digest(&[b"text"]));
        std::fs::remove_file(&file).unwrap();
        assert_eq!((digest_of(&file), digest_of(&std::env::temp_dir())), (String::new(), String::new()));
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    }
}
