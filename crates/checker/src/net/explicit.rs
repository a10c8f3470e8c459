//! Answers by visiting markings: one search for all questions that are still open.

use super::goal::{Goal, Known};
use super::{Made, PetriNet, Search};
use crate::grow::with_room;
use scrimp_core::{Limit, Property, PropertyKind, Report, Trace, Verdict};
use scrimp_lang::LoadError;
use scrimp_native::{BuildError, Mode, NativeModel, Quantity};
use scrimp_net::{Condition, Lowered, Net, Sum};
use scrimp_search::lts::{Lts, Wanted};
use scrimp_search::plan::ReduceChoice;
use scrimp_search::{Feature, ModelFacts, Options, Plan, Question, Refusal};
use scrimp_system::{Expr, Model};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

/// A search that is over.
pub struct Explored {
    pub model: Arc<NativeModel>,
    pub made: Made,
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

/// What a search for these goals has to decide.
pub fn question<'g>(goals: impl Iterator<Item = &'g Goal>) -> Question {
    let kind = |goal: &Goal| match goal {
        Goal::Reach { .. } => Feature::States,
        Goal::Live => Feature::Liveness,
        _ => Feature::EveryMarking,
    };
    goals.fold(Question::about(Feature::OfNet), |question, goal| question.with(kind(goal)))
}

/// Why symmetry cannot be used, where it is asked for.
pub fn asymmetric(options: &Options, model: &NativeModel, kept: &[&Expr], others: &[&Expr]) -> Option<String> {
    match options.reduce {
        ReduceChoice::Symmetry { .. } => match model.symmetry(kept, others) {
            // Runs are followed from orbit to orbit, each by its one representative.
            Ok(symmetry) if !kept.is_empty() && !symmetry.is_exact() => {
                Some("the model has too many symmetries".to_string())
            }
            found => found.err(),
        },
        _ => None,
    }
}

/// Searches the markings of a net for these goals, each with the most that a bound can come to where that is known, and
/// begins again with more room where a guess was too small. Where there is no more room to be had, what was visited is not
/// all there is. With `watch`, it is noted which transitions fire.
pub fn explore<E: From<LoadError> + From<BuildError> + From<Refusal>>(
    net: &mut PetriNet,
    goals: &[(&Goal, Option<u64>)],
    options: &Options,
    watch: bool,
    mode: Mode,
    search: &mut Search<E>,
) -> Result<Explored, E> {
    let has = |wanted: fn(&Goal) -> bool| goals.iter().any(|(goal, _)| wanted(goal));
    let make = |system| {
        let mut model = NativeModel::new(system, mode)?;
        if watch || has(|goal| matches!(goal, Goal::Stable | Goal::QuasiLive | Goal::Live)) {
            model.watch_events();
        }
        if has(|goal| matches!(goal, Goal::Everything)) {
            model.watch_tokens();
        }
        Ok(model)
    };
    let lively = has(|goal| matches!(goal, Goal::Live));
    let options = Options { keep_going: true, graph: lively, ..options.clone() };
    let question = question(goals.iter().map(|(goal, _)| *goal));
    // The graph is made for liveness, whoever else asks.
    let question = if lively { question.without(Feature::OfNet) } else { question };
    let (mut plan, _) = Plan::as_far_as_possible(&options, question, &ModelFacts::default())?;
    let work = |net: &mut PetriNet, model: &Arc<NativeModel>| {
        let lowered = net.lowered()?;
        let wanted = Wanted::default();
        let largest: Vec<AtomicI64> = goals.iter().map(|_| AtomicI64::new(0)).collect();
        let properties: Vec<Property<scrimp_core::Condition>> = goals
            .iter()
            .zip(&largest)
            .map(|((goal, most), largest)| property(goal, &net.net, *most, largest, &lowered, model))
            .collect();
        let conditions: Vec<_> = properties.iter().filter_map(Property::expression).collect();
        if let Some(why) = asymmetric(plan.options(), model, &[], &conditions) {
            let why = format!("--reduce {} is not used: {why}", plan.options().reduce);
            plan = plan.instead(why, &ModelFacts::default(), |options| options.reduce = ReduceChoice::Nothing)?;
        }
        let result = search(model, &properties, &mut plan, &wanted);
        drop(properties);
        let largest = largest.into_iter().map(AtomicI64::into_inner).collect::<Vec<i64>>();
        // Where there was no room for a marking, that it failed says nothing.
        Ok::<_, E>((result, largest, wanted.graph.into_inner()))
    };
    let (model, (result, largest, graph)) = with_room(net, None, &make, &mut |_| {}, work)?;
    if model.outgrown().is_some() {
        // There is no more room to be had: what was visited is not all there is.
        let mut report = Report::of_nothing(&*model, Duration::ZERO);
        report.limit = Some(Limit::Tokens);
        let found = goals.iter().map(|_| None).collect();
        return Ok(Explored { model, made: Made { plan, report }, found });
    }
    let mut report = result?;
    let found = goals
        .iter()
        .zip(largest)
        .enumerate()
        .map(|(i, ((goal, _), largest))| finding(goal, i, largest, net, &mut report, graph.as_ref(), plan.memory()))
        .collect();
    Ok(Explored { model, made: Made { plan, report }, found })
}

