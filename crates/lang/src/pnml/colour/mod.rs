//! Coloured (symmetric) nets, unfolded: a place for each colour, a transition for each binding that its guard allows.

mod bindings;
mod multisets;
mod sorts;
mod values;

use super::build::{Ends, by_transition, ends};
use super::draft::{ArcKind, Draft, DraftArc};
use super::names::{self, Names};
use super::wiring::{Wire, wire};
use super::wrong::Wrong;
use bindings::Plan;
use multisets::Multiset;
use scrimp_net::{Net, Place, Transition};
use sorts::{Sort, SortId, Sorts};
use values::{Guard, Value};

/// Places, transitions and arcs that an unfolded net may have together.
const MOST: u64 = 50_000_000;
/// Values that may be tried for variables in all.
const TRIES: u64 = 2_000_000_000;

/// How a place was unfolded.
#[derive(Debug, Clone, Copy)]
struct Unfolded {
    first: u32,
    sort: SortId,
    size: u64,
}

/// An arc of the transition at hand.
struct Inscription<'d> {
    arc: &'d DraftArc,
    place: Unfolded,
    into: bool,
    /// `None` for the arc to a place without colours that has a plain weight.
    term: Option<Multiset>,
}

pub(super) fn unfold(mut draft: Draft) -> Result<Net, Wrong> {
    draft.resolve_references()?;
    let mut sorts = Sorts::of(&draft.declarations)?;
    let mut net = Net { name: draft.name.clone(), ..Net::default() };
    let mut room = MOST;
    let unfolded = places(&draft, &mut sorts, &mut net, &mut room)?;
    let bindings = transitions(&draft, &mut sorts, &unfolded, &mut net, &mut room)?;
    let mut names = Names::of(&mut draft);
    let mut suffix = String::new();
    for (number, place) in unfolded.iter().enumerate() {
        let members = place.first..place.first + place.size as u32;
        for (colour, member) in members.clone().enumerate() {
            suffix.clear();
            sorts.show(place.sort, colour as u64, &mut suffix);
            net.places[member as usize].name = called(&names.place_names[number], &suffix);
        }
        names.places[number].members = members.collect();
    }
    for (number, (members, suffixes)) in bindings.into_iter().enumerate() {
        for (member, suffix) in members.clone().zip(suffixes) {
            net.transitions[member as usize].name = called(&names.transition_names[number], &suffix);
        }
        names.transitions[number].members = members.collect();
    }
    names::tell_apart(net.places.iter_mut().map(|place| &mut place.name));
    names::tell_apart(net.transitions.iter_mut().map(|transition| &mut transition.name));
    (net.place_groups, net.transition_groups) = (names.places, names.transitions);
    Ok(net)
}

fn called(name: &str, suffix: &str) -> String {
    if suffix.is_empty() { name.to_string() } else { format!("{name}({suffix})") }
}

/// Takes from the room that is left.
fn take(room: &mut u64, n: u64, at: super::counted::At) -> Result<(), Wrong> {
    *room = room.checked_sub(n).ok_or_else(|| {
        Wrong::new(at, format!("the net unfolds to more than {MOST} places, transitions and arcs"))
            .help("this is where the limit was passed; the net is too large with these sorts")
    })?;
    Ok(())
}

fn places(draft: &Draft, sorts: &mut Sorts, net: &mut Net, room: &mut u64) -> Result<Vec<Unfolded>, Wrong> {
    let mut unfolded = Vec::with_capacity(draft.places.len());
    for place in &draft.places {
        let sort = match place.sort {
            Some(term) => sorts.sort(&draft.terms[term as usize])?,
            None => sorts.intern(Sort::Dot),
        };
        let size = sorts.size(sort);
        take(room, size, place.at)?;
        let first = net.places.len();
        net.places.resize(first + size as usize, Place { line: place.at.line, ..Place::default() });
        match place.marking {
            Some(term) => {
                let term = &draft.terms[term as usize];
                let marking = sorts.multiset(term, sort)?;
                refuse_variables(&marking, term)?;
                for (colour, count) in marking.of(&[], MOST, term.at)?.unwrap_or_default() {
                    net.places[first + colour as usize].initial = count;
                }
            }
            None if *sorts.get(sort) == Sort::Dot => net.places[first].initial = place.initial,
            None if place.initial > 0 => {
                let sort = sorts.describe(sort);
                return Err(Wrong::new(place.at, format!("a number of tokens for a place with colours of {sort}")));
            }
            None => {}
        }
        unfolded.push(Unfolded { first: first as u32, sort, size });
    }
    Ok(unfolded)
}

fn refuse_variables(marking: &Multiset, term: &super::element::Element) -> Result<(), Wrong> {
    let mut any = false;
    marking.values().for_each(|value| value.variables(&mut |_| any = true));
    if any { Err(term.wrong("a variable in an initial marking")) } else { Ok(()) }
}

/// For each transition of the document: the numbers of the unfolded ones, and the binding of each as text.
type Bindings = Vec<(std::ops::Range<u32>, Vec<String>)>;

