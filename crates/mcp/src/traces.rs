//! Runs that were found, each under a number, until the server ends.

use serde_json::Value;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs that are kept, and bytes of these together; the oldest go first.
const MOST: usize = 64;
const MOST_BYTES: usize = 512 << 20;

/// A run of a model.
#[derive(Debug)]
pub struct Kept {
    pub number: u64,
    pub model: PathBuf,
    pub define: Vec<String>,
    /// What it shows, if anything.
    pub property: Option<Value>,
    pub steps: u64,
    /// The run as the command writes it.
    pub file: PathBuf,
    bytes: usize,
}

/// What a run is one of.
#[derive(Debug, Clone, Default)]
pub struct Of {
    pub model: PathBuf,
    pub define: Vec<String>,
    pub property: Option<Value>,
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

    /// Keeps a run of so many steps, which `trace` is the text of.
    pub fn keep(&self, of: Of, steps: u64, trace: &str) -> io::Result<u64> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.0 + 1;
        let file = self.folder.join(format!("{number}.json"));
        let Of { model, define, property } = of;
        let write =
            |mut out: File| out.write_all(b"{\"trace\":").and(out.write_all(trace.as_bytes())).and(out.write_all(b"}"));
        let written = File::create(&file).and_then(write);
        written.inspect_err(|_| drop(std::fs::remove_file(&file)))?;
        kept.1.push_back(Arc::new(Kept { number, model, define, property, steps, file, bytes: trace.len() }));
        kept.0 = number;
        while kept.1.len() > MOST || kept.1.iter().map(|kept| kept.bytes).sum::<usize>() > MOST_BYTES {
            let Some(oldest) = kept.1.pop_front() else { break };
            let _ = std::fs::remove_file(&oldest.file);
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
            assert_eq!(traces.keep(Of::default(), 0, "{}").unwrap(), number);
        }
        assert!(traces.get(1).unwrap_err().contains("from 2 to"));
        let file = traces.get(2).unwrap().file.clone();
        assert!(file.is_file());
        drop(traces);
        assert!(!file.exists());
    }
}
