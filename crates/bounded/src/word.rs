//! Numbers made of bits, just as wide as the values that they can have.
//!
//! A word is a two's complement number: some bits from the lowest on, and a sign that stands for all bits above them. It
//! knows an interval that holds its value, and that decides how many bits it has.

use crate::circuit::{Bit, Circuit};
use std::rc::Rc;

/// A number whose bits are outputs of a circuit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    bits: Rc<[Bit]>,
    sign: Bit,
    low: i64,
    high: i64,
}

/// Bits beside the sign that the numbers of an interval need.
pub fn magnitude(low: i64, high: i64) -> usize {
    let bits = |value: i64| 64 - (if value < 0 { !value } else { value }).leading_zeros() as usize;
    bits(low).max(bits(high))
}

impl Word {
    /// The word whose bit number i is `at(i)`, if its value is in this interval.
    pub fn within(low: i64, high: i64, mut at: impl FnMut(usize) -> Bit) -> Word {
        if low >= high {
            return Word::constant(low);
        }
        let bits = magnitude(low, high);
        let sign = match (low < 0, high < 0) {
            (false, _) => Bit::FALSE,
            (true, true) => Bit::TRUE,
            (true, false) => at(bits),
        };
        Word { bits: (0..bits).map(at).collect(), sign, low, high }
    }

    /// A number that is known.
    pub fn constant(value: i64) -> Word {
        let bits = (0..magnitude(value, value)).map(|i| Bit::constant(value >> i & 1 == 1)).collect();
        Word { bits, sign: Bit::constant(value < 0), low: value, high: value }
    }

    /// 1 where the bit is true, otherwise 0.
    pub fn truth(bit: Bit) -> Word {
        match bit.known() {
            Some(value) => Word::constant(value as i64),
            None => Word::within(0, 1, |_| bit),
        }
    }

    /// A number that is free to be anything which its bits can be; within the interval, that is left to others.
    pub fn input(circuit: &mut Circuit, low: i64, high: i64) -> Word {
        Word::within(low, high, |_| circuit.input())
    }

    /// The smallest and the largest value that it could have.
    pub fn hull(&self) -> (i64, i64) {
        (self.low, self.high)
    }

    /// Its value, if it is always the same.
    pub fn known(&self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Bits beside the sign.
    pub fn width(&self) -> usize {
        self.bits.len()
    }

    /// The bit with this number, however high.
    pub fn bit(&self, number: usize) -> Bit {
        self.bits.get(number).copied().unwrap_or(self.sign)
    }

    /// The bits that are not known, the sign last.
    pub fn unknown(&self) -> impl Iterator<Item = Bit> + '_ {
        self.bits.iter().copied().chain([self.sign]).filter(|bit| bit.known().is_none())
    }

    /// The value of the word, given that of its bits.
    pub fn value(&self, read: impl Fn(Bit) -> bool) -> i64 {
        let above = if self.bits.len() < 64 { -1i64 << self.bits.len() } else { 0 };
        let sign = if read(self.sign) { above } else { 0 };
        self.bits.iter().enumerate().fold(sign, |value, (i, bit)| value | (read(*bit) as i64) << i)
    }

    /// Is it negative?
    pub fn sign(&self) -> Bit {
        match (self.low < 0, self.high < 0) {
            (false, _) => Bit::FALSE,
            (_, true) => Bit::TRUE,
            _ => self.sign,
        }
    }

    /// Is it anything but zero?
    pub fn is_true(&self, circuit: &mut Circuit) -> Bit {
        if self.low > 0 || self.high < 0 {
            return Bit::TRUE;
        }
        circuit.any(self.bits.iter().copied().chain([self.sign]))
    }

    /// `a` where `which` is true, otherwise `b`.
    pub fn choose(circuit: &mut Circuit, which: Bit, a: &Word, b: &Word) -> Word {
        match which.known() {
            Some(true) => a.clone(),
            Some(false) => b.clone(),
            None => Word::within(a.low.min(b.low), a.high.max(b.high), |i| circuit.choose(which, a.bit(i), b.bit(i))),
        }
    }

    /// One of these, by the low bits of `index`, which is the number of one of them.
    pub fn select(circuit: &mut Circuit, index: &Word, mut from: Vec<Word>) -> Word {
        let mut bit = 0;
        while from.len() > 1 {
            let which = index.bit(bit);
            from = from
                .chunks(2)
                .map(|pair| match pair {
                    [even, odd] => Word::choose(circuit, which, odd, even),
                    pair => pair[0].clone(),
                })
                .collect();
            bit += 1;
        }
        from.pop().unwrap_or_else(|| Word::constant(0))
    }

    /// Are they equal?
    pub fn equal(circuit: &mut Circuit, a: &Word, b: &Word) -> Bit {
        if a.high < b.low || b.high < a.low {
            return Bit::FALSE;
        }
        let bits: Vec<Bit> = (0..=a.width().max(b.width())).map(|i| circuit.same(a.bit(i), b.bit(i))).collect();
        circuit.all(bits)
    }

    /// Is the first one smaller?
    pub fn less(circuit: &mut Circuit, a: &Word, b: &Word) -> Bit {
        if a.high < b.low {
            return Bit::TRUE;
        }
        if a.low >= b.high {
            return Bit::FALSE;
        }
        let mut less = Bit::FALSE;
        for i in 0..a.width().max(b.width()) {
            let differ = circuit.xor(a.bit(i), b.bit(i));
            less = circuit.choose(differ, b.bit(i), less);
        }
        let differ = circuit.xor(a.sign, b.sign);
        circuit.choose(differ, a.sign, less)
    }

    /// Is it in this interval?
    pub fn is_within(&self, circuit: &mut Circuit, low: i64, high: i64) -> Bit {
        let below = Word::less(circuit, self, &Word::constant(low));
        let above = Word::less(circuit, &Word::constant(high), self);
        circuit.and(!below, !above)
    }
}
