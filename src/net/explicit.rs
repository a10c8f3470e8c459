//! Answers by visiting markings: one search for all questions that are still open.

use super::goal::{Goal, Known};
use super::{PetriNet, Search};
use scrimp_lang::LoadError;
use scrimp_native::{Mode, NativeModel};
use scrimp_net::{Condition, Lowered, Sum};
use scrimp_search::condensed::{Condensed, Wanted};
use scrimp_search::{Plan, Property, PropertyKind, Report, Trace};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A search that is over.
pub struct Explored {
    pub model: NativeModel,
    pub report: Report,
    /// What it says of each goal.
    pub found: Vec<Option<Finding>>,
}

/// What a search says of a goal.
#[derive(Debug, Clone)]
pub struct Finding {
    pub known: Known,
    /// A run to the marking that decided it.
    pub trace: Option<Trace>,
    pub shortest: bool,
}

impl Finding {
    fn plain(known: Known) -> Finding {
        Finding { known, trace: None, shortest: false }
    }
}

/// Searches the markings of a net for these goals, each with the most that a bound can come to where that is known, and
/// begins again with more room where a guess was too small. Where there is no more room to be had, what was visited is not
/// all there is.
pub fn explore<E: From<LoadError> + From<scrimp_native::BuildError>>(
    net: &mut PetriNet,
    goals: &[(&Goal, Option<u64>)],
    plan: &Plan,
    mode: Mode,
    search: &mut Search<E>,
) -> Result<Explored, E> {
    loop {
        let lowered = net.lowered()?;
        let mut model = NativeModel::new(Arc::new(lowered.system.clone()), mode)?;
        if goals.iter().any(|(goal, _)| matches!(goal, Goal::Stable | Goal::QuasiLive | Goal::Live)) {
            model.watch_events();
        }
        if goals.iter().any(|(goal, _)| matches!(goal, Goal::Everything)) {
            model.watch_tokens();
        }
        let mut plan = plan.clone();
        plan.options.keep_going = true;
        let wanted = Wanted::default();
        plan.options.graph |= goals.iter().any(|(goal, _)| matches!(goal, Goal::Live));
        let largest: Vec<AtomicI64> = goals.iter().map(|_| AtomicI64::new(-1)).collect();
        let properties: Vec<Property> = goals
            .iter()
            .zip(&largest)
            .map(|((goal, most), largest)| property(goal, *most, largest, &lowered, &model))
            .collect();
        let result = search(&model, &properties, &mut plan, &wanted);
        drop(properties);
        if net.widen(&model) {
            continue;
        }
        let mut report = result?;
        let graph = wanted.graph.into_inner();
        let mut found = Vec::new();
        for (i, (goal, _)) in goals.iter().enumerate() {
            let largest = largest[i].load(Ordering::Relaxed);
            found.push(finding(goal, i, largest, net, &model, &mut report, graph.as_ref()));
        }
        return Ok(Explored { model, report, found });
    }
}

/// What the search looks for.
fn property<'a>(
    goal: &Goal,
    most: Option<u64>,
    largest: &'a AtomicI64,
    lowered: &Lowered,
    model: &'a NativeModel,
) -> Property<'a> {
    match goal {
        Goal::Reach { condition: Condition::Deadlock, .. } => Property::deadlock(),
        Goal::Reach { condition, .. } => match lowered.condition(condition) {
            Some(condition) => {
                let predicate = model.predicate(&condition);
                let kind = PropertyKind::Reach(Box::new(move |state| predicate.holds(state)));
                Property { name: String::new(), kind }
            }
            None => Property { name: TOO_LARGE.into(), kind: PropertyKind::Reach(Box::new(|_| Ok(false))) },
        },
        Goal::Bound(places) => {
            let value = lowered.sum(&sum_of(places)).map(|sum| model.value(&sum));
            let Some(value) = value else {
                return Property { name: TOO_LARGE.into(), kind: PropertyKind::Reach(Box::new(|_| Ok(false))) };
            };
            let most = most.and_then(|most| i64::try_from(most).ok()).unwrap_or(i64::MAX);
            Property::reach("", move |state| {
                let value = value.of(state).unwrap_or(0);
                if value > largest.load(Ordering::Relaxed) {
                    largest.fetch_max(value, Ordering::Relaxed);
                }
                value >= most
            })
        }
        _ => Property::reach("", |_| false),
    }
}

