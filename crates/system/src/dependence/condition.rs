//! Conditions on states as and/or trees over guards: what must happen before one holds, and what can make it false.

use crate::dependence::guards::Guard;

/// A condition on states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// One guard.
    Holds(Guard),
    /// All parts hold; with none, it always does.
    All(Vec<Condition>),
    /// Some part holds; with none, it never does.
    Any(Vec<Condition>),
}

impl Condition {
    /// Does it hold, if guards hold as `holds` says?
    pub fn holds(&self, holds: &mut dyn FnMut(Guard) -> bool) -> bool {
        match self {
            Condition::Holds(guard) => holds(*guard),
            Condition::All(parts) => parts.iter().all(|part| part.holds(holds)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(holds)),
        }
    }

    /// Where it does not hold: guards that do not hold either, of which one must hold before it does. Where there is a choice,
    /// the cheapest ones are taken. They are put behind what is in `out` already; the result is what they cost. `None`
    /// where the condition holds.
    pub fn missing(
        &self,
        holds: &mut dyn FnMut(Guard) -> bool,
        cost: &mut dyn FnMut(Guard) -> usize,
        out: &mut Vec<Guard>,
    ) -> Option<usize> {
        let start = out.len();
        match self {
            Condition::Holds(guard) => (!holds(*guard)).then(|| {
                out.push(*guard);
                cost(*guard)
            }),
            Condition::Any(parts) => {
                let mut sum = 0usize;
                for part in parts {
                    match part.missing(holds, cost, out) {
                        Some(more) => sum = sum.saturating_add(more),
                        None => {
                            out.truncate(start);
                            return None;
                        }
                    }
                }
                Some(sum)
            }
            Condition::All(parts) => {
                let mut best: Option<usize> = None;
                for part in parts {
                    let middle = out.len();
                    let Some(price) = part.missing(holds, cost, out) else { continue };
                    if best.is_none_or(|best| price < best) {
                        // What was best before stands between `start` and `middle`.
                        out.drain(start..middle);
                        best = Some(price);
                    } else {
                        out.truncate(middle);
                    }
                }
                best
            }
        }
    }

    /// The guards in it.
    pub fn guards(&self, visit: &mut dyn FnMut(Guard)) {
        match self {
            Condition::Holds(guard) => visit(*guard),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| part.guards(visit)),
        }
    }
}
