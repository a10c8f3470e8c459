//! Runs on a graph that was built before, by a search that may forget its states.
//!
//! The reachability graph knows of each state a number, its successors and whether the atoms hold there. It is bisimilar to the
//! reachability graph, so it has the same runs; a state of it is its number, and what is searched here is small, whatever
//! the states of the model are. A run that is found is run again by the model.

use super::lasso::Lasso;
use super::{Answer, Question};
use crate::ctl::{Watched, graph_plan};
use crate::lts::{Lts, Number, Wanted};
use crate::plan::{BackedgeChoice, ForgetChoice, ModelFacts, Plan, StoreChoice};
use crate::run::run_guided;
use crate::task::Guides;
use scrimp_core::{Control, Limit, Predicate, Trace};
use scrimp_system::{Batch, Fault, Model};
use std::io;

/// The graph as a model.
struct OnLts<'g> {
    graph: &'g Lts,
}

fn number(state: &[u8]) -> Number {
    Number::from_le_bytes([state[0], state[1], state[2], state[3]])
}

impl Model for OnLts<'_> {
    fn state_bytes(&self) -> usize {
        size_of::<Number>()
    }

    fn initial(&self, out: &mut Batch) {
        self.graph.initial().iter().for_each(|state| out.push(&state.to_le_bytes(), 0));
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        self.graph.successors(number(state)).for_each(|(next, event)| out.push(&next.to_le_bytes(), event));
    }
}

/// Builds the graph by the plan, and looks for an accepted run on it.
pub(super) fn search(question: &Question, plan: &Plan, control: &Control) -> io::Result<Answer> {
    let model = Watched::new(question.model);
    let fault = std::sync::Mutex::new(None);
    let mut wanted = Wanted::default();
    for atom in question.atoms {
        let fault = &fault;
        let label: Predicate = Box::new(move |state| {
            let value = atom(state);
            if let Err(found) = &value {
                fault.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(*found);
            }
            Ok(value.unwrap_or(false))
        });
        wanted.labels.push((String::new(), label));
    }
    let guides = Guides { progress: question.progress, graph: Some(&wanted), ..Guides::default() };
    let report = run_guided(&model, &[], &graph_plan(plan)?, control, guides)?;
    let mut answer = Answer {
        accepted: None,
        lasso: None,
        fault: *fault.lock().unwrap_or_else(|e| e.into_inner()),
        limit: report.limit,
        facts: report.facts.clone(),
        state_bytes: report.state_bytes,
        store_bytes: report.store_bytes,
        store: report.store.clone(),
        reduced: false,
        orbits: None,
    };
    let complete = |graph: &Lts| (0..graph.states()).all(|state| graph.is_expanded(state));
    let graph = wanted.graph.take().filter(|graph| report.exhaustive && complete(graph));
    let Some(graph) = graph.filter(|_| answer.fault.is_none()) else {
        answer.limit = answer.limit.or(answer.fault.is_none().then_some(Limit::Memory));
        return Ok(answer);
    };
    if model.is_endless() {
        control.say("an atomic sequence of the model does not end: its successors are not known");
        return Ok(answer);
    }
    control.say(format!(
        "the runs are those of a graph with {} states and {} edges",
        graph.states(),
        graph.transitions()
    ));
    let (graph, on_lts) = (&graph, OnLts { graph: &graph });
    let label =
        |at: usize| -> Predicate { Box::new(move |state: &[u8]| Ok::<bool, Fault>(graph.holds(at, number(state)))) };
    let atoms: Vec<Predicate> = (0..question.atoms.len()).map(label).collect();
    let on_graph =
        Question { model: &on_lts, atoms: &atoms, expressions: &[], stutters: false, progress: None, ..*question };
    let plain = plan.instead("", &ModelFacts::default(), |options| {
        (options.forget, options.progress, options.order) = (ForgetChoice::Nothing, None, None);
        (options.store, options.cached, options.backedges) = (Some(StoreChoice::Table), None, BackedgeChoice::Events);
    });
    let found = super::search_in(&on_graph, &plain?, control)?;
    answer.accepted = found.accepted;
    answer.limit = found.limit;
    answer.store_bytes = answer.store_bytes.max(found.store_bytes);
    answer.lasso = found.lasso.and_then(|lasso| again(question.model, graph, &lasso));
    Ok(answer)
}

/// The run of the graph as one of the model: its edges are in the order of the model's events.
fn again(model: &dyn Model, graph: &Lts, lasso: &Lasso) -> Option<Lasso> {
    let mut at = number(&lasso.trace.initial);
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    // Initial states that are equal have one number.
    let mut different: Vec<&[u8]> = Vec::new();
    for state in (0..initial.len()).map(|i| initial.state(i)) {
        if !different.contains(&state) {
            different.push(state);
        }
    }
    let place = graph.initial().iter().position(|state| *state == at)?;
    let mut trace = Trace { initial: different.get(place)?.to_vec(), steps: Vec::new() };
    let mut successors = Batch::new(model.state_bytes());
    for (event, next) in &lasso.trace.steps {
        let wanted = number(next);
        let edge = graph.successors(at).position(|(to, code)| to == wanted && code == *event)?;
        successors.clear();
        model.expand(trace.last(), &mut successors);
        if edge >= successors.len() || successors.event(edge) != *event {
            return None;
        }
        trace.steps.push((*event, successors.state(edge).to_vec()));
        at = wanted;
    }
    // An unfolding may come back to a copy of a state: the model is back all the same.
    let begin = if lasso.cycle == 0 { &trace.initial } else { &trace.steps[lasso.cycle - 1].1 };
    (trace.last() == &begin[..]).then_some(Lasso { trace: trace.clone(), cycle: lasso.cycle })
}