/// The name of a property that could not be put into numbers.
const TOO_LARGE: &str = "too large";

/// The places' tokens, added up.
pub fn sum_of(places: &[u32]) -> Sum {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    let mut sum = Sum::default();
    for place in sorted {
        match sum.terms.last_mut() {
            Some((last, weight)) if *last == place => *weight += 1,
            _ => sum.terms.push((place, 1)),
        }
    }
    sum
}

fn finding(
    goal: &Goal,
    number: usize,
    largest: i64,
    net: &PetriNet,
    model: &NativeModel,
    report: &mut Report,
    graph: Option<&Condensed>,
) -> Option<Finding> {
    let all = report.exhaustive;
    let result = report.properties.get_mut(number)?;
    if result.name == TOO_LARGE {
        return None;
    }
    let state = result.state.is_some();
    let (trace, shortest) = (result.trace.take(), result.shortest);
    match goal {
        Goal::Reach { found, .. } if state => Some(Finding { known: Known::Truth(*found), trace, shortest }),
        Goal::Reach { found, .. } => all.then(|| Finding::plain(Known::Truth(!found))),
        Goal::Bound(_) if state => Some(Finding { known: Known::Tokens(largest.max(0) as u64), trace, shortest }),
        Goal::Bound(_) => all.then(|| Finding::plain(Known::Tokens(largest.max(0) as u64))),
        Goal::Everything => all.then(|| Finding::plain(Known::Counted)),
        Goal::Bounded => all.then(|| Finding::plain(Known::Truth(true))),
        Goal::QuasiLive => {
            let happened = model.happened();
            let every = happened.iter().all(|happened| *happened);
            (all || every).then(|| Finding::plain(Known::Truth(every)))
        }
        Goal::Stable => {
            let changed = changed(net, &model.happened())?;
            let stable = changed.iter().any(|changed| !changed);
            (all || !stable).then(|| Finding::plain(Known::Truth(stable)))
        }
        Goal::Live => live(net, model, all, graph).map(|live| Finding::plain(Known::Truth(live))),
        Goal::Temporal => None,
    }
}

/// For each place, whether one of the transitions that fired changes it. Not known where transitions empty places: they
/// may have been empty.
fn changed(net: &PetriNet, happened: &[bool]) -> Option<Vec<bool>> {
    let mut changed = vec![false; net.net.places.len()];
    for (t, _) in net.net.transitions.iter().zip(happened).filter(|(_, happened)| **happened) {
        if !t.resets.is_empty() {
            return None;
        }
        t.effect().iter().for_each(|&(place, _)| changed[place as usize] = true);
    }
    Some(changed)
}

/// Does every transition fire in every component of the graph that is never left?
fn live(net: &PetriNet, model: &NativeModel, all: bool, graph: Option<&Condensed>) -> Option<bool> {
    let transitions = net.net.transitions.len();
    if all && model.happened().iter().any(|happened| !happened) {
        return Some(false);
    }
    let graph = graph.filter(|_| all)?;
    let budget = Arc::new(scrimp_search::Budget::new(usize::MAX));
    let components = scrimp_search::condensed::Components::new(graph, &budget).ok()?;
    let mut leaves = vec![false; components.count() as usize];
    for state in 0..graph.states() {
        let own = components.of(state);
        leaves[own as usize] |= graph.successors(state).any(|(next, _)| components.of(next) != own);
    }
    // Which transitions fire in each component that is not left.
    let final_ones: Vec<u32> = (0..components.count()).filter(|&c| !leaves[c as usize]).collect();
    let mut place = vec![u32::MAX; leaves.len()];
    final_ones.iter().enumerate().for_each(|(i, &c)| place[c as usize] = i as u32);
    if final_ones.len().saturating_mul(transitions) > 1 << 33 {
        return None;
    }
    let mut fires: Vec<scrimp_system::Set> = final_ones.iter().map(|_| scrimp_system::Set::new(transitions)).collect();
    for state in 0..graph.states() {
        let at = place[components.of(state) as usize];
        if at != u32::MAX {
            graph.successors(state).for_each(|(_, event)| fires[at as usize].insert(event as usize));
        }
    }
    Some(fires.iter().all(|set| set.iter().count() == transitions))
}
