//! Decides properties by a cluster: gives the search away, and lets the model of this process confirm what was found.

use crate::cluster::{Came, Cluster};
use crate::control::Beat;
use crate::crew::Done;
use crate::goal::Sought;
use crate::job::{Aim, Job, Keeping};
use crate::save::Saved;
use crate::search::Outcome;
use crate::secret::random;
use crate::word::{Finding, Word};
use scrimp_core::{ClusterFacts, Control, GraphFacts, Limit, Property, PropertyKind, PropertyResult, Trace, Verdict};
use scrimp_native::NativeModel;
use scrimp_search::checkpoint::Identity;
use scrimp_system::{Batch, Expr, Fault, FaultRecord, Model};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A process is far away to which packets take so long, there and back, and for all levels together that part of all time.
const FAR: Duration = Duration::from_millis(5);
const PART: f64 = 0.2;

/// How to go about it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes that this process may use.
    pub memory: usize,
    /// Go on after the first violation, until every property is decided.
    pub keep_going: bool,
    /// Where the search is saved, how often, and where one is that is taken up.
    pub checkpoint: Option<PathBuf>,
    pub every: Duration,
    pub resume: Option<PathBuf>,
    /// What must agree when a search is taken up again.
    pub identity: Identity,
}

/// Everything that came of it.
#[derive(Debug, Clone)]
pub struct ClusterReport {
    pub properties: Vec<PropertyResult>,
    pub limit: Option<Limit>,
    /// True when every reachable state was visited.
    pub exhaustive: bool,
    pub facts: GraphFacts,
    pub visits: u64,
    pub kept_bytes: u64,
    pub traffic: ClusterFacts,
    pub remarks: Vec<String>,
}

/// Decides `goals` of a model; without goals, counts. A state for which the model is too small is expanded by it, so that it knows.
pub fn run(
    model: &NativeModel,
    goals: &[Property<Expr>],
    options: &Options,
    control: &Control,
    cluster: &Cluster,
) -> io::Result<ClusterReport> {
    let from = options.resume.as_ref().map(|folder| {
        let saved = Saved::read(folder, options.identity)?;
        Ok::<_, io::Error>((folder.clone(), saved))
    });
    let keeping = Keeping {
        to: options.checkpoint.clone(),
        from: from.transpose()?,
        model: options.identity.model,
        options: options.identity.options,
        making: model.making().to_vec(),
        every: options.every,
        stamp: first_stamp().map_err(io::Error::other)?,
    };
    let keeping = (keeping.to.is_some() || keeping.from.is_some()).then_some(keeping);
    let aim = Aim::States { goals: sought(goals)?, keep_going: options.keep_going, keeping };
    let came = cluster.search(Job::new(model, aim, cluster.size()), options.memory, control)?;
    let mut report = match came {
        Came::Out(done) => match *done {
            Done::Levels(outcome) => found(model, goals, outcome, options, cluster)?,
            _ => return Err(io::Error::other("internal error: the answer to another question")),
        },
        Came::Lost { what, limit, beats } => {
            let (facts, visits) = last_heard(&beats);
            let mut remarks = vec![gone(&what)];
            if options.checkpoint.is_some() {
                remarks.push("what was saved at the end of an earlier level can be taken up with --resume".to_string());
            }
            let mut findings = cluster.found();
            findings.resize(goals.len(), None);
            let known = |(goal, finding): (&Property<Expr>, Option<Finding>)| match finding {
                Some(Finding { level, state }) => shown(model, goal, &state, level, None, &mut remarks),
                None => PropertyResult::undecided(&goal.name),
            };
            let properties = goals.iter().zip(findings).map(known).collect();
            ClusterReport {
                properties,
                limit: Some(limit),
                exhaustive: false,
                facts,
                visits,
                kept_bytes: 0,
                traffic: traffic(&[], cluster),
                remarks,
            }
        }
    };
    report.remarks.extend(cluster.turned_away().map(String::from));
    Ok(report)
}

