//! Files that are replaced at once or not at all.
//!
//! A file is written beside its place and moved there when it is whole, so that whenever the program is killed there is either
//! the old one or the new one. What a killed process has left beside it is taken away by the next one that writes there.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that are written at once.
const BLOCK: usize = 1 << 16;
/// Bytes that may wait to get to the disk: who ends the process waits for no more than those.
const WAITING: usize = 1 << 25;

/// The files that are being written.
static PARTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn parts() -> MutexGuard<'static, Vec<PathBuf>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is written of files that are not whole. For who ends the process: who writes them finds them gone.
pub fn discard_parts() {
    for part in parts().iter() {
        let _ = std::fs::remove_file(part);
    }
}

/// Writes a file; at any time there is the old one or the new one, complete.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A device or a pipe is written to: moving a file to its place would remove it.
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        let mut out = BufWriter::with_capacity(BLOCK, OpenOptions::new().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    remove_remains(path);
    let part = beside(path, name);
    parts().push(part.clone());
    let written = write_part(&part, write).and_then(|()| std::fs::rename(&part, path));
    parts().retain(|other| *other != part);
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
        return written;
    }
    // That the new name stays after a power failure is the directory's business. Not every system lets one ask for it.
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// The file that this process writes before it takes the place of another.
fn beside(path: &Path, name: &OsStr) -> PathBuf {
    let mut name = name.to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn write_part(part: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BLOCK, Steady { file: File::create(part)?, waiting: 0 });
    write(&mut out)?;
    out.into_inner()?.file.sync_all()
}

/// A file that gets to the disk while it is written, and not all at once in the end.
struct Steady {
    file: File,
    /// Bytes that may not be there yet.
    waiting: usize,
}

impl Write for Steady {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.waiting >= WAITING {
            self.file.sync_data()?;
            self.waiting = 0;
        }
        let written = self.file.write(bytes)?;
        self.waiting += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes what processes that are no more have left beside a file.
pub fn remove_remains(path: &Path) {
    let name = path.file_name().unwrap_or_default();
    let process = |file: &OsStr| {
        let rest = file.to_str()?.strip_prefix(name.to_str()?)?.strip_prefix('.')?;
        rest.strip_suffix(".part")?.parse::<u32>().ok()
    };
    // Where processes have no such folders, nothing is known of them.
    let is_gone =
        |process: u32| Path::new("/proc/self").exists() && !Path::new("/proc").join(process.to_string()).exists();
    for entry in std::fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        if process(&entry.file_name()).is_some_and(is_gone) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remains_are_removed() {
        let folder = std::env::temp_dir().join(format!("scrimp-replace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (gone, other) = (folder.join("file.4000000000.part"), folder.join("other.4000000000.part"));
        let (living, path) = (folder.join(format!("file.{}.part", std::process::id())), folder.join("file"));
        for file in [&gone, &other, &living] {
            std::fs::write(file, "half").unwrap();
        }
        replace(&path, |out| out.write_all(b"whole")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert!(other.exists() && !living.exists());
        assert_eq!(gone.exists(), !Path::new("/proc/self").exists());
        assert!(replace(&path, |_| Err(io::ErrorKind::StorageFull.into())).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
