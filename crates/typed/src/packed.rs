//! States of fixed size, packed into bits.
//!
//! A type that is [`Packed`] says how many bits its values take, and puts them one after the other: a `bool` takes one, an enum of five
//! variants three. Equal values have equal bits, and bits that mean nothing are zero, so that states are equal where their bytes are.

mod bits;
mod values;

use crate::code::tree;
use serde::Serialize;
use std::ops::Range;

pub use bits::{Limit, Narrowed, Reader, Writer};
pub use values::Narrow;

/// A type whose values all take the same number of bits.
///
/// `#[derive(Packed)]` implements it for structs and enums. Integers take as many bits as their type has, unless the field says
/// how large they become: `#[packed(max = 5)]` takes three bits, and so does `#[packed(bits = 3)]`, on integers and on arrays and
/// options of them. A signed integer of `bits` may be negative, one with a `max` may not. A value that does not fit is an error of the
/// model, which is reported with the name of the field and the state.
///
/// ```
/// use scrimp::{Checker, Packed, TypedModel};
/// use serde::{Deserialize, Serialize};
///
/// /// Takes eight bits: two for each place, and four for the number.
/// #[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
/// struct State {
///     at: [Place; 2],
///     #[packed(max = 9)]
///     turns: u32,
/// }
///
/// #[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
/// enum Place {
///     Left,
///     Middle,
///     Right,
/// }
///
/// /// Two who walk from left to right and back, nine turns at most.
/// struct Walk;
///
/// impl TypedModel for Walk {
///     type State = State;
///     type Action = usize;
///
///     fn initial(&self) -> Vec<State> {
///         vec![State { at: [Place::Left; 2], turns: 0 }]
///     }
///
///     fn actions(&self, state: &State, out: &mut Vec<usize>) {
///         out.extend((state.turns < 9).then_some([0, 1]).into_iter().flatten());
///     }
///
///     fn next(&self, state: &State, walker: &usize) -> Option<State> {
///         let mut next = state.clone();
///         next.at[*walker] = match state.at[*walker] {
///             Place::Left => Place::Middle,
///             Place::Middle => Place::Right,
///             Place::Right => Place::Left,
///         };
///         next.turns += 1;
///         Some(next)
///     }
/// }
///
/// assert_eq!(State::BITS, 8);
/// let answer = Checker::new(Walk).packed().count()?;
/// assert_eq!(answer.states(), Checker::new(Walk).count()?.states());
/// # Ok::<(), scrimp::CheckerError>(())
/// ```
///
/// What has no fixed size is refused by the compiler:
///
/// ```compile_fail,E0277
/// #[derive(scrimp::Packed)]
/// struct State {
///     waiting: Vec<u8>,
/// }
/// ```
///
/// So are limits of what is no integer, and limits that no integer of the type reaches:
///
/// ```compile_fail,E0277
/// #[derive(scrimp::Packed)]
/// struct State {
///     #[packed(bits = 3)]
///     taken: bool,
/// }
/// ```
///
/// ```compile_fail,E0080
/// #[derive(scrimp::Packed)]
/// struct State {
///     #[packed(max = 300)]
///     count: u8,
/// }
/// # assert_eq!(<State as scrimp::Packed>::BITS, 9);
/// ```
///
/// And unions, enums without variants, and limits of whole types:
///
/// ```compile_fail
/// #[derive(scrimp::Packed)]
/// union State {
///     small: u8,
///     large: u32,
/// }
/// ```
///
/// ```compile_fail
/// #[derive(scrimp::Packed)]
/// #[packed(bits = 3)]
/// struct State(u8);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be packed: nothing says how many bits its values take",
    label = "not a type of fixed size",
    note = "for a type of your own, add `#[derive(Packed)]`",
    note = "for a collection, use an array and a count; for text, use an enum",
    note = "without `.packed()` states may hold anything that serde can write"
)]
pub trait Packed: Sized {
    /// How many bits a value takes.
    const BITS: u32;

