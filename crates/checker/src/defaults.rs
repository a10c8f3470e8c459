//! What the user leaves open is decided by what the search and the machine are like: how many threads search, whether events may
//! be left out, and which engines are tried.

use scrimp_core::cores;
use scrimp_search::plan::{BoundChoice, EngineChoice, ReduceChoice, StoreChoice, StrategyChoice, Way};
use scrimp_search::{ModelFacts, Options, Plan};

/// What the user did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Open {
    pub threads: bool,
    pub reduce: bool,
    pub engine: bool,
}

/// Memory that there must be for each thread.
const FOR_A_THREAD: usize = 16 << 20;
/// One thread searches models of so many states: that takes no time, and tells more of them where they are counted.
const SMALL: u64 = 1 << 17;
const SMALL_TO_COUNT: u64 = 1 << 20;

impl Open {
    /// The same plan with what is left to us decided.
    pub fn decide(self, mut plan: Plan, facts: &ModelFacts) -> Plan {
        if self.threads {
            plan = on_all_cores(plan, facts);
        }
        if self.reduce { may_reduce(plan, facts) } else { plan }
    }
}

/// The same question for other engines, which may be tried beside a long search.
pub fn other_engines(plan: &Plan, facts: &ModelFacts) -> Vec<Plan> {
    let engines = [EngineChoice::Symbolic(StrategyChoice::Automatic), EngineChoice::Bounded(BoundChoice(None))];
    let by = |engine: EngineChoice| {
        plan.instead("", facts, |options| {
            (options.engine, options.threads, options.alone_until, options.may_reduce) = (engine, 1, 0, false);
        })
    };
    engines.into_iter().filter_map(|engine| by(engine).ok()).collect()
}

/// A thread for each core, where the search can use them just so.
fn on_all_cores(plan: Plan, facts: &ModelFacts) -> Plan {
    let threads = cores().min(plan.memory() / FOR_A_THREAD);
    let one_by_one = matches!(plan.store(), StoreChoice::Automaton { .. } | StoreChoice::ComBack);
    if threads < 2 || one_by_one || !matches!(plan.way(), Way::Staged | Way::Indexed | Way::Set) {
        return plan;
    }
    let alone_until = if plan.counts() { SMALL_TO_COUNT } else { SMALL };
    changed(plan, facts, |options| (options.threads, options.alone_until) = (threads, alone_until))
}

/// Events may be left out where that changes no answer, and the search can find out whether it pays. A search that is taken up
/// must be the one that was saved, whatever memory it has then.
fn may_reduce(plan: Plan, facts: &ModelFacts) -> Plan {
    let Options { reduce, checkpoint, resume, audit, .. } = plan.options();
    let whole = plan.counts() || *audit || checkpoint.is_some() || resume.is_some();
    if whole || *reduce != ReduceChoice::Nothing || !matches!(plan.way(), Way::Staged | Way::Cycles) {
        return plan;
    }
    // Whether the model suits it is found out by the search, once that matters.
    let any_model = facts.without_model();
    match plan.instead("", &any_model, |options| options.reduce = ReduceChoice::Persistent(None)) {
        Ok(reduced) if reduced.way() == plan.way() => changed(plan, facts, |options| options.may_reduce = true),
        _ => plan,
    }
}

/// The plan with a change, if it is a search of the same kind then.
fn changed(plan: Plan, facts: &ModelFacts, change: impl FnOnce(&mut Options)) -> Plan {
    plan.instead("", facts, change).ok().filter(|changed| changed.way() == plan.way()).unwrap_or(plan)
}
