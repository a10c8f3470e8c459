//! How states become bytes of one length, and states again.

use crate::code::{Buffers, Encoder, Pieces, Shape, decode, tree};
use crate::packed::Packing;
use scrimp_system::Spend;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// How states are written.
pub enum Coding<S> {
    /// In pieces that are kept once, four bytes for the number of each.
    Pieces(Pieces, Shape),
    /// In bits.
    Packed(Packing<S>),
}

impl<S: PartialEq + Serialize + DeserializeOwned> Coding<S> {
    /// For states like these, with their bytes. Fails where they cannot be written, or there are none. `cut` says whether to stop,
    /// given how many bytes were written.
    pub fn of(
        states: &[S],
        packing: Option<Packing<S>>,
        mut cut: impl FnMut(usize) -> bool,
    ) -> Result<(Coding<S>, Vec<Vec<u8>>), String> {
        if let Some(packing) = packing.filter(|_| !states.is_empty()) {
            let packed = states.iter().map(|state| packing.packed(state)).collect::<Result<_, _>>()?;
            return Ok((Coding::Packed(packing), packed));
        }
        let (pieces, mut buffers) = (Pieces::default(), Buffers::default());
        let (mut shape, mut written) = (None, Vec::new());
        for state in states {
            let mut encoder = Encoder::new(&pieces, &mut buffers);
            let own = encoder.encode(state).map_err(|wrong| format!("a state cannot be written: {wrong}"))?;
            if *shape.get_or_insert(own) != own {
                return Err(DIFFERENT.into());
            }
            if cut(encoder.written) {
                return Err("not all initial states could be looked at".into());
            }
            written.push(buffers.numbers().iter().flat_map(|number| number.to_le_bytes()).collect());
        }
        let shape = shape.ok_or("there are no initial states")?;
        Ok((Coding::Pieces(pieces, shape), written))
    }

    /// How many bytes a state takes.
    pub fn state_bytes(&self) -> usize {
        match self {
            Coding::Pieces(_, shape) => 4 * shape.numbers(),
            Coding::Packed(packing) => packing.bytes,
        }
    }

    /// Is it dear to read a state, so that it is worth keeping for a while?
    pub fn is_dear(&self) -> bool {
        matches!(self, Coding::Pieces(..))
    }

    /// The parts that stores see.
    pub fn components(&self) -> Vec<Vec<Range<usize>>> {
        match self {
            Coding::Pieces(_, shape) => {
                (0..shape.numbers()).map(|field| std::iter::once(4 * field..4 * field + 4).collect()).collect()
            }
            Coding::Packed(packing) => packing.components(),
        }
    }

    /// States that are written next are much like the one with these bytes.
    #[inline]
    pub fn follow(&self, bytes: &[u8], buffers: &mut Buffers) {
        match self {
            Coding::Pieces(pieces, _) => {
                buffers.follow(pieces, numbers(bytes));
            }
            Coding::Packed(_) => {}
        }
    }

    /// The state with these bytes.
    #[inline]
    pub fn read(&self, bytes: &[u8], buffers: &mut Buffers) -> Result<S, String> {
        match self {
            Coding::Pieces(pieces, shape) => read(pieces, *shape, bytes, buffers),
            Coding::Packed(packing) => packing.unpacked(bytes),
        }
    }

    /// Writes a state; how many bytes there were to be looked at. Fails with what is wrong, and the state.
    #[inline]
    pub fn write(&self, state: &S, buffers: &mut Buffers, out: &mut [u8]) -> Result<usize, String> {
        match self {
            Coding::Pieces(pieces, shape) => write(pieces, *shape, state, buffers, out),
            Coding::Packed(packing) => packing.pack(state, out).map(|()| packing.bytes),
        }
    }

    /// Is a state read as it was written, and written as it was read? Fails where it is not, and shows it.
    pub fn comes_back(&self, bytes: &[u8], state: &S) -> Result<(), String> {
        if let Coding::Packed(packing) = self {
            return packing.comes_back(bytes, state);
        }
        let mut buffers = Buffers::default();
        let read = self.read(bytes, &mut buffers).map_err(|wrong| format!("{wrong}\n  {}", tree(state)))?;
        if read != *state {
            let why = "a state is not read as it was written: does serde skip a part of it?";
            return Err(format!("{why}\n  written {}\n  read    {}", tree(state), tree(&read)));
        }
        let mut again = vec![0; bytes.len()];
        match self.write(&read, &mut Buffers::default(), &mut again) {
            Ok(_) if again == bytes => Ok(()),
            _ => {
                let why = "equal states are written in different ways: use ordered collections, such as BTreeSet \
                           instead of HashSet";
                Err(format!("{why}\n  {}", tree(state)))
            }
        }
    }

    /// What is kept from now on is paid for from this budget.
    pub fn spend_from(&self, budget: Arc<dyn Spend>) {
        match self {
            Coding::Pieces(pieces, _) => pieces.spend_from(budget),
            Coding::Packed(_) => {}
        }
    }

    /// Writes what states refer to.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Coding::Pieces(pieces, _) => pieces.save(out),
            Coding::Packed(_) => Ok(()),
        }
    }

    /// Reads that again.
    pub fn restore(&self, from: &mut dyn Read) -> io::Result<()> {
        match self {
            Coding::Pieces(pieces, _) => pieces.restore(from),
            Coding::Packed(_) => Ok(()),
        }
    }
}

/// The state of these numbers of pieces. Not inlined, so that what is packed is read without a call.
#[inline(never)]
fn read<S: DeserializeOwned>(pieces: &Pieces, shape: Shape, bytes: &[u8], buffers: &mut Buffers) -> Result<S, String> {
    decode(pieces, shape, buffers.follow(pieces, numbers(bytes)))
        .map_err(|wrong| format!("a state that was written cannot be read again: {wrong}"))
}

/// Writes the numbers of a state's pieces. Not inlined, as above.
#[inline(never)]
fn write<S: Serialize>(
    pieces: &Pieces,
    shape: Shape,
    state: &S,
    buffers: &mut Buffers,
    out: &mut [u8],
) -> Result<usize, String> {
    let mut encoder = Encoder::new(pieces, buffers);
    match encoder.encode(state) {
        Ok(own) if own == shape => {
            let written = encoder.written;
            for (bytes, number) in out.chunks_exact_mut(4).zip(buffers.numbers()) {
                bytes.copy_from_slice(&number.to_le_bytes());
            }
            Ok(written)
        }
        Ok(_) => Err(format!("{DIFFERENT}\n  {}", tree(state))),
        Err(wrong) => Err(format!("a state cannot be written: {wrong}\n  {}", tree(state))),
    }
}

const DIFFERENT: &str = "states are written with different fields";

/// The numbers of the pieces of a state.
fn numbers(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> {
    bytes.chunks_exact(4).map(|number| u32::from_le_bytes(number.try_into().unwrap_or_default()))
}
