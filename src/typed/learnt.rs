//! What a check has found out so far, so that it can be told even where the model's own code does not come back.

use super::answer::{Answer, Search};
use super::checker::CheckerError;
use super::watched::Left;
use scrimp_core::{Control, Predicate, PropertyResult, Report, Verdict};
use scrimp_search::{Options, Plan};
use scrimp_typed::{TypedModel, Watch};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The answer as it grows.
pub(super) struct Learnt<M: TypedModel> {
    pub watch: Arc<Watch>,
    answer: Mutex<Option<Answer<M>>>,
    now: Mutex<Option<Now>>,
    /// What the search that goes on has decided, and the state that shows it.
    known: Mutex<Vec<(String, Verdict, Vec<u8>)>>,
    /// The properties whose conditions panic, each with the first state that was met where they do.
    panicked: Mutex<Vec<(String, Vec<u8>)>>,
}

/// The search that goes on.
struct Now {
    plan: Plan,
    begun: Instant,
    properties: Vec<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: TypedModel> Learnt<M> {
    pub fn new(options: &Options) -> Learnt<M> {
        let saved = options.checkpoint.is_some() || options.resume.is_some();
        let watch = Arc::new(Watch::new(options.memory, saved));
        Learnt {
            watch,
            answer: Mutex::new(None),
            now: Mutex::new(None),
            known: Mutex::default(),
            panicked: Mutex::default(),
        }
    }

    /// There is something to tell from now on.
    pub fn begin(&self, answer: Answer<M>) {
        *lock(&self.answer) = Some(answer);
    }

    /// A search begins, about these properties.
    pub fn search(&self, plan: &Plan, properties: Vec<String>, time: Option<Duration>) -> Arc<Control> {
        let control = Arc::new(Control::new(time));
        lock(&self.known).clear();
        lock(&self.panicked).clear();
        *lock(&self.now) = Some(Now { plan: plan.clone(), begun: Instant::now(), properties });
        self.watch.begin(&control);
        control
    }

    /// The same condition; that it is not what is wanted in some state is noted, as a verdict on this property.
    pub fn noting<'a>(&'a self, property: &str, wanted: bool, verdict: Verdict, holds: Predicate<'a>) -> Predicate<'a> {
        let name = property.to_string();
        Box::new(move |state| {
            let value = holds(state);
            if value.is_err() {
                let mut panicked = lock(&self.panicked);
                if !panicked.iter().any(|(known, _)| *known == name) {
                    panicked.push((name.clone(), state.to_vec()));
                }
            }
            // A condition that cannot be evaluated holds neither way: an invariant is violated by that, and nothing is reached.
            if value == Ok(!wanted) || value.is_err() && wanted {
                let mut known = lock(&self.known);
                if !known.iter().any(|(known, ..)| *known == name) {
                    known.push((name.clone(), verdict, state.to_vec()));
                }
            }
            value
        })
    }

    /// The properties whose conditions panic, each with a state where they do.
    pub fn panicked(&self) -> Vec<(String, Vec<u8>)> {
        lock(&self.panicked).clone()
    }

    /// A search has come to its end. Its runs are named before anybody can see them.
    pub fn found(&self, search: Search) -> Result<(), CheckerError> {
        let encoded = lock(&self.answer).as_ref().map(|answer| answer.encoded.clone());
        if let Some(encoded) = encoded {
            let (search, paths) = super::answer::with_paths(&encoded, search)?;
            *lock(&self.now) = None;
            if let Some(answer) = &mut *lock(&self.answer) {
                answer.add(search, paths);
            }
        }
        Ok(())
    }

    /// The answer, which is then nobody else's.
    pub fn finish(&self) -> Result<Answer<M>, CheckerError> {
        let taken = lock(&self.answer).take();
        taken.ok_or_else(|| CheckerError::Unfinished("the check was given up before it came to its end".into()))
    }

    /// The answer without what is still being searched for. Fails where there is nothing to tell.
    pub fn leave(&self, left: &Left) -> Result<Answer<M>, CheckerError> {
        let nothing = || CheckerError::Unfinished(left.to_string());
        let mut answer = lock(&self.answer).take().ok_or_else(nothing)?;
        let now = lock(&self.now).take();
        let plan = now.as_ref().map(|now| &now.plan).or_else(|| answer.searches().last().map(|search| &search.plan));
        let plan = plan.ok_or_else(nothing)?.clone();
        let mut report =
            Report::of_nothing(&*answer.encoded, now.as_ref().map_or(Duration::ZERO, |n| n.begun.elapsed()));
        let mut names = now.map_or_else(Vec::new, |now| now.properties);
        for asked in answer.asked.iter() {
            let is_known = answer.searches().iter().any(|s| s.report.properties.iter().any(|p| p.name == asked.name));
            if !is_known && !names.contains(&asked.name) {
                names.push(asked.name.clone());
            }
        }
        let known = lock(&self.known);
        report.properties = (names.iter())
            .map(|name| {
                let mut result = PropertyResult::undecided(name);
                if let Some((_, verdict, state)) = known.iter().find(|(known, ..)| known == name) {
                    (result.verdict, result.state) = (*verdict, Some(state.clone()));
                }
                result
            })
            .collect();
        if let Some(control) = self.watch.control() {
            let figures = control.figures();
            (report.facts.states, report.facts.transitions) = (figures.states, figures.transitions);
            report.visits = figures.visits;
            report.remarks = control.remarks();
        }
        report.limit = Some(left.limit);
        report.ran = plan.parts();
        report.remarks.push(left.to_string());
        answer.add(Search { plan, report }, Vec::new());
        Ok(answer)
    }
}
