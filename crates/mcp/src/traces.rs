//! Runs that were found, each under a number, until the server ends.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs that are kept; the oldest go first.
const MOST: usize = 64;

/// A run of a model.
#[derive(Debug)]
pub struct Kept {
    pub number: u64,
    pub model: PathBuf,
    pub define: Vec<String>,
    /// What it shows, if anything.
    pub property: Option<Value>,
    /// The run as the command writes it.
    pub file: PathBuf,
}

/// A folder of files that goes with the server.
#[derive(Debug)]
pub struct Traces {
    folder: PathBuf,
    kept: Mutex<(u64, VecDeque<Arc<Kept>>)>,
}

impl Traces {
    pub fn new() -> io::Result<Traces> {
        let mut noise = [0u8; 8];
        getrandom::fill(&mut noise).map_err(io::Error::other)?;
        let folder = std::env::temp_dir().join(format!("scrimp-mcp-{:016x}", u64::from_ne_bytes(noise)));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(Traces { folder, kept: Mutex::default() })
    }

    /// Keeps a run, which `trace` is the object of.
    pub fn keep(&self, model: &Path, define: &[String], property: Option<Value>, trace: &Value) -> io::Result<u64> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.0 + 1;
        let file = self.folder.join(format!("{number}.json"));
        std::fs::write(&file, json!({ "trace": trace }).to_string())?;
        let (model, define) = (model.to_path_buf(), define.to_vec());
        kept.1.push_back(Arc::new(Kept { number, model, define, property, file }));
        kept.0 = number;
        if kept.1.len() > MOST {
            let oldest = kept.1.pop_front();
            oldest.map(|oldest| std::fs::remove_file(&oldest.file));
        }
        Ok(number)
    }

    pub fn get(&self, number: u64) -> Result<Arc<Kept>, String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.1.iter().find(|kept| kept.number == number);
        found.cloned().ok_or_else(|| match kept.1.front().zip(kept.1.back()) {
            None => format!("there is no run {number}: none was found yet\nhelp: check or simulate a model"),
            Some((first, last)) => {
                format!("there is no run {number}\nhelp: those from {} to {} are kept", first.number, last.number)
            }
        })
    }

    /// Where a file that a command writes may lie.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_runs_go_first() {
        let traces = Traces::new().unwrap();
        assert!(traces.get(1).unwrap_err().contains("none was found"));
        for number in 1..=MOST as u64 + 1 {
            let kept = traces.keep(Path::new("m.pml"), &[], None, &json!({ "steps": [] })).unwrap();
            assert_eq!(kept, number);
        }
        assert!(traces.get(1).unwrap_err().contains("from 2 to"));
        let file = traces.get(2).unwrap().file.clone();
        assert!(file.is_file());
        drop(traces);
        assert!(!file.exists());
    }
}
