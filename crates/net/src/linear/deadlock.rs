//! Deadlocks excluded by structure.

use super::refuter::Refuter;
use crate::net::Net;
use crate::question::Condition;
use std::time::Instant;

/// `Some(true)` when no reachable marking is a deadlock, `Some(false)` when the first one is, nothing when it is not known.
///
/// In a deadlock each transition lacks tokens in an input place, or has too many in an inhibitor place. Choices of such
/// places are refuted by the state equation and by traps that are marked at first; so a net of which every siphon has a
/// marked trap in it, among others, is found to be free of deadlocks.
pub fn deadlock_free(net: &Net, bounds: &[Option<u64>], deadline: Instant) -> Option<bool> {
    if net.transitions.iter().any(|t| t.inputs.is_empty() && t.inhibitors.is_empty()) {
        return Some(true);
    }
    if Condition::Deadlock.holds(net, &net.initial()) {
        return Some(false);
    }
    let mut refuter = Refuter::new(net, bounds)?;
    refuter.never_holds(&Condition::Deadlock, usize::MAX, deadline).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::super::brute::{net_of, nets, reachable};
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn a_ring_is_free_and_an_empty_net_is_stuck() {
        let deadline = Instant::now() + Duration::from_secs(10);
        let ring = net_of(&[1, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])]);
        assert_eq!(deadlock_free(&ring, &[], deadline), Some(true));
        assert_eq!(deadlock_free(&Net::default(), &[], deadline), Some(false));
        let line = net_of(&[1, 0], &[(&[(0, 1)], &[(1, 1)])]);
        assert_eq!(deadlock_free(&line, &[], deadline), None);
    }

    proptest! {
        #[test]
        fn nets_without_deadlocks_have_none(net in nets()) {
            let deadline = Instant::now() + Duration::from_secs(10);
            let (markings, _) = reachable(&net, 400);
            let stuck = markings.iter().any(|m| Condition::Deadlock.holds(&net, m));
            match deadlock_free(&net, &[], deadline) {
                Some(true) => prop_assert!(!stuck),
                Some(false) => prop_assert!(stuck),
                None => {}
            }
        }
    }
}
