//! Damages texts: pieces are cut out, repeated, exchanged with those of other texts, numbers become extreme, bytes flip.

use scrimp_system::Random;

/// Bytes that a damaged text may have.
const LONGEST: usize = 20_000;

const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "255",
    "256",
    "65536",
    "2147483647",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1000000",
];

/// A text that is being damaged.
pub struct Damage<'a> {
    seeds: &'a [Vec<u8>],
    random: &'a mut Random,
    text: Vec<u8>,
}

impl<'a> Damage<'a> {
    pub fn new(seeds: &'a [Vec<u8>], random: &'a mut Random) -> Damage<'a> {
        let text = seeds[random.below(seeds.len())].clone();
        Damage { seeds, random, text }
    }

    /// One of the texts, after some changes.
    pub fn text(mut self) -> Vec<u8> {
        for _ in 0..1 + self.random.below(6) {
            self.change();
        }
        self.text.truncate(LONGEST);
        self.text
    }

    fn change(&mut self) {
        let (from, to) = self.piece();
        match self.random.below(9) {
            0 => drop(self.text.drain(from..to)),
            1 => self.text.truncate(to),
            2 => self.insert(from, to, 1),
            3 => {
                let times = [2, 10, 2000][self.random.below(3)];
                self.insert(from, to, times);
            }
            4 | 5 => {
                let other = &self.seeds[self.random.below(self.seeds.len())];
                let (start, end) = piece_of(other, self.random);
                self.text.splice(from..to, other[start..end].iter().copied());
            }
            6 => {
                let number = NUMBERS[self.random.below(NUMBERS.len())];
                let (from, to) = self.number().unwrap_or((from, from));
                self.text.splice(from..to, number.bytes());
            }
            7 => {
                if let Some(byte) = self.text.get_mut(from) {
                    *byte ^= 1 << self.random.below(8);
                }
            }
            _ => {
                let other = self.piece();
                let copy = self.text[other.0..other.1].to_vec();
                self.text.splice(from..to, copy);
            }
        }
    }

    /// Puts copies of a piece somewhere.
    fn insert(&mut self, from: usize, to: usize, times: usize) {
        let copy = self.text[from..to].repeat(times.min(LONGEST / (to - from).max(1)));
        let place = self.random.below(self.text.len() + 1);
        self.text.splice(place..place, copy);
    }

    fn piece(&mut self) -> (usize, usize) {
        piece_of(&self.text, self.random)
    }

    /// Some digits of the text.
    fn number(&mut self) -> Option<(usize, usize)> {
        let start = self.random.below(self.text.len());
        let from = start + self.text[start..].iter().position(u8::is_ascii_digit)?;
        let to = self.text[from..].iter().position(|byte| !byte.is_ascii_digit()).map_or(self.text.len(), |n| from + n);
        Some((from, to))
    }
}

/// A stretch of a text: a few bytes, a word or a line.
fn piece_of(text: &[u8], random: &mut Random) -> (usize, usize) {
    let from = random.below(text.len());
    let rest = &text[from..];
    let word = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    let length = match random.below(3) {
        0 => random.below(60),
        1 => rest.iter().position(word).unwrap_or(rest.len()).max(1),
        _ => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()) + 1,
    };
    (from, (from + length).min(text.len()))
}
