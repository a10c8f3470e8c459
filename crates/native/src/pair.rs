//! Event codes of a system in step with its claim.
//!
//! With `n` system events, `code = claim * (n + 1) + system`, where `system` is `n` for "none", and `claim` is 0 for "none" or one
//! more than the number of the move. So the system's own codes, as its faults carry them, are product codes as they stand.

use scrimp_system::EventCode;

/// The partners that an event code names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub system: Option<u32>,
    pub claim: Option<u32>,
}

impl Pair {
    pub fn code(self, events: usize) -> EventCode {
        let events = events as u32;
        self.claim.map_or(0, |m| m + 1) * (events + 1) + self.system.unwrap_or(events)
    }

    pub fn of(code: EventCode, events: usize) -> Pair {
        let events = events as u32;
        let (claim, system) = (code / (events + 1), code % (events + 1));
        Pair { system: (system < events).then_some(system), claim: claim.checked_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_name_both_partners() {
        for events in [0usize, 1, 7] {
            for system in (0..events as u32).map(Some).chain([None]) {
                for claim in [None, Some(0), Some(1), Some(5)] {
                    let pair = Pair { system, claim };
                    assert_eq!(Pair::of(pair.code(events), events), pair);
                }
            }
        }
        assert_eq!(Pair { system: Some(3), claim: None }.code(7), 3);
    }
}
