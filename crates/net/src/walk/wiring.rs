//! A marking that knows which transitions are enabled, kept up to date from the places that a firing changes.

use crate::{Net, PlaceId, TransitionId};

/// Lists one after the other in a single piece of memory.
pub(super) struct Lists<T> {
    begins: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// From pairs of list and item; `None` when there are too many to number.
    pub(super) fn new(lists: usize, mut pairs: Vec<(u32, T)>) -> Option<Lists<T>> {
        u32::try_from(pairs.len()).ok()?;
        pairs.sort_by_key(|pair| pair.0);
        let mut begins = vec![0u32; lists + 1];
        for &(list, _) in &pairs {
            begins[list as usize + 1] += 1;
        }
        for i in 0..lists {
            begins[i + 1] += begins[i];
        }
        Some(Lists { begins, items: pairs.into_iter().map(|pair| pair.1).collect() })
    }

    #[inline]
    pub(super) fn of(&self, list: u32) -> &[T] {
        &self.items[self.begins[list as usize] as usize..self.begins[list as usize + 1] as usize]
    }
}

/// The arcs of a net, by place and by transition.
pub(super) struct Wiring {
    /// Transitions that take from a place, with how much.
    readers: Lists<(TransitionId, u64)>,
    /// Transitions that a place can inhibit, with the number of tokens that does.
    inhibited: Lists<(TransitionId, u64)>,
    /// What a transition does to the places that it changes.
    changes: Lists<(PlaceId, i64)>,
    /// What a transition that resets places gives to these.
    resets: Lists<(PlaceId, u64)>,
    initial: Vec<u64>,
    /// For each transition, how many inputs and inhibitors are against it at first.
    missing: Vec<u32>,
    enabled: Enabled,
}

/// A set of transitions from which one is drawn in constant time.
#[derive(Clone)]
struct Enabled {
    list: Vec<TransitionId>,
    /// Where in the list, or [`Enabled::ABSENT`].
    position: Vec<u32>,
}

impl Enabled {
    const ABSENT: u32 = u32::MAX;

    fn insert(&mut self, t: TransitionId) {
        self.position[t as usize] = self.list.len() as u32;
        self.list.push(t);
    }

    fn remove(&mut self, t: TransitionId) {
        let at = std::mem::replace(&mut self.position[t as usize], Self::ABSENT);
        self.list.swap_remove(at as usize);
        if let Some(&moved) = self.list.get(at as usize) {
            self.position[moved as usize] = at;
        }
    }
}

impl Wiring {
    /// `None` for a net with more than can be numbered or a weight that leaves no room for arithmetic.
    pub(super) fn new(net: &Net) -> Option<Wiring> {
        let (mut readers, mut inhibited, mut changes, mut resets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let initial = net.initial();
        let mut missing = vec![0u32; net.transitions.len()];
        u32::try_from(net.transitions.len()).ok().filter(|&count| count < u32::MAX)?;
        for (t, transition) in net.transitions.iter().enumerate() {
            let id = t as TransitionId;
            for arc in &transition.inputs {
                readers.push((arc.place, (id, arc.weight)));
                missing[t] += u32::from(initial[arc.place as usize] < arc.weight);
            }
            for arc in &transition.inhibitors {
                inhibited.push((arc.place, (id, arc.weight)));
                missing[t] += u32::from(initial[arc.place as usize] >= arc.weight);
            }
            for (place, change) in transition.effect() {
                if transition.resets.binary_search(&place).is_err() {
                    changes.push((id, (place, i64::try_from(change).ok()?)));
                }
            }
            for &place in &transition.resets {
                let given = transition.outputs.iter().find(|arc| arc.place == place).map_or(0, |arc| arc.weight);
                resets.push((id, (place, given)));
            }
        }
        let (places, transitions) = (net.places.len(), net.transitions.len());
        let mut enabled = Enabled { list: Vec::new(), position: vec![Enabled::ABSENT; transitions] };
        (0..transitions as u32).filter(|&t| missing[t as usize] == 0).for_each(|t| enabled.insert(t));
        Some(Wiring {
            readers: Lists::new(places, readers)?,
            inhibited: Lists::new(places, inhibited)?,
            changes: Lists::new(transitions, changes)?,
            resets: Lists::new(transitions, resets)?,
            initial,
            missing,
            enabled,
        })
    }

    /// What a transition does to places that it does not reset.
    pub(super) fn changes(&self, t: TransitionId) -> &[(PlaceId, i64)] {
        self.changes.of(t)
    }

    pub(super) fn start(&self) -> Walker {
        Walker {
            marking: self.initial.clone(),
            missing: self.missing.clone(),
            enabled: self.enabled.clone(),
            changed: Vec::new(),
        }
    }

    pub(super) fn restart(&self, walker: &mut Walker) {
        walker.marking.copy_from_slice(&self.initial);
        walker.missing.copy_from_slice(&self.missing);
        walker.enabled.list.clone_from(&self.enabled.list);
        walker.enabled.position.copy_from_slice(&self.enabled.position);
        walker.changed.clear();
    }
}

/// Where a walk is.
pub(super) struct Walker {
    pub(super) marking: Vec<u64>,
    missing: Vec<u32>,
    enabled: Enabled,
    /// The places that the last firing changed, with the tokens before.
    pub(super) changed: Vec<(PlaceId, u64)>,
}

impl Walker {
    #[inline]
    pub(super) fn enabled(&self) -> &[TransitionId] {
        &self.enabled.list
    }

    #[inline]
    pub(super) fn is_enabled(&self, t: TransitionId) -> bool {
        self.missing[t as usize] == 0
    }

    /// Fires an enabled transition; `false` when tokens cannot be counted any more, and then the walk is over.
    #[inline]
    #[must_use]
    pub(super) fn fire(&mut self, wiring: &Wiring, t: TransitionId) -> bool {
        self.changed.clear();
        for &(place, change) in wiring.changes.of(t) {
            let Some(tokens) = self.marking[place as usize].checked_add_signed(change) else { return false };
            self.set(wiring, place, tokens);
        }
        for &(place, tokens) in wiring.resets.of(t) {
            self.set(wiring, place, tokens);
        }
        true
    }

    /// Goes to a marking of the net, wherever the walk was.
    pub(super) fn go_to(&mut self, wiring: &Wiring, marking: &[u64]) {
        self.changed.clear();
        for (place, &tokens) in marking.iter().enumerate() {
            self.set(wiring, place as PlaceId, tokens);
        }
    }

    #[inline]
    fn set(&mut self, wiring: &Wiring, place: PlaceId, tokens: u64) {
        let before = std::mem::replace(&mut self.marking[place as usize], tokens);
        if before == tokens {
            return;
        }
        self.changed.push((place, before));
        for &(t, weight) in wiring.readers.of(place) {
            self.tell(t, before >= weight, tokens >= weight);
        }
        for &(t, weight) in wiring.inhibited.of(place) {
            self.tell(t, before < weight, tokens < weight);
        }
    }

    #[inline]
    fn tell(&mut self, t: TransitionId, before: bool, now: bool) {
        if before == now {
            return;
        }
        let missing = &mut self.missing[t as usize];
        if now {
            *missing -= 1;
            if *missing == 0 {
                self.enabled.insert(t);
            }
        } else {
            if *missing == 0 {
                self.enabled.remove(t);
            }
            *missing += 1;
        }
    }
}
