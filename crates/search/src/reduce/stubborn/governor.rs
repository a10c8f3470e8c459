//! When to ask for a smaller set of events: often where that pays, seldom where it does not.
//!
//! Exploring everything is always right, so it may be decided by experience. All is counted, nothing timed: the same
//! search asks in the same states every time.

/// States of which the experience is made before it is looked at.
const WINDOW: u32 = 256;

/// At least one of so many states is asked about.
const RAREST: u32 = 64;

/// Of so many events one at least must be spared for asking to pay.
const WORTH: u64 = 16;

/// Decides in which states to ask.
#[derive(Debug, Clone)]
pub struct Governor {
    /// One of so many states is asked about.
    interval: u32,
    until: u32,
    asked: u32,
    events: u64,
    spared: u64,
}

impl Governor {
    /// One that asks in every state to begin with.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Governor {
        Governor { interval: 1, until: 0, asked: 0, events: 0, spared: 0 }
    }

    /// Is it time to ask?
    #[inline]
    pub fn asks(&mut self) -> bool {
        if self.until > 0 {
            self.until -= 1;
            return false;
        }
        self.until = self.interval - 1;
        true
    }

    /// Of so many events, so many were kept.
    #[inline]
    pub fn learn(&mut self, events: usize, kept: usize) {
        self.asked += 1;
        self.events += events as u64;
        self.spared += (events - kept.min(events)) as u64;
        let enough = WINDOW.min(16 * WINDOW / self.interval.max(16));
        if self.asked >= enough {
            self.interval = if self.spared * WORTH >= self.events { 1 } else { (2 * self.interval).min(RAREST) };
            (self.asked, self.events, self.spared) = (0, 0, 0);
            self.until = self.until.min(self.interval - 1);
        } else if self.interval > 1 && self.spared * WORTH >= self.events && self.spared >= 16 {
            *self = Governor::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_seldom_without_gain_and_comes_back() {
        let mut governor = Governor::new();
        let mut asked = 0;
        for _ in 0..100_000 {
            if governor.asks() {
                asked += 1;
                governor.learn(5, 5);
            }
        }
        assert!(asked < 4_000, "{asked}");
        asked = 0;
        for _ in 0..10_000 {
            if governor.asks() {
                asked += 1;
                governor.learn(5, 2);
            }
        }
        assert!(asked > 8_000, "{asked}");
    }
}
