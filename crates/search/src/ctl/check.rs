//! Decides a CTL formula: on the fly where that is possible, and otherwise on a graph that is built first.

use super::evidence::evidence;
use super::graph::Solved;
use super::local::Local;
use super::normal::Table;
use super::space::{Space, Stop};
use super::truth::Truth;
use super::watched::Watched;
use crate::lts::{Lts, Wanted};
use crate::plan::{ModelFacts, Options, Plan, Question, StoreChoice, Way};
use crate::run::run_guided;
use crate::task::{Guide, Guides, invalid};
use scrimp_core::{Budget, Control, Evidence, Limit, Predicate};
use scrimp_system::{Batch, Model};
use scrimp_temporal::Formula;
use std::io;
use std::sync::Arc;

/// What is to be decided, and how.
pub struct CtlTask<'a> {
    pub model: &'a dyn Model,
    pub formula: &'a Formula<u32>,
    /// The atoms by number: how each is written, and whether it holds. A fault counts as "does not hold".
    pub names: &'a [String],
    pub atoms: &'a [Predicate<'a>],
    /// Only runs on which each of these holds again and again are looked at.
    pub fairness: &'a [Predicate<'a>],
    pub plan: &'a Plan,
    pub control: &'a Control,
    /// The progress measure, where the plan sweeps.
    pub progress: Option<&'a Guide<'a>>,
}

/// What was counted on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CtlFacts {
    pub initial_states: u64,
    /// States found, those of them that were expanded, and events that lead from these.
    pub states: u64,
    pub expanded: u64,
    pub transitions: u64,
    /// Pairs of a state and a part of the formula that were decided.
    pub configurations: u64,
    pub bytes: usize,
    /// The store in which the search ended.
    pub store: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub struct CtlOutcome {
    /// Does the formula hold in every initial state?
    pub verdict: Option<bool>,
    /// Why that is so, if that was asked for; `None` where it takes too long to say.
    pub evidence: Option<Evidence>,
    pub facts: CtlFacts,
    pub limit: Option<Limit>,
    /// Was every reachable state expanded?
    pub exhaustive: bool,
}

/// A verdict, and the one who knows why.
pub struct Inquiry<'i, 'f> {
    pub table: &'i Table<'f>,
    pub truth: &'i mut dyn Truth,
    pub verdict: bool,
    /// The initial state that decides it, by its number among all of them: the first one where the formula does not hold.
    pub initial: usize,
}

/// Decides a formula, and says why.
pub fn check(task: &CtlTask) -> io::Result<CtlOutcome> {
    let mut why = None;
    let mut outcome = examine(task, &mut |inquiry| why = evidence(task, inquiry))?;
    outcome.evidence = why;
    Ok(outcome)
}

/// Decides a formula, and does not say why.
pub fn decide(task: &CtlTask) -> io::Result<CtlOutcome> {
    examine(task, &mut |_| ())
}

/// Decides a formula, and lets somebody ask why, if it could be decided.
pub fn examine(task: &CtlTask, ask: &mut dyn FnMut(Inquiry)) -> io::Result<CtlOutcome> {
    let CtlTask { model, formula, atoms, fairness, plan, .. } = *task;
    if model.state_bytes() == 0 {
        return Err(invalid("a model's states must have at least one byte"));
    }
    let mut missing = false;
    formula.atoms(&mut |&atom| missing |= atom as usize >= atoms.len());
    if missing {
        return Err(invalid("an atom of the formula has no condition"));
    }
    let table = Table::new(formula, !fairness.is_empty()).map_err(invalid)?;
    let budget = Budget::begin(plan.memory())?;
    model.spend_from(budget.clone());
    let outcome = match plan.way() {
        Way::Local if fairness.is_empty() => in_some_store(task, &table, &budget, ask)?,
        Way::Local | Way::OnGraph => on_graph(task, &table, &budget, ask)?,
        other => {
            return Err(invalid(format!("internal error: the plan is for another kind of question ({other:?})")));
        }
    };
    if model.is_outgrown() {
        return Err(invalid("the model has grown beyond the system that was made for it"));
    }
    Ok(outcome)
}

