//! All that is asked about a net, answered one way after the other: by a short search, by structure, by walks, by searches
//! of smaller nets, and by a long search at last.
//!
//! Every way answers what it can and leaves the rest to the next. No way says what it has not proven.

use super::explicit::{Finding, explore};
use super::goal::{Goal, Known};
use super::{PetriNet, Search};
use scrimp_lang::LoadError;
use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_net::NamedQuestion;
use scrimp_search::{Limit, Plan, PropertyResult, Report, Trace, Verdict};
use std::time::{Duration, Instant};

/// What the first search may take: most nets that people have at hand are done by then.
const SHORT: Duration = Duration::from_secs(3);

/// Questions about one net, and what is known of them.
pub struct Inquiry {
    pub net: PetriNet,
    pub names: Vec<String>,
    pub goals: Vec<Goal>,
    pub answers: Vec<Option<Answer>>,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub known: Known,
    /// A run of the net to the marking that decides it.
    pub run: Option<Run>,
    /// How it was found, where that was not by visiting markings.
    pub how: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub transitions: Vec<u32>,
    pub shortest: bool,
}

/// The answers, and the search that was last made for them, in whose states they are told.
pub struct Answered {
    pub model: NativeModel,
    pub report: Report,
}

impl Inquiry {
    pub fn new(net: PetriNet, questions: Vec<NamedQuestion>) -> Inquiry {
        let goals: Vec<Goal> = questions.iter().map(|q| Goal::of(&q.question, &net.net)).collect();
        let answers = goals.iter().map(|_| None).collect();
        Inquiry { names: questions.into_iter().map(|q| q.name).collect(), goals, answers, net }
    }

    /// The questions that a search can still answer.
    fn open(&self) -> Vec<usize> {
        (0..self.goals.len()).filter(|&i| self.answers[i].is_none() && self.goals[i] != Goal::Temporal).collect()
    }

    pub fn answer<E: From<LoadError> + From<BuildError>>(
        mut self,
        plan: &Plan,
        mode: Mode,
        search: &mut Search<E>,
    ) -> Result<Option<Answered>, E> {
        let begun = Instant::now();
        let deadline = plan.options.time.map(|time| begun + time);
        let left = |deadline: Option<Instant>| deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let mut quick = plan.clone();
        quick.options.time = Some(left(deadline).map_or(SHORT, |left| left.min(SHORT)));
        let Some(first) = self.explore(&quick, mode, search)? else { return Ok(None) };
        let mut last = first;
        let interrupted = |answered: &Answered| answered.report.limit == Some(Limit::Interrupt);
        if !self.open().is_empty() && !last.report.exhaustive && !interrupted(&last) {
            let mut whole = plan.clone();
            whole.options.time = left(deadline);
            if let Some(answered) = self.explore(&whole, mode, search)? {
                last = answered;
            }
        }
        last.report.properties = self.results(&last.model);
        Ok(Some(last))
    }

    /// Searches the markings for all that is open.
    fn explore<E: From<LoadError> + From<BuildError>>(
        &mut self,
        plan: &Plan,
        mode: Mode,
        search: &mut Search<E>,
    ) -> Result<Option<Answered>, E> {
        let open = self.open();
        let goals: Vec<_> = open.iter().map(|&i| (&self.goals[i], None)).collect();
        let Some(explored) = explore(&mut self.net, &goals, plan, mode, search)? else { return Ok(None) };
        for (i, finding) in open.into_iter().zip(explored.found) {
            self.answers[i] = finding.map(|Finding { known, trace, shortest }| Answer {
                known,
                run: trace.map(|trace| Run { transitions: events(&trace), shortest }),
                how: None,
            });
        }
        Ok(Some(Answered { model: explored.model, report: explored.report }))
    }

    /// The answers as results, their runs in the states of this model.
    fn results(&self, model: &NativeModel) -> Vec<PropertyResult> {
        let one = |i: usize| {
            let mut result = PropertyResult::undecided(&self.names[i]);
            let Some(answer) = &self.answers[i] else { return result };
            (result.verdict, result.answer) = match answer.known {
                Known::Truth(true) => (Verdict::Verified, Some("TRUE".to_string())),
                Known::Truth(false) => (Verdict::Violated, Some("FALSE".to_string())),
                Known::Tokens(tokens) => (Verdict::Verified, Some(tokens.to_string())),
                Known::Unbounded => (Verdict::Verified, Some("ω".to_string())),
                Known::Counted => (Verdict::Verified, None),
            };
            result.how = answer.how.clone();
            if let Some(run) = &answer.run {
                result.trace = trace(model, &run.transitions);
                result.state = result.trace.as_ref().map(|trace| trace.last().to_vec());
                result.shortest = run.shortest;
            }
            result
        };
        (0..self.goals.len()).map(one).collect()
    }
}

fn events(trace: &Trace) -> Vec<u32> {
    trace.steps.iter().map(|(event, _)| *event).collect()
}

/// The run that these transitions make, where they can fire one after the other.
fn trace(model: &NativeModel, transitions: &[u32]) -> Option<Trace> {
    use scrimp_system::{Batch, Model};
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    let initial = batch.state(0).to_vec();
    let (mut state, mut steps) = (initial.clone(), Vec::with_capacity(transitions.len()));
    for &transition in transitions {
        batch.clear();
        model.expand(&state, &mut batch);
        let next = (0..batch.len()).find(|&i| batch.event(i) == transition)?;
        state = batch.state(next).to_vec();
        steps.push((transition, state.clone()));
    }
    Some(Trace { initial, steps })
}
