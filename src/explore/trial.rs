//! A text that is not saved, where another program can read it: in a folder of its own, in which everything that lies beside
//! the model's file seems to lie as well.

use super::claim_pair::Origin;
use scrimp_explorer::Refusal;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder; it is removed with this.
#[derive(Debug)]
pub struct Trial {
    folder: PathBuf,
    /// The text as a file.
    pub model: PathBuf,
    /// The folder that the text is meant to be in, as messages should call it.
    home: PathBuf,
}

impl Trial {
    pub fn of(origin: &Origin) -> Result<Trial, Refusal> {
        let failed = |e: io::Error| Refusal::conflict(format!("the text cannot be checked before it is saved: {e}"));
        let (model, text) = (&origin.opening.model, origin.text.as_deref().unwrap_or(""));
        let other = ["..", "\"/", "</"];
        let outside = |line: &str| line.contains("include") && other.iter().any(|sign| line.contains(sign));
        if text.lines().any(outside) {
            return Err(Refusal::conflict("this text includes files of other folders; save it to check it"));
        }
        let home = model.parent().unwrap_or(Path::new("")).to_path_buf();
        let name = model.file_name().unwrap_or_default();
        let folder = made().map_err(failed)?;
        let trial = Trial { model: folder.join(name), folder, home };
        let beside = if trial.home.as_os_str().is_empty() { Path::new(".") } else { &trial.home };
        let beside = fs::canonicalize(beside).map_err(failed)?;
        for entry in fs::read_dir(&beside).map_err(failed)?.flatten().filter(|entry| entry.file_name() != name) {
            std::os::unix::fs::symlink(entry.path(), trial.folder.join(entry.file_name())).map_err(failed)?;
        }
        fs::write(&trial.model, text).map_err(failed)?;
        Ok(trial)
    }

    /// A message about the text, with the names that the user knows.
    pub fn renamed(&self, message: &str) -> String {
        let home = self.home.display().to_string();
        let home = if home.is_empty() { home } else { format!("{home}/") };
        message.replace(&format!("{}/", self.folder.display()), &home)
    }
}

/// A new folder that nobody else can look into.
fn made() -> io::Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
        let folder = std::env::temp_dir().join(format!("scrimp-trial-{}-{number}-{since}", std::process::id()));
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&folder) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // Links are removed, and not what they lead to.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
