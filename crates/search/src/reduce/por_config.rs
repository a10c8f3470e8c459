//! From properties to a reduction: what must be kept follows from what is asked.

use super::local::Local;
use super::stubborn::{Chosen, Governor, Stubborn, Wanted};
use super::{Expansion, Kept, Method, Reduce, Source};
use crate::plan::{Plan, ReduceChoice};
use crate::task::{about_runs, invalid};
use scrimp_core::{Condition, Property, PropertyKind};
use scrimp_system::{Batch, Expr, Model, Random};
use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;

/// Everything that the reductions of all threads have in common.
pub enum PorConfig {
    /// Sets of events that are computed from how they depend on each other.
    Stubborn(Box<StubbornConfig>),
    /// The events of one process, where the model says that they concern no other.
    Local,
}

/// What all threads have in common that compute sets of events.
pub struct StubbornConfig {
    stubborn: Stubborn,
    /// Events may be left out on condition.
    provided: bool,
    /// Of events that change what a property of runs looks at, all are explored or none: which these are.
    visible: Option<Arc<[bool]>>,
}

impl PorConfig {
    /// The reduction that a plan asks for, if it asks for one that leaves states out.
    pub fn of_plan(
        model: &dyn Model,
        properties: &[Property<Condition>],
        plan: &Plan,
    ) -> io::Result<Option<PorConfig>> {
        let Some(method) = method(plan) else { return Ok(None) };
        if model.knows_local() {
            return Ok(Some(PorConfig::Local));
        }
        PorConfig::of_states(model, properties, method).map(Some)
    }

    /// A reduction that nobody asked for, where the first states show that it pays.
    pub fn offered(model: &dyn Model, properties: &[Property<Condition>]) -> Option<PorConfig> {
        PorConfig::of_states(model, properties, None).ok()?.worth(model)
    }

    fn of_states(
        model: &dyn Model,
        properties: &[Property<Condition>],
        method: Option<Method>,
    ) -> io::Result<PorConfig> {
        let impossible = |reason: String| invalid(format!("partial-order reduction is not possible: {reason}"));
        let mut dependence = Arc::unwrap_or_clone(model.dependence().map_err(impossible)?);
        let mut wanted = Wanted { deadlocks: properties.is_empty(), ..Wanted::default() };
        for property in properties {
            let expression = || {
                let reason = "is a function, which does not show which events it depends on";
                let unknown = || impossible(format!("the condition of property {} {reason}", property.name));
                property.expression().cloned().ok_or_else(unknown)
            };
            match &property.kind {
                PropertyKind::Deadlock => wanted.deadlocks = true,
                PropertyKind::Faults | PropertyKind::Assertions => wanted.faults = true,
                PropertyKind::Invariant(_) => {
                    wanted.targets.push(dependence.condition(&Expr::not(expression()?), true));
                }
                PropertyKind::Reach(_) => wanted.targets.push(dependence.condition(&expression()?, false)),
                _ => return Err(about_runs(&property.name)),
            }
        }
        let dependence = Arc::new(dependence);
        let of = |method| Stubborn::new(dependence.clone(), wanted.clone(), method);
        let stubborn = method.map_or_else(|| better(model, of(Method::Process), of(Method::Closure)), of);
        let provided = stubborn.may_depend_on_history();
        Ok(PorConfig::Stubborn(Box::new(StubbornConfig { stubborn, provided, visible: None })))
    }

    /// A reduction that keeps, of every run, one that looks the same to these conditions but for repetitions, provided that
    /// on every cycle some state is explored in full. The plan asks for one, or allows one that the first states show to pay.
    pub fn of_runs(model: &dyn Model, conditions: &[Expr], plan: &Plan) -> io::Result<Option<PorConfig>> {
        match method(plan) {
            Some(_) if model.knows_local() => Ok(Some(PorConfig::Local)),
            Some(method) => PorConfig::of_conditions(model, conditions, method).map(Some),
            None if plan.options().may_reduce => {
                let config = PorConfig::of_conditions(model, conditions, None).ok();
                Ok(config.and_then(|config| config.worth(model)))
            }
            None => Ok(None),
        }
    }