/// Does a part about one state hold there?
pub(super) fn label_holds(atoms: &[Predicate], table: &Table, node: usize, state: &[u8]) -> bool {
    table.holds_in(node, &|atom| atoms[atom as usize](state) == Ok(true))
}

fn outcome(decided: Result<bool, Stop>, facts: CtlFacts, exhaustive: bool, control: &Control) -> CtlOutcome {
    if decided == Err(Stop::Endless) {
        control.say("an atomic sequence of the model does not end: its successors are not known");
    }
    let limit = match decided {
        Err(Stop::Limit(limit)) => Some(limit),
        _ => None,
    };
    CtlOutcome { verdict: decided.ok(), evidence: None, facts, limit, exhaustive }
}

/// On the fly; where the store is left to us and memory is used up, once more in a smaller one.
fn in_some_store(
    task: &CtlTask,
    table: &Table,
    budget: &Arc<Budget>,
    ask: &mut dyn FnMut(Inquiry),
) -> io::Result<CtlOutcome> {
    let mut outcome = locally(task, table, budget, ask)?;
    let left_to_us = task.plan.options().store.is_none();
    for store in [StoreChoice::Collapse, StoreChoice::ComBack].into_iter().filter(|_| left_to_us) {
        if outcome.limit != Some(Limit::Memory) {
            break;
        }
        let why = format!("memory was used up: the search began again in store {store}");
        let changed = task.plan.instead(&why, &ModelFacts::default(), |options| options.store = Some(store));
        let plan = changed?;
        task.control.say(why);
        outcome = locally(&CtlTask { plan: &plan, ..*task }, table, budget, ask)?;
    }
    Ok(outcome)
}

/// On the fly, in states with numbers.
fn locally(
    task: &CtlTask,
    table: &Table,
    budget: &Arc<Budget>,
    ask: &mut dyn FnMut(Inquiry),
) -> io::Result<CtlOutcome> {
    let labels = table.labels();
    let holds = |label: usize, state: &[u8]| label_holds(task.atoms, table, labels[label], state);
    let space = Space::new(task.model, (labels.len(), &holds), task.plan, task.control, budget)?;
    let mut local = Local::new(table, space, budget);
    let decided = local.decide_all();
    let facts = CtlFacts {
        initial_states: local.initial_states,
        states: local.space.states(),
        expanded: local.space.expanded(),
        transitions: local.space.transitions(),
        configurations: local.configurations(),
        bytes: local.bytes(),
        store: Some(task.plan.store().to_string()),
    };
    let exhaustive = decided.is_ok() && facts.states == facts.expanded;
    if let Ok(first) = decided
        && !task.model.is_outgrown()
    {
        let (verdict, initial) = (first.is_none(), first.unwrap_or(0));
        ask(Inquiry { table, truth: &mut local, verdict, initial });
    }
    Ok(outcome(decided.map(|first| first.is_none()), facts, exhaustive, task.control))
}

