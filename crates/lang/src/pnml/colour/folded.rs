//! A coloured net with its terms resolved, before it is unfolded.

use super::super::build::{Ends, by_transition, ends};
use super::super::counted::At;
use super::super::draft::{ArcKind, Draft, DraftArc};
use super::super::element::Element;
use super::super::wrong::Wrong;
use super::MOST;
use super::multisets::Multiset;
use super::sorts::{Sort, SortId, Sorts};
use super::values::{Guard, Value};

pub(super) struct Folded {
    pub places: Vec<Place>,
    pub transitions: Vec<Transition>,
    /// How many variables are declared.
    pub variables: usize,
}

pub(super) struct Place {
    pub sort: SortId,
    /// How many colours there are.
    pub size: u64,
    /// The colours that are marked at first, and how often.
    pub marking: Vec<(u64, u64)>,
    pub at: At,
}

pub(super) struct Transition {
    /// What a binding must meet: the guard, and that every term stands for something.
    pub guards: Vec<Guard>,
    pub inscriptions: Vec<Inscription>,
    /// The variables that occur, with the sizes of their sorts.
    pub variables: Vec<(usize, u64)>,
    pub at: At,
}

/// An arc of a transition.
pub(super) struct Inscription {
    pub place: usize,
    /// From the place to the transition.
    pub into: bool,
    pub kind: ArcKind,
    /// What it says; a weight alone where the place has no colours, and nothing where it empties all of them.
    pub says: Says,
    pub at: At,
}

pub(super) enum Says {
    Term(Multiset),
    Weight(u64),
    All,
}

impl Folded {
    pub fn new(draft: &Draft, sorts: &mut Sorts) -> Result<Folded, Wrong> {
        let places = draft.places.iter().map(|place| {
            let sort = match place.sort {
                Some(term) => sorts.sort(&draft.terms[term as usize])?,
                None => sorts.intern(Sort::Dot),
            };
            let marking = match place.marking {
                Some(term) => marking(sorts, &draft.terms[term as usize], sort)?,
                None if place.initial == 0 => Vec::new(),
                None if *sorts.get(sort) == Sort::Dot => vec![(0, place.initial)],
                None => {
                    let sort = sorts.describe(sort);
                    return Err(Wrong::new(place.at, format!("a number of tokens for a place with colours of {sort}")));
                }
            };
            Ok(Place { sort, size: sorts.size(sort), marking, at: place.at })
        });
        let places = places.collect::<Result<Vec<Place>, Wrong>>()?;
        let (starts, order) = by_transition(draft)?;
        let mut transitions = Vec::with_capacity(draft.transitions.len());
        for (number, transition) in draft.transitions.iter().enumerate() {
            let mut guards = Vec::new();
            if let Some(term) = transition.guard {
                guards.push(sorts.guard(&draft.terms[term as usize])?);
            }
            let mut inscriptions = Vec::new();
            for &arc in &order[starts[number]..starts[number + 1]] {
                inscriptions.push(inscription(draft, sorts, &places, &draft.arcs[arc as usize])?);
            }
            let values = || inscriptions.iter().filter_map(Inscription::term).flat_map(Multiset::values);
            guards.extend(values().filter(|value| can_fail(value)).map(|v| Guard::AtMost(v.clone(), v.clone())));
            let mut used = vec![false; sorts.variables.len()];
            guards.iter().for_each(|guard| guard.variables(&mut |v| used[v] = true));
            values().for_each(|value| value.variables(&mut |v| used[v] = true));
            let used = (0..used.len()).filter(|v| used[*v]);
            let variables = used.map(|v| (v, sorts.size(sorts.variables[v].sort))).collect();
            transitions.push(Transition { guards, inscriptions, variables, at: transition.at });
        }
        Ok(Folded { places, transitions, variables: sorts.variables.len() })
    }
}

impl Inscription {
    pub fn term(&self) -> Option<&Multiset> {
        match &self.says {
            Says::Term(term) => Some(term),
            _ => None,
        }
    }

    /// Does the transition need tokens by this arc?
    pub fn needs(&self) -> bool {
        self.into && matches!(self.kind, ArcKind::Normal | ArcKind::Test)
    }

    /// Does it put tokens into the place?
    pub fn gives(&self) -> bool {
        !self.into && self.kind == ArcKind::Normal
    }
}

fn marking(sorts: &mut Sorts, term: &Element, sort: SortId) -> Result<Vec<(u64, u64)>, Wrong> {
    let marking = sorts.multiset(term, sort)?;
    let mut any = false;
    marking.values().for_each(|value| value.variables(&mut |_| any = true));
    if any {
        return Err(term.wrong("a variable in an initial marking"));
    }
    Ok(marking.of(&[], MOST, term.at)?.unwrap_or_default())
}

fn inscription(draft: &Draft, sorts: &mut Sorts, places: &[Place], arc: &DraftArc) -> Result<Inscription, Wrong> {
    let Ends { place, into, .. } = ends(draft, arc)?;
    let sort = places[place as usize].sort;
    let says = match arc.term {
        Some(term) => Says::Term(sorts.multiset(&draft.terms[term as usize], sort)?),
        None if *sorts.get(sort) == Sort::Dot => Says::Weight(arc.weight),
        None if arc.kind == ArcKind::Reset => Says::All,
        None => {
            let sort = sorts.describe(sort);
            return Err(Wrong::new(
                arc.at,
                format!("an arc to a place with colours of {sort}, without an inscription"),
            ));
        }
    };
    Ok(Inscription { place: place as usize, into, kind: arc.kind, says, at: arc.at })
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
