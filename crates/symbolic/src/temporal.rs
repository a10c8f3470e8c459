//! Questions about runs: each decided by itself, once all states are known.

use crate::answers::{Question, QuestionKind};
use crate::ctl::Branching;
use crate::diagram::Halt;
use crate::reach::Reached;
use crate::run::{Options, Work};
use crate::steps::Steps;
use scrimp_search::{PropertyResult, Verdict};

/// Why a question about runs cannot be answered with these options.
pub fn refused(question: &Question, options: &Options) -> Option<String> {
    let QuestionKind::Ctl(formula) = &question.kind else { return None };
    if !formula.is_ctl() {
        return Some(format!(
            "{}: this is no formula of CTL: there every temporal operator stands right behind A or E",
            question.name
        ));
    }
    options.reduce.then(|| format!("{}: where events are left out, formulas of CTL are not decided", question.name))
}

impl Work<'_> {
    /// Decides the questions about runs.
    pub fn decide_runs(&mut self, reached: &Reached) {
        if !self.questions.iter().any(Question::is_temporal) {
            return;
        }
        if let Err(halt) = self.decide_branching(reached) {
            self.note(halt);
        }
        self.engine.pinned.clear();
        self.engine.held = reached.sets();
    }

    fn decide_branching(&mut self, reached: &Reached) -> Result<(), Halt> {
        let steps = Steps::new(&mut self.engine, reached)?;
        let mut branching = Branching::new(&mut self.engine, steps, &self.options.fairness)?;
        for (number, question) in self.questions.iter().enumerate() {
            let QuestionKind::Ctl(formula) = &question.kind else { continue };
            match branching.holds(&mut self.engine, formula) {
                Ok(holds) => {
                    let mut result = PropertyResult::undecided(&question.name);
                    result.verdict = if holds { Verdict::Verified } else { Verdict::Violated };
                    self.decided.push((number, result));
                }
                // Others may need less room.
                Err(Halt::Full) => self.note(Halt::Full),
                Err(halt) => return Err(halt),
            }
            branching.forget(&mut self.engine);
        }
        Ok(())
    }
}
