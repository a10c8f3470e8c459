//! What has passed before and has not changed since: a file `.scrimp/tests.json` in the folder of the models.
//!
//! It lies there and not in the user's own folders because it is about these models: it goes with the folder, a pipeline can
//! keep it by its path, and deleting the folder deletes it. A `.gitignore` beside it keeps it out of repositories.

use crate::watched::named;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

const FOLDER: &str = ".scrimp";

/// The tests of one folder that have passed.
#[derive(Debug, Default)]
pub struct Cache {
    folder: PathBuf,
    /// By the model's name, what it was made of.
    passed: BTreeMap<String, String>,
}

impl Cache {
    /// What is known of the models in a folder. A file that cannot be read knows nothing.
    pub fn of(folder: &Path) -> Cache {
        let folder = folder.join(FOLDER);
        let text = std::fs::read(folder.join("tests.json")).unwrap_or_default();
        Cache { folder, passed: serde_json::from_slice(&text).unwrap_or_default() }
    }

    pub fn has(&self, name: &str, key: &str) -> bool {
        self.passed.get(name).is_some_and(|known| known == key)
    }

    pub fn set(&mut self, name: &str, key: Option<String>) {
        match key {
            Some(key) => drop(self.passed.insert(name.to_string(), key)),
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

/// A digest of all that a test depends on: the program, its flags, the model, and every file that the model names in quotes and
/// that is there (what it includes, its components), and what these name.
pub fn key(build: &str, words: &[String], model: &Path, text: &[u8]) -> String {
    let mut sum = Sha256::new();
    let mut part = |bytes: &[u8]| {
        sum.update((bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    part(build.as_bytes());
    words.iter().for_each(|word| part(word.as_bytes()));
    // A flag may name a file too.
    for word in words {
        part(&std::fs::read(word).unwrap_or_default());
    }
    part(text);
    let home = model.parent().unwrap_or(Path::new(""));
    let mut seen = vec![model.to_path_buf()];
    let mut open = vec![(model.to_path_buf(), text.to_vec())];
    while let Some((path, text)) = open.pop() {
        for file in named(&path, &text) {
            if seen.contains(&file) || !file.is_file() {
                continue;
            }
            let content = std::fs::read(&file).unwrap_or_default();
            part(file.strip_prefix(home).unwrap_or(&file).as_os_str().as_encoded_bytes());
            part(&content);
            seen.push(file.clone());
            open.push((file, content));
        }
    }
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
