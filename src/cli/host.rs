//! The command line as the host of searches: shows how far they have come, logs the sweep-line's front, keeps their records.

use super::args::SearchArgs;
use super::failure::Failure;
use super::front::FrontLog;
use super::limits::{self, begun};
use super::output::remark;
use super::watch::{Watch, Work};
use scrimp::report::Record;
use scrimp::{Control, Found, Front, Host, Plan, Report};
use scrimp_search::plan::Way;
use std::sync::Arc;
use std::time::Duration;

/// Hands what was found, with the record of how that went, to `tell`.
pub struct Screen<'a, F: FnMut(Found, Option<Record>)> {
    args: &'a SearchArgs,
    tell: F,
    watch: Option<Watch>,
    log: Option<FrontLog>,
    record: Option<Record>,
    /// When the search at hand began, in seconds since the work did.
    began: f64,
    told_growth: bool,
    begins_again: bool,
}

impl<'a, F: FnMut(Found, Option<Record>)> Screen<'a, F> {
    /// Opens the files that are written while a search runs.
    pub fn new(args: &'a SearchArgs, tell: F) -> Result<Screen<'a, F>, Failure> {
        let log = args.front.as_deref().map(FrontLog::new).transpose()?;
        Ok(Screen {
            args,
            tell,
            watch: None,
            log,
            record: None,
            began: 0.0,
            told_growth: args.quiet,
            begins_again: false,
        })
    }

    /// The work is over.
    pub fn finish(self) {
        if let Some(log) = self.log {
            log.finish();
        }
    }
}

impl<F: FnMut(Found, Option<Record>)> Host for Screen<'_, F> {
    fn begin(&mut self, plan: &Plan, time: Option<Duration>) -> Arc<Control> {
        let control = limits::control(time);
        self.began = begun().elapsed().as_secs_f64();
        let what = match std::mem::take(&mut self.begins_again) {
            true => "starting over: more room",
            false => work(plan.way()),
        };
        self.watch =
            Some(Watch::new(&control, self.args, Work { what, by_level: plan.is_by_level(), memory: plan.memory() }));
        control
    }

    fn end(&mut self, plan: &Plan, control: &Control, report: &Report) {
        let explicit = !matches!(plan.way(), Way::Symbolic | Way::Bounded | Way::Gpu);
        let time = if explicit { report.elapsed } else { control.elapsed() };
        let record = self.watch.take().and_then(|watch| watch.finish(report, time));
        match (&mut self.record, record) {
            // Several searches that answer one question are told as one.
            (Some(all), Some(one)) => all.append(one, self.began),
            (all, one) => *all = all.take().or(one),
        }
    }

    fn wants_front(&self) -> bool {
        self.log.is_some() || self.watch.as_ref().is_some_and(Watch::records)
    }

    fn front(&self, front: Front, progress: String) {
        if let Some(log) = &self.log {
            log.log(front, &progress);
        }
        if let Some(watch) = &self.watch {
            watch.note(front);
        }
    }

    fn begins_again(&mut self, missing: &str) {
        self.begins_again = true;
        if !std::mem::replace(&mut self.told_growth, true) {
            remark(&format!("{missing} than a first look at the model has shown; the search starts again"));
        }
    }

    fn found(&mut self, found: Found) {
        let mut record = self.record.take().filter(|_| !found.beside);
        if let Some(record) = &mut record {
            record.levels = found.report.facts.level_sizes.clone();
        }
        (self.tell)(found, record);
    }
}

/// What a search does, in a word or two.
fn work(way: Way) -> &'static str {
    match way {
        Way::Cycles | Way::Swarm | Way::TogetherComponents | Way::SweptCycles => "looking for cycles",
        Way::Local | Way::OnGraph => "deciding CTL",
        Way::Symbolic => "computing sets",
        Way::Bounded => "solving",
        _ => "searching",
    }
}
