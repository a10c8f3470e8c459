//! One model through many configurations of the program: every verdict is the expected one, every count is right where the
//! configuration is exact, every run that is found can be run.

use crate::configuration::Configuration;
use crate::inquiry;
use crate::language::{Answer, Expected};
use crate::replay::{replay, replay_run};
use scrimp::properties::{Asked, evaluated, model_assertions};
use scrimp::temporal::{Context, decide};
use scrimp::{
    AutoOptions, Control, Grows, Guides, Loaded, Measure, Mode, NativeModel, Options, Plan, Property, PropertyResult,
    Question, Refusal, Report, System, Verdict, facts, parse_property, run_engine,
};
use scrimp_core::{AsExpression, Condition, PropertyKind};
use scrimp_search::{FairnessChoice, FoundMeasure};
use scrimp_system::{Expr, Random, Role};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What a search may take. The models are small: one that takes longer is told of.
const PATIENCE: Duration = Duration::from_millis(800);

/// What was done with a model.
#[derive(Debug, Default)]
pub struct Tally {
    pub configurations: u64,
    /// Verdicts and counts that were held against what is expected.
    pub comparisons: u64,
    pub replayed: u64,
    /// Searches that did not come to an end, or that the program does not do: why, and how often.
    pub left_out: BTreeMap<String, u64>,
}

impl Tally {
    pub fn leave_out(&mut self, why: impl Into<String>) {
        *self.left_out.entry(why.into()).or_default() += 1;
    }

    pub fn add(&mut self, other: &Tally) {
        self.configurations += other.configurations;
        self.comparisons += other.comparisons;
        self.replayed += other.replayed;
        for (why, often) in &other.left_out {
            *self.left_out.entry(why.clone()).or_default() += often;
        }
    }
}

/// A model file, opened anew for whoever changes what is opened.
pub struct Matrix<'a> {
    pub open: &'a dyn Fn() -> Result<Loaded, String>,
    /// For the files of searches.
    pub folder: &'a Path,
    pub expected: &'a Expected,
}

/// What a search should say, and how it is called.
struct Wanted<'a> {
    answers: Vec<&'a Answer>,
    /// Is it the model itself that is searched, and not what is left of it without its claim?
    whole: bool,
    way: &'a Configuration,
    options: &'a Options,
}

