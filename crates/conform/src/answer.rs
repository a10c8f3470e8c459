//! From logs and a model to an answer, and what is in it.

use crate::ahead::{Ahead, Outcome, Reached};
use crate::graph::Graph;
use crate::log::Log;
use crate::mapping::{Mapping, Unseen};
use crate::observed::Observer;
use crate::search::{Ended, Search};
use crate::sequences::{Sequences, Source};
use crate::subject::Subject;
use crate::why::{Parting, parting};
use scrimp_checker::{CheckError, Explorable, Loaded, with_room};
use scrimp_core::follow::{Followed, Follower, Next};
use scrimp_core::{Limit, Trace};
use scrimp_native::{Mode, NativeModel};
use scrimp_net::Net;
use scrimp_system::{Batch, Rounds, Stop};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The logs.
    pub logs: &'a [Log],
    /// What their fields mean.
    pub mapping: &'a Mapping,
    /// How many steps may be missing between two records; without this what the mapping says, and else none.
    pub unseen: Option<Unseen>,
    /// Bytes that the whole process may use.
    pub memory: usize,
}

/// Is it a run?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There is a run of the model that looks like the logs.
    Conforms,
    /// There is none.
    Differs,
    /// A limit was reached before that was known.
    Incomplete(Limit),
}

/// What came of holding logs against a model.
#[derive(Debug, Clone)]
pub struct Conformance {
    /// Is it a run?
    pub verdict: Verdict,
    /// The names of the logs.
    pub logs: Vec<String>,
    /// Records that a run accounts for.
    pub matched: u64,
    /// Records that the mapping leaves out.
    pub skipped: u64,
    /// How many steps may be missing between two records.
    pub unseen: Unseen,
    /// A run that looks like the logs as far as they were followed; nothing where it does not fit into memory, or a limit
    /// ended the work.
    pub run: Option<Recorded>,
    /// Where the logs and the model part ways.
    pub parting: Option<Parting>,
    /// Fields that say nothing, with the name of a value that was perhaps meant.
    pub unknown: Vec<(String, Option<String>)>,
    /// Logs whose last line is cut, with its number; it was left out.
    pub cut: Vec<(String, u64)>,
    /// The most states that were possible at once, each with how far each log was followed; of several sequences of
    /// records, all that were looked at.
    pub peak: usize,
    /// How long it took.
    pub elapsed: Duration,
}

/// A run, with the records of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The run.
    pub trace: Trace,
    /// For each of its steps, the records that it accounts for: each with the number of the single step that it is about.
    pub records: Vec<Vec<(usize, Source)>>,
}

impl Recorded {
    /// How many of its steps nobody logged.
    pub fn unseen(&self) -> usize {
        self.records.iter().filter(|records| records.is_empty()).count()
    }
}

/// Holds logs against a model file, which is made larger where that is needed. A claim is no part of the model.
pub fn conform_file(
    mut loaded: Loaded,
    question: &Question,
    stop: &Stop,
) -> Result<(Arc<NativeModel>, Conformance), CheckError> {
    let begun = Instant::now();
    loaded.take_claim()?;
    let net = loaded.net.as_ref().map(|net| net.net.clone());
    let make = |system| NativeModel::new(system, Mode::Auto);
    let (model, mut found) =
        with_room(&mut loaded, None, &make, &mut |_| {}, |_, model| hold(&**model, net.as_deref(), question, stop))?;
    found.elapsed = begun.elapsed();
    Ok((model, found))
}

/// Holds logs against any model, such as one in Rust. Its events must have names that do not depend on the state.
pub fn conform(model: &dyn Explorable, question: &Question, stop: &Stop) -> Result<Conformance, CheckError> {
    hold(model, None, question, stop)
}

fn hold(
    model: &dyn Explorable,
    net: Option<&Net>,
    question: &Question,
    stop: &Stop,
) -> Result<Conformance, CheckError> {
    let begun = Instant::now();
    let unseen = question.unseen.or(question.mapping.unseen).unwrap_or(Unseen::Most(0));
    let mut found = Conformance {
        verdict: Verdict::Conforms,
        logs: question.logs.iter().map(Log::name).collect(),
        matched: 0,
        skipped: 0,
        unseen,
        run: None,
        parting: None,
        unknown: Vec::new(),
        cut: Vec::new(),
        peak: 0,
        elapsed: Duration::ZERO,
    };
    let subject = Subject::new(model, net);
    let mut observer = Observer::new(&subject, question.mapping)?;
    let sequences =
        match Sequences::open(question.logs, &question.mapping.order, &mut observer, stop).map_err(Ended::from) {
            Ok(sequences) => sequences,
            Err(Ended::Wrong(error)) => return Err(error),
            Err(ended) => {
                found.verdict = Verdict::Incomplete(limit_of(&ended));
                return Ok(found);
            }
        };
    let mut search = Search::new(observer, Graph::new(model), sequences, Rounds::new(stop, 256));
    let reached = match look(&mut search, &mut found, question.memory) {
        Ok(reached) => reached,
        Err(Ended::Wrong(error)) => return Err(error),
        Err(ended) => {
            found.verdict = Verdict::Incomplete(limit_of(&ended));
            None
        }
    };
    if let Some(reached) = reached {
        if search.sequences.records == 0 {
            return Err(nothing(&search, question));
        }
        // A rule without a record that it is about has kept nothing from being a run.
        if let Some(error) = search.observer.unmet().filter(|_| search.sequences.are_read()) {
            return Err(error);
        }
        if found.verdict == Verdict::Differs {
            found.parting = Some(parting(&mut search, &reached)?);
        }
        found.run = reached.run.and_then(|followed| run(&search, followed, model, question.memory));
    }
    found.skipped = search.observer.skipped;
    found.unknown = search.observer.unknown.iter().map(|(field, near)| (field.clone(), near.clone())).collect();
    found.cut = search.sequences.cut();
    found.elapsed = begun.elapsed();
    Ok(found)
}

