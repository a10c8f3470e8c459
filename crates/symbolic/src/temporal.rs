//! Questions about runs: each decided by itself, once all states are known.

use crate::ctl::Branching;
use crate::diagram::Halt;
use crate::linear::Linear;
use crate::options::Options;
use crate::reach::Reached;
use crate::run::Work;
use crate::steps::Steps;
use crate::trace::Lost;
use scrimp_core::{Limit, Property, PropertyKind, PropertyResult, Trace, Verdict};
use scrimp_system::Expr;
use scrimp_temporal::{Automaton, Formula, MOST_ATOMS, MOST_SETS};
use std::time::Duration;

/// What one question may take before the others have their turn; more each time.
const FIRST_SLICE: Duration = Duration::from_millis(50);
const GROWTH: u32 = 4;

/// Why a question about runs cannot be answered with these options.
pub fn refused(question: &Property<Expr>, options: &Options) -> Option<String> {
    let reason = match &question.kind {
        PropertyKind::Ctl(formula) if !formula.is_ctl() => {
            "this is not a CTL formula: every temporal operator needs A or E right before it"
        }
        PropertyKind::Never(never) if !is_sound(&never.automaton, never.atoms.len()) => {
            "the automaton has undefined atoms, or an edge to an unknown state"
        }
        PropertyKind::Ctl(_) if options.fairness.len() > MOST_SETS => "there are too many fairness conditions",
        PropertyKind::Ltl(_) | PropertyKind::Accepting(_) | PropertyKind::Progress(_) => {
            "sets of states decide a property of linear time by the automaton of its negation"
        }
        _ if question.kind.is_about_runs() && options.reduce => {
            "properties of infinite runs are not decided with --reduce"
        }
        _ => return None,
    };
    Some(format!("{}: {reason}", question.name))
}

fn is_sound(automaton: &Automaton, atoms: usize) -> bool {
    let states = automaton.states.len();
    let known = match atoms {
        0 => 0,
        MOST_ATOMS.. => u64::MAX,
        atoms => u64::MAX >> (MOST_ATOMS - atoms),
    };
    let edges = automaton.states.iter().flatten();
    automaton.sets <= MOST_SETS
        && (automaton.initial as usize) < states
        && atoms <= MOST_ATOMS
        && edges.into_iter().all(|edge| (edge.to as usize) < states && edge.guard.support() & !known == 0)
}

impl Work<'_> {
    /// Decides the questions about runs.
    pub fn decide_runs(&mut self, reached: &Reached) {
        if !self.questions.iter().any(|question| question.kind.is_about_runs()) {
            return;
        }
        let endless = self.endless(reached).map(|states| !states.is_empty());
        if let Ok(true) = endless {
            // What the model makes of such a state is not all that it leads to.
            self.control.say("an atomic sequence of the model does not end: its successors are not known");
            return;
        }
        if let Err(halt) = endless.and_then(|_| self.decide_each(reached)) {
            self.note(halt);
        }
        self.engine.pinned.clear();
        self.engine.held = reached.sets();
    }

    /// One after the other. One that takes long lets the others go first, and is begun again with more time.
    fn decide_each(&mut self, reached: &Reached) -> Result<(), Halt> {
        let steps = Steps::new(&mut self.engine, reached)?;
        let mut branching = Branching::new(&mut self.engine, &steps, &self.options.fairness)?;
        let about_runs = |number: &usize| self.questions[*number].kind.is_about_runs();
        let mut open: Vec<usize> = (0..self.questions.len()).filter(about_runs).collect();
        let mut slice = FIRST_SLICE;
        while !open.is_empty() {
            let last = open[open.len() - 1];
            for number in std::mem::take(&mut open) {
                let mut result = PropertyResult::undecided(&self.questions[number].name);
                // The last has all the time there is.
                let slice = if open.is_empty() && number == last { Duration::MAX } else { slice };
                let whole = self.engine.diagrams.stop_at(self.control.stop().within(slice));
                let done = self.decide_one(&steps, &mut branching, number, &mut result);
                self.engine.diagrams.stop_at(whole);
                match done {
                    Ok(()) => {}
                    // Others may need less room.
                    Err(Halt::Full) => self.note(Halt::Full),
                    Err(Halt::Limit(Limit::Time)) if self.control.stop().due().is_none() => {
                        if result.verdict == Verdict::Undecided {
                            open.push(number);
                            continue;
                        }
                    }
                    Err(halt) => {
                        self.decided.push((number, result));
                        return Err(halt);
                    }
                }
                self.decided.push((number, result));
            }
            slice = slice.saturating_mul(GROWTH);
        }
        Ok(())
    }

    fn decide_one(
        &mut self,
        steps: &Steps,
        branching: &mut Branching,
        number: usize,
        result: &mut PropertyResult,
    ) -> Result<(), Halt> {
        let mark = self.engine.held.len();
        match &self.questions[number].kind {
            PropertyKind::Ctl(formula) => {
                let done = self.decide_formula(branching, formula, result);
                branching.forget(&mut self.engine);
                done
            }
            PropertyKind::Never(never) => {
                let done = self.decide_automaton(steps, &never.automaton, &never.atoms, result);
                self.engine.held.truncate(mark);
                done
            }
            _ => Ok(()),
        }
    }

    fn decide_formula(
        &mut self,
        branching: &mut Branching,
        formula: &Formula<Expr>,
        result: &mut PropertyResult,
    ) -> Result<(), Halt> {
        let holds = branching.holds(&mut self.engine, formula)?;
        result.verdict = if holds { Verdict::Verified } else { Verdict::Violated };
        if !self.options.evidence {
            return Ok(());
        }
        match branching.evidence(&mut self.engine, self.model, formula, holds) {
            Ok(Some(evidence)) => show(result, evidence.trace, evidence.cycle),
            Ok(None) => {}
            Err(lost) => return self.lost(lost, result),
        }
        Ok(())
    }

    fn decide_automaton(
        &mut self,
        steps: &Steps,
        automaton: &Automaton,
        atoms: &[Expr],
        result: &mut PropertyResult,
    ) -> Result<(), Halt> {
        let engine = &mut self.engine;
        let runs = Linear::new(engine, steps, automaton, atoms)?;
        let initial = engine.initial()?;
        engine.held.push(initial);
        let found = runs.accepting(engine, initial)?;
        result.verdict = if found.is_some() { Verdict::Violated } else { Verdict::Verified };
        let Some((reached, hull)) = found.filter(|_| self.options.evidence) else { return Ok(()) };
        match runs.lasso(engine, self.model, (initial, &reached, &hull)) {
            Ok(lasso) => show(result, lasso.trace, Some(lasso.cycle)),
            Err(lost) => return self.lost(lost, result),
        }
        Ok(())
    }

    /// There is no run to show.
    fn lost(&mut self, lost: Lost, result: &mut PropertyResult) -> Result<(), Halt> {
        match lost {
            // The verdict is known all the same.
            Lost::Halt(halt) => Err(halt),
            Lost::Mismatch => {
                self.control
                    .say(format!("internal error: the run that decides {} is not one of the model", result.name));
                *result = PropertyResult::undecided(&result.name);
                Ok(())
            }
        }
    }
}

fn show(result: &mut PropertyResult, trace: Trace, cycle: Option<usize>) {
    result.state = Some(trace.steps.last().map_or_else(|| trace.initial.clone(), |(_, state)| state.clone()));
    result.trace = Some(trace);
    result.cycle = cycle;
}
