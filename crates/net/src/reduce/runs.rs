//! Smaller nets for formulas about runs.
//!
//! A formula without `X` does not see how long nothing happens to the observed places, but it does see whether nothing happens
//! for ever. So transitions may be fused with ones that nobody sees and that nobody can keep from firing:
//!
//! - What takes from a place alone and needs nothing else stays enabled until it fires, and whatever fires before could fire
//!   after it. So does a transition that nobody shares an input with. The markings before and after it are branching
//!   bisimilar: it may fire at once ([post](Rule::PostAgglomeration)) or wait ([pre](Rule::PreAgglomeration)). It has an input
//!   and does not give to it, so that it does not fire for ever by itself: runs that end, and runs that go on without being
//!   seen, stay what they are.
//! - Where several take from the place, choosing at once keeps the set of runs, though not the moment of the choice: that is
//!   for linear time only.
//! - Tokens that move freely among places can be brought anywhere at any time. That they can move for ever is kept as a
//!   transition that changes nothing.
//!
//! Transitions that change nothing, or nothing that matters, are where a run can go on without being seen, and stay. The rules of
//! [`STEP_BY_STEP`] keep every step: markings of the one net are bisimilar to those of the other. So these may be used for
//! formulas with `X`, and for those that ask for deadlocks, too.

use std::time::Instant;

use super::{Observed, Reduced, Rule, Rules, Time, reduce};
use crate::{Formula, Net};

const STEP_BY_STEP: [Rule; 6] = [
    Rule::DeadTransitions,
    Rule::SufficientPlaces,
    Rule::SinkPlaces,
    Rule::DominatedTransitions,
    Rule::ParallelPlaces,
    Rule::LargerPlaces,
];
const STUTTERING: [Rule; 3] = [Rule::FreeCircles, Rule::PostAgglomeration, Rule::PreAgglomeration];

/// A net in which the formula holds if it does in this one, and the formula as it is said there. Of linear time means of every
/// run.
pub fn reduce_for(net: &Net, formula: &Formula, time: Time, deadline: Instant) -> Option<(Reduced, Formula)> {
    let (mut places, mut by_steps) = (Vec::new(), has_next(formula));
    formula.atoms(&mut |condition| {
        places.extend(condition.places(net));
        by_steps |= condition.asks_for_deadlock();
    });
    let mut on = STEP_BY_STEP.to_vec();
    if !by_steps {
        on.extend(STUTTERING);
    }
    let observed = Observed { places, deadlock: true, runs: Some(time) };
    let reduced = reduce(net, &observed, &Rules { on, ..Rules::all(deadline) });
    let formula = formula.try_map(&mut |condition| reduced.question(net, condition).ok_or(())).ok()?;
    Some((reduced, formula))
}

fn has_next(formula: &Formula) -> bool {
    matches!(formula, Formula::Next(_)) || formula.operands().into_iter().any(has_next)
}
