//! Infinite runs: clusters against the explicit engine, and every run that is found followed once more.

use crate::common::cluster;
use crate::faulty;
use scrimp_checker::temporal::{Context, decide};
use scrimp_cluster::{Followed, Gathering};
use scrimp_core::never::broken_by;
use scrimp_core::{Control, Predicate, Property, PropertyKind, PropertyResult, Report, Verdict};
use scrimp_native::{Mode, NativeModel};
use scrimp_search::liveness::{self, Question};
use scrimp_search::plan::{EngineChoice, Feature, Way};
use scrimp_search::{ModelFacts, Options, Plan};
use scrimp_system::{Batch, Expr, Model, Random, System};
use scrimp_temporal::Formula;
use std::sync::Arc;
use std::time::Duration;

const ATOMS: usize = 3;

type Company = (EngineChoice, usize, Gathering);

/// Does something with a cluster of two processes and one of four with two threads each, which end well.
fn with_clusters(work: impl FnOnce(&[Company])) {
    let (mut made, mut all) = (Vec::new(), Vec::new());
    for (processes, threads) in [(2, 1), (4, 2)] {
        let (cluster, followers) = cluster(processes, threads);
        made.push((EngineChoice::Cluster(processes as u32), threads, Gathering::from(cluster)));
        all.extend(followers);
    }
    work(&made);
    drop(made);
    for follower in all {
        assert_eq!(follower.join().expect("no panic"), Ok(Followed::All));
    }
}

/// Decided by a cluster, or by one process.
fn decided(model: &NativeModel, property: &Property<Expr>, fair: &[Expr], of: Option<&Company>) -> (Way, Report) {
    let mut options = Options { threads: 1, memory: Some(1 << 30), fair_conditions: fair.len(), ..Options::default() };
    if let Some((engine, threads, _)) = of {
        (options.engine, options.threads) = (*engine, *threads);
    }
    let facts = ModelFacts::of(model).over(&model.system().variables);
    let plan = Plan::new(&options, std::slice::from_ref(property), &facts).unwrap_or_else(|why| panic!("{why:?}"));
    let control = Control::new(None);
    let cluster = of.map(|(.., cluster)| cluster);
    let context = Context { plan: &plan, control: &control, fair, progress: None, cluster };
    let report = decide(model, property, &context).unwrap_or_else(|error| panic!("{}: {error}", property.name));
    (plan.way(), report)
}

/// A condition that can be evaluated in every state.
fn harmless(random: &mut Random, system: &System) -> Expr {
    loop {
        let expression = faulty::expression(random, system, 2);
        if !expression.may_fault(&system.variables) {
            return expression;
        }
    }
}

/// A formula with so many operators.
fn formula(random: &mut Random, atoms: &[Expr], operators: usize) -> Formula<Expr> {
    if operators == 0 {
        return Formula::Atom(atoms[random.below(atoms.len())].clone());
    }
    let mut part = |operators| Box::new(formula(random, atoms, operators));
    match operators % 3 {
        0 => match (part(operators - 1), operators % 2) {
            (inner, 0) => Formula::Next(inner),
            (inner, _) => Formula::Not(inner),
        },
        1 => {
            let inner = part(operators - 1);
            if random.below(2) == 0 { Formula::Finally(inner) } else { Formula::Globally(inner) }
        }
        _ => {
            let (left, right) = (part((operators - 1) / 2), part(operators / 2));
            match random.below(3) {
                0 => Formula::Until(left, right),
                1 => Formula::Implies(left, right),
                _ => Formula::And(vec![*left, *right]),
            }
        }
    }
}

/// A run that goes round, as a model of its own.
struct Round {
    states: Vec<Vec<u8>>,
    /// Where it goes on behind the last one; nothing, where that is the end.
    back: Option<usize>,
}

impl Round {
    /// The run that is shown, if it is one of the model.
    fn of(model: &NativeModel, result: &PropertyResult) -> Option<Round> {
        let (trace, cycle) = (result.trace.as_ref()?, result.cycle?);
        let mut states = vec![trace.initial.clone()];
        states.extend(trace.steps.iter().map(|(_, state)| state.clone()));
        let mut out = Batch::new(model.state_bytes());
        model.initial(&mut out);
        (0..out.len()).any(|i| out.state(i) == &states[0][..]).then_some(())?;
        let mut successors = |state: &[u8]| {
            out.clear();
            model.expand(state, &mut out);
            let count = out.len();
            out.take_deadlock(count);
            (0..count).map(|i| out.state(i).to_vec()).collect::<Vec<_>>()
        };
        states.windows(2).all(|ends| successors(&ends[0]).contains(&ends[1])).then_some(())?;
        if cycle == trace.steps.len() {
            return successors(&states[cycle]).is_empty().then_some(Round { states, back: None });
        }
        (states.pop()? == *states.get(cycle)?).then_some(Round { states, back: Some(cycle) })
    }
}

