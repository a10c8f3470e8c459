//! Why a formula about branching time holds or does not: runs that show it, with what holds along them, as a tree.

use crate::trace::Trace;
use scrimp_system::EventCode;

/// Why a formula holds or does not in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub formula: String,
    pub holds: bool,
    /// The state, and a run from there: events and what they lead to.
    pub initial: Vec<u8>,
    pub steps: Vec<(EventCode, Vec<u8>)>,
    /// The run goes on for ever: after its last step it is where it was after so many.
    pub cycle: Option<usize>,
    /// The run ends here: there is nothing more that could happen.
    pub ends: bool,
    /// What is true on every run, which none can show.
    pub universal: bool,
    /// Why subformulas hold or do not in states of the run: after so many steps.
    pub parts: Vec<(usize, Evidence)>,
}

impl Evidence {
    /// Its run, as far as it does not branch: where another one goes on from its last state, that one too.
    pub fn run(&self) -> Option<(Trace, Option<usize>)> {
        let mut trace = Trace { initial: self.initial.clone(), steps: Vec::new() };
        let mut now = self;
        loop {
            let before = trace.steps.len();
            trace.steps.extend(now.steps.iter().cloned());
            if now.cycle.is_some() || now.ends {
                return Some((trace, now.cycle.map(|cycle| before + cycle)));
            }
            let mut told = now.parts.iter().filter(|(_, part)| !part.is_plain());
            match (told.next(), told.next()) {
                (Some((at, part)), None) if *at == now.steps.len() => now = part,
                _ => return (!trace.steps.is_empty()).then_some((trace, None)),
            }
        }
    }

    /// Is there nothing in it beyond the state itself?
    fn is_plain(&self) -> bool {
        self.steps.is_empty() && !self.ends && self.parts.iter().all(|(_, part)| part.is_plain())
    }

    /// How many explanations it consists of.
    pub fn size(&self) -> usize {
        1 + self.parts.iter().map(|(_, part)| part.size()).sum::<usize>()
    }
}
