//! A directory of one's own for files that live as long as the search.
//!
//! Where the system allows it, a file's name is taken away as soon as the file is open: its space comes back by itself,
//! whatever ends the process. The directory goes when nothing uses it any more; that of a process which was killed goes when the
//! next one makes its own beside it. Whether a directory is in use is told by a lock on it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Scratch {
    dir: PathBuf,
    files: AtomicU64,
    /// Bytes in files now, the most there were, and the most there may be.
    bytes: AtomicU64,
    peak: AtomicU64,
    most: u64,
    /// Held as long as the directory is in use.
    _lock: Option<File>,
}

impl Scratch {
    /// A fresh directory under `parent`, for files of at most so many bytes in all.
    pub fn new(parent: &Path, most: u64) -> io::Result<Arc<Scratch>> {
        remove_remains(parent);
        allow_many_files();
        let process = std::process::id();
        for number in 0u32.. {
            let dir = parent.join(format!("scrimp-{process}-{number}"));
            match std::fs::create_dir(&dir).and_then(|()| locked(&dir)) {
                // Before it was locked, another process may have taken it for a remain.
                Ok(_) if !dir.is_dir() => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound && parent.is_dir() => continue,
                Ok(lock) => {
                    let zero = || AtomicU64::new(0);
                    return Ok(Arc::new(Scratch {
                        dir,
                        files: zero(),
                        bytes: zero(),
                        peak: zero(),
                        most,
                        _lock: lock,
                    }));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => {
                    let _ = std::fs::remove_dir(&dir);
                    let message = format!("cannot create a folder for states in {}: {error}", parent.display());
                    return Err(io::Error::new(error.kind(), message));
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The most bytes that there were in files at one time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// A new, empty file.
    pub fn file(self: &Arc<Scratch>) -> io::Result<Arc<Growing>> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.join(format!("{number}.states"));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(|e| self.explain("cannot make a file", e))?;
        let nameless = cfg!(unix) && std::fs::remove_file(&path).is_ok();
        let path = (!nameless).then_some(path);
        Ok(Arc::new(Growing { file, path, len: AtomicU64::new(0), scratch: self.clone() }))
    }

    /// A file for each of several threads; none where there is one thread only.
    pub fn files(self: &Arc<Scratch>, threads: usize) -> io::Result<Vec<Arc<Growing>>> {
        (0..if threads > 1 { threads } else { 0 }).map(|_| self.file()).collect()
    }

    fn explain(&self, what: &str, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{what} in {}: {error}", self.dir.display()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Every thread has a file of its own for each sorted run: more than many systems allow unless they are asked.
fn allow_many_files() {
    #[cfg(unix)]
    // SAFETY: the system fills in the limits, and is given them back with the softer one raised. Where it does not let us, it stays.
    unsafe {
        let mut limits: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limits) == 0 && limits.rlim_cur < limits.rlim_max {
            limits.rlim_cur = limits.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limits);
        }
    }
}

/// A directory with a lock on it; nothing where somebody else has it, or the system has no such locks.
fn locked(dir: &Path) -> io::Result<Option<File>> {
    if !cfg!(unix) {
        return Ok(None);
    }
    let dir = File::open(dir)?;
    Ok(dir.try_lock().is_ok().then_some(dir))
}

/// Removes the directories of processes that were killed.
fn remove_remains(parent: &Path) {
    let numbers = |name: &str| {
        let (process, number) = name.strip_prefix("scrimp-")?.split_once('-')?;
        Some((process.parse::<u32>().ok()?, number.parse::<u32>().ok()?))
    };
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| numbers(name).is_some());
        let Some(_lock) = is_ours.then(|| locked(&entry.path()).ok().flatten()).flatten() else { continue };
        // A file has its name for a moment only.
        for file in std::fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|ending| ending == "states") {
                let _ = std::fs::remove_file(file.path());
            }
        }
        // Whatever else is in it is not ours.
        let _ = std::fs::remove_dir(entry.path());
    }
}

/// A file that is only appended to, and read anywhere.
pub struct Growing {
    file: File,
    path: Option<PathBuf>,
    len: AtomicU64,
    scratch: Arc<Scratch>,
}

impl Growing {
    pub fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    pub fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let scratch = &self.scratch;
        let now = scratch.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        let at = self.len.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if now > scratch.most {
            let full = io::Error::new(io::ErrorKind::StorageFull, "the limit on bytes written is reached");
            return Err(scratch.explain("cannot write", full));
        }
        scratch.peak.fetch_max(now, Ordering::Relaxed);
        system::write(&self.file, bytes, at).map_err(|e| scratch.explain("cannot write", e))
    }

    /// Fills `bytes` with what was written at this place.
    pub fn read(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        system::read(&self.file, bytes, at).map_err(|e| self.scratch.explain("cannot read", e))
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        self.scratch.bytes.fetch_sub(self.len(), Ordering::Relaxed);
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    pub fn write(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        file.write_all_at(bytes, at)
    }

    pub fn read(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
        file.read_exact_at(bytes, at)
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom, Write};

    pub fn write(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    pub fn read(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(bytes)
    }
}
