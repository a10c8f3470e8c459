//! The lines of a run that is shown while it is made: some are kept back until there are enough to know how wide columns are.

use crate::cli::failure::Failure;
use crate::cli::output::{print, remark, style, style_of_errors};
use scrimp::report::trace::{Columns, Row};

/// Lines that are shown together.
const BLOCK: usize = 200;

pub struct Transcript {
    columns: Columns,
    waiting: Vec<Row>,
    /// The run is written in another form, and only what there is to say of it is told here: on standard error.
    aside: bool,
}

impl Transcript {
    /// For the run of a model with these processes.
    pub fn new(processes: &[String], aside: bool) -> Transcript {
        let mut columns = Columns::new(if aside { style_of_errors() } else { style() });
        columns
            .expect(&processes.iter().map(|name| Row { process: name.clone(), ..Row::default() }).collect::<Vec<_>>());
        Transcript { columns, waiting: Vec::new(), aside }
    }

    /// Adds lines, which are shown soon.
    pub fn add(&mut self, rows: Vec<Row>) -> Result<(), Failure> {
        // What is wrong is always told.
        self.waiting.extend(rows.into_iter().filter(|row| !self.aside || row.wrong.is_some()));
        if self.waiting.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    /// Shows all lines that wait.
    pub fn flush(&mut self) -> Result<(), Failure> {
        match std::mem::take(&mut self.waiting) {
            none if none.is_empty() => Ok(()),
            rows => {
                let lines = self.columns.lines(&rows);
                self.out(&lines)
            }
        }
    }

    /// Shows a part of the run itself.
    pub fn show(&mut self, lines: &str) -> Result<(), Failure> {
        if self.aside { Ok(()) } else { self.say(lines) }
    }

    /// Shows what there is to say of the run.
    pub fn say(&mut self, lines: &str) -> Result<(), Failure> {
        self.flush()?;
        self.out(lines)
    }

    fn out(&self, lines: &str) -> Result<(), Failure> {
        if self.aside {
            remark(lines);
            return Ok(());
        }
        print(lines)
    }

    pub fn columns(&self) -> &Columns {
        &self.columns
    }
}
