//! A reachability graph as a file: versioned, and with a checksum over everything, so that what is read is what was written.
//!
//! All numbers are little-endian. After the magic word and the version: the numbers of states, transitions, initial states,
//! labels and bits of lists; the initial states; the labels' names; where each state's list begins; the labels' bits; the
//! lists; and a CRC-32 of all bytes before it.

use super::bits::Bits;
use super::{HEAD, Lts, Number};
use scrimp_core::Budget;
use std::io::{self, Read, Write};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"scrimpCG";
const VERSION: u32 = 1;
/// Longest name of a label.
const LONGEST: u32 = 1 << 16;

const CRC_TABLE: [u32; 256] = {
    let mut table = [0u32; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
};

/// The CRC-32 of IEEE 802.3, continued.
fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!crc, |crc, &byte| CRC_TABLE[(crc as u8 ^ byte) as usize] ^ crc >> 8)
}

struct Summed<T> {
    inner: T,
    crc: u32,
}

impl<T: Write> Summed<T> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc = crc32(self.crc, bytes);
        self.inner.write_all(bytes)
    }
}

impl<T: Read> Summed<T> {
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("it ends too soon"),
            _ => error,
        })?;
        self.crc = crc32(self.crc, bytes);
        Ok(())
    }

    fn short(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn long(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("this is not a reachability graph, or a damaged one: {what}"))
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, "the graph does not fit in memory")
}

impl Lts {
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut out = Summed { inner: io::BufWriter::with_capacity(1 << 16, to), crc: 0 };
        out.put(MAGIC)?;
        out.put(&VERSION.to_le_bytes())?;
        out.put(&self.states.to_le_bytes())?;
        out.put(&self.transitions.to_le_bytes())?;
        out.put(&(self.initial.len() as u32).to_le_bytes())?;
        out.put(&(self.labels.len() as u32).to_le_bytes())?;
        out.put(&self.lists.len().to_le_bytes())?;
        for number in &self.initial {
            out.put(&number.to_le_bytes())?;
        }
        for (name, _) in &self.labels {
            out.put(&(name.len() as u32).to_le_bytes())?;
            out.put(name.as_bytes())?;
        }
        for state in 0..self.states {
            out.put(&self.low[state].to_le_bytes())?;
            out.put(&[self.high[state]])?;
        }
        for bits in self.labels.iter().map(|(_, bits)| bits).chain([&self.lists]) {
            for word in bits.words() {
                out.put(&word.to_le_bytes())?;
            }
        }
        let crc = out.crc;
        out.put(&crc.to_le_bytes())?;
        out.inner.flush()
    }

    /// Reads what was written, and refuses everything else.
    pub fn read(from: &mut dyn Read, budget: &Arc<Budget>) -> io::Result<Lts> {
        let mut from = Summed { inner: io::BufReader::with_capacity(1 << 16, from), crc: 0 };
        if &from.take::<8>()? != MAGIC {
            return Err(damaged("it has another beginning"));
        }
        let version = from.short()?;
        if version != VERSION {
            let message =
                format!("this reachability graph has version {version}, and only version {VERSION} can be read");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let (states, transitions) = (from.short()?, from.long()?);
        let (initial, labels, bits) = (from.short()?, from.short()?, from.long()?);
        if initial > states || labels > LONGEST || bits == 0 || bits >> 40 != 0 {
            return Err(damaged("its sizes do not fit together"));
        }
        // Nothing is allocated on the word of a file: everything grows with what is really there.
        let mut initial_states = Vec::new();
        for _ in 0..initial {
            initial_states.push(from.short()?);
        }
        let mut names = Vec::new();
        for _ in 0..labels {
            let length = from.short()?;
            if length > LONGEST {
                return Err(damaged("a name is too long"));
            }
            let mut name = vec![0; length as usize];
            from.fill(&mut name)?;
            names.push(String::from_utf8(name).map_err(|_| damaged("a name is no text"))?);
        }
        let mut graph = Lts::new(names.into_iter(), budget)?;
        (graph.states, graph.transitions, graph.initial) = (states, transitions, initial_states);
        for state in 0..states {
            graph.low.ensure(state as usize + 1).map_err(|_| full())?;
            graph.high.ensure(state as usize + 1).map_err(|_| full())?;
            graph.low[state] = from.short()?;
            graph.high[state] = from.take::<1>()?[0];
        }
        for (_, label) in &mut graph.labels {
            fill(label, states as u64, &mut from)?;
        }
        graph.lists.truncate(0);
        fill(&mut graph.lists, bits, &mut from)?;
        let crc = from.crc;
        if from.short()? != crc {
            return Err(damaged("its checksum is wrong"));
        }
        if from.inner.read(&mut [0])? != 0 {
            return Err(damaged("something follows"));
        }
        graph.is_sound().then_some(graph).ok_or_else(|| damaged("its lists do not fit together"))
    }

    /// Does every list lie where lists are, and name states that exist?
    fn is_sound(&self) -> bool {
        let end = self.lists.len();
        let mut transitions = 0;
        let lists = (0..self.states).filter(|&state| self.is_expanded(state)).all(|state| {
            let start = self.start(state);
            if start + 3 * HEAD as u64 > end {
                return false;
            }
            let widths = [0, 1, 2].map(|i| self.lists.get(start + i * HEAD as u64, HEAD));
            if widths.iter().any(|&width| width > 32) || start + (3 * HEAD + widths[0]) as u64 > end {
                return false;
            }
            let list = self.successors(state);
            transitions += list.len() as u64;
            transitions <= self.transitions
                && list.at + list.len() as u64 * (widths[1] + widths[2]) as u64 <= end
                && list.into_iter().all(|(number, _)| number < self.states)
        });
        let known = |number: &Number| *number < self.states;
        lists && transitions == self.transitions && self.initial.iter().all(known)
    }
}

/// Reads so many bits.
fn fill<T: Read>(bits: &mut Bits, len: u64, from: &mut Summed<T>) -> io::Result<()> {
    while bits.len() < len {
        bits.reserve(64).map_err(|_| full())?;
        bits.push_word(from.long()?);
    }
    bits.truncate(len);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(super::crc32(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(super::crc32(super::crc32(0, b"1234"), b"56789"), 0xcbf4_3926);
    }
}