/// A number that no earlier search gave its files.
fn first_stamp() -> Result<u64, String> {
    let random = random()?;
    Ok(random.iter().take(7).fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Properties as they are sent. Fails for those that are about runs.
pub(crate) fn sought(goals: &[Property<Expr>]) -> io::Result<Vec<Sought>> {
    let sought = goals.iter().map(|goal| {
        let why = || format!("property {} is about runs: no state decides it", goal.name);
        Sought::of(goal).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, why()))
    });
    sought.collect()
}

fn found(
    model: &NativeModel,
    goals: &[Property<Expr>],
    outcome: Outcome,
    options: &Options,
    cluster: &Cluster,
) -> io::Result<ClusterReport> {
    let Outcome { widths, initial, exhaustive, sum, paths, unsaved, earlier } = outcome;
    if let Some(why) = sum.words.iter().find_map(|word| word.wrong.clone()) {
        return Err(io::Error::other(why));
    }
    let outgrown = sum.outgrown();
    if let Some(state) = outgrown {
        // The model learns from the state that it is too small.
        model.expand(state, &mut Batch::new(state.len()));
    }
    let mut remarks = Vec::new();
    let total = |figure: fn(&Word) -> u64| sum.total(figure);
    let states = total(|word| word.states);
    let open = total(|word| word.left) + if exhaustive { 0 } else { total(|word| word.fresh) };
    let mut facts = GraphFacts {
        states,
        transitions: total(|word| word.transitions),
        deadlocks: total(|word| word.deadlocks),
        faults: total(|word| word.faults),
        initial_states: initial,
        depth: widths.len().try_into().unwrap_or(u32::MAX),
        widest: widths.iter().copied().max().unwrap_or(0),
        max_out_degree: sum.words.iter().map(|word| word.degree).max().unwrap_or(0),
        open,
        ..GraphFacts::default()
    };
    facts.set_level_sizes(widths.iter().copied());
    let properties = goals.iter().zip(&sum.findings).zip(paths);
    let mut results = Vec::new();
    for ((property, finding), path) in properties {
        results.push(match finding.as_ref().filter(|_| outgrown.is_none()) {
            Some(finding) => shown(model, property, &finding.state, finding.level, path, &mut remarks),
            None => {
                let verdict = match (exhaustive, property.finding_violates()) {
                    (false, _) => Verdict::Undecided,
                    (true, true) => Verdict::Verified,
                    (true, false) => Verdict::Violated,
                };
                PropertyResult { verdict, ..PropertyResult::undecided(&property.name) }
            }
        });
    }
    remarks.extend(slow(&sum.words, cluster));
    remarks.extend(far_away(&sum.words, widths.len(), cluster));
    if sum.any(|word| word.lost) && (options.checkpoint.is_some() || options.resume.is_some()) {
        remarks.push(match earlier {
            Some((level, states)) => format!(
                "memory was used up in the middle of a level, where the search cannot be saved; what was saved before, with \
                 {states} states at level {level}, can be taken up with --resume, by more processes or with more memory"
            ),
            None => "memory was used up before the end of a level, and nothing is saved".to_string(),
        });
    }
    remarks.extend(unsaved.map(|why| format!("the search could not be saved: {why}")));
    Ok(ClusterReport {
        properties: results,
        limit: sum.limit.filter(|_| !exhaustive),
        exhaustive,
        facts,
        visits: total(|word| word.visits),
        kept_bytes: total(|word| word.kept_bytes),
        traffic: traffic(&sum.words, cluster),
        remarks,
    })
}

/// What was last heard of how far all have come, and how many states were expanded by then.
pub(crate) fn last_heard(beats: &[Beat]) -> (GraphFacts, u64) {
    let sum = |figure: fn(&Beat) -> u64| beats.iter().map(figure).sum::<u64>();
    let (states, visits) = (sum(|beat| beat.states), sum(|beat| beat.visits));
    let depth = beats.iter().map(|beat| beat.depth).max().unwrap_or(0);
    let facts = GraphFacts {
        states,
        transitions: sum(|beat| beat.transitions),
        depth: depth.try_into().unwrap_or(u32::MAX),
        open: states.saturating_sub(visits),
        ..GraphFacts::default()
    };
    (facts, visits)
}

