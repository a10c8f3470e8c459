//! A check by a thread of this process, of a model in Rust.

use super::{Check, Checker, Running, Trial, Work, lock};
use crate::report::record::Sample;
use crate::report::{Subject, json, number};
use crate::walk::exact_json;
use crate::{Batch, Control, DescribedModel, ModelFacts, Options, Plan, Property, run};
use scrimp_core::Condition;
use scrimp_explorer::{CheckOptions, Refusal};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often figures are taken.
const EVERY: Duration = Duration::from_millis(100);

/// Checks a model that was given with its properties.
#[derive(Clone)]
pub struct Thread {
    pub model: Arc<dyn DescribedModel + Send>,
    pub name: String,
    pub properties: Arc<[Property<Condition<'static>>]>,
}

impl Checker for Thread {
    fn prepare(&self, properties: &[String], options: &CheckOptions, _: Option<Trial>) -> Result<Work, Refusal> {
        let chosen = self.chosen(properties)?;
        let properties: Vec<Property<Condition>> =
            chosen.iter().map(|number| self.properties[*number].lent()).collect();
        let mut initial = Batch::new(self.model.state_bytes());
        self.model.initial(&mut initial);
        let measured = |known: &dyn Fn(&[u8]) -> bool| !initial.is_empty() && known(initial.state(0));
        let guided = (
            measured(&|state| self.model.progress(state).is_some()),
            measured(&|state| self.model.heuristic(state).is_some()),
        );
        let plan = plan(options, &properties, &ModelFacts::of(&*self.model), guided)?;
        drop(properties);
        let control = Arc::new(Control::new(plan.options().time));
        let (checker, running) = (self.clone(), Some(Running::Search(control.clone())));
        // A model under development may panic, while it is searched or when it tells of what was found.
        let run = move |check: &Mutex<Check>| {
            let work = AssertUnwindSafe(|| checker.run(&chosen, &plan, &control, check));
            catch_unwind(work).unwrap_or_else(|panic| Err(panicked(&*panic)))
        };
        Ok(Work { command: None, running, run: Box::new(run) })
    }
}

impl Thread {
    /// The numbers of the properties with these names.
    fn chosen(&self, names: &[String]) -> Result<Vec<usize>, Refusal> {
        let names: Vec<&str> = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
        let known = |name: &str| self.properties.iter().any(|property| property.name.trim() == name);
        if let Some(name) = names.iter().find(|name| !known(name)) {
            return Err(Refusal::wrong(format!(
                "'{name}' is no property of this model: those of a model in Rust are given by its program"
            )));
        }
        let wanted = |number: &usize| names.is_empty() || names.contains(&self.properties[*number].name.trim());
        Ok((0..self.properties.len()).filter(wanted).collect())
    }

    fn run(&self, chosen: &[usize], plan: &Plan, control: &Control, check: &Mutex<Check>) -> Result<(), String> {
        let properties: Vec<Property<Condition>> =
            chosen.iter().map(|number| self.properties[*number].lent()).collect();
        let over = AtomicBool::new(false);
        let searched = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| watch(control, &over, check));
            let work = AssertUnwindSafe(|| run(&*self.model, &properties, plan, control));
            let searched = catch_unwind(work);
            over.store(true, Ordering::Release);
            watcher.thread().unpark();
            searched
        });
        let report = searched.unwrap_or_else(|panic| resume_unwind(panic)).map_err(|e| e.to_string())?;
        let subject =
            Subject { name: &self.name, model: &*self.model, plan, report: &report, coverage: None, record: None };
        let mut answer = json::report(&subject);
        for (number, property) in report.properties.iter().enumerate() {
            answer["properties"][number]["trace"] = exact_json(&*self.model, property).into();
        }
        let (last, seconds) = (Sample::last(control.figures(), &report), report.elapsed.as_secs_f64());
        let mut check = lock(check);
        check.sample(last.object(1, seconds, last.figures.visits as f64 / seconds.max(1e-9), control));
        check.answer = Some(answer);
        Ok(())
    }
}

/// Takes figures until the search is over.
fn watch(control: &Control, over: &AtomicBool, check: &Mutex<Check>) {
    let (mut before, mut then) = (0, Duration::ZERO);
    loop {
        std::thread::park_timeout(EVERY);
        if over.load(Ordering::Acquire) {
            return;
        }
        let now = control.elapsed();
        if now < then + EVERY || control.is_finished() {
            continue;
        }
        let sample = Sample::of(control.figures());
        let rate = sample.figures.visits.saturating_sub(before) as f64 / (now - then).as_secs_f64();
        lock(check).sample(sample.object(1, now.as_secs_f64(), rate, control));
        (before, then) = (sample.figures.visits, now);
    }
}

/// How to search, as the form of the page says it.
fn plan(
    options: &CheckOptions,
    properties: &[Property<Condition>],
    facts: &ModelFacts,
    (progress, heuristic): (bool, bool),
) -> Result<Plan, Refusal> {
    let CheckOptions { memory, time, threads, order, store, reduce, engine, forget, fair, keep_going } = options;
    let given = |value: &Option<String>| value.as_ref().map(|v| v.trim().to_string()).filter(|v| !v.is_empty());
    if given(engine).is_some_and(|engine| engine != "explicit") {
        return Err(Refusal::wrong("a model in Rust has only the explicit engine"));
    }
    if given(fair).is_some() {
        return Err(Refusal::wrong("fairness is for properties of infinite runs, and none is asked for"));
    }
    let (order, store, forget) = (given(order), given(store), given(forget));
    let begins = |value: &Option<String>, with: &str| value.as_ref().is_some_and(|value| value.starts_with(with));
    let by_progress = begins(&order, "progress") || begins(&forget, "sweep");
    let by_promise = begins(&order, "best");
    if by_progress && !progress || by_promise && !heuristic {
        return Err(Refusal::wrong("this needs a measure of states, and the model has none of its own"));
    }
    if begins(&store, "disk:") {
        return Err(Refusal::wrong("a directory for sorted files is named in scrimp::Options"));
    }
    let mut wanted = Options { keep_going: *keep_going, ..Options::default() };
    wanted.memory = read(given(memory), number::parse_size)?;
    wanted.time = read(given(time), number::parse_duration)?;
    wanted.threads = threads.map_or(1, |threads| threads as usize);
    wanted.order = read(order, str::parse)?;
    wanted.store = read(store, str::parse)?;
    wanted.forget = read(forget, str::parse)?.unwrap_or(wanted.forget);
    wanted.reduce = read(given(reduce), str::parse)?.unwrap_or(wanted.reduce);
    wanted.progress = by_progress.then(|| "of the model".into());
    wanted.heuristic = by_promise.then(|| "of the model".into());
    Plan::new(&wanted, properties, facts)
        .map_err(|refusal| Refusal::wrong(format!("{}; {}", refusal.reason, refusal.instead)))
}

fn read<T, E: ToString>(value: Option<String>, how: impl Fn(&str) -> Result<T, E>) -> Result<Option<T>, Refusal> {
    value.map(|value| how(&value)).transpose().map_err(|e| {
        let message = e.to_string();
        Refusal::wrong(message.strip_prefix("error: ").unwrap_or(&message))
    })
}

/// What there is to say of a model that panicked.
pub fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the model panicked: {}", text.unwrap_or("it does not say why"))
}
