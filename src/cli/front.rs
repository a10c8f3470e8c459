//! `--front`: where the sweep-line stood and what was stored, line by line.

use super::failure::Failure;
use super::output::fail_later;
use scrimp::Front;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

pub struct FrontLog {
    file: RefCell<BufWriter<File>>,
    /// Why the log is not whole.
    lost: RefCell<Option<io::Error>>,
}

impl FrontLog {
    pub fn new(path: &Path) -> Result<FrontLog, Failure> {
        let failed = |e| Failure::at(path.display(), e);
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        writeln!(file, "sweep\tprogress\tstored\topen\tpersistent\tvisits").map_err(failed)?;
        Ok(FrontLog { file: RefCell::new(file), lost: RefCell::default() })
    }

    /// Writes one line for each place where the line stood. A disk that is full does not end the search.
    pub fn log(&self, front: Front, progress: &str) {
        let Front { sweep, stored, open, persistent, visits, .. } = front;
        let line = format!("{sweep}\t{progress}\t{stored}\t{open}\t{persistent}\t{visits}\n");
        if let Err(error) = self.file.borrow_mut().write_all(line.as_bytes()) {
            self.lost.replace(Some(error));
        }
    }

    /// Ends the log. That it could not be written is told after the answer, which is worth more.
    pub fn finish(self) {
        let flushed = self.file.into_inner().flush();
        if let Err(error) = self.lost.into_inner().map_or(flushed, Err) {
            fail_later(Failure::because(format!("the front's log cannot be written: {error}")));
        }
    }
}
