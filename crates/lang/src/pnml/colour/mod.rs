//! Coloured (symmetric) nets, unfolded: a place for each colour, a transition for each binding that its guard allows.
//!
//! A net for which that is too much is unfolded to what can ever be marked and enabled, as far as that can be seen colour by
//! colour ([`Reached`]). What is left out never has a token and never fires.

mod bindings;
mod folded;
mod joins;
mod multisets;
mod reached;
mod sorts;
mod values;

use super::counted::At;
use super::draft::{ArcKind, Draft};
use super::names::{self, Names};
use super::wiring::{Wire, wire};
use super::wrong::Wrong;
use bindings::{Plan, Tries};
use folded::{Folded, Inscription, Says};
use reached::Reached;
use scrimp_net::{Net, Place, Transition};
use scrimp_system::{Rounds, Stop};
use sorts::Sorts;
use std::ops::Range;

/// Places, transitions and arcs that an unfolded net may have together.
const MOST: u64 = 50_000_000;
/// As many as that are made without asking what can be marked.
const PLAIN: u64 = 1_000_000;
/// Values that may be tried for variables in all, and without asking.
const TRIES: u64 = 2_000_000_000;
const PLAIN_TRIES: u64 = 50_000_000;

pub(super) fn unfold(mut draft: Draft, stop: &Stop) -> Result<Net, Wrong> {
    draft.resolve_references()?;
    let mut sorts = Sorts::of(&draft.declarations)?;
    let folded = Folded::new(&draft, &mut sorts)?;
    let reached;
    let unfolding = match Unfolding::whole(&folded, stop) {
        Err(wrong) if wrong.is_large() => {
            reached = Reached::of(&folded, MOST, Tries::new(TRIES, stop))?;
            Unfolding::of(&folded, &reached, stop)?
        }
        whole => whole?,
    };
    let net = unfolding.named(Names::of(&mut draft), &folded, &sorts)?;
    Ok(Net { name: draft.name, ..net })
}

/// Takes from the room that is left.
fn take(room: &mut u64, n: u64, at: At) -> Result<(), Wrong> {
    *room = room.checked_sub(n).ok_or_else(|| {
        Wrong::large(at, format!("the net unfolds to more than {MOST} places, transitions and arcs"))
            .help("this is where the limit was passed; the net is too large with these sorts")
    })?;
    Ok(())
}

/// The colours that a place is unfolded to.
enum Colours<'r> {
    All(u64),
    /// These, in ascending order.
    Some(&'r [u64]),
}

impl Colours<'_> {
    fn len(&self) -> u64 {
        match self {
            Colours::All(size) => *size,
            Colours::Some(list) => list.len() as u64,
        }
    }

    fn get(&self, number: u64) -> u64 {
        match self {
            Colours::All(_) => number,
            Colours::Some(list) => list[number as usize],
        }
    }

    fn number(&self, colour: u64) -> Option<u64> {
        match self {
            Colours::All(_) => Some(colour),
            Colours::Some(list) => list.binary_search(&colour).ok().map(|number| number as u64),
        }
    }
}

/// A net in the making.
struct Unfolding<'r> {
    net: Net,
    /// For each place of the document, its colours and the number of the first.
    colours: Vec<(Colours<'r>, u32)>,
    /// For each transition of the document, the numbers of the unfolded ones, and the bindings one after the other.
    bindings: Vec<(Range<u32>, Vec<u64>)>,
    room: u64,
    wires: Vec<Wire>,
    rounds: Rounds<'r>,
}

impl<'r> Unfolding<'r> {
    /// All colours and all bindings.
    fn whole(folded: &Folded, stop: &'r Stop) -> Result<Unfolding<'r>, Wrong> {
        let colours = folded.places.iter().map(|place| Colours::All(place.size)).collect();
        let mut unfolding = Unfolding::places(folded, colours, PLAIN, stop)?;
        let mut tries = Tries::new(PLAIN_TRIES, stop);
        let mut binding = vec![0; folded.variables];
        for transition in &folded.transitions {
            let plan = Plan::new(transition.guards.clone(), &transition.variables, transition.at)?;
            unfolding.begin();
            plan.each(&mut binding, &mut tries, &mut |binding| unfolding.add(transition, binding))?;
        }
        Ok(unfolding)
    }

    /// What was reached.
    fn of(folded: &Folded, reached: &'r Reached, stop: &'r Stop) -> Result<Unfolding<'r>, Wrong> {
        let colours = reached.colours.iter().map(|list| Colours::Some(list)).collect();
        let mut unfolding = Unfolding::places(folded, colours, MOST, stop)?;
        let mut binding = vec![0; folded.variables];
        for (transition, bindings) in folded.transitions.iter().zip(&reached.bindings) {
            unfolding.begin();
            for values in bindings {
                transition.variables.iter().zip(values).for_each(|(&(variable, _), value)| binding[variable] = *value);
                unfolding.add(transition, &binding)?;
            }
        }
        Ok(unfolding)
    }

