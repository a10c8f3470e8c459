//! What was found out about the room that a net's markings need, as numbers: how the places are kept follows from it.

use scrimp_net::linear::Affine;
use scrimp_net::{Net, OneOf};

/// What structure says of the places, and what was guessed where it says nothing.
#[derive(Debug, Clone)]
pub struct Making {
    pub bounds: Vec<Option<u64>>,
    pub groups: Vec<OneOf>,
    pub implied: Vec<Affine>,
    pub guesses: Vec<u64>,
}

/// What the numbers begin with.
const MARK: u64 = 2;

impl Making {
    pub fn numbers(&self) -> Vec<u64> {
        let mut out = vec![MARK, self.guesses.len() as u64];
        out.extend(&self.guesses);
        for bound in &self.bounds {
            out.extend([bound.is_some() as u64, bound.unwrap_or(0)]);
        }
        out.push(self.groups.len() as u64);
        for group in &self.groups {
            out.extend([group.always as u64, group.places.len() as u64]);
            out.extend(group.places.iter().map(|&place| u64::from(place)));
        }
        out.push(self.implied.len() as u64);
        for Affine { place, terms, constant, never_restricts } in &self.implied {
            out.extend([u64::from(*place), *never_restricts as u64, *constant as u64, terms.len() as u64]);
            terms.iter().for_each(|&(place, weight)| out.extend([u64::from(place), weight as u64]));
        }
        out
    }

    /// What such numbers say of this net; `None` where they are not of it.
    pub fn read(net: &Net, numbers: &[u64]) -> Option<Making> {
        let mut from = Numbers { rest: numbers, places: net.places.len() };
        if from.next()? != MARK || from.next()? != net.places.len() as u64 {
            return None;
        }
        let guesses = net.places.iter().map(|_| from.next()).collect::<Option<_>>()?;
        let bound = |from: &mut Numbers| Some((from.next()? != 0, from.next()?));
        let bounds = net.places.iter().map(|_| bound(&mut from).map(|(known, most)| known.then_some(most)));
        let bounds = bounds.collect::<Option<_>>()?;
        let groups = (0..from.next()?).map(|_| {
            let (always, length) = (from.next()? != 0, from.next()?);
            Some(OneOf { places: (0..length).map(|_| from.place()).collect::<Option<_>>()?, always })
        });
        let groups = groups.collect::<Option<_>>()?;
        let implied = (0..from.next()?).map(|_| {
            let (place, never_restricts, constant) = (from.place()?, from.next()? != 0, from.next()? as i64);
            let terms = (0..from.next()?).map(|_| Some((from.place()?, from.next()? as i64))).collect::<Option<_>>()?;
            Some(Affine { place, terms, constant, never_restricts })
        });
        let implied = implied.collect::<Option<_>>()?;
        from.rest.is_empty().then_some(Making { bounds, groups, implied, guesses })
    }
}

struct Numbers<'a> {
    rest: &'a [u64],
    places: usize,
}

impl Numbers<'_> {
    fn next(&mut self) -> Option<u64> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn place(&mut self) -> Option<u32> {
        self.next().filter(|place| *place < self.places as u64).map(|place| place as u32)
    }
}