impl Matrix<'_> {
    /// Takes the model through the plain configuration and some that are drawn. Says what is wrong, in one line.
    pub fn run(&self, random: &mut Random, ways: usize, tally: &mut Tally) -> Result<(), String> {
        let mut loaded = (self.open)()?;
        // What is asked, but of the claim, is asked of the model without it.
        let mut apart = loaded.system.claim.is_some().then(|| self.without_claim()).transpose()?;
        let measures = measures(&loaded.system);
        for number in 0..=ways {
            let (way, options) = match number {
                0 => (Configuration::plain(), Configuration::plain().options(self.folder)?),
                _ => self.draw(random, &measures)?,
            };
            tally.configurations += 1;
            // Each way answers some of the questions about runs, the plain one all.
            let chosen = (number > 0).then(|| random.next());
            let models = (&mut loaded, apart.as_mut());
            self.search(models, &way, &options, chosen, tally).map_err(|wrong| format!("{wrong} ({way})"))?;
        }
        Ok(())
    }

    fn without_claim(&self) -> Result<Loaded, String> {
        let mut loaded = (self.open)()?;
        loaded.take_claim().map_err(|e| e.to_string())?;
        Ok(loaded)
    }

    /// A configuration that the program accepts.
    fn draw(&self, random: &mut Random, measures: &[String]) -> Result<(Configuration, Options), String> {
        for _ in 0..200 {
            let way = Configuration::draw(random, measures);
            let options = way.options(self.folder)?;
            if Plan::admit(&options).is_ok() {
                return Ok((way, options));
            }
        }
        Err("no configuration that was drawn is accepted".into())
    }

    fn search(
        &self,
        (loaded, apart): (&mut Loaded, Option<&mut Loaded>),
        way: &Configuration,
        options: &Options,
        chosen: Option<u64>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        if let Some(net) = &loaded.net {
            let net = net.clone();
            let wanted = Wanted { answers: Vec::new(), whole: true, way, options };
            if way.counts() && chosen.is_none_or(|number| number.is_multiple_of(2)) {
                self.states(loaded, &wanted, tally)?;
            }
            return inquiry::ask(net, self.expected, way, options, chosen, tally);
        }
        let about_runs = |answer: &Answer| -> Result<bool, String> {
            let property = parse_property(&loaded.system, &answer.property).map_err(|e| e.to_string())?;
            Ok(property.kind.is_about_runs())
        };
        let (mut states, mut runs) = (Vec::new(), Vec::new());
        for answer in self.expected.answers.iter().filter(|answer| answer.property != "claim") {
            if about_runs(answer)? { runs.push(answer) } else { states.push(answer) }
        }
        // What is asked together makes more visible than what is asked alone: drawn ways ask some of it.
        if let Some(chosen) = chosen {
            let some: Vec<&Answer> =
                states.iter().enumerate().filter(|(i, _)| chosen >> (8 + i) & 1 == 1).map(|(_, a)| *a).collect();
            states = if some.is_empty() { states } else { some };
        }
        // Searches end at what decides them: counting is a search by itself.
        let count = way.counts() && (self.expected.states.is_some() || states.is_empty());
        if count && chosen.is_none_or(|number| number.is_multiple_of(2)) {
            let wanted = Wanted { answers: Vec::new(), whole: true, way, options };
            self.states(loaded, &wanted, tally)?;
        }
        let whole = apart.is_none();
        let loaded = apart.unwrap_or(loaded);
        if !states.is_empty() {
            self.states(loaded, &Wanted { answers: states, whole, way, options }, tally)?;
        }
        let all = runs.len();
        for (number, answer) in runs.into_iter().enumerate() {
            if chosen.is_none_or(|chosen| chosen as usize % all == number) {
                let mut options = options.clone();
                options.fair = if answer.fair { FairnessChoice::weak() } else { FairnessChoice::default() };
                self.runs(loaded, &Wanted { answers: vec![answer], whole, way, options: &options }, tally)?;
            }
        }
        for answer in self.expected.answers.iter().filter(|answer| answer.property == "claim") {
            self.claim(&Wanted { answers: vec![answer], whole, way, options }, tally)?;
        }
        Ok(())
    }

    /// One search for all properties of states, or one that counts.
    fn states(&self, loaded: &mut Loaded, wanted: &Wanted, tally: &mut Tally) -> Result<(), String> {
        let work = |model: &NativeModel| -> Result<Tally, String> {
            let mut tally = Tally::default();
            let mut asked = Asked::default();
            let mut parts: Vec<Range<usize>> = Vec::new();
            for answer in &wanted.answers {
                let parsed = parse_property(model.system(), &answer.property).map_err(|e| e.to_string())?;
                let begin = asked.states.len();
                asked.add(model.system(), parsed);
                parts.push(begin..asked.states.len());
            }
            if asked.states.is_empty() && !wanted.answers.is_empty() {
                // Of what the model does not have, everything is true.
                let broken = wanted.answers.iter().find(|answer| !answer.holds);
                return broken.map_or(Ok(tally), |a| Err(format!("{}: violated, but nothing is asked", a.property)));
            }
            let states = evaluated(model, &asked.states);
            let Some(report) = self.search_states(model, &states, wanted, &mut tally)? else { return Ok(tally) };
            if wanted.whole && (wanted.answers.is_empty() || report.exhaustive) {
                self.counts(&report, wanted.way, &mut tally)?;
            }
            for (answer, part) in wanted.answers.iter().zip(parts) {
                let results = &report.properties[part.clone()];
                verdict(answer, results, &report, wanted.way, &mut tally)?;
                for (result, property) in results.iter().zip(&states[part]) {
                    replayed(model, result, property, &mut tally)?;
                }
            }
            Ok(tally)
        };
        let done = loaded.with_model(wanted.way.mode(), work).map_err(|e| e.to_string())??;
        tally.add(&done);
        Ok(())
    }

    /// What a search finds; `None` where the program does not do it, or does not come to an end.
    fn search_states(
        &self,
        model: &NativeModel,
        properties: &[Property<Condition>],
        wanted: &Wanted,
        tally: &mut Tally,
    ) -> Result<Option<Report>, String> {
        let Wanted { way, options, .. } = wanted;
        let plan = match planned(model, properties, options) {
            Ok(plan) => plan,
            Err(refusal) => {
                tally.leave_out(refusal.reason);
                return Ok(None);
            }
        };
        let measure = way.measure().map(|text| measure(model, text, options)).transpose()?;
        let heuristic = way.heuristic().map(|text| measure_of(model, text)).transpose()?;
        let progress = measure.as_ref().map(|measure| |state: &[u8]| measure.value(state));
        let heuristic = heuristic.as_ref().map(|measure| |state: &[u8]| measure.value(state));
        let find_measure = || {
            let found =
                Measure::auto(model, AutoOptions { caching: true, bytes: 1 << 20, ..Default::default() }).measure;
            FoundMeasure { text: found.text(), measure: Box::new(move |state| found.value(state)) }
        };
        let guides = Guides {
            progress: progress.as_ref().map(|f| f as &scrimp_search::Guide),
            heuristic: heuristic.as_ref().map(|f| f as &scrimp_search::Guide),
            find_measure: Some(&find_measure),
            ..Guides::default()
        };
        let control = Control::new(Some(PATIENCE));
        ended(run_engine(model, properties, &plan, &control, guides), way, tally)
    }

    /// Are the counts those that are expected, where this configuration counts exactly?
    fn counts(&self, report: &Report, way: &Configuration, tally: &mut Tally) -> Result<(), String> {
        if !report.exhaustive || report.limit.is_some() || report.omission.is_some() || report.reduced {
            return Ok(());
        }
        let mut compare = |what: &str, expected: Option<u64>, found: Option<String>| match (expected, found) {
            (Some(expected), Some(found)) if expected.to_string() != found => {
                Err(format!("{found} {what}, not {expected}"))
            }
            (Some(_), Some(_)) => {
                tally.comparisons += 1;
                Ok(())
            }
            _ => Ok(()),
        };
        let Expected { states, transitions, deadlocks, faults, ref levels, .. } = *self.expected;
        if let Some(sets) = &report.sets {
            compare("states", states, Some(sets.states.clone()))?;
            return compare("transitions", transitions, sets.transitions.clone());
        }
        if report.formulas.is_some() {
            return Ok(());
        }
        compare("different states", states, report.audited.map(|number| number.to_string()))?;
        if !report.once {
            return Ok(());
        }
        compare("states", states, Some(report.facts.states.to_string()))?;
        let all_events = way.explores_every_event().then(|| report.facts.transitions.to_string());
        compare("transitions", transitions, all_events.clone())?;
        compare("deadlocks", deadlocks, all_events.is_some().then(|| report.facts.deadlocks.to_string()))?;
        compare("faults", faults, all_events.is_some().then(|| report.facts.faults.to_string()))?;
        match levels {
            Some(levels) if way.is_plain() && *levels != report.facts.level_sizes => {
                Err(format!("levels of {:?} states, not {levels:?}", report.facts.level_sizes))
            }
            _ => Ok(()),
        }
    }

    /// A search for a run that breaks one property.
    fn runs(&self, loaded: &mut Loaded, wanted: &Wanted, tally: &mut Tally) -> Result<(), String> {
        let answer = wanted.answers[0];
        let work = |model: &NativeModel| -> Result<Tally, String> {
            let mut tally = Tally::default();
            let parsed = parse_property(model.system(), &answer.property).map_err(|e| e.to_string())?;
            self.decided(model, &parsed, answer, wanted, &mut tally)?;
            Ok(tally)
        };
        let done = loaded.with_model(wanted.way.mode(), work).map_err(|e| e.to_string())??;
        tally.add(&done);
        Ok(())
    }

    /// Decides a property of runs and compares. Gives the verdict, where there is one.
    fn decided(
        &self,
        model: &NativeModel,
        property: &Property<Expr>,
        answer: &Answer,
        wanted: &Wanted,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let Wanted { way, options, .. } = wanted;
        let plan = match planned(model, std::slice::from_ref(property), options) {
            Ok(plan) => plan,
            Err(refusal) => {
                tally.leave_out(refusal.reason);
                return Ok(());
            }
        };
        let measure = way.measure().map(|text| measure(model, text, options)).transpose()?;
        let progress = measure.as_ref().map(|measure| |state: &[u8]| measure.value(state));
        let progress = progress.as_ref().map(|f| f as &scrimp_search::Guide);
        let control = Control::new(Some(PATIENCE));
        let means = Context { plan: &plan, control: &control, fair: &[], progress, cluster: None };
        let Some(report) = ended(decide(model, property, &means), way, tally)? else { return Ok(()) };
        verdict(answer, &report.properties, &report, way, tally)?;
        let result = &report.properties[0];
        // A search with sets need not have a run to show, and a formula of branching time need not have one at all.
        let shows = result.trace.is_some() && !matches!(property.kind, PropertyKind::Ctl(_));
        if result.verdict == Verdict::Violated && shows {
            let other = NativeModel::new(model.system().clone(), Mode::Interpreted).map_err(|e| e.to_string())?;
            replay_run(&other, result, &property.kind, answer.fair)
                .map_err(|wrong| format!("{}: a run that is none: {wrong}", answer.property))?;
            tally.replayed += 1;
        }
        Ok(())
    }

    /// What the model's claim says: whether it comes to its end, and what it accepts.
    fn claim(&self, wanted: &Wanted, tally: &mut Tally) -> Result<(), String> {
        let mut loaded = (self.open)()?;
        let answer = wanted.answers[0];
        let taken = loaded.take_claim().map_err(|e| e.to_string())?;
        if let Some(claim) = taken {
            let property = claim.property("claim");
            let model = NativeModel::new(loaded.system.clone(), wanted.way.mode()).map_err(|e| e.to_string())?;
            return self.decided(&model, &property, answer, wanted, tally);
        }
        loaded.add_claim().map_err(|e| e.to_string())?;
        // What a reduction leaves out, a claim might see.
        let whole = Options { reduce: scrimp::plan::ReduceChoice::Nothing, dont_care: false, ..wanted.options.clone() };
        let wanted = Wanted { answers: Vec::new(), whole: true, way: wanted.way, options: &whole };
        let mut broken = false;
        let mut known = true;
        let ends = |model: &NativeModel| -> Result<(Option<Report>, Tally), String> {
            let mut tally = Tally::default();
            let properties = model_assertions(model);
            let report = self.search_states(model, &properties, &wanted, &mut tally)?;
            Ok((report, tally))
        };
        let (report, done) = loaded.with_model(wanted.way.mode(), ends).map_err(|e| e.to_string())??;
        tally.add(&done);
        match report {
            None => known = false,
            Some(report) => {
                broken |= report.properties.iter().any(|p| p.verdict == Verdict::Violated);
                known &= report.properties.iter().all(|p| p.verdict != Verdict::Undecided);
            }
        }
        let accepts =
            loaded.system.claim.iter().any(|c| !loaded.system.processes[c.process.index()].accepting.is_empty());
        if accepts {
            // Once more with a larger system where it turns out to be too small.
            let report = loop {
                let Some(apart) = loaded.extracted_claim().map_err(|e| e.to_string())? else { break None };
                let model = NativeModel::new(apart.system.clone(), wanted.way.mode()).map_err(|e| e.to_string())?;
                let property = apart.property("claim");
                let control = Control::new(Some(PATIENCE));
                let Ok(plan) = Plan::new(&whole, std::slice::from_ref(&property), &facts(&model, &whole)) else {
                    break None;
                };
                let means = Context { plan: &plan, control: &control, fair: &[], progress: None, cluster: None };
                let report = ended(decide(&model, &property, &means), wanted.way, tally)?;
                if !loaded.grow(&model).map_err(|e| e.to_string())? {
                    break report;
                }
            };
            match report {
                None => known = false,
                Some(report) => {
                    broken |= report.properties.iter().any(|p| p.verdict == Verdict::Violated);
                    known &= report.properties.iter().all(|p| p.verdict != Verdict::Undecided);
                }
            }
        }
        if broken == answer.holds && (known || broken) {
            return Err(format!("the claim is said to be {}", if broken { "violated" } else { "kept" }));
        }
        tally.comparisons += 1;
        Ok(())
    }
}

