//! How the tokens of each place are kept in a state: in bits of their own, as one of several places of which at most one is
//! marked, or not at all, because they never change or follow from others.

use crate::net::{Net, PlaceId};

#[derive(Debug, Clone)]
pub struct Encoding {
    pub places: Vec<Kept>,
    /// Each is one number in the state.
    pub groups: Vec<OneOf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Always so many tokens.
    Always(u64),
    /// As a number up to this bound, which may be only a guess.
    Counted { bound: u64, guessed: bool },
    /// The token of a group, if the group's number is this one.
    OneOf { group: u32, value: u32 },
    /// The weighted sum of counted places and a constant. If it is more than one place with weight 1 or -1, no transition
    /// may need to look at it.
    Sum { terms: Vec<(PlaceId, i64)>, constant: i64 },
}

/// Places of which at most one is marked, with one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOf {
    pub places: Vec<PlaceId>,
    /// One of them is marked in every marking. If not, the number 0 stands for none, and places count from 1.
    pub always: bool,
}

impl Encoding {
    /// Every place that changes has a number of its own. Where no bound is known, a guess serves.
    pub fn plain(net: &Net, bounds: &[Option<u64>], guess: impl Fn(PlaceId) -> u64) -> Encoding {
        let mut changes = vec![false; net.places.len()];
        for t in &net.transitions {
            t.effect().iter().for_each(|&(place, _)| changes[place as usize] = true);
            t.resets.iter().for_each(|&place| changes[place as usize] = true);
        }
        let keep = |(place, p): (usize, &crate::net::Place)| match (changes[place], bounds[place]) {
            (false, _) => Kept::Always(p.initial),
            (true, Some(bound)) => Kept::Counted { bound, guessed: false },
            (true, None) => Kept::Counted { bound: guess(place as PlaceId).max(p.initial), guessed: true },
        };
        Encoding { places: net.places.iter().enumerate().map(keep).collect(), groups: Vec::new() }
    }

    /// Keeps these places as one number. They must all be counted so far.
    pub fn group(&mut self, group: OneOf) {
        let number = self.groups.len() as u32;
        for (i, &place) in group.places.iter().enumerate() {
            let value = i as u32 + !group.always as u32;
            self.places[place as usize] = Kept::OneOf { group: number, value };
        }
        self.groups.push(group);
    }

    /// Some bound is only a guess.
    pub fn is_guessed(&self) -> bool {
        self.places.iter().any(|kept| matches!(kept, Kept::Counted { guessed: true, .. }))
    }

    /// Bits of a state.
    pub fn bits(&self) -> u64 {
        let wide = |most: u64| (64 - most.leading_zeros()) as u64;
        let place = |kept: &Kept| match kept {
            Kept::Counted { bound, .. } => wide(*bound),
            _ => 0,
        };
        let group = |group: &OneOf| wide(group.places.len() as u64 - group.always as u64);
        self.places.iter().map(place).sum::<u64>() + self.groups.iter().map(group).sum::<u64>()
    }
}
