//! Whose a state is: some of its bytes say in which of many shares it is, and each share has an owner, the same for all processes. A step
//! that changes none of these bytes leads to a state of the same owner, which need not be sent; `locality` chooses them.

use crate::words::{Words, words_of};
use scrimp_search::hash_words;
use serde::{Deserialize, Serialize};

/// Into so many shares, at most, states are divided: that many for each owner.
const FOR_EACH: usize = 64;
const MOST_SHARES: usize = 1 << 14;
/// Hashed before the bytes: states of one owner must be spread over its table, which has the same hash.
const SALT: u64 = 0x8EBC_6AF0_9C88_C6E3;

/// The bytes of a state that say in which share it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks(pub Vec<bool>);

/// The shares of states, and who owns each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Division {
    pub marks: Marks,
    pub owners: Vec<u16>,
}

impl Marks {
    /// All bytes of a state count.
    pub fn all(state_bytes: usize) -> Marks {
        Marks(vec![true; state_bytes])
    }
}

/// Into how many shares states are divided among so many owners.
pub fn shares(owners: usize) -> usize {
    (FOR_EACH * owners).next_power_of_two().min(MOST_SHARES).max(owners)
}

impl Division {
    /// Everybody owns as many shares as the others.
    pub fn evenly(marks: Marks, owners: usize) -> Division {
        let shares = shares(owners);
        Division { marks, owners: (0..shares).map(|share| (share * owners / shares) as u16).collect() }
    }

    /// Can it divide states of this length among so many owners?
    pub fn suits(&self, state_bytes: usize, owners: usize) -> bool {
        let known = |owner: &u16| (*owner as usize) < owners;
        self.marks.0.len() == state_bytes && self.owners.len() == shares(owners) && self.owners.iter().all(known)
    }
}

/// Says in which share states are.
#[derive(Debug)]
pub struct Sharing {
    /// The words of a state that count.
    marked: Vec<Marked>,
    shares: u64,
}

#[derive(Debug)]
struct Marked {
    word: usize,
    bits: u64,
}

impl Sharing {
    pub fn new(marks: &Marks, shares: usize) -> Sharing {
        let marked = marks.0.chunks(8).enumerate().filter_map(|(word, marks)| {
            let bits = marks.iter().rev().fold(0, |bits, mark| bits << 8 | if *mark { 0xff } else { 0 });
            (bits > 0).then_some(Marked { word, bits })
        });
        Sharing { marked: marked.collect(), shares: shares as u64 }
    }

    /// The share of a state that lies anywhere.
    #[inline]
    pub fn share(&self, state: &[u8]) -> usize {
        let (words, last) = words_of(state);
        self.share_by(|i| match words.get(i) {
            Some(word) => u64::from_le_bytes(*word),
            None => last.unwrap_or(0),
        })
    }

    #[inline(always)]
    fn share_by(&self, word: impl Fn(usize) -> u64) -> usize {
        let hash = hash_words(1 + self.marked.len(), |i| match i.checked_sub(1) {
            Some(i) => word(self.marked[i].word) & self.marked[i].bits,
            None => SALT,
        });
        ((hash as u128 * self.shares as u128) >> 64) as usize
    }
}

/// Says whose states are.
#[derive(Debug)]
pub struct Partition {
    sharing: Sharing,
    owners: Vec<u16>,
}

impl Partition {
    pub fn new(division: &Division) -> Partition {
        let owners = division.owners.clone();
        Partition { sharing: Sharing::new(&division.marks, owners.len()), owners }
    }

    /// The owner of a state that lies anywhere.
    #[inline]
    pub fn owner(&self, state: &[u8]) -> usize {
        self.owners[self.sharing.share(state)] as usize
    }

    /// The owner of a state in its words.
    #[inline(always)]
    pub fn owner_of<const W: usize>(&self, state: Words<'_, W>) -> usize {
        self.owners[self.sharing.share_by(|i| state.get(i))] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Shape;

    #[test]
    fn everybody_gets_a_share() {
        for owners in [1, 2, 3, 7, 64, 5000, 60_000] {
            let division = Division::evenly(Marks::all(4), owners);
            assert!(division.suits(4, owners) && !division.suits(5, owners) && !division.suits(4, owners - 1));
            let (partition, states) = (Partition::new(&division), 200 * owners);
            let mut shares = vec![0; owners];
            (0..states as u32).for_each(|i| shares[partition.owner(&i.to_le_bytes())] += 1);
            assert!(shares.iter().all(|share| (80..=500).contains(share)), "{owners}: {:?}", shares.iter().max());
        }
    }

    #[test]
    fn a_state_has_one_owner_wherever_it_lies() {
        let bytes: Vec<u8> = (1..=24).collect();
        for length in 1..=24 {
            for marks in [Marks::all(length), Marks((0..length).map(|i| i % 3 == 1).collect())] {
                let partition = Partition::new(&Division::evenly(marks, 1000));
                let words = Words::<0>::new(&bytes, Shape::new(length));
                assert_eq!(partition.owner(&bytes[..length]), partition.owner_of(words), "{length}");
            }
        }
    }

    #[test]
    fn what_is_not_marked_does_not_count() {
        let mut marks = vec![false; 11];
        (marks[2], marks[9]) = (true, true);
        let sharing = Sharing::new(&Marks(marks), 1 << 20);
        let first = sharing.share(&[0; 11]);
        for byte in 0..11 {
            let mut state = [0; 11];
            state[byte] = 7;
            assert_eq!(sharing.share(&state) == first, byte != 2 && byte != 9, "{byte}");
        }
    }
}