    fn places(
        folded: &Folded,
        colours: Vec<Colours<'r>>,
        mut room: u64,
        stop: &'r Stop,
    ) -> Result<Unfolding<'r>, Wrong> {
        let (mut net, rounds) = (Net::default(), Rounds::new(stop, 1 << 10));
        let mut numbered = Vec::with_capacity(colours.len());
        for (place, colours) in folded.places.iter().zip(colours) {
            take(&mut room, colours.len(), place.at)?;
            let first = net.places.len();
            let unfolded = Place { line: place.at.line, ..Place::default() };
            net.places.resize(first + colours.len() as usize, unfolded);
            for &(colour, count) in &place.marking {
                if let Some(number) = colours.number(colour) {
                    net.places[first + number as usize].initial = count;
                }
            }
            numbered.push((colours, first as u32));
        }
        Ok(Unfolding { net, colours: numbered, bindings: Vec::new(), room, wires: Vec::new(), rounds })
    }

    /// Begins with the next transition of the document.
    fn begin(&mut self) {
        let next = self.net.transitions.len() as u32;
        self.bindings.push((next..next, Vec::new()));
    }

    /// Adds the transition for a binding, if its terms stand for something.
    fn add(&mut self, transition: &folded::Transition, binding: &[u64]) -> Result<(), Wrong> {
        self.rounds.next()?;
        self.wires.clear();
        for inscription in &transition.inscriptions {
            if !self.connect(inscription, binding)? {
                return Ok(());
            }
        }
        take(&mut self.room, 1 + self.wires.len() as u64, transition.at)?;
        let mut unfolded = Transition { line: transition.at.line, ..Transition::default() };
        wire(&mut unfolded, &mut self.wires)?;
        self.net.transitions.push(unfolded);
        if let Some((members, values)) = self.bindings.last_mut() {
            members.end += 1;
            values.extend(transition.variables.iter().map(|(variable, _)| binding[*variable]));
        }
        Ok(())
    }

    /// The arcs that an inscription stands for; `false` when the transition can never fire.
    fn connect(&mut self, inscription: &Inscription, binding: &[u64]) -> Result<bool, Wrong> {
        let Inscription { place, into, kind, says, at } = inscription;
        let (colours, first) = &self.colours[*place];
        let one = |number: u64, weight: u64| {
            let place = first + number as u32;
            Wire { place, kind: *kind, into: *into, weight, at: *at }
        };
        match says {
            Says::Weight(weight) => self.wires.extend((0..colours.len()).map(|number| one(number, *weight))),
            Says::All => self.wires.extend((0..colours.len()).map(|number| one(number, 1))),
            Says::Term(term) => {
                let Some(elements) = term.of(binding, self.room, *at)? else { return Ok(false) };
                for (colour, count) in elements {
                    match colours.number(colour) {
                        Some(number) => self.wires.push(one(number, count)),
                        // What is never there is never in the way, and need not be taken away.
                        None if matches!(kind, ArcKind::Inhibitor | ArcKind::Reset) => {}
                        None => return Ok(false),
                    }
                }
            }
        }
        Ok(true)
    }

    /// The net with its names.
    fn named(self, mut names: Names, folded: &Folded, sorts: &Sorts) -> Result<Net, Wrong> {
        let Unfolding { mut net, colours, bindings, rounds, .. } = self;
        let mut suffix = String::new();
        for (number, ((colours, first), place)) in colours.iter().zip(&folded.places).enumerate() {
            let members = *first..first + colours.len() as u32;
            for member in members.clone() {
                rounds.next()?;
                suffix.clear();
                sorts.show(place.sort, colours.get(u64::from(member - first)), &mut suffix);
                net.places[member as usize].name = called(&names.place_names[number], &suffix);
            }
            names.places[number].members = members.collect();
        }
        for (number, ((members, values), transition)) in bindings.into_iter().zip(&folded.transitions).enumerate() {
            let width = transition.variables.len();
            for (at, member) in members.clone().enumerate() {
                rounds.next()?;
                let suffix = show(sorts, &transition.variables, &values[at * width..(at + 1) * width]);
                net.transitions[member as usize].name = called(&names.transition_names[number], &suffix);
            }
            names.transitions[number].members = members.collect();
        }
        names::tell_apart(net.places.iter_mut().map(|place| &mut place.name));
        names::tell_apart(net.transitions.iter_mut().map(|transition| &mut transition.name));
        (net.place_groups, net.transition_groups) = (names.places, names.transitions);
        Ok(net)
    }
}

fn called(name: &str, suffix: &str) -> String {
    if suffix.is_empty() { name.to_string() } else { format!("{name}({suffix})") }
}

/// A binding as people read it.
fn show(sorts: &Sorts, variables: &[(usize, u64)], values: &[u64]) -> String {
    let mut text = String::new();
    for (&(variable, _), &value) in variables.iter().zip(values) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&sorts.variables[variable].name);
        text.push('=');
        let start = text.len();
        sorts.show(sorts.variables[variable].sort, value, &mut text);
        if text.len() == start {
            text.push_str("dot");
        }
    }
    text
}

#[cfg(test)]
mod tests;
