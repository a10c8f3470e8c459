//! How integers, arrays, tuples and options are packed.

use super::bits::{Narrowed, lowest};
use super::{Limit, Packed, Reader, Writer};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Integers, and arrays and options of them: what a field may limit by `#[packed(bits = …)]` or `#[packed(max = …)]`.
#[diagnostic::on_unimplemented(
    message = "`#[packed(bits = …)]` and `#[packed(max = …)]` are for integers, and arrays and options of them, not for `{Self}`",
    label = "not an integer"
)]
pub trait Narrow: Sized {
    /// How many bits each integer has in the program.
    const WIDTH: u32;
    /// How many integers there are, and how many bits that say which of them are there.
    #[doc(hidden)]
    const INTEGERS: u32;
    #[doc(hidden)]
    const TAGS: u32;

    /// Appends this value within a limit; where it does not fit, that is noted with the name of the field.
    fn pack_narrow(&self, narrowed: &'static Narrowed, out: &mut Writer<'_>);

    /// Takes a value that was packed within a limit.
    fn unpack_narrow(limit: Limit, from: &mut Reader<'_>) -> Self;
}

macro_rules! integers {
    ($($unsigned:ty, $signed:ty, $bits:literal;)*) => {$(
        impl Packed for $unsigned {
            const BITS: u32 = $bits;

            #[inline(always)]
            fn pack(&self, out: &mut Writer<'_>) {
                out.write(*self as u64, $bits);
            }

            #[inline(always)]
            fn unpack(from: &mut Reader<'_>) -> $unsigned {
                from.read($bits) as $unsigned
            }
        }

        impl Packed for $signed {
            const BITS: u32 = $bits;

            #[inline(always)]
            fn pack(&self, out: &mut Writer<'_>) {
                out.write(*self as $unsigned as u64, $bits);
            }

            #[inline(always)]
            fn unpack(from: &mut Reader<'_>) -> $signed {
                from.read($bits) as $signed
            }
        }

        impl Narrow for $unsigned {
            const WIDTH: u32 = $bits;
            const INTEGERS: u32 = 1;
            const TAGS: u32 = 0;

            #[inline(always)]
            fn pack_narrow(&self, narrowed: &'static Narrowed, out: &mut Writer<'_>) {
                let (value, limit) = (*self as u64, narrowed.limit);
                let bits = limit.bits();
                let fits = match limit.max() {
                    Some(max) => value <= max,
                    None => bits == 64 || value >> bits == 0,
                };
                if !fits {
                    out.misfit(narrowed, value as i128);
                }
                out.write(value, bits);
            }

            #[inline(always)]
            fn unpack_narrow(limit: Limit, from: &mut Reader<'_>) -> $unsigned {
                from.read(limit.bits()) as $unsigned
            }
        }

        impl Narrow for $signed {
            const WIDTH: u32 = $bits;
            const INTEGERS: u32 = 1;
            const TAGS: u32 = 0;

            #[inline(always)]
            fn pack_narrow(&self, narrowed: &'static Narrowed, out: &mut Writer<'_>) {
                let (value, limit) = (*self as i64, narrowed.limit);
                let bits = limit.bits();
                let fits = match limit.max() {
                    Some(max) => value >= 0 && value as u64 <= max,
                    None => extended(value as u64, bits) == value,
                };
                if !fits {
                    out.misfit(narrowed, value as i128);
                }
                out.write(value as u64 & lowest(bits), bits);
            }

            #[inline(always)]
            fn unpack_narrow(limit: Limit, from: &mut Reader<'_>) -> $signed {
                let value = from.read(limit.bits());
                match limit.max() {
                    Some(_) => value as $signed,
                    None => extended(value, limit.bits()) as $signed,
                }
            }
        }
    )*};
}

integers! {
    u8, i8, 8;
    u16, i16, 16;
    u32, i32, 32;
    u64, i64, 64;
    usize, isize, 64;
}

/// The number that the lowest bits are, the highest of them being its sign.
#[inline(always)]
fn extended(value: u64, bits: u32) -> i64 {
    if bits == 0 {
        return 0;
    }
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

impl Packed for bool {
    const BITS: u32 = 1;

    #[inline(always)]
    fn pack(&self, out: &mut Writer<'_>) {
        out.write(*self as u64, 1);
    }

    #[inline(always)]
    fn unpack(from: &mut Reader<'_>) -> bool {
        from.read(1) == 1
    }
}

impl Packed for char {
    const BITS: u32 = 21;

    #[inline(always)]
    fn pack(&self, out: &mut Writer<'_>) {
        out.write(*self as u64, 21);
    }

    #[inline(always)]
    fn unpack(from: &mut Reader<'_>) -> char {
        let read = char::from_u32(from.read(21) as u32);
        from.expect(read.is_some());
        read.unwrap_or_default()
    }
}

impl<T> Packed for PhantomData<T> {
    const BITS: u32 = 0;

    #[inline(always)]
    fn pack(&self, _: &mut Writer<'_>) {}

    #[inline(always)]
    fn unpack(_: &mut Reader<'_>) -> PhantomData<T> {
        PhantomData
    }
}

/// Values one after the other. [`std::array::from_fn`] becomes a call, in which nobody knows where in the bits the array begins.
#[inline(always)]
fn array<T, const N: usize>(mut next: impl FnMut() -> T) -> [T; N] {
    let mut all = [const { MaybeUninit::<T>::uninit() }; N];
    for place in &mut all {
        place.write(next());
    }
    // SAFETY: every place has its value, and an array of places is laid out as one of values is.
    unsafe { std::mem::transmute_copy(&all) }
}

impl<T: Packed, const N: usize> Packed for [T; N] {
    const BITS: u32 = N as u32 * T::BITS;

    #[inline(always)]
    fn pack(&self, out: &mut Writer<'_>) {
        for value in self {
            value.pack(out);
        }
    }

    #[inline(always)]
    fn unpack(from: &mut Reader<'_>) -> [T; N] {
        array(|| T::unpack(from))
    }
}

impl<T: Narrow, const N: usize> Narrow for [T; N] {
    const WIDTH: u32 = T::WIDTH;
    const INTEGERS: u32 = N as u32 * T::INTEGERS;
    const TAGS: u32 = N as u32 * T::TAGS;

    #[inline(always)]
    fn pack_narrow(&self, narrowed: &'static Narrowed, out: &mut Writer<'_>) {
        for value in self {
            value.pack_narrow(narrowed, out);
        }
    }

    #[inline(always)]
    fn unpack_narrow(limit: Limit, from: &mut Reader<'_>) -> [T; N] {
        array(|| T::unpack_narrow(limit, from))
    }
}

impl<T: Packed> Packed for Option<T> {
    const BITS: u32 = 1 + T::BITS;

    #[inline(always)]
    fn pack(&self, out: &mut Writer<'_>) {
        out.write(self.is_some() as u64, 1);
        match self {
            Some(value) => value.pack(out),
            None => out.skip(T::BITS),
        }
    }

    #[inline(always)]
    fn unpack(from: &mut Reader<'_>) -> Option<T> {
        if from.read(1) == 1 {
            return Some(T::unpack(from));
        }
        from.skip(T::BITS);
        None
    }
}

impl<T: Narrow> Narrow for Option<T> {
    const WIDTH: u32 = T::WIDTH;
    const INTEGERS: u32 = T::INTEGERS;
    const TAGS: u32 = 1 + T::TAGS;

    #[inline(always)]
    fn pack_narrow(&self, narrowed: &'static Narrowed, out: &mut Writer<'_>) {
        out.write(self.is_some() as u64, 1);
        match self {
            Some(value) => value.pack_narrow(narrowed, out),
            None => out.skip(super::narrow_bits::<T>(narrowed.limit)),
        }
    }

    #[inline(always)]
    fn unpack_narrow(limit: Limit, from: &mut Reader<'_>) -> Option<T> {
        if from.read(1) == 1 {
            return Some(T::unpack_narrow(limit, from));
        }
        from.skip(super::narrow_bits::<T>(limit));
        None
    }
}

macro_rules! tuples {
    ($(($($part:ident $index:tt),*))*) => {$(
        impl<$($part: Packed),*> Packed for ($($part,)*) {
            const BITS: u32 = 0 $(+ $part::BITS)*;

            #[inline(always)]
            #[allow(unused_variables)]
            fn pack(&self, out: &mut Writer<'_>) {
                $(self.$index.pack(out);)*
            }

            #[inline(always)]
            #[allow(unused_variables, clippy::unused_unit)]
            fn unpack(from: &mut Reader<'_>) -> ($($part,)*) {
                ($($part::unpack(from),)*)
            }
        }
    )*};
}

tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}
