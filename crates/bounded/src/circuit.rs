//! Circuits of gates over bits, with constants folded and equal gates shared.
//!
//! A circuit is only a description: nothing of it reaches the solver before a [`Formula`](crate::formula::Formula) asks for a
//! bit. What is built and never asked for costs a few bytes.

use std::collections::HashMap;
use std::ops::Not;

/// The output of a gate, or its complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bit(u32);

impl Bit {
    /// Never true.
    pub const FALSE: Bit = Bit(0);
    /// Always true.
    pub const TRUE: Bit = Bit(1);

    /// The bit that always has this value.
    pub fn constant(value: bool) -> Bit {
        if value { Bit::TRUE } else { Bit::FALSE }
    }

    /// Its value, if it is always the same.
    pub fn known(self) -> Option<bool> {
        (self.0 < 2).then_some(self == Bit::TRUE)
    }

    /// The number of the gate.
    pub fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Is it the complement of the gate's output?
    pub fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    fn of_gate(gate: usize) -> Bit {
        Bit((gate as u32) << 1)
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        Bit(self.0 ^ 1)
    }
}

/// What makes a bit of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gate {
    /// The constant false.
    False,
    /// Free to be anything.
    Input,
    /// Both.
    And(Bit, Bit),
    /// One but not the other.
    Xor(Bit, Bit),
    /// The second where the first is true, otherwise the third.
    Choose(Bit, Bit, Bit),
}

/// All gates made so far.
#[derive(Debug)]
pub struct Circuit {
    gates: Vec<Gate>,
    shared: HashMap<Gate, u32>,
    most: usize,
    overfull: bool,
}

impl Circuit {
    /// The greatest number of gates that can be told apart.
    const MOST: usize = 1 << 30;

    /// An empty circuit.
    pub fn new() -> Circuit {
        Circuit { gates: vec![Gate::False], shared: HashMap::new(), most: Circuit::MOST, overfull: false }
    }

    /// From now on there may be so many more gates; where there would be more, bits mean nothing and the circuit is
    /// [overfull](Circuit::is_overfull).
    pub fn allow(&mut self, more: usize) {
        self.most = self.gates.len().saturating_add(more).min(Circuit::MOST);
    }

    /// Were more gates wanted than are allowed? Then nothing that was built since means anything.
    pub fn is_overfull(&self) -> bool {
        self.overfull
    }

    /// How many gates there are.
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// The gate with this number.
    pub fn gate(&self, number: usize) -> Gate {
        self.gates[number]
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        self.gates.capacity() * size_of::<Gate>() + self.shared.capacity() * (size_of::<(Gate, u32)>() + 1)
    }

    fn push(&mut self, gate: Gate) -> Bit {
        if self.gates.len() >= self.most {
            self.overfull = true;
            return Bit::FALSE;
        }
        self.gates.push(gate);
        Bit::of_gate(self.gates.len() - 1)
    }

    fn share(&mut self, gate: Gate) -> Bit {
        if let Some(number) = self.shared.get(&gate) {
            return Bit::of_gate(*number as usize);
        }
        let bit = self.push(gate);
        if !self.overfull {
            self.shared.insert(gate, bit.gate() as u32);
        }
        bit
    }

    /// A bit that is free to be anything.
    pub fn input(&mut self) -> Bit {
        self.push(Gate::Input)
    }

    /// Both of them.
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (Bit::FALSE, _) => Bit::FALSE,
            (Bit::TRUE, b) => b,
            (a, b) if a == b => a,
            (a, b) if a == !b => Bit::FALSE,
            (a, b) => self.share(Gate::And(a, b)),
        }
    }

    /// At least one of them.
    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    /// One but not the other.
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let flipped = a.is_complement() != b.is_complement();
        let plain = |bit: Bit| if bit.is_complement() { !bit } else { bit };
        let (a, b) = (plain(a).min(plain(b)), plain(a).max(plain(b)));
        let bit = match (a, b) {
            (Bit::FALSE, b) => b,
            (a, b) if a == b => Bit::FALSE,
            (a, b) => self.share(Gate::Xor(a, b)),
        };
        if flipped { !bit } else { bit }
    }

    /// Both or neither.
    pub fn same(&mut self, a: Bit, b: Bit) -> Bit {
        !self.xor(a, b)
    }

    /// `a` where `which` is true, otherwise `b`.
    pub fn choose(&mut self, which: Bit, a: Bit, b: Bit) -> Bit {
        let (which, a, b) = if which.is_complement() { (!which, b, a) } else { (which, a, b) };
        if which == Bit::FALSE || a == b {
            return b;
        }
        // Within an alternative it is known which one it is.
        let a = if a == which {
            Bit::TRUE
        } else if a == !which {
            Bit::FALSE
        } else {
            a
        };
        let b = if b == which {
            Bit::FALSE
        } else if b == !which {
            Bit::TRUE
        } else {
            b
        };
        match (a.known(), b.known()) {
            (Some(true), _) => self.or(which, b),
            (Some(false), _) => self.and(!which, b),
            (_, Some(true)) => self.or(!which, a),
            (_, Some(false)) => self.and(which, a),
            _ if a == !b => self.xor(which, b),
            _ if a.is_complement() => !self.share(Gate::Choose(which, !a, !b)),
            _ => self.share(Gate::Choose(which, a, b)),
        }
    }

    /// All of them.
    pub fn all(&mut self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        let mut bits: Vec<Bit> = bits.into_iter().collect();
        if bits.contains(&Bit::FALSE) {
            return Bit::FALSE;
        }
        bits.sort_unstable();
        bits.dedup();
        while bits.len() > 1 {
            bits = bits
                .chunks(2)
                .map(|pair| pair.iter().copied().reduce(|a, b| self.and(a, b)).unwrap_or(Bit::TRUE))
                .collect();
        }
        bits.pop().unwrap_or(Bit::TRUE)
    }

    /// At least one of them.
    pub fn any(&mut self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        !self.all(bits.into_iter().map(|bit| !bit))
    }
}

impl Default for Circuit {
    fn default() -> Circuit {
        Circuit::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_gates_are_shared() {
        let mut circuit = Circuit::new();
        let (a, b) = (circuit.input(), circuit.input());
        let first = circuit.and(a, b);
        assert_eq!(first, circuit.and(b, a));
        let x = circuit.xor(a, b);
        assert_eq!(!x, circuit.xor(!a, b));
        assert_eq!(circuit.choose(a, b, b), b);
        assert_eq!(circuit.choose(a, !b, b), x);
        assert_eq!(circuit.len(), 5);
    }

    #[test]
    fn too_many_gates_are_noticed() {
        let mut circuit = Circuit::new();
        circuit.allow(2);
        let (a, b) = (circuit.input(), circuit.input());
        assert!(!circuit.is_overfull());
        circuit.and(a, b);
        assert!(circuit.is_overfull());
    }
}