    fn of_conditions(model: &dyn Model, conditions: &[Expr], method: Option<Method>) -> io::Result<PorConfig> {
        let impossible = |reason: String| invalid(format!("partial-order reduction is not possible: {reason}"));
        let dependence = model.dependence().map_err(impossible)?;
        let mut visible = vec![false; dependence.events()];
        for condition in conditions {
            visible.iter_mut().zip(dependence.visible(condition)).for_each(|(all, one)| *all |= one);
        }
        // A set with an event that has a successor: without one of them a run could not go on.
        let wanted = Wanted { deadlocks: true, ..Wanted::default() };
        let of = |method| Stubborn::new(dependence.clone(), wanted.clone(), method);
        let stubborn = method.map_or_else(|| better(model, of(Method::Process), of(Method::Closure)), of);
        let visible = Some(visible.into());
        Ok(PorConfig::Stubborn(Box::new(StubbornConfig { stubborn, provided: true, visible })))
    }

    /// This one, if it explores far fewer events in the first states than there are.
    fn worth(self, model: &dyn Model) -> Option<PorConfig> {
        /// Of a hundred events, it must explore fewer than these.
        const WORTH: usize = 50;
        let (mut persistent, mut all, mut kept) = (self.make(Expansion::Stateless), 0, 0);
        let mut keep = Vec::new();
        let more = first_states(model, |state, found| {
            keep.clear();
            keep.resize(found.len(), true);
            let source = Source { model, state, via: None };
            let chosen = persistent.choose(source, found, 0, &mut keep);
            all += keep.len();
            kept += if chosen == Kept::All { keep.len() } else { keep.iter().filter(|keep| **keep).count() };
        });
        (more && kept * 100 < all * WORTH).then_some(self)
    }

    /// A reduction for one thread.
    pub fn make(&self, manner: Expansion) -> Box<dyn Reduce> {
        match self {
            PorConfig::Stubborn(config) => {
                Box::new(config.persistent((manner == Expansion::Stateful).then(Governor::new)))
            }
            PorConfig::Local => Box::new(Local::default()),
        }
    }
}

impl StubbornConfig {
    fn persistent(&self, governor: Option<Governor>) -> Persistent {
        Persistent {
            stubborn: self.stubborn.another(),
            governor,
            events: Vec::new(),
            successors: Vec::new(),
            chosen: Vec::new(),
            provided: self.provided,
            visible: self.visible.clone(),
        }
    }
}

/// Process by process takes little more time than no reduction, closure up to ten times as long. It is worth that where it keeps
/// far fewer events beside the one that any run goes on with: it is those by which states multiply. The first states tell, and
/// some that lie deeper.
fn better(model: &dyn Model, mut quick: Stubborn, mut thorough: Stubborn) -> Stubborn {
    let (mut events, mut keep, mut beside) = (Vec::new(), Vec::new(), [0, 0]);
    let mut show = |state: &[u8], found: &Batch| {
        events.clear();
        events.extend((0..found.len()).map(|i| model.first_event(found.event(i))));
        events.sort_unstable();
        events.dedup();
        for (sum, stubborn) in beside.iter_mut().zip([&mut quick, &mut thorough]) {
            let chosen = stubborn.choose(state, &events, &mut keep);
            let kept = if chosen == Chosen::All { events.len() } else { keep.len() };
            *sum += kept.saturating_sub(1);
        }
    };
    first_states(model, &mut show);
    walked(model, &mut show);
    let [few, fewer] = beside;
    if 2 * fewer < few { thorough } else { quick }
}

