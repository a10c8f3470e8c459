//! The results file: one record a line, written as runs end, read again to go on where a run was cut off.

use crate::record::Record;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;

/// A results file open for more; no other run can write to it meanwhile.
pub struct Log {
    file: File,
}

/// Reads all records. A last line that was cut off while it was written is left out; anything else that is no record
/// is an error with its line.
pub fn read(path: &Path) -> Result<Vec<Record>, String> {
    let name = path.display();
    let text = std::fs::read(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!("{name}: error: there is no such file"),
        _ => format!("{name}: error: {e}"),
    })?;
    records(&name.to_string(), &text).map(|(records, _)| records)
}

/// The records, and how many bytes of the text they take.
fn records(name: &str, text: &[u8]) -> Result<(Vec<Record>, u64), String> {
    let mut records = Vec::new();
    let mut used = 0;
    for (number, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        let whole = line.ends_with(b"\n");
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice(line) {
                Ok(record) if whole => records.push(record),
                Err(error) if whole || !cut_off(line) => {
                    let column = error.column();
                    let error = error.to_string();
                    let message = error.split(" at line ").next().unwrap_or(&error);
                    return Err(format!(
                        "{name}:{}:{column}: error: this line is not a record of a run: {message}",
                        number + 1
                    ));
                }
                _ => break,
            }
        }
        used += line.len() as u64;
    }
    Ok((records, used))
}

/// Whether a line may be the beginning of a record, so that a file of another kind is never taken for a cut-off one.
fn cut_off(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"key\":";
    line.iter().zip(BEGINNING).all(|(a, b)| a == b)
}

impl Log {
    /// Opens the file, drops a half-written last line, and answers what is in it.
    pub fn open(path: &Path, fresh: bool) -> Result<(Log, Vec<Record>), String> {
        let name = path.display().to_string();
        let failed = |e: io::Error| format!("{name}: error: {e}");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(format!("{name}: error: another run is writing to it"));
            }
            // A file system without locks.
            Err(std::fs::TryLockError::Error(_)) | Ok(()) => {}
        }
        let text = if fresh { Vec::new() } else { std::fs::read(path).map_err(failed)? };
        let (records, used) =
            records(&name, &text).map_err(|message| format!("{message}\nhelp: --fresh starts the file over"))?;
        file.set_len(used).map_err(failed)?;
        let mut log = Log { file };
        log.file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        Ok((log, records))
    }

    /// Writes a record as one line, in one call.
    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.flush()
    }
}
