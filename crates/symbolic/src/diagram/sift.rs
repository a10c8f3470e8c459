//! Better orders of the levels: each level in turn is moved through all places and left at the best one (Rudell's sifting).

use super::level_wise::LevelWise;
use super::{Diagrams, Halt, Set};
use scrimp_core::Control;
use std::time::{Duration, Instant};

/// A level is not moved on in a direction when the diagram has grown to more than this many tenths of what it was.
const GROWTH: usize = 12;

impl Diagrams {
    /// Exchanges this level and the next one. The roots, all of the same length, get new numbers; everything else is dead
    /// afterwards. Nothing changes when there is no such level, or no room.
    pub fn swap(&mut self, level: usize, roots: &mut [Set]) -> Result<(), Halt> {
        self.reorder(roots, |ladder| {
            if level + 1 < ladder.levels() {
                ladder.swap(level);
            }
        })
    }

    /// Looks for an order of the levels with a smaller diagram, for about so long. Gives, for each new level, which it was
    /// before. The roots, all of the same length, get new numbers; all other sets, and all relations, are dead afterwards.
    /// Nothing changes when there is no room.
    pub fn sift(&mut self, roots: &mut [Set], time: Duration, control: &Control) -> Result<Vec<usize>, Halt> {
        let mut order = Vec::new();
        self.reorder(roots, |ladder| {
            let mut sifting = Sifting {
                order: (0..ladder.levels()).collect(),
                words: ladder.words(),
                ladder,
                until: Instant::now().checked_add(time),
                control,
                tick: 0,
            };
            sifting.run();
            order = sifting.order;
        })?;
        Ok(order)
    }
}

struct Sifting<'a> {
    ladder: &'a mut LevelWise,
    /// Which level it was before, for each level now.
    order: Vec<usize>,
    words: usize,
    until: Option<Instant>,
    control: &'a Control,
    tick: u64,
}

impl Sifting<'_> {
    /// All levels once, the largest first, again and again as long as that gains something.
    fn run(&mut self) {
        loop {
            let before = self.words;
            let mut levels: Vec<(usize, usize)> = Vec::with_capacity(self.order.len());
            for (level, &name) in self.order.iter().enumerate() {
                levels.push((self.ladder.words_at(level), name));
            }
            levels.sort_unstable_by(|a, b| b.cmp(a));
            for (_, name) in levels {
                if self.is_over() {
                    return;
                }
                if let Some(level) = self.order.iter().position(|&other| other == name) {
                    self.sift_one(level);
                }
            }
            if self.words > before - before / 50 {
                return;
            }
        }
    }

    fn is_over(&mut self) -> bool {
        self.tick += 8;
        self.until.is_none_or(|until| Instant::now() >= until) || self.control.stopped(self.tick).is_some()
    }

    /// Moves one level first to the nearer end, then to the other, and back to where the diagram was smallest.
    fn sift_one(&mut self, start: usize) {
        let last = self.order.len() - 1;
        let most = self.words / 10 * GROWTH + GROWTH;
        let (mut level, mut best, mut least) = (start, start, self.words);
        let down_first = last - start < start;
        for down in [down_first, !down_first] {
            while level != if down { last } else { 0 } {
                level = self.step(level, down);
                if self.words < least {
                    (best, least) = (level, self.words);
                }
                if self.words > most || self.is_over() {
                    break;
                }
            }
            // The other direction starts where the best is so far.
            while level != best {
                level = self.step(level, level < best);
            }
        }
    }

    /// Moves a level to the next place and says where it is then.
    fn step(&mut self, level: usize, down: bool) -> usize {
        let upper = if down { level } else { level - 1 };
        let before = self.ladder.words_at(upper) + self.ladder.words_at(upper + 1);
        self.ladder.swap(upper);
        self.words = self.words - before + self.ladder.words_at(upper) + self.ladder.words_at(upper + 1);
        self.order.swap(upper, upper + 1);
        if down { level + 1 } else { level - 1 }
    }
}