/// Which method a plan asks for, if it asks for a reduction that leaves states out.
fn method(plan: &Plan) -> Option<Option<Method>> {
    match plan.options().reduce {
        ReduceChoice::Persistent(method) => Some(method),
        ReduceChoice::PersistentSleep => Some(None),
        ReduceChoice::Nothing | ReduceChoice::EdgeLean | ReduceChoice::Symmetry { .. } => None,
    }
}

/// Shows the first states of a model, each with its successors. Are there more?
fn first_states(model: &dyn Model, mut show: impl FnMut(&[u8], &Batch)) -> bool {
    /// States that are looked at.
    const SAMPLE: usize = 1000;
    let mut found = Batch::new(model.state_bytes());
    model.initial(&mut found);
    let mut seen: HashSet<Vec<u8>> = (0..found.len()).map(|i| found.state(i).to_vec()).collect();
    let mut next: VecDeque<Vec<u8>> = seen.iter().take(SAMPLE).cloned().collect();
    next.make_contiguous().sort_unstable();
    // Large states are few enough to stay small.
    let sample = SAMPLE.min((4 << 20) / model.state_bytes().max(1));
    for _ in 0..sample {
        let Some(state) = next.pop_front() else { return false };
        found.clear();
        model.expand(&state, &mut found);
        found.take_deadlock(0);
        show(&state, &found);
        for i in 0..found.len() {
            if next.len() < sample && seen.insert(found.state(i).to_vec()) {
                next.push_back(found.state(i).to_vec());
            }
        }
    }
    !next.is_empty()
}

/// Shows the states on a few walks, each with its successors.
fn walked(model: &dyn Model, mut show: impl FnMut(&[u8], &Batch)) {
    const WALKS: usize = 16;
    // Large states are few enough to stay small.
    let steps = 64.min((4 << 20) / WALKS / model.state_bytes().max(1));
    let mut random = Random(1);
    let mut found = Batch::new(model.state_bytes());
    for _ in 0..WALKS {
        found.clear();
        model.initial(&mut found);
        for _ in 0..steps {
            if found.is_empty() {
                break;
            }
            let state = found.state(random.below(found.len())).to_vec();
            found.clear();
            model.expand(&state, &mut found);
            found.take_deadlock(0);
            show(&state, &found);
        }
    }
}

/// Explores stubborn sets.
struct Persistent {
    stubborn: Stubborn,
    governor: Option<Governor>,
    /// The event of each successor; these in order and each once; and those that are chosen.
    events: Vec<u32>,
    successors: Vec<u32>,
    chosen: Vec<u32>,
    provided: bool,
    visible: Option<Arc<[bool]>>,
}

impl Reduce for Persistent {
    fn choose(&mut self, source: Source, batch: &Batch, first: usize, keep: &mut [bool]) -> Kept {
        let Persistent { stubborn, governor, events, successors, chosen, .. } = self;
        if keep.is_empty() || governor.as_mut().is_some_and(|governor| !governor.asks()) {
            return Kept::All;
        }
        events.clear();
        events.extend((first..batch.len()).map(|i| source.model.first_event(batch.event(i))));
        successors.clear();
        successors.extend_from_slice(events);
        successors.sort_unstable();
        successors.dedup();
        let decided = stubborn.choose(source.state, successors, chosen);
        let kept = match decided {
            Chosen::All => successors.len(),
            Chosen::Some | Chosen::Proviso => chosen.len(),
        };
        if let Some(governor) = governor {
            governor.learn(successors.len(), kept);
        }
        let seen = |visible: &Arc<[bool]>| chosen.iter().any(|event| visible[*event as usize]);
        if decided == Chosen::All || self.visible.as_ref().is_some_and(seen) {
            return Kept::All;
        }
        for (keep, event) in keep.iter_mut().zip(events.iter()) {
            *keep = chosen.contains(event);
        }
        if decided == Chosen::Proviso { Kept::Proviso } else { Kept::Some }
    }

    fn wants_history(&self) -> bool {
        self.provided
    }
}