fn limit_of(ended: &Ended) -> Limit {
    match ended {
        Ended::Limit(limit) => *limit,
        // A larger model is made, unless there is none.
        Ended::Outgrown | Ended::Wrong(_) => Limit::Tokens,
    }
}

/// There is nothing in the logs.
fn nothing(search: &Search, question: &Question) -> CheckError {
    let name = question.logs.first().map(Log::name).unwrap_or_default();
    let cut = search.sequences.cut();
    let message = match (search.observer.skipped, cut.first()) {
        (0, None) => "the log is empty, so that it says nothing of the model".to_string(),
        (0, Some((_, line))) => format!("the only record is cut off in line {line}, so that nothing is left"),
        (skipped, _) => format!("the mapping skips all {skipped} records, so that nothing is left"),
    };
    CheckError::file(name.as_ref(), message)
}

/// Looks for a run. Of several sequences of records one run is looked for first: all of them are followed only where that
/// takes more memory than that takes.
fn look(search: &mut Search, found: &mut Conformance, memory: usize) -> Result<Option<Reached>, Ended> {
    if search.sequences.len() > 1 {
        let mut ahead = Ahead::new(search.starts(), found.unseen.bound());
        let outcome = ahead.search(search, memory / 4);
        (found.matched, found.peak) = (ahead.matched(), ahead.len());
        let (verdict, reached) = match outcome? {
            Outcome::Run(reached) => (Verdict::Conforms, Some(reached)),
            Outcome::None(reached) => (Verdict::Differs, Some(reached)),
            Outcome::TooMany => (Verdict::Incomplete(Limit::Memory), None),
        };
        found.verdict = verdict;
        if reached.is_some() {
            return Ok(reached);
        }
    }
    let mut follower = Follower::new(search.starts(), found.unseen.bound(), usize::MAX);
    let verdict = follow(search, &mut follower, memory);
    found.matched = follower.matched().max(found.matched);
    found.peak = follower.peak().max(found.peak);
    found.verdict = verdict?;
    Ok(Some(Reached::of(&follower)))
}

/// Follows the logs to their end, or to where no step of the model goes on.
fn follow(search: &mut Search, follower: &mut Follower, memory: usize) -> Result<Verdict, Ended> {
    // States that no run is in are forgotten when so much is taken; twice as much, where hardly anything could be forgotten.
    let mut most = memory / 4;
    loop {
        let matched = follower.matched();
        let Some((place, _)) = follower.places().next() else { return Ok(Verdict::Differs) };
        if !search.goes_on(place, matched)? {
            return Ok(Verdict::Conforms);
        }
        match follower.follow(search)? {
            Next::Matched => {}
            Next::Stuck => return Ok(Verdict::Differs),
            Next::TooMany => return Err(Ended::Limit(Limit::Memory)),
        }
        search.forget_records(follower.matched());
        if search.bytes() > most {
            let named = search.forget(&follower.all(), follower.matched());
            follower.rename(|place| named[&place]);
            most = (memory / 4).max(2 * search.bytes());
        }
    }
}

/// The run to the first place where the model may be.
fn run(search: &Search, followed: Followed, model: &dyn Explorable, memory: usize) -> Option<Recorded> {
    let each = model.state_bytes() + 4 * size_of::<Vec<u8>>();
    if followed.steps.len().saturating_mul(each) > memory / 4 {
        return None;
    }
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    let initial = batch.state(followed.start as usize).to_vec();
    let mut at = vec![0; search.sequences.len()];
    let (mut state, mut steps, mut records) = (initial.clone(), Vec::new(), Vec::new());
    for (choice, how) in followed.steps {
        batch.clear();
        model.expand(&state, &mut batch);
        state = batch.state(choice as usize).to_vec();
        steps.push((batch.event(choice as usize), state.clone()));
        let record = |(single, sequence): &(u32, u32)| {
            let place = &mut at[*sequence as usize];
            *place += 1;
            (*single as usize, search.sequences.source(*sequence as usize, *place - 1))
        };
        records.push(search.how(how).iter().map(record).collect());
    }
    Some(Recorded { trace: Trace { initial, steps }, records })
}
