//! The text of the model: what stands in the file, what is wrong with a text, and how a text is written to the file.

use crate::LoadError;
use scrimp_explorer::Refusal;
use serde_json::{Value, json};
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a text that can be edited in the page.
const MOST_EDITED: u64 = 1 << 20;

/// What is wrong with a text, and where.
#[derive(Debug, Clone)]
pub struct Problem {
    /// As it is said on a terminal.
    pub shown: String,
    told: Value,
}

impl Problem {
    pub fn of(message: impl Into<String>) -> Problem {
        let shown = message.into();
        Problem { told: json!({ "message": shown }), shown }
    }

    /// As the page is told: lines and columns count from one, columns in characters.
    pub fn told(&self) -> &Value {
        &self.told
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Problem {
        let shown = error.to_string();
        let told = match error {
            LoadError::Model(found) => {
                let (source, span) = (&found.source, found.span);
                let marked = source.text.get(span.start as usize..span.end as usize).unwrap_or("");
                let marked = marked.lines().next().unwrap_or("").chars().count().max(1);
                json!({
                    "message": found.message, "help": found.help,
                    "file": span.part, "name": source.file_name(span.part),
                    "line": span.line, "column": span.column, "end_column": span.column as usize + marked,
                    "text": source.line(span).chars().take(400).collect::<String>(),
                })
            }
            LoadError::File { problem, .. } => json!({ "message": problem }),
            LoadError::Stopped(cause) => json!({ "message": format!("the text was not read to its end: {cause}") }),
        };
        Problem { shown, told }
    }
}

/// A warning as it is said on a terminal, `FILE:LINE:COLUMN: warning: …`, taken apart again.
pub fn warning(shown: &str) -> Value {
    let first = shown.lines().next().unwrap_or("");
    let parts = first.split_once(": warning: ").and_then(|(place, message)| {
        let (rest, column) = place.rsplit_once(':')?;
        let (name, line) = rest.rsplit_once(':')?;
        Some((name, line.parse::<u32>().ok()?, column.parse::<u32>().ok()?, message))
    });
    match parts {
        Some((name, line, column, message)) => {
            json!({ "message": message, "name": name, "line": line, "column": column, "end_column": column + 1 })
        }
        None => json!({ "message": first }),
    }
}

/// What stands in the file of the model.
#[derive(Debug, Clone)]
pub struct OnDisk {
    /// Tells contents apart.
    pub stamp: String,
    /// The text, with line ends as the file has them; or why it cannot be edited.
    pub text: Result<Arc<str>, String>,
    /// The text begins with a byte order mark.
    marked: bool,
}

impl OnDisk {
    pub fn read(path: &Path) -> io::Result<OnDisk> {
        let data = fs::metadata(path)?;
        if !data.is_file() || data.len() > MOST_EDITED {
            let why = format!("only ordinary files of at most {MOST_EDITED} bytes can be edited here");
            let stamp = format!("{:?} {}", data.modified().ok(), data.len());
            return Ok(OnDisk { stamp: format!("{:016x}", hash(stamp.as_bytes())), text: Err(why), marked: false });
        }
        Ok(OnDisk::of(fs::read(path)?))
    }

    fn of(bytes: Vec<u8>) -> OnDisk {
        let stamp = format!("{:016x}", hash(&bytes));
        let marked = bytes.starts_with(b"\xef\xbb\xbf");
        let text = match String::from_utf8(bytes) {
            Ok(text) if text.contains('\0') => Err("this is not a text".to_string()),
            Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).into()),
            Err(_) => Err("only texts in UTF-8 can be edited here, and only uncompressed ones".to_string()),
        };
        OnDisk { stamp, text, marked }
    }

    /// The text as the page has it, where every line ends alike.
    pub fn edited(&self) -> Option<String> {
        self.text.as_ref().ok().map(|text| text.replace("\r\n", "\n"))
    }

    /// Is this what the file says, apart from how lines end?
    pub fn says(&self, text: &str) -> bool {
        self.edited().is_some_and(|edited| edited == text)
    }
}

/// Writes a text to the file, if that is still as whoever wrote the text knows it: they name its stamp, or want it overwritten.
/// The file is replaced as a whole, so that nobody reads half a text and a full disk loses nothing.
pub fn save(path: &Path, text: &str, stamp: Option<&str>) -> Result<OnDisk, Refusal> {
    let failed = |e: io::Error| Refusal::conflict(format!("the file cannot be saved: {e}"));
    if text.len() as u64 > MOST_EDITED {
        return Err(Refusal::wrong(format!("texts of at most {MOST_EDITED} bytes can be edited here")));
    }
    // A link stays a link.
    let path = fs::canonicalize(path).map_err(failed)?;
    let there = OnDisk::read(&path).map_err(failed)?;
    if stamp.is_some_and(|stamp| stamp != there.stamp) {
        return Err(Refusal::conflict("the file was changed by another program; load it again, or save all the same"));
    }
    let before = there.text.as_ref().map_err(|why| Refusal::conflict(why.clone()))?;
    // Lines end as the first line of the file does.
    let returns = before.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'));
    let mut bytes = if there.marked { "\u{feff}".to_string() } else { String::new() };
    bytes.push_str(&if returns { text.replace('\n', "\r\n") } else { text.to_string() });
    let (folder, name) = (path.parent().unwrap_or(Path::new("/")), path.file_name().unwrap_or_default());
    let beside = folder.join(format!(".{}.saving-{}", name.to_string_lossy(), std::process::id()));
    let written = write_new(&beside, bytes.as_bytes())
        .and_then(|()| fs::set_permissions(&beside, fs::metadata(&path)?.permissions()))
        .and_then(|()| fs::rename(&beside, &path));
    if let Err(error) = written {
        let _ = fs::remove_file(&beside);
        return Err(failed(error));
    }
    Ok(OnDisk::of(bytes.into_bytes()))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn file(name: &str, bytes: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("scrimp-text-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn saved_texts_keep_how_lines_end_and_what_they_begin_with() {
        let path = file("ends", b"\xef\xbb\xbfa\r\nb\r\n");
        let there = OnDisk::read(&path).unwrap();
        assert_eq!(there.edited().as_deref(), Some("a\nb\n"));
        let saved = save(&path, "a\nc\n", Some(&there.stamp)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"\xef\xbb\xbfa\r\nc\r\n");
        assert!(saved.stamp == OnDisk::read(&path).unwrap().stamp && saved.says("a\nc\n"));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_another_program_has_written_is_not_lost() {
        let path = file("other", b"one\n");
        let known = OnDisk::read(&path).unwrap();
        fs::write(&path, "two\n").unwrap();
        assert_eq!(save(&path, "three\n", Some(&known.stamp)).unwrap_err().status, 409);
        assert_eq!(fs::read(&path).unwrap(), b"two\n");
        save(&path, "three\n", None).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three\n");
        fs::write(&path, b"caf\xe9\n").unwrap();
        assert!(save(&path, "four\n", None).is_err(), "no text in UTF-8");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn warnings_are_taken_apart() {
        let told = warning("a:b.pml:3:14: warning: odd\n  x\n  ^");
        assert_eq!((&told["name"], &told["line"], &told["message"]), (&json!("a:b.pml"), &json!(3), &json!("odd")));
        assert_eq!(warning("just odd")["message"], "just odd");
    }
}
