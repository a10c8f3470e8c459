//! What has passed before and has not changed since: a file `.scrimp/tests.json` in the folder of the models.
//!
//! It lies there and not in the user's own folders because it is about these models: it goes with the folder, a pipeline can
//! keep it by its path, and deleting the folder deletes it. A `.gitignore` beside it keeps it out of repositories.

use crate::opened::digest_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

const FOLDER: &str = ".scrimp";

/// The tests of one folder that have passed.
#[derive(Debug, Default)]
pub struct Cache {
    folder: PathBuf,
    /// By the model's name.
    passed: BTreeMap<String, Passed>,
}

/// A test that has passed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Passed {
    /// A digest of the program, its flags, and the model with its name.
    pub test: String,
    /// The files that were read, by the names under which they were opened, with digests of what was in them.
    pub files: BTreeMap<PathBuf, String>,
}

impl Passed {
    /// Is everything in these files as it was?
    pub fn stands(&self) -> bool {
        self.files.iter().all(|(path, digest)| !digest.is_empty() && digest_of(path) == *digest)
    }
}

impl Cache {
    /// What is known of the models in a folder. A file that cannot be read knows nothing.
    pub fn of(folder: &Path) -> Cache {
        let folder = folder.join(FOLDER);
        let text = std::fs::read(folder.join("tests.json")).unwrap_or_default();
        Cache { folder, passed: serde_json::from_slice(&text).unwrap_or_default() }
    }

    /// Has this test passed, with all files as they are now?
    pub fn has(&self, name: &str, test: &str) -> bool {
        self.passed.get(name).is_some_and(|known| known.test == test && known.stands())
    }

    pub fn get(&self, name: &str) -> Option<Passed> {
        self.passed.get(name).cloned()
    }

    pub fn set(&mut self, name: &str, passed: Option<Passed>) {
        match passed {
            Some(passed) => drop(self.passed.insert(name.to_string(), passed)),
            None => drop(self.passed.remove(name)),
        }
    }

    /// Replaces the file at once.
    pub fn save(&self) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let ignore = self.folder.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(ignore, "*\n")?;
        }
        let part = self.folder.join(format!("tests.{}.part", std::process::id()));
        std::fs::write(&part, serde_json::to_vec_pretty(&self.passed)?)?;
        std::fs::rename(part, self.folder.join("tests.json"))
    }
}