/// The plan of a search with as much of the options as it can use.
fn planned<C: AsExpression>(
    model: &NativeModel,
    properties: &[Property<C>],
    options: &Options,
) -> Result<Plan, Refusal> {
    let facts = facts(model, options);
    Ok(Plan::as_far_as_possible(options, Question::of(properties, options, &facts)?, &facts)?.0)
}

/// The report of a search that came to its end; otherwise it is noted why not.
fn ended(report: io::Result<Report>, way: &Configuration, tally: &mut Tally) -> Result<Option<Report>, String> {
    match report {
        Ok(report) => {
            if let Some(limit) = report.limit {
                tally.leave_out(format!("limit of {limit:?} with engine {}", way.engine()));
            }
            Ok(Some(report))
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            tally.leave_out(error.to_string());
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory && way.is_tiny() => {
            tally.leave_out("no memory to begin with");
            Ok(None)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Is the answer to a question, which one or several results give together, the expected one?
fn verdict(
    answer: &Answer,
    results: &[PropertyResult],
    report: &Report,
    way: &Configuration,
    tally: &mut Tally,
) -> Result<(), String> {
    let any = |verdict: Verdict| results.iter().any(|result| result.verdict == verdict);
    let property = &answer.property;
    if let (Some(steps), true) = (answer.steps, way.is_plain()) {
        let shown = results.iter().filter_map(|result| result.trace.as_ref()).map(|trace| trace.steps.len()).min();
        if shown.is_some_and(|shown| shown != steps) {
            return Err(format!("{property}: shown by {} events, not by {steps}", shown.unwrap_or_default()));
        }
    }
    if any(Verdict::Violated) == answer.holds && any(Verdict::Violated) {
        return Err(format!("{property}: said to be violated"));
    }
    if any(Verdict::Violated) || !any(Verdict::Undecided) {
        tally.comparisons += 1;
        return match any(Verdict::Violated) == answer.holds {
            true => Err(format!("{property}: said to be verified")),
            false if report.omission.is_some() && answer.holds && results.iter().any(|r| r.trace.is_none()) => {
                Err(format!("{property}: said to be verified by a store that may miss states"))
            }
            false => Ok(()),
        };
    }
    // A condition of a claim may be evaluated where the claim never asks for it.
    let said = report.remarks.iter().any(|remark| remark.contains("ended in a fault"));
    let excused = report.limit.is_some() || report.omission.is_some() || way.may_give_up() || said;
    if excused { Ok(()) } else { Err(format!("{property}: left undecided without a reason")) }
}

/// Does a run that was found show what it should, by a model that did not find it?
fn replayed(
    model: &NativeModel,
    result: &PropertyResult,
    property: &Property<Condition>,
    tally: &mut Tally,
) -> Result<(), String> {
    let Some(trace) = &result.trace else { return Ok(()) };
    let other = NativeModel::new(model.system().clone(), Mode::Interpreted).map_err(|e| e.to_string())?;
    tally.replayed += 1;
    replay(&other, trace, property).map_err(|wrong| format!("{}: a run that is none: {wrong}", property.name))
}

/// A progress measure in the words of the command line.
fn measure(model: &NativeModel, text: &str, given: &Options) -> Result<Measure, String> {
    let level = match text.split_once(':') {
        _ if text == "auto" => None,
        Some(("auto", level)) => level.parse().ok(),
        _ => return measure_of(model, text),
    };
    let caching = matches!(given.forget, scrimp::plan::ForgetChoice::Sweep(Some(_)));
    let options = AutoOptions { level, caching, bytes: 1 << 20, seed: given.seed, ..AutoOptions::default() };
    Ok(Measure::auto(model, options).measure)
}

fn measure_of(model: &NativeModel, text: &str) -> Result<Measure, String> {
    Measure::parse(model.system(), text).map_err(|e| e.to_string())
}

/// Expressions over a system that measure something.
fn measures(system: &Arc<System>) -> Vec<String> {
    let scalar = system.variables.iter().filter(|v| v.role == Role::Data && v.length.is_none());
    let names = scalar.map(|variable| variable.name.clone());
    let mut texts: Vec<String> = names.filter(|name| Measure::parse(system, name).is_ok()).take(3).collect();
    let negated: Vec<String> = texts.iter().map(|name| format!("-{name}")).collect();
    texts.extend(negated);
    texts
}
