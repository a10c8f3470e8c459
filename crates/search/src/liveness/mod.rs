//! Infinite runs: is there one that an automaton accepts?
//!
//! The [product](Product) of a model and an automaton has a run that is accepted exactly if it has a cycle that meets all
//! marks. Two searches look for one, both depth-first: nested ones, which need least memory, and one for strongly
//! connected components, which meets several marks at once and needs a number for each state. Several threads
//! search together. What is found becomes a [lasso](Lasso).

mod acceptance;
mod components;
#[cfg(all(test, feature = "shuttle"))]
mod concurrency;
mod crew;
mod edges;
mod forest;
mod gather;
mod lasso;
mod nearby;
mod nested;
mod on_lts;
mod parts;
mod path_set;
mod product;
mod report;
mod saved;
mod states;
mod swarm;
mod take_apart;
#[cfg(test)]
mod tests;
mod together;
#[cfg(test)]
mod together_tests;
mod walk;

pub use edges::{EdgeKind, Edges, Expanded, FoundRun};
pub use lasso::Lasso;
pub use product::{Fairness, MOST_MARKS, Product, STUTTER};

use crate::checkpoint::impossible;
use crate::plan::{CycleChoice, ModelFacts, Plan, StoreChoice, Way};
use crate::reduce::{Expansion, Orbits, PorConfig};
use crate::saver::Saver;
use crate::store::{Collapse, ComBack, Store, Table, Tree};
use crate::task::{Guide, invalid};
use components::Components;
use crew::Ended;
use nested::Nested;
use product::Mover;
use saved::{Resumable, carry_out};
use scrimp_core::{Budget, Control, GraphFacts, Limit, OrbitFacts, Predicate};
use scrimp_system::{Expr, Fault, Model};
use scrimp_temporal::Automaton;
use states::{Keyed, Known, Numbered, States};
use std::io;
use std::sync::Arc;
use walk::Halt;

/// Is there a run that the automaton accepts?
pub struct Question<'a> {
    pub model: &'a dyn Model,
    pub automaton: &'a Automaton,
    /// What the automaton's atoms are, as conditions on states of the model, and as expressions, for what must look into
    /// them.
    pub atoms: &'a [Predicate<'a>],
    pub expressions: &'a [Expr],
    /// Only runs that are fair to processes: those of which none waits for ever though it could always move, or again and again.
    pub fairness: Option<&'a Fairness<'a>>,
    /// Does the automaton accept a word exactly if it accepts it with letters repeated?
    pub stutters: bool,
    /// Does a run that comes to an end stay there for ever? Otherwise it is none.
    pub repeats: bool,
    /// The progress measure, where the plan sweeps.
    pub progress: Option<&'a Guide<'a>>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Is there such a run? `None` where the search did not come to its end.
    pub accepted: Option<bool>,
    /// The run, where one was found and could be told.
    pub lasso: Option<Lasso>,
    /// An atom could not be evaluated.
    pub fault: Option<Fault>,
    pub limit: Option<Limit>,
    /// Of the product.
    pub facts: GraphFacts,
    pub state_bytes: usize,
    pub store_bytes: usize,
    pub store: Option<String>,
    /// Events or states were left out.
    pub reduced: bool,
    /// States are orbits of symmetries.
    pub orbits: Option<OrbitFacts>,
}

/// Looks for a run that the automaton accepts, by a plan.
pub fn search(question: &Question, plan: &Plan, control: &Control) -> io::Result<Answer> {
    let sets = question.automaton.sets + question.fairness.map_or(0, Fairness::marks);
    if sets > MOST_MARKS {
        return Err(invalid(format!(
            "more than {MOST_MARKS} sets of marks, of processes among them, are not supported"
        )));
    }
    let Some(orbits) = Orbits::of_runs(question.model, question.expressions, plan)? else {
        return search_by(question, plan, control);
    };
    control.say(orbits.symmetry().describe());
    let mut answer = search_by(&Question { model: &orbits, ..*question }, plan, control)?;
    answer.lasso = answer.lasso.and_then(|lasso| {
        let (trace, cycle) = orbits.unfold_lasso(&lasso.trace, lasso.cycle)?;
        Some(Lasso { trace, cycle })
    });
    answer.orbits =
        Some(OrbitFacts { symmetries: orbits.symmetry().order(), exact: orbits.symmetry().is_exact(), states: None });
    answer.reduced = true;
    Ok(answer)
}

fn search_by(question: &Question, plan: &Plan, control: &Control) -> io::Result<Answer> {
    if plan.way() == Way::SweptCycles {
        return on_lts::search(question, plan, control);
    }
    let answer = search_in(question, plan, control)?;
    // Nobody has asked for a table: what does not fit there may fit in a tree.
    if answer.limit == Some(Limit::Memory) && plan.options().store.is_none() {
        let why = match plan.options().threads {
            1 => "a table has no room for all states: the search begins again in a tree",
            _ => "a table has no room for all states: the search begins again in a tree, by one thread",
        };
        let tree = plan.instead(why, &ModelFacts::default(), |options| {
            // What was saved is no search in a tree.
            (options.store, options.resume) = (Some(StoreChoice::Tree), None);
            (options.threads, options.alone_until) = (1, 0);
        });
        if let Ok(plan) = tree {
            control.say(why);
            return search_in(question, &plan, control);
        }
    }
    Ok(answer)
}

