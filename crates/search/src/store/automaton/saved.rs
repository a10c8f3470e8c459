//! Writing an automaton down and reading it again: the memory of its nodes as it is, which needs no more than there is.

use super::Automaton;
use super::nodes::{FIRST, MOST_BYTES, Nodes, Ref, SINK};
use crate::checkpoint::impossible;
use scrimp_core::Budget;
use std::io::{self, Read, Write};

/// More words than anybody could count.
const MOST_WORDS: u64 = u64::MAX / 2;

impl Automaton {
    /// Writes all that is needed to have the same automaton again.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        for number in [self.word_bytes as u64, self.root as u64, self.len] {
            to.write_all(&number.to_le_bytes())?;
        }
        self.widest.iter().try_for_each(|widest| to.write_all(&widest.to_le_bytes()))?;
        self.nodes.save(to)
    }

    /// Fills an empty automaton, which nothing was ever added to, with what was saved. What cannot be an automaton is
    /// refused, and this one stays empty.
    pub fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let (word_bytes, root, len) = (read_u64(from)?, read_u64(from)?, read_u64(from)?);
        if word_bytes != self.word_bytes as u64 || !self.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an automaton of words of another length"));
        }
        let mut widest = vec![0; self.word_bytes];
        for widest in &mut widest {
            let mut bytes = [0; 2];
            from.read_exact(&mut bytes)?;
            *widest = u16::from_le_bytes(bytes);
        }
        let mut nodes = Nodes::new(&self.budget).map_err(|_| io::ErrorKind::OutOfMemory)?;
        nodes.restore(&self.budget, from)?;
        let sound = Ref::try_from(root).ok().and_then(|root| nodes.make_sound(root, &widest));
        // How many words there are is not counted again: that would take longer than all the rest.
        if sound.is_none() || (len == 0) != (root == SINK as u64) || len > MOST_WORDS {
            return Err(impossible("its nodes are no automaton"));
        }
        (self.nodes, self.widest, self.root, self.len) = (nodes, widest, root as Ref, len);
        self.find_top();
        Ok(())
    }
}

impl Nodes {
    /// What must be written down to have the same nodes again.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let sizes = [self.arena.used(), self.buckets.used(), self.count, self.edges, self.free_words];
        sizes.iter().try_for_each(|&size| to.write_all(&(size as u64).to_le_bytes()))?;
        self.free.iter().try_for_each(|&place| to.write_all(&place.to_le_bytes()))?;
        // As the words lie in memory: the mark says in which order their bytes are.
        to.write_all(&FIRST.to_ne_bytes())?;
        to.write_all(self.arena.content())?;
        to.write_all(self.buckets.content())
    }

    /// Reads what was written; these nodes must be new, and must be [made sound](Nodes::make_sound) before they are used.
    fn restore(&mut self, budget: &Budget, from: &mut dyn Read) -> io::Result<()> {
        let mut sizes = [0usize; 5];
        for size in &mut sizes {
            *size = read_u64(from)? as usize;
        }
        let mut word = [0; 4];
        for place in self.free.iter_mut() {
            from.read_exact(&mut word)?;
            *place = u32::from_le_bytes(word);
        }
        from.read_exact(&mut word)?;
        let more =
            |size: usize, used: usize| size.checked_sub(used).filter(|_| size.is_multiple_of(4) && size <= MOST_BYTES);
        let (arena, buckets) = (more(sizes[0], self.arena.used()), more(sizes[1], self.buckets.used()));
        let (Some(arena), Some(buckets), FIRST) = (arena, buckets, u32::from_ne_bytes(word)) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not an automaton of this machine's kind"));
        };
        let ends = self.arena.content().to_vec();
        self.promise(budget, arena, buckets / 4).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        self.arena.extend(arena);
        self.buckets.extend(buckets);
        (self.count, self.edges, self.free_words) = (sizes[2], sizes[3], sizes[4]);
        self.settle(0, 0);
        from.read_exact(self.arena.content_mut())?;
        from.read_exact(self.buckets.content_mut())?;
        if self.arena.content().starts_with(&ends) { Ok(()) } else { Err(impossible("an automaton without ends")) }
    }
}

pub(super) fn read_u64(from: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