fn transitions(
    draft: &Draft,
    sorts: &mut Sorts,
    places: &[Unfolded],
    net: &mut Net,
    room: &mut u64,
) -> Result<Bindings, Wrong> {
    let (starts, order) = by_transition(draft)?;
    let mut tries = TRIES;
    let mut all = Vec::with_capacity(draft.transitions.len());
    for (number, transition) in draft.transitions.iter().enumerate() {
        let mut guards = Vec::new();
        if let Some(term) = transition.guard {
            guards.push(sorts.guard(&draft.terms[term as usize])?);
        }
        let mut inscriptions = Vec::new();
        for &arc in &order[starts[number]..starts[number + 1]] {
            let inscription = inscription(draft, sorts, places, &draft.arcs[arc as usize])?;
            let values = inscription.term.iter().flat_map(Multiset::values);
            guards.extend(values.filter(|value| can_fail(value)).map(|v| Guard::AtMost(v.clone(), v.clone())));
            inscriptions.push(inscription);
        }
        let mut used = vec![false; sorts.variables.len()];
        guards.iter().for_each(|guard| guard.variables(&mut |v| used[v] = true));
        let values = inscriptions.iter().filter_map(|i| i.term.as_ref()).flat_map(Multiset::values);
        values.for_each(|value| value.variables(&mut |v| used[v] = true));
        let used = (0..used.len()).filter(|v| used[*v]);
        let variables: Vec<(usize, u64)> = used.map(|v| (v, sorts.size(sorts.variables[v].sort))).collect();
        let plan = Plan::new(guards, &variables, transition.at)?;
        let (first, mut suffixes, mut wires) = (net.transitions.len() as u32, Vec::new(), Vec::new());
        let mut binding = vec![0; sorts.variables.len()];
        plan.each(&mut binding, &mut tries, &mut |binding| {
            wires.clear();
            if !connect(&inscriptions, binding, *room, &mut wires)? {
                return Ok(());
            }
            take(room, 1 + wires.len() as u64, transition.at)?;
            let mut unfolded = Transition { line: transition.at.line, ..Transition::default() };
            wire(&mut unfolded, &mut wires)?;
            net.transitions.push(unfolded);
            suffixes.push(show(sorts, &variables, binding));
            Ok(())
        })?;
        all.push((first..net.transitions.len() as u32, suffixes));
    }
    Ok(all)
}

/// Whether the term may stand for nothing under some binding.
fn can_fail(value: &Value) -> bool {
    match value {
        Value::Constant(_) | Value::Variable(_) => false,
        Value::Shift { of, cyclic, .. } => !cyclic || can_fail(of),
        Value::Part { of, .. } => can_fail(of),
        Value::Tuple(parts) => parts.iter().any(|(_, part)| can_fail(part)),
        Value::Truth(_) => true,
    }
}

/// A binding as people read it.
fn show(sorts: &Sorts, variables: &[(usize, u64)], binding: &[u64]) -> String {
    let mut text = String::new();
    for &(variable, _) in variables {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&sorts.variables[variable].name);
        text.push('=');
        let start = text.len();
        sorts.show(sorts.variables[variable].sort, binding[variable], &mut text);
        if text.len() == start {
            text.push_str("dot");
        }
    }
    text
}

fn inscription<'d>(
    draft: &Draft,
    sorts: &mut Sorts,
    places: &[Unfolded],
    arc: &'d DraftArc,
) -> Result<Inscription<'d>, Wrong> {
    let Ends { place, into, .. } = ends(draft, arc)?;
    let place = places[place as usize];
    let term = match arc.term {
        Some(term) => Some(sorts.multiset(&draft.terms[term as usize], place.sort)?),
        None if arc.kind == ArcKind::Reset || *sorts.get(place.sort) == Sort::Dot => None,
        None => {
            let sort = sorts.describe(place.sort);
            return Err(Wrong::new(
                arc.at,
                format!("an arc to a place with colours of {sort}, without an inscription"),
            ));
        }
    };
    Ok(Inscription { arc, place, into, term })
}

/// The arcs under a binding; `false` when a term stands for nothing.
fn connect(inscriptions: &[Inscription], binding: &[u64], room: u64, wires: &mut Vec<Wire>) -> Result<bool, Wrong> {
    for Inscription { arc, place, into, term } in inscriptions {
        let one = |colour: u64, weight: u64| Wire {
            place: place.first + colour as u32,
            kind: arc.kind,
            into: *into,
            weight,
            at: arc.at,
        };
        match term {
            Some(term) => {
                let Some(elements) = term.of(binding, room, arc.at)? else { return Ok(false) };
                wires.extend(elements.into_iter().map(|(colour, count)| one(colour, count)));
            }
            // Without a term a reset empties all colours; other arcs have a weight, and the place a single colour.
            None => wires.extend((0..place.size).map(|colour| one(colour, arc.weight))),
        }
    }
    Ok(true)
}