impl Local<'_, '_> {
    /// The first initial state where the formula does not hold, by its number among them.
    fn decide_all(&mut self) -> Result<Option<usize>, Stop> {
        let initial = self.space.initial()?;
        self.initial_states = initial.len() as u64;
        let root = self.table.root();
        for (i, state) in initial.into_iter().enumerate() {
            if !self.holds(state, root)? {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }
}

impl Truth for Local<'_, '_> {
    fn begin(&mut self, _: &Batch) -> Option<Vec<u32>> {
        self.space.initial().ok()
    }

    fn go_on(&mut self, place: u32, successors: &Batch) -> Option<Vec<u32>> {
        let mut cursor = self.space.successors(place).ok()?;
        let places: Vec<u32> = std::iter::from_fn(|| self.space.next(&mut cursor)).collect();
        (places.len() == successors.len()).then_some(places)
    }

    fn holds(&mut self, subformula: usize, place: u32, _: &[u8]) -> Option<bool> {
        let node = self.table.subformulas()[subformula].node;
        Local::holds(self, place, node).ok()
    }
}

/// On the graph that a search writes down.
fn on_graph(
    task: &CtlTask,
    table: &Table,
    budget: &Arc<Budget>,
    ask: &mut dyn FnMut(Inquiry),
) -> io::Result<CtlOutcome> {
    let CtlTask { atoms, control, fairness, progress, .. } = *task;
    let plan = graph_plan(task.plan)?;
    let model = Watched::new(task.model);
    let mut wanted = Wanted::default();
    for node in table.labels() {
        wanted.labels.push((String::new(), Box::new(move |state| Ok(label_holds(atoms, table, node, state)))));
    }
    for condition in fairness {
        wanted.labels.push((String::new(), Box::new(move |state| condition(state))));
    }
    let guides = Guides { progress, graph: Some(&wanted), ..Guides::default() };
    let report = run_guided(&model, &[], &plan, control, guides)?;
    let mut facts = CtlFacts {
        initial_states: report.facts.initial_states,
        states: report.facts.states,
        expanded: report.visits,
        transitions: report.facts.transitions,
        store: report.store,
        ..CtlFacts::default()
    };
    let graph = wanted.graph.take();
    let complete = |graph: &Lts| (0..graph.states()).all(|state| graph.is_expanded(state));
    let Some(graph) = graph.filter(|graph| report.exhaustive && complete(graph)) else {
        facts.bytes = report.store_bytes;
        return Ok(CtlOutcome {
            verdict: None,
            evidence: None,
            facts,
            limit: report.limit.or(Some(Limit::Memory)),
            exhaustive: false,
        });
    };
    if model.is_endless() {
        return Ok(outcome(Err(Stop::Endless), facts, false, control));
    }
    let solved = Solved::new(table, graph, fairness.len(), control, budget);
    let decided = solved.map(|solved| {
        let root = table.root();
        let first = solved.graph.initial().iter().position(|&state| !solved.holds(state, root));
        facts.configurations = solved.configurations();
        facts.bytes = solved.bytes().max(report.store_bytes);
        let (verdict, initial) = (first.is_none(), first.unwrap_or(0));
        let mut truth = OnGraph { solved: &solved };
        ask(Inquiry { table, truth: &mut truth, verdict, initial });
        verdict
    });
    Ok(outcome(decided, facts, true, control))
}

/// The plan of a search that writes down the graph in which a question about runs is decided.
pub(crate) fn graph_plan(plan: &Plan) -> io::Result<Plan> {
    Ok(plan.for_question(Question::count(), "", &ModelFacts::default(), |options| {
        *options = Options {
            graph: true,
            keep_going: true,
            store: Some(plan.store().clone()),
            forget: options.forget.clone(),
            progress: options.progress.take(),
            backedges: options.backedges,
            cached: options.cached,
            memory: options.memory,
            time: options.time,
            seed: options.seed,
            ..Options::default()
        }
    })?)
}

/// The truth in a graph. Places are numbers of the graph.
struct OnGraph<'s, 'a, 'f> {
    solved: &'s Solved<'a, 'f>,
}

impl Truth for OnGraph<'_, '_, '_> {
    fn begin(&mut self, initial: &Batch) -> Option<Vec<u32>> {
        // Initial states that are equal have one number.
        let mut different: Vec<&[u8]> = Vec::new();
        let mut places = Vec::new();
        for i in 0..initial.len() {
            let at = different.iter().position(|state| *state == initial.state(i)).unwrap_or(different.len());
            if at == different.len() {
                different.push(initial.state(i));
            }
            places.push(*self.solved.graph.initial().get(at)?);
        }
        Some(places)
    }

    fn go_on(&mut self, place: u32, successors: &Batch) -> Option<Vec<u32>> {
        let places: Vec<u32> = self.solved.graph.successors(place).map(|(next, _)| next).collect();
        (places.len() == successors.len()).then_some(places)
    }

    fn holds(&mut self, subformula: usize, place: u32, _: &[u8]) -> Option<bool> {
        Some(self.solved.holds(place, self.solved.table.subformulas()[subformula].node))
    }

    fn is_fair(&mut self, place: u32, _: &[u8]) -> Option<bool> {
        Some(self.solved.is_fair(place))
    }
}