pub(crate) fn gone(what: &str) -> String {
    format!("{what}; the figures are what was last heard of all")
}

/// What the processes sent each other, and the memory that they took.
pub(crate) fn traffic(words: &[Word], cluster: &Cluster) -> ClusterFacts {
    ClusterFacts {
        processes: cluster.processes(),
        threads: cluster.threads(),
        sent_states: words.iter().map(|word| word.sent_states).sum(),
        sent_bytes: words.iter().map(|word| word.sent_bytes).sum(),
        peak_bytes: words.iter().map(|word| word.peak_bytes).max().unwrap_or(0),
        in_trees: words.iter().filter(|word| word.in_tree).count(),
    }
}

/// The process that the others waited for, where they did for long.
pub(crate) fn slow(words: &[Word], cluster: &Cluster) -> Option<String> {
    let of = |process: &[Word]| process.iter().map(|word| word.waited_ms).sum::<u64>() / process.len().max(1) as u64;
    let waited: Vec<Duration> = words.chunks(cluster.threads()).map(of).map(Duration::from_millis).collect();
    cluster.slow(&waited, Duration::from_millis(words.iter().map(|word| word.elapsed_ms).max()?))
}

/// The process to which packets take long, where that is much of the time: at the end of each level everybody waits for them.
fn far_away(words: &[Word], levels: usize, cluster: &Cluster) -> Option<String> {
    let (process, time) = cluster.farthest().filter(|(_, time)| *time >= FAR)?;
    let elapsed = words.iter().map(|word| word.elapsed_ms).max()? as f64;
    let millis = 1000.0 * time.as_secs_f64();
    (levels as f64 * millis > PART * elapsed).then(|| {
        let name = cluster.name(process);
        format!("{name} is far away: {millis:.0} ms there and back, and there were {levels} levels")
    })
}

/// The verdict that a state shows, with a shortest run to it; only if the model agrees.
pub(crate) fn shown(
    model: &NativeModel,
    property: &Property<Expr>,
    state: &[u8],
    level: u32,
    path: Option<Vec<Vec<u8>>>,
    remarks: &mut Vec<String>,
) -> PropertyResult {
    let mut result = PropertyResult::undecided(&property.name);
    let Some((fault, condition_fault)) = confirmed(model, property, state) else {
        remarks.push(format!("{}: internal error: the model does not agree with what was found", property.name));
        return result;
    };
    result.verdict = if property.finding_violates() { Verdict::Violated } else { Verdict::Verified };
    result.trace = path.and_then(|path| Trace::through(model, &path));
    if result.trace.is_none() {
        remarks.push(format!("{}: no time or memory to find the run again", property.name));
    }
    result.shortest = result.trace.as_ref().is_some_and(|trace| trace.steps.len() == level as usize);
    (result.fault, result.condition_fault) = (fault.map(|record| (record.event, record.fault)), condition_fault);
    result.state = Some(state.to_vec());
    result
}

/// Does the model say that this state decides the property? With the event at fault, and the fault of the condition.
fn confirmed(
    model: &NativeModel,
    property: &Property<Expr>,
    state: &[u8],
) -> Option<(Option<FaultRecord>, Option<Fault>)> {
    let mut batch = Batch::new(state.len());
    model.expand(state, &mut batch);
    let at_fault =
        |asserted: bool| batch.faults().iter().copied().find(|record| (record.fault == Fault::Assertion) == asserted);
    match &property.kind {
        PropertyKind::Faults => at_fault(false).map(|record| (Some(record), None)),
        PropertyKind::Assertions => at_fault(true).map(|record| (Some(record), None)),
        PropertyKind::Deadlock => {
            let successors = batch.len();
            batch.take_deadlock(successors).then_some((None, None))
        }
        PropertyKind::Invariant(condition) => match model.layout().holds(condition, state) {
            Ok(true) => None,
            Ok(false) => Some((None, None)),
            Err(fault) => Some((None, Some(fault))),
        },
        PropertyKind::Reach(condition) => (model.layout().holds(condition, state) == Ok(true)).then_some((None, None)),
        _ => None,
    }
}
