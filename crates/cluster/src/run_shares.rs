//! Decides properties by workers that each search a share of the states, and forget or leave out some: gives the search away, and lets the model of
//! this process confirm what was found. A run is looked for by another search, which keeps all states.

use crate::cluster::{Came, Cluster};
use crate::crew::Done;
use crate::job::{Aim, Job};
use crate::run::{ClusterReport, Options, gone, last_heard, run, shown, slow, sought, traffic};
use crate::shares::{Manner, Shared};
use crate::word::Word;
use scrimp_core::{Control, ForgetFacts, GraphFacts, Property, PropertyResult, Verdict};
use scrimp_native::NativeModel;
use scrimp_search::part::MOST_SHARES;
use scrimp_system::{Batch, Expr, Model};
use std::io;

/// What forgetting did, and whether every state was found only once all the same.
#[derive(Debug, Clone, Default)]
pub struct Forgot {
    pub facts: ForgetFacts,
    pub once: bool,
}

/// Decides `goals` of a model by shares of its states that are searched in this manner; without goals, counts.
pub fn run_shares(
    model: &NativeModel,
    goals: &[Property<Expr>],
    manner: Manner,
    options: &Options,
    control: &Control,
    cluster: &Cluster,
) -> io::Result<(ClusterReport, Forgot)> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    if cluster.processes() * cluster.threads() > MOST_SHARES {
        return Err(invalid(format!(
            "{} {}: at most {MOST_SHARES} threads of all processes",
            manner.forget, manner.reduce
        )));
    }
    let aim = Aim::Shares { goals: sought(goals)?, keep_going: options.keep_going, manner };
    let mut found = match cluster.search(Job::new(model, aim, cluster.size()), options.memory, control)? {
        Came::Out(done) => match *done {
            Done::Shared(shared) => told(model, goals, shared, options, control, cluster)?,
            _ => return Err(io::Error::other("internal error: the answer to another question")),
        },
        Came::Lost { what, limit, beats } => {
            let (facts, visits) = last_heard(&beats);
            let report = ClusterReport {
                properties: goals.iter().map(|goal| PropertyResult::undecided(&goal.name)).collect(),
                limit: Some(limit),
                exhaustive: false,
                facts,
                visits,
                kept_bytes: 0,
                traffic: traffic(&[], cluster),
                remarks: vec![gone(&what)],
            };
            (report, Forgot { once: true, ..Forgot::default() })
        }
    };
    found.0.remarks.extend(cluster.turned_away().map(String::from));
    Ok(found)
}

fn told(
    model: &NativeModel,
    goals: &[Property<Expr>],
    shared: Shared,
    options: &Options,
    control: &Control,
    cluster: &Cluster,
) -> io::Result<(ClusterReport, Forgot)> {
    let Shared { sum, exhaustive, once, initial, depth, widest, forget } = shared;
    if let Some(why) = sum.words.iter().find_map(|word| word.wrong.clone()) {
        return Err(io::Error::other(why));
    }
    let outgrown = sum.outgrown();
    if let Some(state) = outgrown {
        // The model learns from the state that it is too small.
        model.expand(state, &mut Batch::new(state.len()));
    }
    let total = |figure: fn(&Word) -> u64| sum.total(figure);
    let facts = GraphFacts {
        states: total(|word| word.states),
        transitions: total(|word| word.transitions),
        deadlocks: total(|word| word.deadlocks),
        faults: total(|word| word.faults),
        initial_states: initial,
        max_out_degree: sum.words.iter().map(|word| word.degree).max().unwrap_or(0),
        open: total(|word| word.left),
        depth,
        widest,
        ..GraphFacts::default()
    };
    let decided = |number: usize| sum.findings.get(number).and_then(Option::as_ref).filter(|_| outgrown.is_none());
    let found: Vec<Property<Expr>> = goals
        .iter()
        .enumerate()
        .filter(|(number, _)| decided(*number).is_some())
        .map(|(_, goal)| goal.clone())
        .collect();
    control.keep_figures();
    let mut remarks: Vec<String> = slow(&sum.words, cluster).into_iter().collect();
    let mut again = match found.is_empty() {
        true => Vec::new(),
        false => {
            let all = Options { keep_going: true, checkpoint: None, resume: None, ..options.clone() };
            run(model, &found, &all, control, cluster)?.properties
        }
    };
    let mut properties = Vec::new();
    for (number, goal) in goals.iter().enumerate() {
        let mut result = PropertyResult::undecided(&goal.name);
        let Some(finding) = decided(number) else {
            result.verdict = match (exhaustive, goal.finding_violates()) {
                (false, _) => Verdict::Undecided,
                (true, true) => Verdict::Verified,
                (true, false) => Verdict::Violated,
            };
            properties.push(result);
            continue;
        };
        let with_run = again.iter().position(|other| other.name == goal.name && other.trace.is_some());
        properties.push(match with_run {
            Some(place) => again.swap_remove(place),
            None => shown(model, goal, &finding.state, u32::MAX, None, &mut remarks),
        });
    }
    let report = ClusterReport {
        properties,
        limit: sum.limit.filter(|_| !exhaustive),
        exhaustive,
        facts,
        visits: total(|word| word.visits),
        kept_bytes: total(|word| word.kept_bytes),
        traffic: traffic(&sum.words, cluster),
        remarks,
    };
    Ok((report, Forgot { facts: forget, once }))
}
