//! Place/transition nets: places with tokens, transitions that move them, arcs with weights.
//!
//! A transition is enabled where every input place has the arc's weight in tokens and every inhibitor place fewer. It takes
//! from its inputs, empties the places that it resets, and gives to its outputs, in this order. A place that is read and not
//! changed is an input and an output.

/// A place by its number in [`Net::places`].
pub type PlaceId = u32;
/// A transition by its number in [`Net::transitions`].
pub type TransitionId = u32;
/// Tokens, place by place.
pub type Marking = Vec<u64>;

#[derive(Debug, Clone, Default)]
pub struct Net {
    pub name: String,
    pub places: Vec<Place>,
    pub transitions: Vec<Transition>,
    /// What the text calls a place; of a coloured net, the places that it was unfolded into.
    pub place_groups: Vec<Group>,
    /// What the text calls a transition; of a coloured net, the transitions that it was unfolded into, possibly none.
    pub transition_groups: Vec<Group>,
    /// Units as the text gives them (NUPN). Nothing guarantees that they are right.
    pub units: Option<Units>,
    /// Where the text draws the nodes, if it says so of all of them and there are not too many.
    pub positions: Option<Positions>,
}

/// Where nodes are drawn: x to the right, y down.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Positions {
    pub places: Vec<[f32; 2]>,
    pub transitions: Vec<[f32; 2]>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Unique among places; of a coloured net with the colour, such as `Fork(3)`.
    pub name: String,
    pub initial: u64,
    /// Line in the text, 0 when there is none.
    pub line: u32,
}

/// Arcs are sorted by place, with one for each place at most and weights above zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transition {
    /// Unique among transitions; of a coloured net with the binding, such as `take(x=3)`.
    pub name: String,
    pub inputs: Vec<Arc>,
    pub outputs: Vec<Arc>,
    /// Enabled only where the place has fewer tokens than the weight.
    pub inhibitors: Vec<Arc>,
    /// Places that are emptied, sorted.
    pub resets: Vec<PlaceId>,
    /// Line in the text, 0 when there is none.
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arc {
    pub place: PlaceId,
    pub weight: u64,
}

/// A name of the text and what it stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// The identifier in the text, by which formulas call it.
    pub id: String,
    /// The name that people read; often the same.
    pub name: String,
    pub members: Vec<u32>,
    pub line: u32,
}

/// Nested units: of the places of a unit and of all units in it that are along one line, at most one is marked, once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    pub root: u32,
    /// The text says that the net is unit-safe.
    pub safe: bool,
    pub units: Vec<Unit>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unit {
    pub id: String,
    pub places: Vec<PlaceId>,
    pub subunits: Vec<u32>,
}

impl Net {
    pub fn initial(&self) -> Marking {
        self.places.iter().map(|place| place.initial).collect()
    }

    pub fn is_enabled(&self, marking: &[u64], transition: TransitionId) -> bool {
        let t = &self.transitions[transition as usize];
        t.inputs.iter().all(|arc| marking[arc.place as usize] >= arc.weight)
            && t.inhibitors.iter().all(|arc| marking[arc.place as usize] < arc.weight)
    }

    /// Fires an enabled transition; `false` when a place would have more tokens than can be counted, and then the marking
    /// is of no use any more.
    #[must_use]
    pub fn fire(&self, marking: &mut [u64], transition: TransitionId) -> bool {
        let t = &self.transitions[transition as usize];
        for arc in &t.inputs {
            marking[arc.place as usize] -= arc.weight;
        }
        for &place in &t.resets {
            marking[place as usize] = 0;
        }
        t.outputs.iter().all(|arc| {
            let tokens = &mut marking[arc.place as usize];
            tokens.checked_add(arc.weight).map(|sum| *tokens = sum).is_some()
        })
    }

    /// No inhibitor and no reset arcs: what linear algebra and coverability know all about.
    pub fn is_ordinary(&self) -> bool {
        self.transitions.iter().all(|t| t.inhibitors.is_empty() && t.resets.is_empty())
    }
}

impl Transition {
    /// What firing adds to each place that it changes, resets left out, in the order of places.
    pub fn effect(&self) -> Vec<(PlaceId, i128)> {
        let (mut i, mut o) = (self.inputs.iter().peekable(), self.outputs.iter().peekable());
        let mut effect = Vec::new();
        loop {
            let place = match (i.peek(), o.peek()) {
                (None, None) => return effect,
                (Some(a), None) | (None, Some(a)) => a.place,
                (Some(a), Some(b)) => a.place.min(b.place),
            };
            let weight = |arc: Option<&Arc>| arc.map_or(0, |arc| arc.weight as i128);
            let change = weight(o.next_if(|arc| arc.place == place)) - weight(i.next_if(|arc| arc.place == place));
            if change != 0 {
                effect.push((place, change));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc(place: u32, weight: u64) -> Arc {
        Arc { place, weight }
    }

    #[test]
    fn firing_takes_resets_and_gives() {
        let t = Transition {
            inputs: vec![arc(0, 2)],
            outputs: vec![arc(0, 1), arc(1, 3)],
            inhibitors: vec![arc(2, 1)],
            resets: vec![1],
            ..Transition::default()
        };
        assert_eq!(t.effect(), vec![(0, -1), (1, 3)]);
        let place = |initial| Place { initial, ..Place::default() };
        let net = Net { places: vec![place(2), place(7), place(0)], transitions: vec![t], ..Net::default() };
        let mut marking = net.initial();
        assert!(net.is_enabled(&marking, 0));
        assert!(net.fire(&mut marking, 0));
        assert_eq!(marking, vec![1, 3, 0]);
        assert!(!net.is_enabled(&marking, 0));
        assert!(!net.is_enabled(&[2, 0, 1], 0));
    }
}
