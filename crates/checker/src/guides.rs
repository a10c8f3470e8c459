//! What a search is guided by: the progress measure and the heuristic, as the user wrote them or as they are found.

use crate::error::CheckError;
use scrimp_core::budget::resident;
use scrimp_native::NativeModel;
use scrimp_progress::{AutoOptions, Measure};
use scrimp_search::plan::ForgetChoice;
use scrimp_search::{FoundMeasure, Options, Plan, checkpoint};
use scrimp_system::{Stop, System};

/// The most memory to look for a measure with.
const MOST_FOR_AUTO: usize = 200 << 20;

/// The measures that a plan goes by.
#[derive(Default)]
pub struct Measures {
    pub progress: Option<Measure>,
    pub heuristic: Option<Measure>,
}

/// Refuses measures that mean nothing for the system; what is found by itself is found when it is needed.
pub fn admit(system: &System, options: &Options) -> Result<(), CheckError> {
    let written = options.progress.iter().filter(|text| !matches!(automatic(text), Ok(Some(_))));
    for text in written.chain(&options.heuristic) {
        automatic(text)?;
        Measure::parse(system, text)?;
    }
    Ok(())
}

impl Measures {
    /// Reads what the user wrote, or finds what was left to be found; the plan then says which measure it is.
    pub fn new(model: &NativeModel, plan: Plan, stop: &Stop) -> Result<(Measures, Plan), CheckError> {
        let read = |text: &String| Measure::parse(model.system(), text);
        let heuristic = plan.options().heuristic.as_ref().map(read).transpose()?;
        let Some(text) = plan.options().progress.clone() else {
            return Ok((Measures { progress: None, heuristic }, plan));
        };
        // What was found when the search began is the measure of the rest.
        let saved = plan.options().resume.as_ref().map(|path| checkpoint::measure(path)).transpose()?.flatten();
        let (progress, plan) = match (automatic(&text)?, saved) {
            (None, _) => (read(&text)?, plan),
            (Some(_), Some(text)) => {
                let measure = read(&text)?;
                let plan = plan.measured(measure.text());
                (measure, plan)
            }
            (Some(level), None) => {
                let caching = matches!(plan.options().forget, ForgetChoice::Sweep(Some(_)));
                let bytes = room(&plan, plan.memory() / 3);
                let seed = plan.options().seed;
                let options = AutoOptions { level, caching, bytes, seed, ..AutoOptions::default() };
                let measure = Measure::auto_until(model, options, stop).measure;
                let plan = plan.measured(measure.text());
                (measure, plan)
            }
        };
        Ok((Measures { progress: Some(progress), heuristic }, plan))
    }
}

/// A measure for a search that has to forget although nobody asked for that.
pub fn find_measure(model: &NativeModel, plan: &Plan, stop: &Stop) -> FoundMeasure {
    let bytes = room(plan, plan.memory() / 4);
    let options = AutoOptions { caching: true, bytes, seed: plan.options().seed, ..AutoOptions::default() };
    let measure = Measure::auto_until(model, options, stop).measure;
    FoundMeasure { text: measure.text(), measure: Box::new(move |state| measure.value(state)) }
}

/// Memory to look for a measure with: no more than this, and half of what is left.
fn room(plan: &Plan, most: usize) -> usize {
    let left = plan.memory().saturating_sub(resident().unwrap_or(0));
    MOST_FOR_AUTO.min(most).min(left / 2)
}

/// `auto` and `auto:LEVEL`: the level, if one was given.
fn automatic(text: &str) -> Result<Option<Option<u8>>, CheckError> {
    if text == "auto" {
        return Ok(Some(None));
    }
    match text.strip_prefix("auto:").map(|level| (level, level.parse::<u8>())) {
        None => Ok(None),
        Some((_, Ok(level @ 0..=5))) => Ok(Some(Some(level))),
        Some((level, _)) => Err(CheckError::Asked(format!("--progress auto:{level}: expected a level from 0 to 5"))),
    }
}
