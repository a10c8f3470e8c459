//! The key by which a state is looked up: its bits, one after the other, or, where these are too many for a slot, the numbers
//! of its parts.
//!
//! A slot has room for so many bits beside those that its bucket stands for. A wider state is cut into parts, each of which
//! gets a number in a table of parts, and the numbers follow each other in a shorter key, as often as it takes.

use crate::packing::Packing;
use std::fmt::Write;

/// Bits of what is left of a key in a slot; there is one more for "empty".
const REST: u32 = 58;
/// Slots of a bucket, as a power of two.
const SLOTS: u32 = 4;

/// How a state is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Bits of the last key.
    pub root_bits: u32,
    /// Buckets of the table of states that there must be at least, as a power of two.
    pub least_log: u32,
    /// Are there parts?
    pub parts: bool,
}

impl Key {
    /// For states of so many bits: parts are used where a table of `most_log` would not be enough without.
    pub fn new(bits: u32, most_log: u32, node_log: u32) -> Key {
        let log = |bits: u32| bits.saturating_sub(REST).max(1);
        if log(bits) <= most_log {
            return Key { root_bits: bits, least_log: log(bits), parts: false };
        }
        let mut root_bits = bits;
        while log(root_bits) > most_log {
            root_bits = parts_of(root_bits, node_log).len() as u32 * id_bits(node_log);
        }
        Key { root_bits, least_log: log(root_bits), parts: true }
    }

    /// The function `look_up`.
    pub fn text(&self, packing: &Packing, node_log: u32) -> String {
        let mut out = String::from("DEVICE Kept look_up(const Job &job, const State &s, u64 &place) {\n");
        let mut pieces = Pieces::default();
        for (word, used) in packing.used().iter().enumerate() {
            pieces.push(format!("(u64)s.w[{word}]"), *used);
        }
        let mut stage = 0;
        let _ = write!(out, "{}", pieces.text(stage));
        while pieces.bits > self.root_bits {
            let mut next = Pieces::default();
            let mut from = 0;
            for (part, bits) in parts_of(pieces.bits, node_log).into_iter().enumerate() {
                let (low, high) = pieces.range(stage, from, bits);
                let name = format!("id_{stage}_{part}");
                let _ = writeln!(out, "  u64 {name};");
                let _ = writeln!(out, "  if (!number<{bits}>(job, {low}, {high}, {name})) return PARTS_FULL;");
                next.push(name, id_bits(node_log));
                from += bits;
            }
            (pieces, stage) = (next, stage + 1);
            let _ = write!(out, "{}", pieces.text(stage));
        }
        let (low, high) = pieces.range(stage, 0, pieces.bits);
        let _ = writeln!(out, "  u64 low = {low}, high = {high};");
        let _ = writeln!(out, "  mix<ROOT_BITS>(low, high);");
        let _ = writeln!(out, "  return put<ROOT_BITS>(job.slots, job.log, low, high, place);\n}}");
        out
    }
}

/// Bits of the number of a part.
fn id_bits(node_log: u32) -> u32 {
    node_log + SLOTS
}

/// Parts of about the same size, each small enough for the table of parts.
fn parts_of(bits: u32, node_log: u32) -> Vec<u32> {
    let count = bits.div_ceil(REST + node_log);
    (0..count).map(|part| bits * (part + 1) / count - bits * part / count).collect()
}

/// Bits in a row.
#[derive(Default)]
struct Pieces {
    pieces: Vec<(String, u32)>,
    bits: u32,
}

impl Pieces {
    fn push(&mut self, text: String, bits: u32) {
        self.pieces.push((text, bits));
        self.bits += bits;
    }

    /// Declares words of 64 bits that hold them all.
    fn text(&self, stage: usize) -> String {
        let mut words = vec![Vec::new(); self.bits.div_ceil(64).max(1) as usize];
        let mut at = 0;
        for (text, bits) in &self.pieces {
            let (word, shift) = ((at / 64) as usize, at % 64);
            words[word].push(if shift == 0 { text.clone() } else { format!("{text} << {shift}") });
            if shift + bits > 64 {
                words[word + 1].push(format!("{text} >> {}", 64 - shift));
            }
            at += bits;
        }
        let mut out = String::new();
        for (word, parts) in words.iter().enumerate() {
            let value = if parts.is_empty() { "0".to_string() } else { parts.join(" | ") };
            let _ = writeln!(out, "  const u64 k{stage}_{word} = {value};");
        }
        out
    }

    /// So many bits from one on, as two numbers.
    fn range(&self, stage: usize, from: u32, bits: u32) -> (String, String) {
        let word = |from: u32, bits: u32| {
            let (first, shift) = (from / 64, from % 64);
            let mut text = format!("k{stage}_{first} >> {shift}");
            if shift + bits > 64 {
                text = format!("({text} | k{stage}_{} << {})", first + 1, 64 - shift);
            }
            if bits == 64 { format!("({text})") } else { format!("({text} & {}ULL)", (1u64 << bits) - 1) }
        };
        let high = if bits > 64 { word(from + 64, bits - 64) } else { "0ULL".to_string() };
        (word(from, bits.min(64)), high)
    }
}
