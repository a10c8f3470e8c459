//! Writing an automaton down and reading it again: the memory of its nodes as it is, which needs no more than there is.

use super::Automaton;
use super::nodes::{FIRST, Nodes, Ref};
use scrimp_core::Budget;
use std::io::{self, Read, Write};

impl Automaton {
    /// Writes all that is needed to have the same automaton again.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        for number in [self.word_bytes as u64, self.root as u64, self.len] {
            to.write_all(&number.to_le_bytes())?;
        }
        self.widest.iter().try_for_each(|widest| to.write_all(&widest.to_le_bytes()))?;
        self.nodes.save(to)
    }

    /// Fills an empty automaton, which nothing was ever added to, with what was saved.
    pub fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let (word_bytes, root, len) = (read_u64(from)?, read_u64(from)?, read_u64(from)?);
        if word_bytes != self.word_bytes as u64 || !self.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an automaton of words of another length"));
        }
        for widest in &mut self.widest {
            let mut bytes = [0; 2];
            from.read_exact(&mut bytes)?;
            *widest = u16::from_le_bytes(bytes);
        }
        self.nodes.restore(&self.budget, from)?;
        (self.root, self.len) = (root as Ref, len);
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

    /// Reads what was written; these nodes must be new.
    pub fn restore(&mut self, budget: &Budget, from: &mut dyn Read) -> io::Result<()> {
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
        let (more, more_buckets) = (sizes[0].checked_sub(self.arena.used()), sizes[1].checked_sub(self.buckets.used()));
        let (Some(more), Some(more_buckets), FIRST) = (more, more_buckets, u32::from_ne_bytes(word)) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not an automaton of this machine's kind"));
        };
        self.promise(budget, more, more_buckets / 4).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        self.arena.extend(more);
        self.buckets.extend(more_buckets);
        (self.count, self.edges, self.free_words) = (sizes[2], sizes[3], sizes[4]);
        self.settle(0, 0);
        from.read_exact(self.arena.content_mut())?;
        from.read_exact(self.buckets.content_mut())
    }
}

pub(super) fn read_u64(from: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
