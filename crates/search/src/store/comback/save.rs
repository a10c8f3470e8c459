//! Writing the tables to a file, and having them again. States in full are not written: they can be replayed.

use super::ComBack;
use super::backedges::Backedge;
use crate::checkpoint::impossible;
use crate::store::Full;
use std::io::{self, Read, Write};

/// Hashes that are put into the order of the numbers at once.
const HASHES: usize = 1 << 20;

impl ComBack<'_> {
    /// Writes all that is needed to have the same store again.
    pub(crate) fn save_to(&self, to: &mut dyn Write) -> io::Result<()> {
        let tables = &self.tables;
        to.write_all(&tables.len.to_le_bytes())?;
        to.write_all(&(tables.roots.len() as u32).to_le_bytes())?;
        to.write_all(&(tables.exceptions.len() as u32).to_le_bytes())?;
        for i in 0..tables.roots.len() {
            to.write_all(tables.roots.state(i))?;
        }
        for (id, place) in &tables.exceptions {
            to.write_all(&id.to_le_bytes())?;
            to.write_all(&place.to_le_bytes())?;
        }
        // The index has the hashes in its own order. There may be no memory for all of them beside it.
        let mut hashes = vec![0; HASHES.min(tables.len as usize)];
        for first in (0..tables.len).step_by(HASHES) {
            let some = &mut hashes[..HASHES.min((tables.len - first) as usize)];
            for (piece, id) in tables.index.all() {
                if let Some(hash) = some.get_mut(id.wrapping_sub(first) as usize) {
                    *hash = piece;
                }
            }
            some.iter().try_for_each(|hash: &u32| to.write_all(&hash.to_le_bytes()))?;
        }
        tables.backedges.save(to)
    }

    /// Fills an empty store with what was saved. Whether every state is what it is said to be shows when it is
    /// [replayed](super::replay).
    pub(crate) fn restore_from(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let full = |Full| io::Error::from(io::ErrorKind::OutOfMemory);
        let (len, roots, exceptions) = (number(from)?, number(from)?, number(from)?);
        self.make_room(len as usize).map_err(full)?;
        let tables = &mut self.tables;
        for _ in 0..roots {
            from.read_exact(tables.roots.push_with(0))?;
        }
        for _ in 0..exceptions {
            let (id, place) = (number(from)?, number(from)?);
            if id >= len || tables.exceptions.insert(id, place).is_some() {
                return Err(impossible("an exception of no state"));
            }
        }
        for id in 0..len {
            let piece = number(from)?;
            tables.index.enter(piece, id);
        }
        tables.backedges.restore(len as usize, from)?;
        // Every way back must end at a root.
        let ends = |id: u32| {
            let Backedge { predecessor, place } = tables.backedges.get(id);
            predecessor < id || predecessor == id && place < roots
        };
        if !(0..len).all(ends) {
            return Err(impossible("states that have no beginning"));
        }
        tables.vectors.skip(len as usize);
        (tables.len, tables.restored) = (len, true);
        Ok(())
    }
}

fn number(from: &mut dyn Read) -> io::Result<u32> {
    let mut word = [0; 4];
    from.read_exact(&mut word)?;
    Ok(u32::from_le_bytes(word))
}
