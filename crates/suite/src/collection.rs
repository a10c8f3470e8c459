//! Collections of models that a suite needs and does not bring along: what they are called, where they can be had, and a checksum
//! that tells whether they are the same. Nothing is ever fetched from here.

use crate::document::{Node, Read, Value, Wrong};
use crate::pattern;
use crate::scope::Scope;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Collection {
    name: String,
    url: String,
    /// What names its files: a path, or a pattern.
    path: PathBuf,
}

impl Collection {
    /// Whether a file, or a pattern of files, would be in it.
    pub fn has(&self, file: &Path) -> bool {
        file.starts_with(base(&self.path))
    }

    pub fn where_to_get(&self) -> String {
        format!("it is part of {}, which can be had from {}", self.name, self.url)
    }
}

/// Reads what a suite declares, one table or a list of them, and checks what is there.
pub fn read(node: Option<&Node>, scope: &Scope, folder: &Path) -> Read<Vec<Collection>> {
    let Some(node) = node else { return Ok(Vec::new()) };
    match &node.value {
        Value::List(list) => list.iter().map(|node| one(node, scope, folder)).collect(),
        _ => Ok(vec![one(node, scope, folder)?]),
    }
}

fn one(node: &Node, scope: &Scope, folder: &Path) -> Read<Collection> {
    let table = node.table(&["name", "url", "path", "sha256"])?;
    let name = table.need("name")?.text()?.to_string();
    let url = table.need("url")?.text()?.to_string();
    let written = scope.needed_text(table.need("path")?)?;
    let beside = pattern::tidy(&folder.join(&written));
    let found = pattern::files(&beside);
    let (path, files) = match found.is_empty() {
        true => (beside, pattern::files(Path::new(&written))),
        false => (beside, found),
    };
    let path = if files.iter().any(|file| !file.starts_with(base(&path))) { PathBuf::from(&written) } else { path };
    let collection = Collection { name, url, path };
    let Some(sum) = table.get("sha256") else { return Ok(collection) };
    let wanted = sum.text()?.trim().to_ascii_lowercase();
    if wanted.len() != 64 || !wanted.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(Wrong::new(&sum.at, "a SHA-256 sum is written as 64 hexadecimal digits"));
    }
    if files.is_empty() {
        // What is missing is said where a model is looked for.
        return Ok(collection);
    }
    let found = checksum(&collection.path, &files).map_err(|error| Wrong::new(&sum.at, error))?;
    match found == wanted {
        true => Ok(collection),
        false => {
            let count = scrimp_report::number::count_of(files.len() as u64, "file");
            let message =
                format!("{} is not what the suite was written for: {count} with the sum {found}", collection.name);
            let help = format!(
                "get it from {}; where other files are meant, change the sum or take this line out",
                collection.url
            );
            Err(Wrong::new(&sum.at, message).help(help))
        }
    }
}

/// The part of a pattern before its first sign.
fn base(pattern: &Path) -> PathBuf {
    let is_plain = |part: &std::path::Component| !part.as_os_str().to_string_lossy().contains(['*', '?']);
    pattern.components().take_while(is_plain).collect()
}

/// Of one file its sum, as `sha256sum` has it; of the files of a pattern the sum of the lines that `LC_ALL=C sha256sum PATTERN`
/// prints in the folder where the pattern begins.
fn checksum(path: &Path, files: &[PathBuf]) -> Result<String, String> {
    let base = base(path);
    if let [only] = files
        && *only == base
    {
        return of_file(only);
    }
    let name = |file: &PathBuf| file.strip_prefix(&base).unwrap_or(file).to_string_lossy().into_owned();
    let mut names: Vec<(String, &PathBuf)> = files.iter().map(|file| (name(file), file)).collect();
    names.sort();
    let mut all = Sha256::new();
    for (name, file) in names {
        all.update(format!("{}  {name}\n", of_file(file)?));
    }
    Ok(hex(all))
}

fn of_file(path: &Path) -> Result<String, String> {
    let mut sum = Sha256::new();
    let read = File::open(path).and_then(|mut file| io::copy(&mut file, &mut sum));
    read.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    Ok(hex(sum))
}

fn hex(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