/// What the search looks for.
fn property<'a>(
    goal: &Goal,
    net: &Net,
    most: Option<u64>,
    largest: &'a AtomicI64,
    lowered: &Lowered,
    model: &'a NativeModel,
) -> Property<scrimp_core::Condition<'a>> {
    match goal {
        Goal::Reach { condition: Condition::Deadlock, .. } => Property::deadlock(),
        Goal::Reach { condition, .. } => match lowered.condition(condition) {
            Some(condition) => Property::new("", PropertyKind::Reach(crate::properties::condition(model, condition))),
            None => too_large(),
        },
        Goal::Bound(places) => {
            let value = lowered.sum(&Sum::tokens(places.clone())).map(|sum| model.value(&sum));
            let Some(value) = value else { return too_large() };
            let most = most.and_then(|most| i64::try_from(most).ok()).unwrap_or(i64::MAX);
            Property::reach("", move |state| {
                let value = value.of(state).unwrap_or(0);
                if value > largest.load(Ordering::Relaxed) {
                    largest.fetch_max(value, Ordering::Relaxed);
                }
                value >= most
            })
        }
        Goal::Stable if resets(net) => {
            let sums = net.place_groups.iter().map(|group| lowered.sum(&Sum::tokens(group.members.clone())));
            let Some(sums) = sums.collect::<Option<Vec<_>>>() else { return too_large() };
            let initial = net.initial();
            let values: Vec<(Quantity, i128, AtomicBool)> = sums
                .iter()
                .zip(&net.place_groups)
                .map(|(sum, group)| {
                    let first = Sum::tokens(group.members.clone()).value(&initial);
                    (model.value(sum), first, AtomicBool::new(false))
                })
                .collect();
            // How many places were seen to change.
            Property::reach("", move |state| {
                for (value, first, changed) in values.iter().filter(|(.., changed)| !changed.load(Ordering::Relaxed)) {
                    if value.of(state).is_ok_and(|now| now as i128 != *first) && !changed.swap(true, Ordering::Relaxed)
                    {
                        largest.fetch_add(1, Ordering::Relaxed);
                    }
                }
                false
            })
        }
        _ => Property::reach("", |_| false),
    }
}

/// The name of a property that could not be put into numbers.
const TOO_LARGE: &str = "too large";

/// A property that is never found.
fn too_large<'a>() -> Property<scrimp_core::Condition<'a>> {
    Property::reach(TOO_LARGE, |_| false)
}

fn finding(
    goal: &Goal,
    number: usize,
    largest: i64,
    net: &PetriNet,
    report: &mut Report,
    graph: Option<&Lts>,
    memory: usize,
) -> Option<Finding> {
    let (all, states) = (report.exhaustive, report.facts.states);
    let result = report.properties.get_mut(number)?;
    if result.name == TOO_LARGE {
        return None;
    }
    let state = result.state.is_some();
    let (trace, shortest) = (result.trace.take(), result.shortest);
    let decided = all || result.verdict != Verdict::Undecided;
    match goal {
        Goal::Reach { found, .. } if state => Some(Finding { known: Known::Truth(*found), trace, shortest }),
        Goal::Reach { found, .. } => decided.then(|| Finding::plain(Known::Truth(!found))),
        Goal::Bound(_) if state => Some(Finding { known: Known::Tokens(largest.max(0) as u64), trace, shortest }),
        Goal::Bound(_) => all.then(|| Finding::plain(Known::Tokens(largest.max(0) as u64))),
        Goal::Everything => all.then(|| Finding::plain(Known::Counted)),
        Goal::Bounded => all.then(|| Finding::plain(Known::Truth(true))),
        // Where transitions empty places, it is not enough to know which of them fire: changes were counted.
        Goal::Stable if resets(&net.net) => {
            all.then(|| Finding::plain(Known::Truth(largest < net.net.place_groups.len() as i64)))
        }
        Goal::Stable | Goal::QuasiLive => None,
        Goal::Live => live(net, all.then_some(states)?, graph, memory).map(|live| Finding::plain(Known::Truth(live))),
        Goal::Runs(_) | Goal::Joined(_) | Goal::Beyond => None,
    }
}

fn resets(net: &Net) -> bool {
    net.transitions.iter().any(|t| !t.resets.is_empty())
}

/// Does every transition fire in every component of the graph that is never left?
fn live(net: &PetriNet, states: u64, graph: Option<&Lts>, memory: usize) -> Option<bool> {
    let groups = &net.net.transition_groups;
    let mut group_of = vec![0; net.net.transitions.len()];
    for (number, group) in groups.iter().enumerate() {
        group.members.iter().for_each(|&t| group_of[t as usize] = number);
    }
    // The whole graph, or nothing can be said.
    let graph = graph.filter(|graph| graph.states() as u64 == states)?;
    if (0..graph.states()).any(|state| !graph.is_expanded(state)) {
        return None;
    }
    let budget = Arc::new(scrimp_core::Budget::new(memory));
    let components = scrimp_search::lts::Components::new(graph, &budget).ok()?;
    let mut leaves = vec![false; components.count() as usize];
    for state in 0..graph.states() {
        let own = components.of(state);
        leaves[own as usize] |= graph.successors(state).any(|(next, _)| components.of(next) != own);
    }
    // Which transitions fire in each component that is not left.
    let final_ones: Vec<u32> = (0..components.count()).filter(|&c| !leaves[c as usize]).collect();
    let mut place = vec![u32::MAX; leaves.len()];
    final_ones.iter().enumerate().for_each(|(i, &c)| place[c as usize] = i as u32);
    if final_ones.len().saturating_mul(groups.len()) / 8 > budget.left() {
        return None;
    }
    let mut fires: Vec<scrimp_system::Set> = final_ones.iter().map(|_| scrimp_system::Set::new(groups.len())).collect();
    for state in 0..graph.states() {
        let at = place[components.of(state) as usize];
        if at != u32::MAX {
            graph.successors(state).for_each(|(_, event)| fires[at as usize].insert(group_of[event as usize]));
        }
    }
    Some(fires.iter().all(|set| set.iter().count() == groups.len()))
}
