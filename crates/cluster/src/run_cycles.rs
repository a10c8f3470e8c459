//! Looks for a run that an automaton accepts, by a cluster: gives the search away, and tells what came of it.

use crate::cluster::{Came, Cluster};
use crate::crew::Done;
use crate::emptiness::Emptiness;
use crate::job::{Aim, Job};
use crate::never::SentNever;
use crate::run::{gone, last_heard, slow, traffic};
use crate::word::Word;
use scrimp_core::{ClusterFacts, Control, GraphFacts, Limit, Never};
use scrimp_native::NativeModel;
use scrimp_search::liveness::FoundRun;
use scrimp_system::{Batch, Expr, Fault, Model};
use std::io;

/// Threads of all processes, at most: an address of a state has so much room for its owner.
const MOST_WORKERS: usize = u16::MAX as usize;

/// Everything that came of it.
#[derive(Debug, Clone, Default)]
pub struct CyclesReport {
    /// Is there such a run? Nothing where that is not known.
    pub accepted: Option<bool>,
    /// The run, which nobody has confirmed yet, in states of the product with the automaton (for one set).
    pub run: Option<FoundRun>,
    pub fault: Option<Fault>,
    pub limit: Option<Limit>,
    /// Of the product.
    pub facts: GraphFacts,
    pub visits: u64,
    pub kept_bytes: u64,
    pub traffic: ClusterFacts,
    pub remarks: Vec<String>,
}

/// Looks for a run of the model that the automaton accepts, where each process may use so much memory.
pub fn run_cycles(
    model: &NativeModel,
    never: &Never<Expr>,
    memory: usize,
    control: &Control,
    cluster: &Cluster,
) -> io::Result<CyclesReport> {
    if cluster.processes() * cluster.threads() > MOST_WORKERS {
        let why = format!("LTL is decided by at most {MOST_WORKERS} threads of all processes");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let job = Job::new(model, Aim::Runs(SentNever::of(never)), cluster.size());
    let mut report = match cluster.search(job, memory, control)? {
        Came::Out(done) => match *done {
            Done::Runs(found) => told(model, found, cluster)?,
            _ => return Err(io::Error::other("internal error: the answer to another question")),
        },
        Came::Lost { what, limit, beats } => {
            let (facts, visits) = last_heard(&beats);
            CyclesReport {
                limit: Some(limit),
                facts,
                visits,
                traffic: traffic(&[], cluster),
                remarks: vec![gone(&what)],
                ..CyclesReport::default()
            }
        }
    };
    report.remarks.extend(cluster.turned_away().map(String::from));
    Ok(report)
}

fn told(model: &NativeModel, found: Emptiness, cluster: &Cluster) -> io::Result<CyclesReport> {
    let Emptiness { accepted, run, fault, endless, sum, widths, initial, exhaustive, sets, .. } = found;
    if let Some(why) = sum.words.iter().find_map(|word| word.wrong.clone()) {
        return Err(io::Error::other(why));
    }
    let outgrown = sum.outgrown();
    if let Some(state) = outgrown {
        // The model learns from the state that it is too small.
        model.expand(state, &mut Batch::new(state.len()));
    }
    let total = |figure: fn(&Word) -> u64| sum.total(figure);
    let mut facts = GraphFacts {
        states: total(|word| word.states),
        transitions: total(|word| word.transitions),
        deadlocks: total(|word| word.deadlocks),
        faults: total(|word| word.faults),
        initial_states: initial,
        depth: widths.len().try_into().unwrap_or(u32::MAX),
        widest: widths.iter().copied().max().unwrap_or(0),
        max_out_degree: sum.words.iter().map(|word| word.degree).max().unwrap_or(0),
        open: total(|word| word.left),
        ..GraphFacts::default()
    };
    if exhaustive {
        facts.set_level_sizes(widths.iter().copied());
    }
    let mut remarks: Vec<String> = Vec::new();
    if found.in_tree {
        remarks.push("a table has no room for all states: the search began again in trees".to_string());
    }
    if found.seen_early {
        remarks.push("an accepting edge leads from a state to itself: the search ended there".to_string());
    }
    remarks.extend(shrunk(&sets, found.there));
    if found.there && (accepted.is_none() || run.is_none()) {
        remarks.push("there is an accepting cycle, but no time to find a run to it".to_string());
    }
    if endless && accepted.is_none() {
        remarks.push("something in the model goes on by itself without an end: what it leads to is not known".into());
    }
    remarks.extend(slow(&sum.words, cluster));
    Ok(CyclesReport {
        accepted: accepted.filter(|_| outgrown.is_none()),
        run,
        fault,
        limit: sum.limit,
        facts,
        visits: total(|word| word.visits),
        kept_bytes: total(|word| word.kept_bytes),
        traffic: traffic(&sum.words, cluster),
        remarks,
    })
}

/// How the set of states that may be on an accepting cycle became smaller.
fn shrunk(sets: &[u64], stays: bool) -> Option<String> {
    let (first, last) = (sets.first()?, sets.last()?);
    let iterations = sets.len() - if *last == 0 { 1 } else { 0 };
    let times = if iterations == 1 { "1 iteration".to_string() } else { format!("{iterations} iterations") };
    let left = match stays {
        true => format!("{last} are on or behind accepting cycles"),
        false if *last == 0 => "none is left".to_string(),
        false => format!("{last} were left when it ended"),
    };
    Some(format!("emptiness check (OWCTY): {times}; of {first} states of the product {left}"))
}