fn search_in(question: &Question, plan: &Plan, control: &Control) -> io::Result<Answer> {
    let together = match plan.way() {
        Way::Cycles => false,
        Way::Swarm | Way::TogetherComponents => true,
        other => {
            return Err(invalid(format!("internal error: the plan is for another kind of question ({other:?})")));
        }
    };
    let store = plan.store();
    let Question { model, automaton, atoms, expressions, fairness, stutters, repeats, .. } = *question;
    let budget = Budget::begin(plan.memory())?;
    model.spend_from(budget.clone());
    let processes = fairness.map(|fairness| (fairness.weak, fairness.strong));
    let asked = format!("{automaton:?} {expressions:?} {processes:?} {stutters} {repeats}");
    let saver = Saver::new(model, &asked, plan, None, control);
    let saved = saver.as_ref().map_or(Ok(None), Saver::resume)?;
    // A search that was saved goes on as it was.
    let nested = match (plan.options().cycles, &saved) {
        (CycleChoice::Nested, _) => true,
        (CycleChoice::Components, _) => false,
        (CycleChoice::Automatic, Some((stage, _))) => stage == Nested::STAGE,
        (CycleChoice::Automatic, None) => *store == StoreChoice::Tree || plan.way() == Way::Swarm,
    };
    if let Some((stage, _)) = &saved {
        if stage != if nested { Nested::STAGE } else { Components::STAGE } {
            return Err(impossible("a search of another kind"));
        }
        if !nested && *store == StoreChoice::Tree {
            return Err(invalid(
                "the checkpoint is of a search for components, which needs numbers for its states: use --store table or collapse",
            ));
        }
    }
    if nested && fairness.is_some_and(|fairness| fairness.strong > 0) {
        return Err(invalid("strong fairness is decided by components, not by a nested search"));
    }
    let saved = saved.map(|(_, from)| from);
    // The plan asks for a reduction only where it is sound; a caller may know no expressions to keep.
    let por_config = match stutters && fairness.is_none() {
        true => PorConfig::of_runs(model, expressions, plan)?,
        false => None,
    };
    let state_based;
    let mut automaton = automaton;
    if together && nested {
        state_based = automaton.state_based();
        automaton = &state_based;
    }
    let product = Product::new(model, automaton, atoms, fairness, nested).ending(!repeats);
    let reduce = || por_config.as_ref().map(|por_config| por_config.make(Expansion::Stateless));
    let mover = Mover::new(&product, reduce());
    let mut answer = Answer {
        accepted: None,
        lasso: None,
        fault: None,
        limit: None,
        facts: GraphFacts::default(),
        state_bytes: product.state_bytes(),
        store_bytes: 0,
        store: Some(store.to_string()),
        reduced: por_config.is_some(),
        orbits: None,
    };
    let (halt, rough) = if together {
        let search = if nested { swarm::search } else { together::search };
        let (ended, facts, bytes) = search(&product, plan.options().threads, control, &budget)?;
        answer.facts = facts;
        answer.store_bytes = bytes;
        match ended {
            Ended::Complete => (Ok(()), None),
            Ended::Found(rough) => (Err(Halt::Found), rough),
            Ended::Fault(fault) => (Err(Halt::Fault(fault)), None),
            Ended::Limit(limit) => (Err(Halt::Limit(limit)), None),
        }
    } else if nested {
        let mut states: Box<dyn Known + '_> = match store {
            StoreChoice::Tree => Box::new(Keyed::new(Tree::of_model(&product, &budget)?, &budget)?),
            _ => Box::new(Numbered::new(numbered(&product, store, plan, &budget)?, product.state_bytes(), &budget)?),
        };
        let mut search = Nested::new(mover, &mut *states, control, &budget)?;
        let halt = carry_out(&mut search, saved, saver.as_ref(), control)?;
        let (depth, beside) = (search.outer.deepest, search.bytes());
        let rough = gather::of_nested(&mut search, product.state_bytes());
        answer.facts = GraphFacts { depth, widest: depth as u64, ..search.facts };
        answer.facts.states = states.len();
        answer.store_bytes = states.bytes() + beside;
        (halt, rough)
    } else {
        let mut states = Numbered::new(numbered(&product, store, plan, &budget)?, product.state_bytes(), &budget)?;
        let mut search = Components::new(mover, &mut states, control, &budget)?;
        let halt = carry_out(&mut search, saved, saver.as_ref(), control)?;
        let rough = gather::of_component(&mut search, &mut Mover::new(&product, None));
        let (depth, beside) = (search.path.deepest, search.bytes());
        answer.facts = GraphFacts { depth, widest: depth as u64, ..search.facts };
        answer.facts.states = states.len();
        answer.store_bytes = states.bytes() + beside;
        (halt, rough)
    };
    if product.is_outgrown() {
        return Err(invalid("the model has grown beyond the system that was made for it"));
    }
    match halt {
        // Of what does not come to an end, not all successors are known.
        Ok(()) if product.is_endless() => {
            control.say("an atomic sequence of the model does not end: its successors are not known");
        }
        Ok(()) => answer.accepted = Some(false),
        Err(Halt::Found) => {
            answer.accepted = Some(true);
            control.enter(Some("shortening the run"));
            answer.lasso = rough.and_then(|rough| rough.finish(&product, &budget, control.stop()));
        }
        Err(Halt::Full | Halt::Paused) => answer.limit = Some(Limit::Memory),
        Err(Halt::Limit(limit)) => answer.limit = Some(limit),
        Err(Halt::Fault(fault)) => answer.fault = Some(fault),
    }
    Ok(answer)
}

/// A store that numbers its states.
fn numbered<'m>(
    product: &'m Product,
    store: &StoreChoice,
    plan: &Plan,
    budget: &Arc<Budget>,
) -> io::Result<Box<dyn Store + 'm>> {
    Ok(match store {
        StoreChoice::Collapse => Box::new(Collapse::new(product, budget)?),
        StoreChoice::ComBack => {
            Box::new(ComBack::new(product, plan.options().backedges, plan.options().cached, budget)?)
        }
        _ => Box::new(Table::new(product.state_bytes(), budget.clone())?),
    })
}