    /// Appends the bits of this value: as many as `BITS` says.
    fn pack(&self, out: &mut Writer<'_>);

    /// Takes as many bits as `BITS` says and makes a value of them. Bits that no value has are noted in the reader.
    fn unpack(from: &mut Reader<'_>) -> Self;
}

/// How states are packed, for those who have states of any type.
pub struct Packing<S> {
    /// How many bytes a state takes.
    pub bytes: usize,
    /// Packs a state into that many bytes; fails where a value does not fit, and says which.
    pub pack: fn(&S, &mut [u8]) -> Result<(), String>,
    /// The state of these bytes, if there is one.
    pub unpack: fn(&[u8]) -> Option<S>,
}

impl<S> Clone for Packing<S> {
    fn clone(&self) -> Packing<S> {
        *self
    }
}

impl<S> Copy for Packing<S> {}

impl<S: Packed> Packing<S> {
    /// How states of this type are packed.
    pub fn of() -> Packing<S> {
        Packing { bytes: bytes::<S>(), pack: pack::<S>, unpack: unpack::<S> }
    }
}

impl<S> Packing<S> {
    /// The state of these bytes. Fails where there is none.
    #[inline]
    pub fn unpacked(&self, bytes: &[u8]) -> Result<S, String> {
        (self.unpack)(bytes).ok_or_else(|| "a state that was packed cannot be unpacked".into())
    }

    /// Stores see a component in every eight bytes: what is written together changes together, more or less.
    pub fn components(&self) -> Vec<Vec<Range<usize>>> {
        let first = (0..self.bytes).step_by(8);
        first.map(|first| std::iter::once(first..self.bytes.min(first + 8)).collect()).collect()
    }
}

impl<S: PartialEq + Serialize> Packing<S> {
    /// The bytes of a state. Fails where it does not fit, and says what and in which state.
    pub fn packed(&self, state: &S) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; self.bytes];
        self.pack(state, &mut bytes)?;
        Ok(bytes)
    }

    /// Packs a state into so many bytes. Fails as `packed` does.
    #[inline]
    pub fn pack(&self, state: &S, out: &mut [u8]) -> Result<(), String> {
        (self.pack)(state, out).map_err(|wrong| misfit(&wrong, state))
    }

    /// Is a state unpacked as it was packed? Fails where it is not, and shows both.
    pub fn comes_back(&self, bytes: &[u8], state: &S) -> Result<(), String> {
        match (self.unpack)(bytes) {
            Some(read) if read == *state => Ok(()),
            Some(read) => {
                let why = "a state is not unpacked as it was packed: does `Packed` leave out a part of it?";
                Err(format!("{why}\n  packed   {}\n  unpacked {}", tree(state), tree(&read)))
            }
            None => Err(format!("a state that was packed cannot be unpacked\n  {}", tree(state))),
        }
    }
}

/// What is wrong where a state does not fit.
#[cold]
fn misfit(wrong: &str, state: &impl Serialize) -> String {
    format!("a state cannot be packed: {wrong}\n  {}", tree(state))
}

/// How many bytes a value takes: one at least, since states of no bytes are not known elsewhere.
const fn bytes<S: Packed>() -> usize {
    let bytes = S::BITS.div_ceil(8) as usize;
    if bytes == 0 { 1 } else { bytes }
}

fn pack<S: Packed>(state: &S, out: &mut [u8]) -> Result<(), String> {
    let mut writer = Writer::new(&mut out[..const { bytes::<S>() }]);
    state.pack(&mut writer);
    writer.finish()
}

fn unpack<S: Packed>(bytes: &[u8]) -> Option<S> {
    let mut reader = Reader::new(&bytes[..const { self::bytes::<S>() }]);
    let state = S::unpack(&mut reader);
    reader.is_sound().then_some(state)
}

/// How many bits integers of a type take within a limit. Used by derived code.
#[doc(hidden)]
pub const fn narrow_bits<T: Narrow>(limit: Limit) -> u32 {
    T::TAGS + T::INTEGERS * limit.bits()
}

/// The greatest of several numbers of bits. Used by derived code.
#[doc(hidden)]
pub const fn longest(lengths: &[u32]) -> u32 {
    let (mut longest, mut i) = (0, 0);
    while i < lengths.len() {
        if lengths[i] > longest {
            longest = lengths[i];
        }
        i += 1;
    }
    longest
}
