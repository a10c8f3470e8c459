//! Arithmetic on words: 64-bit two's complement that wraps, done in as few bits as the operands allow.
//!
//! Each operation first works out an interval for its result. If that fits 64 bits, nothing wraps, and only the bits that
//! the interval needs are made; otherwise all 64 are.

use crate::circuit::{Bit, Circuit};
use crate::word::{Word, magnitude};

/// The interval of a result that wraps only if it must.
fn wrapped(low: i128, high: i128) -> (i64, i64) {
    match (i64::try_from(low), i64::try_from(high)) {
        (Ok(low), Ok(high)) => (low, high),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Bits of a two's complement number in this interval, its sign included.
fn all_bits(low: i64, high: i64) -> usize {
    magnitude(low, high) + 1
}

/// The lowest bits of `a + b + carry`.
fn sum(
    circuit: &mut Circuit,
    count: usize,
    a: impl Fn(usize) -> Bit,
    b: impl Fn(usize) -> Bit,
    carry: Bit,
) -> Vec<Bit> {
    let mut carry = carry;
    let mut bits = Vec::with_capacity(count);
    for i in 0..count {
        let differ = circuit.xor(a(i), b(i));
        bits.push(circuit.xor(differ, carry));
        carry = circuit.choose(differ, carry, a(i));
    }
    bits
}

/// `a + b`.
pub fn add(circuit: &mut Circuit, a: &Word, b: &Word) -> Word {
    let ((p, q), (r, s)) = (a.hull(), b.hull());
    let (low, high) = wrapped(p as i128 + r as i128, q as i128 + s as i128);
    let bits = sum(circuit, all_bits(low, high), |i| a.bit(i), |i| b.bit(i), Bit::FALSE);
    Word::within(low, high, |i| bits[i])
}

/// `a - b`.
pub fn subtract(circuit: &mut Circuit, a: &Word, b: &Word) -> Word {
    let ((p, q), (r, s)) = (a.hull(), b.hull());
    let (low, high) = wrapped(p as i128 - s as i128, q as i128 - r as i128);
    let bits = sum(circuit, all_bits(low, high), |i| a.bit(i), |i| !b.bit(i), Bit::TRUE);
    Word::within(low, high, |i| bits[i])
}

/// `-a`.
pub fn negate(circuit: &mut Circuit, a: &Word) -> Word {
    subtract(circuit, &Word::constant(0), a)
}

/// `!a`.
pub fn complement(a: &Word) -> Word {
    let (low, high) = a.hull();
    Word::within(!high, !low, |i| !a.bit(i))
}

/// `a * b`.
pub fn multiply(circuit: &mut Circuit, a: &Word, b: &Word) -> Word {
    let ((p, q), (r, s)) = (a.hull(), b.hull());
    let ends = [(p, r), (p, s), (q, r), (q, s)].map(|(x, y)| x as i128 * y as i128);
    let (low, high) = ends.iter().fold((ends[0], ends[0]), |(low, high), end| (low.min(*end), high.max(*end)));
    let (low, high) = wrapped(low, high);
    let count = all_bits(low, high);
    // Rows are made for the bits of one of them: best the one that is known, or else the shorter one.
    let (a, b) = if a.known().is_some() || b.known().is_none() && a.width() < b.width() { (b, a) } else { (a, b) };
    let mut bits = vec![Bit::FALSE; count];
    for row in 0..=b.width().min(count - 1) {
        // The sign weighs as much as the bit after the last, and is taken away.
        let (take, is_sign) = (b.bit(row), row == b.width());
        if take == Bit::FALSE {
            continue;
        }
        let shifted: Vec<Bit> =
            (0..count).map(|i| if i < row { Bit::FALSE } else { circuit.and(take, a.bit(i - row)) }).collect();
        bits = match is_sign {
            true => sum(circuit, count, |i| bits[i], |i| !shifted[i], Bit::TRUE),
            false => sum(circuit, count, |i| bits[i], |i| shifted[i], Bit::FALSE),
        };
    }
    Word::within(low, high, |i| bits[i])
}

/// The bits of the absolute value, of which the greatest is two to the power of 63.
fn absolute(circuit: &mut Circuit, a: &Word) -> Vec<Bit> {
    let (low, high) = a.hull();
    let most = low.unsigned_abs().max(high.unsigned_abs());
    let count = 64 - most.leading_zeros() as usize;
    if low >= 0 {
        return (0..count).map(|i| a.bit(i)).collect();
    }
    let sign = a.sign();
    let flipped: Vec<Bit> = (0..count).map(|i| circuit.xor(a.bit(i), sign)).collect();
    sum(circuit, count, |i| flipped[i], |_| Bit::FALSE, sign)
}

/// A number without a sign, or its negative.
fn signed(circuit: &mut Circuit, bits: &[Bit], negative: Bit, low: i64, high: i64) -> Word {
    let at = |i: usize| bits.get(i).copied().unwrap_or(Bit::FALSE);
    let count = all_bits(low, high);
    let flipped: Vec<Bit> = (0..count).map(|i| circuit.xor(at(i), negative)).collect();
    let bits = sum(circuit, count, |i| flipped[i], |_| Bit::FALSE, negative);
    Word::within(low, high, |i| bits[i])
}

/// `a / b` and `a % b`, where `b` is not zero; where it is, they mean nothing.
pub fn divide(circuit: &mut Circuit, a: &Word, b: &Word) -> (Word, Word) {
    let ((p, q), (r, s)) = (a.hull(), b.hull());
    let most = p.unsigned_abs().max(q.unsigned_abs()) as i128;
    let divisor = r.unsigned_abs().max(s.unsigned_abs()) as i128;
    let negative = circuit.xor(a.sign(), b.sign());
    let limits = |most: i128, positive: bool, negative: bool| {
        wrapped(if negative { -most } else { 0 }, if positive { most } else { 0 })
    };
    // The result of one division alone does not fit: that wraps.
    let (low, high) = limits(most, negative != Bit::TRUE, negative != Bit::FALSE);
    let (least, greatest) = limits(most.min((divisor - 1).max(0)), q > 0, p < 0);
    if let Some(divisor) = b.known().filter(|divisor| p >= 0 && *divisor > 0 && divisor.count_ones() == 1) {
        let shift = divisor.trailing_zeros() as usize;
        let quotient = Word::within(p >> shift, q >> shift, |i| a.bit(i + shift));
        return (quotient, Word::within(least, greatest, |i| if i < shift { a.bit(i) } else { Bit::FALSE }));
    }
    let (dividend, divisor) = (absolute(circuit, a), absolute(circuit, b));
    let count = divisor.len() + 1;
    let at = |i: usize| divisor.get(i).copied().unwrap_or(Bit::FALSE);
    let mut rest = vec![Bit::FALSE; count];
    let mut quotient = vec![Bit::FALSE; dividend.len()];
    for i in (0..dividend.len()).rev() {
        rest.pop();
        rest.insert(0, dividend[i]);
        let difference = sum(circuit, count + 1, |i| rest.get(i).copied().unwrap_or(Bit::FALSE), |i| !at(i), Bit::TRUE);
        let fits = !difference[count];
        quotient[i] = fits;
        for (bit, reduced) in rest.iter_mut().zip(difference) {
            *bit = circuit.choose(fits, reduced, *bit);
        }
    }
    let quotient = signed(circuit, &quotient, negative, low, high);
    (quotient, signed(circuit, &rest, a.sign(), least, greatest))
}

/// Shifts by 0, 1, 3, … places, as the six lowest bits of the distance say.
fn barrel(circuit: &mut Circuit, mut bits: Vec<Bit>, by: &Word, left: bool, fill: Bit) -> Vec<Bit> {
    for stage in 0..6 {
        let (which, places) = (by.bit(stage), 1usize << stage);
        if which == Bit::FALSE {
            continue;
        }
        let from = |i: usize| match left {
            true => i.checked_sub(places).map_or(Bit::FALSE, |i| bits[i]),
            false => bits.get(i + places).copied().unwrap_or(fill),
        };
        bits = (0..bits.len()).map(|i| circuit.choose(which, from(i), bits[i])).collect();
    }
    bits
}

/// `a << b`; a negative distance, or one of 64 and more, shifts everything out.
pub fn shift_left(circuit: &mut Circuit, a: &Word, by: &Word) -> Word {
    let ((p, q), (_, farthest)) = (a.hull(), by.hull());
    let far = farthest.clamp(0, 63) as u32;
    let (low, high) = wrapped((p.min(0) as i128) << far, (q.max(0) as i128) << far);
    let bits = (0..all_bits(low, high)).map(|i| a.bit(i)).collect();
    let bits = barrel(circuit, bits, by, true, Bit::FALSE);
    let near = by.is_within(circuit, 0, 63);
    Word::within(low, high, |i| circuit.and(near, bits[i]))
}

/// `a >> b` with the sign moving in; distances as for [`shift_left`].
pub fn shift_right(circuit: &mut Circuit, a: &Word, by: &Word) -> Word {
    let (p, q) = a.hull();
    let (low, high) = (p.min(0), q.max(0));
    let sign = a.sign();
    let bits = (0..all_bits(low, high)).map(|i| a.bit(i)).collect();
    let bits = barrel(circuit, bits, by, false, sign);
    let near = by.is_within(circuit, 0, 63);
    Word::within(low, high, |i| circuit.choose(near, bits[i], sign))
}

/// An operator on single bits, on all of them.
pub fn bitwise(a: &Word, b: &Word, mut gate: impl FnMut(Bit, Bit) -> Bit) -> Word {
    let width = a.width().max(b.width());
    let sign = gate(a.sign(), b.sign());
    let most = i64::MAX >> (63 - width.min(63));
    let (low, high) = match sign.known() {
        Some(false) => (0, most),
        Some(true) => (!most, -1),
        None => (!most, most),
    };
    Word::within(low, high, |i| gate(a.bit(i), b.bit(i)))
}