impl Model for Round {
    fn state_bytes(&self) -> usize {
        self.states[0].len() + 4
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&[&self.states[0][..], &[0; 4]].concat(), 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let place = state.last_chunk().map_or(0, |place| u32::from_le_bytes(*place) as usize);
        if let Some(next) = (place + 1 < self.states.len()).then_some(place + 1).or(self.back) {
            out.push(&[&self.states[next][..], &(next as u32).to_le_bytes()].concat(), 1);
        }
    }
}

/// Is the run that is shown one of the model, and bad?
fn is_shown(model: &NativeModel, property: &Property<Expr>, fair: &[Expr], result: &PropertyResult) -> bool {
    let Some(round) = Round::of(model, result) else { return false };
    let never = broken_by(property, fair, Duration::from_secs(10)).expect("an automaton");
    let atom = |e: &Expr| -> Predicate {
        let predicate = model.predicate(e);
        Box::new(move |state: &[u8]| predicate.holds(&state[..model.state_bytes()]))
    };
    let atoms: Vec<Predicate> = never.atoms.iter().map(atom).collect();
    let question = Question {
        model: &round,
        automaton: &never.automaton,
        atoms: &atoms,
        expressions: &never.atoms,
        fairness: None,
        stutters: false,
        repeats: never.repeats,
        progress: None,
    };
    let options = Options { threads: 1, memory: Some(1 << 30), ..Options::default() };
    let plan = Plan::of(&options, scrimp_search::Question::about(Feature::Automaton), &ModelFacts::default());
    let answer = liveness::search(&question, &plan.expect("a plan"), &Control::new(None)).expect("an answer");
    answer.accepted == Some(true)
}

/// Holds a cluster against one process: what that says, and whether sets were made smaller for it.
fn compare(
    context: &str,
    model: &NativeModel,
    property: &Property<Expr>,
    fair: &[Expr],
    clusters: &[Company],
) -> (Verdict, bool) {
    let expected = decided(model, property, fair, None).1.properties.remove(0).verdict;
    let mut shrunk = false;
    for cluster in clusters.iter().filter(|_| !model.is_outgrown()) {
        let (way, report) = decided(model, property, fair, Some(cluster));
        let found = &report.properties[0];
        let context = format!("{context}, {}: {:?} {:?}", cluster.0, property.kind, report.remarks);
        // One process may have met what cannot be evaluated before a bad run, or behind it.
        assert!(expected == Verdict::Undecided || found.verdict == expected, "{context}: {expected:?} {found:?}");
        if found.verdict == Verdict::Violated {
            assert!(is_shown(model, property, fair, found), "{context}: {found:?}");
        }
        shrunk |= way == Way::ClusterCycles;
    }
    (expected, shrunk)
}

#[test]
fn random_formulas_agree_with_one_process() {
    let (mut holding, mut broken, mut shrunk) = (0, 0, 0);
    with_clusters(|clusters| {
        for seed in 0..30 {
            let mut random = Random(seed);
            let system = Arc::new(faulty::system(seed, seed % 2 == 1));
            let model = NativeModel::new(system.clone(), Mode::Interpreted).expect("a model");
            let atoms: Vec<Expr> = (0..ATOMS).map(|_| harmless(&mut random, &system)).collect();
            for _ in 0..3 {
                let operators = 1 + random.below(5);
                let asked = PropertyKind::Ltl(formula(&mut random, &atoms, operators));
                let property = Property::new("formula", asked);
                let (verdict, by_sets) = compare(&format!("seed {seed}"), &model, &property, &[], clusters);
                holding += (verdict == Verdict::Verified) as usize;
                broken += (verdict == Verdict::Violated) as usize;
                shrunk += by_sets as usize;
            }
        }
    });
    assert!(holding > 10 && broken > 10 && shrunk > 20, "{holding} {broken} {shrunk}");
}

/// Atoms that cannot be evaluated, labels, and conditions of fairness.
#[test]
fn other_properties_of_runs_agree_with_one_process() {
    let mut verdicts = [0, 0, 0];
    with_clusters(|clusters| {
        for seed in 0..25 {
            let mut random = Random(seed ^ 0xacce);
            let system = Arc::new(faulty::system(seed, seed % 2 == 0));
            let model = NativeModel::new(system.clone(), Mode::Interpreted).expect("a model");
            let atom = |random: &mut Random| faulty::expression(random, &system, 2);
            let (one, other, sure) = (atom(&mut random), atom(&mut random), harmless(&mut random, &system));
            let often = |e: &Expr| Formula::Finally(Box::new(Formula::Atom(e.clone())));
            let until = Formula::Until(Box::new(often(&one)), Box::new(Formula::Atom(other)));
            let asked = [
                (PropertyKind::Accepting(sure.clone()), vec![]),
                (PropertyKind::Progress(sure.clone()), vec![]),
                (PropertyKind::Ltl(Formula::Globally(Box::new(often(&one)))), vec![sure.clone()]),
                (PropertyKind::Ltl(until), vec![]),
            ];
            for (kind, fair) in asked {
                let property = Property::new("asked", kind);
                let (verdict, _) = compare(&format!("seed {seed}"), &model, &property, &fair, clusters);
                verdicts[verdict as usize] += 1;
            }
        }
    });
    assert!(verdicts.iter().filter(|count| **count > 10).count() >= 2, "{verdicts:?}");
}
