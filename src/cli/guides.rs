//! What a search is guided by: the progress measure, the heuristic, and the log of the sweep-line's front.

use super::args::SearchArgs;
use super::{Failure, fail_later, limits};
use scrimp::plan::ForgetChoice;
use scrimp::{AutoOptions, Found, Front, Measure, NativeModel, Plan};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// The most memory to look for a measure with.
const MOST_FOR_AUTO: usize = 200 << 20;

pub struct Guide {
    pub progress: Option<Measure>,
    pub heuristic: Option<Measure>,
    front: Option<RefCell<BufWriter<File>>>,
    /// Why the log is not whole.
    lost: RefCell<Option<io::Error>>,
}

impl Guide {
    /// Reads what the user wrote, or finds what was left to be found; the plan then says which measure it is.
    pub fn new(args: &SearchArgs, model: &NativeModel, plan: &mut Plan) -> Result<Guide, Failure> {
        let heuristic = args.heuristic.as_ref().map(|text| Measure::parse(model.system(), text)).transpose()?;
        let progress = match &args.progress {
            None => None,
            Some(text) => Some(match automatic(text)? {
                None => Measure::parse(model.system(), text)?,
                Some(level) => find(model, level, plan),
            }),
        };
        let front = match &args.front {
            None => None,
            Some(_) if !matches!(plan.options.forget, ForgetChoice::Sweep(_)) => {
                return Err(Failure::because(
                    "there is no sweep-line to log; add --forget sweep, or leave --front out",
                ));
            }
            Some(path) => {
                let failed = |e| Failure::at(path.display(), e);
                let mut file = BufWriter::new(File::create(path).map_err(failed)?);
                writeln!(file, "sweep\tprogress\tstored\topen\tpersistent\tvisits").map_err(failed)?;
                Some(RefCell::new(file))
            }
        };
        Ok(Guide { progress, heuristic, front, lost: RefCell::default() })
    }

    pub fn logs(&self) -> bool {
        self.front.is_some()
    }

    /// Writes one line for each place where the line stood. A disk that is full does not end the search.
    pub fn log(&self, front: Front) {
        if let (Some(file), Some(measure)) = (&self.front, &self.progress) {
            let value = measure.show(front.progress);
            let Front { sweep, stored, open, persistent, visits, .. } = front;
            let line = format!("{sweep}\t{value}\t{stored}\t{open}\t{persistent}\t{visits}\n");
            if let Err(error) = file.borrow_mut().write_all(line.as_bytes()) {
                self.lost.replace(Some(error));
            }
        }
    }

    /// Ends the log. That it could not be written is told after the answer, which is worth more.
    pub fn finish(self) {
        let flushed = self.front.map_or(Ok(()), |file| file.into_inner().flush());
        if let Err(error) = self.lost.into_inner().map_or(flushed, Err) {
            fail_later(Failure::because(format!("the front's log cannot be written: {error}")));
        }
    }
}

/// Memory to look for a measure with: no more than this, and half of what is left.
fn room(plan: &Plan, most: usize) -> usize {
    let left = plan.memory.saturating_sub(scrimp::resident().unwrap_or(0));
    MOST_FOR_AUTO.min(most).min(left / 2)
}

/// A measure for a search that has to forget although nobody asked for that.
pub fn measure(model: &NativeModel, plan: &Plan) -> Found {
    let bytes = room(plan, plan.memory / 4);
    let options = AutoOptions { caching: true, bytes, seed: plan.options.seed, ..AutoOptions::default() };
    let measure = Measure::auto_until(model, options, &limits::stop()).measure;
    Found { text: measure.text(), measure: Box::new(move |state| measure.value(state)) }
}

/// `auto` and `auto:LEVEL`: the level, if one was given.
fn automatic(text: &str) -> Result<Option<Option<u8>>, Failure> {
    if text == "auto" {
        return Ok(Some(None));
    }
    match text.strip_prefix("auto:").map(|level| (level, level.parse::<u8>())) {
        None => Ok(None),
        Some((_, Ok(level @ 0..=5))) => Ok(Some(Some(level))),
        Some((level, _)) => {
            Err(Failure::because(format!("there is no level '{level}' of automatic progress; use 0 to 5")))
        }
    }
}

fn find(model: &NativeModel, level: Option<u8>, plan: &mut Plan) -> Measure {
    let caching = matches!(plan.options.forget, ForgetChoice::Sweep(Some(_)));
    let bytes = room(plan, plan.memory / 3);
    let seed = plan.options.seed;
    let options = AutoOptions { level, caching, bytes, seed, ..AutoOptions::default() };
    let found = Measure::auto_until(model, options, &limits::stop());
    plan.options.progress = Some(found.measure.text());
    found.measure
}
