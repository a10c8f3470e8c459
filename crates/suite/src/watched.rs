//! Files that change while somebody looks: which files belong to a model, and whether one of them has changed.
//!
//! Which they are is found in the text alone, so that it is known of a model with errors too, and of a file that is missing.

use crate::case::digest;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes of a file whose contents are compared; of a longer one, its length and when it was changed.
const MOST_COMPARED: u64 = 4 << 20;
/// A file that was changed so lately may be changed again without another time.
const LATELY: Duration = Duration::from_secs(3);
/// Ends of files that name no others, and may be long.
const NAME_NONE: [&str; 4] = ["aut", "pnml", "xml", "gz"];
/// Bytes of a name in a text that may be one of a file.
const LONGEST: usize = 255;

/// A file that is watched, as it was when it was last looked at.
#[derive(Debug)]
pub struct Seen {
    pub path: PathBuf,
    data: Option<(SystemTime, u64)>,
    digest: u64,
}

impl Seen {
    /// A file that nobody has read yet.
    pub fn new(path: PathBuf) -> Seen {
        let mut seen = Seen { path, data: None, digest: 0 };
        seen.look();
        seen
    }

    /// A file that was read after `begun`: if it was changed after that as well, nobody knows which contents were read.
    pub fn after(path: PathBuf, begun: SystemTime) -> Seen {
        let mut seen = Seen::new(path);
        if seen.data.is_none_or(|(changed, _)| changed >= begun) {
            (seen.data, seen.digest) = (None, 1);
        }
        seen
    }

    /// A file that was not there.
    pub fn missing(path: PathBuf) -> Seen {
        Seen { path, data: None, digest: 0 }
    }

    /// Looks again. Has it changed?
    pub fn look(&mut self) -> bool {
        let data = fs::metadata(&self.path).ok();
        let data = data.map(|data| (data.modified().unwrap_or(SystemTime::UNIX_EPOCH), data.len()));
        let long_ago = |(changed, _): (SystemTime, u64)| changed.elapsed().is_ok_and(|since| since > LATELY);
        if data == self.data && data.is_some_and(long_ago) {
            return false;
        }
        let digest = match data {
            None => 0,
            Some((_, length)) if length <= MOST_COMPARED => {
                fs::read(&self.path).map_or(0, |bytes| digest(&bytes).max(2))
            }
            Some(long) => digest(format!("{long:?}").as_bytes()).max(2),
        };
        let changed = digest != self.digest;
        (self.data, self.digest) = (data, digest);
        changed
    }
}

/// A model's file with all that belong to it: those that it names in quotes (what it includes, its components) or after
/// `#include <`, those that they name, and so on. A file that is named and not there belongs to it as well, where the name looks
/// like one of a file.
pub fn belonging(model: &Path) -> Vec<PathBuf> {
    let mut all = vec![model.to_path_buf()];
    let mut next = 0;
    while let Some(path) = all.get(next).cloned() {
        next += 1;
        if path.extension().is_some_and(|end| NAME_NONE.iter().any(|none| end == *none)) {
            continue;
        }
        for file in fs::read(&path).map_or(Vec::new(), |text| named(&path, &text)) {
            if !all.contains(&file) && (file.is_file() || looks_like_one(&file)) {
                all.push(file);
            }
        }
    }
    all
}

/// What a file's text has in quotes, or after `#include <`, as files beside it.
pub fn named(path: &Path, text: &[u8]) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(text);
    let quoted = text.split('"').skip(1).step_by(2);
    let in_angles = text.split("#include <").skip(1).filter_map(|rest| Some(rest.split_once('>')?.0));
    let folder = path.parent().unwrap_or(Path::new(""));
    let may_be = |name: &&str| !name.is_empty() && name.len() <= LONGEST && !name.contains(['\n', '\0']);
    quoted.chain(in_angles).filter(may_be).map(|name| folder.join(name)).collect()
}

/// Is this the name of a file, and not a text that is printed?
fn looks_like_one(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_+.".contains(c);
    path.extension().is_some_and(|end| !end.is_empty()) && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("scrimp-watched-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_that_is_changed_is_seen_to_be() {
        let folder = folder("seen");
        let path = folder.join("a.pml");
        fs::write(&path, "one\n").unwrap();
        let mut seen = Seen::after(path.clone(), SystemTime::now() + LATELY);
        assert!(!seen.look());
        fs::write(&path, "eno\n").unwrap();
        assert!(seen.look() && !seen.look());
        fs::remove_file(&path).unwrap();
        assert!(seen.look() && !seen.look());
        fs::write(&path, "one\n").unwrap();
        assert!(Seen::after(path.clone(), SystemTime::now() - Duration::from_secs(60)).look(), "read before or after?");
        assert!(!Seen::new(path).look());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_belongs_to_a_model_is_found_in_its_text() {
        let folder = folder("belonging");
        let text = "#include \"a.h\"\n#include <b.h>\nproctype P() { printf(\"x %d.\\n\", 1); printf(\"done.\") }";
        fs::write(folder.join("m.pml"), text).unwrap();
        fs::write(folder.join("b.h"), "#include \"m.pml\"\n#include \"in/c.h\"\n").unwrap();
        let found = belonging(&folder.join("m.pml"));
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(&folder).unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["m.pml", "a.h", "b.h", "in/c.h"]);
        assert_eq!(belonging(&folder.join("none.pml")), [folder.join("none.pml")]);
        fs::remove_dir_all(folder).unwrap();
    }
}
