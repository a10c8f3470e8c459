//! Decides a formula in the states that matter, on the fly, without lists of dependencies.
//!
//! A question is a state and a part of the formula. One about an until goes depth first through the states where neither
//! operand has decided it; what is asked of the operands there is answered before the search goes on. So for each part at most
//! one search is under way, and answers come in a fixed order:
//!
//! - some run: once the goal is met, every state that waits on the stack of components leads there through states that hold.
//!   A component that is complete without it (Tarjan) cannot reach it.
//! - all runs: a state is done when all its successors are, and then holds. A step back onto the path is a run on which the
//!   goal never comes; a state that fails lets the whole path before it fail.
//!
//! Every answer is final, every question is asked once, and each costs two bits.

use super::normal::{Node, Table};
use super::space::{Space, Stop};
use crate::column::{Column, Pod, Stack};
use crate::lts::{Cursor, Number};
use scrimp_core::{Budget, Limit};
use std::io;
use std::sync::Arc;

/// What is known of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Unknown,
    No,
    Yes,
    /// On the stack of its search.
    Waiting,
}

/// The answers to one part of the formula, four to a byte.
struct Answers {
    column: Column<u8>,
    decided: u64,
}

impl Answers {
    #[inline]
    fn get(&self, state: Number) -> Answer {
        if (state / 4) as usize >= self.column.len() {
            return Answer::Unknown;
        }
        match self.column[state / 4] >> (state % 4 * 2) & 3 {
            0 => Answer::Unknown,
            1 => Answer::No,
            2 => Answer::Yes,
            _ => Answer::Waiting,
        }
    }

    /// Room must have been made.
    #[inline]
    fn set(&mut self, state: Number, answer: Answer) {
        let (byte, shift) = (&mut self.column[state / 4], state % 4 * 2);
        *byte = *byte & !(3 << shift) | (answer as u8) << shift;
    }

    fn decide(&mut self, state: Number, holds: bool) -> Result<(), Stop> {
        self.column.ensure((state / 4) as usize + 1)?;
        self.set(state, if holds { Answer::Yes } else { Answer::No });
        self.decided += 1;
        Ok(())
    }
}

/// A state on the path of a search.
#[derive(Clone, Copy)]
struct Frame {
    state: Number,
    /// The lowest place on the stack of components that it is known to reach.
    low: u32,
    successors: Cursor,
}

impl Pod for Frame {}

/// The search for an until.
struct Until {
    hold: usize,
    goal: usize,
    path: Column<Frame>,
    depth: u32,
    /// States whose component is not complete, and where each stands there; for some runs only.
    stack: Stack,
    places: Column<u32>,
}

impl Until {
    fn bytes(&self) -> usize {
        self.path.bytes() + self.stack.bytes() + self.places.bytes()
    }

    fn push(&mut self, frame: Frame) -> Result<(), Stop> {
        self.path.ensure(self.depth as usize + 1)?;
        self.path[self.depth] = frame;
        self.depth += 1;
        Ok(())
    }

    fn top(&mut self) -> Option<&mut Frame> {
        Some(&mut self.path[self.depth.checked_sub(1)?])
    }

    /// The last state on the path reaches this place on the stack of components.
    fn reaches(&mut self, place: u32) {
        if let Some(frame) = self.top() {
            frame.low = frame.low.min(place);
        }
    }
}

/// What is kept for one part of the formula.
struct Part {
    answers: Answers,
    /// Away while it searches.
    until: Option<Box<Until>>,
}

pub(crate) struct Local<'a, 'f> {
    pub table: &'a Table<'f>,
    /// The label that stands for a part about one state, by part.
    labels: Vec<Option<usize>>,
    pub space: Space<'a>,
    pub initial_states: u64,
    /// By part, once it was asked for.
    parts: Vec<Option<Part>>,
    budget: Arc<Budget>,
}

impl<'a, 'f> Local<'a, 'f> {
    /// Labels of the space are `table.labels()`.
    pub fn new(table: &'a Table<'f>, space: Space<'a>, budget: &Arc<Budget>) -> Local<'a, 'f> {
        let mut labels = vec![None; table.nodes().len()];
        table.labels().into_iter().enumerate().for_each(|(label, node)| labels[node] = Some(label));
        let parts = table.nodes().iter().map(|_| None).collect();
        Local { table, labels, space, initial_states: 0, parts, budget: budget.clone() }
    }

    /// Does a part of the formula hold in a state? Not for parts of labels.
    pub fn holds(&mut self, state: Number, node: usize) -> Result<bool, Stop> {
        if let Some(label) = self.labels[node] {
            return Ok(self.space.holds(label, state));
        }
        let table = self.table;
        match &table.nodes()[node] {
            Node::Constant(value) => Ok(*value),
            // Atoms are labels, or parts of labels.
            Node::Atom(_) => Ok(false),
            Node::Not(a) => Ok(!self.holds(state, *a)?),
            Node::And(all) => self.all(state, all, true),
            Node::Or(all) => self.all(state, all, false).map(|all_fail| !all_fail),
            Node::ExistsNext(_) | Node::ExistsUntil(..) | Node::AllUntil(..) => self.ask(state, node),
        }
    }

    fn all(&mut self, state: Number, nodes: &[usize], value: bool) -> Result<bool, Stop> {
        for &node in nodes {
            if self.holds(state, node)? != value {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The answer to a question about successors or runs, known or found out.
    #[inline(never)]
    fn ask(&mut self, state: Number, node: usize) -> Result<bool, Stop> {
        self.ensure(node)?;
        match self.known(state, node) {
            Answer::Yes => return Ok(true),
            Answer::No => return Ok(false),
            // A search that is under way asks only about what comes before it in the table.
            Answer::Waiting | Answer::Unknown => {}
        }
        let table = self.table;
        match table.nodes()[node] {
            Node::ExistsNext(a) => {
                let mut successors = self.space.successors(state)?;
                let mut holds = false;
                while let Some(next) = self.space.next(&mut successors).filter(|_| !holds) {
                    self.space.step()?;
                    holds = self.holds(next, a)?;
                }
                self.decide(state, node, holds)?;
                Ok(holds)
            }
            _ => {
                let Some(mut until) = self.parts[node].as_mut().and_then(|part| part.until.take()) else {
                    // A limit broke its search off: nothing more can be said.
                    return Err(Stop::Limit(Limit::Interrupt));
                };
                match table.nodes()[node] {
                    Node::AllUntil(..) => self.all_until(state, node, &mut until)?,
                    _ => self.exists_until(state, node, &mut until)?,
                }
                if let Some(part) = &mut self.parts[node] {
                    part.until = Some(until);
                }
                Ok(self.known(state, node) == Answer::Yes)
            }
        }
    }

    fn ensure(&mut self, node: usize) -> Result<(), Stop> {
        if self.parts[node].is_some() {
            return Ok(());
        }
        let part = || -> io::Result<Part> {
            let until = match self.table.nodes()[node] {
                Node::ExistsUntil(hold, goal) | Node::AllUntil(hold, goal) => Some(Box::new(Until {
                    hold,
                    goal,
                    path: Column::new(&self.budget)?,
                    depth: 0,
                    stack: Stack::new(&self.budget)?,
                    places: Column::new(&self.budget)?,
                })),
                _ => None,
            };
            Ok(Part { answers: Answers { column: Column::new(&self.budget)?, decided: 0 }, until })
        };
        self.parts[node] = Some(part().map_err(|_| crate::store::Full)?);
        Ok(())
    }

    #[inline]
    fn known(&self, state: Number, node: usize) -> Answer {
        self.parts[node].as_ref().map_or(Answer::Unknown, |part| part.answers.get(state))
    }

    #[inline]
    fn decide(&mut self, state: Number, node: usize, holds: bool) -> Result<(), Stop> {
        self.parts[node].as_mut().map_or(Ok(()), |part| part.answers.decide(state, holds))
    }

    fn wait(&mut self, state: Number, node: usize) -> Result<(), Stop> {
        if let Some(Part { answers, .. }) = &mut self.parts[node] {
            answers.column.ensure((state / 4) as usize + 1)?;
            answers.set(state, Answer::Waiting);
        }
        Ok(())
    }

    /// What the operands decide of an until in a state, if they do.
    fn at_once(&mut self, state: Number, until: &Until) -> Result<Option<bool>, Stop> {
        if self.holds(state, until.goal)? {
            return Ok(Some(true));
        }
        Ok((!self.holds(state, until.hold)?).then_some(false))
    }

    fn exists_until(&mut self, root: Number, node: usize, until: &mut Until) -> Result<(), Stop> {
        let mut enter = Some(root);
        loop {
            self.space.step()?;
            let mut met = false;
            if let Some(state) = enter.take() {
                match self.at_once(state, until)? {
                    Some(holds) => {
                        self.decide(state, node, holds)?;
                        met = holds;
                    }
                    None => {
                        let successors = self.space.successors(state)?;
                        let place = until.stack.len();
                        until.stack.ensure(place + 1)?;
                        until.stack.push(state);
                        until.places.ensure(state as usize + 1)?;
                        until.places[state] = place as u32;
                        self.wait(state, node)?;
                        until.push(Frame { state, low: place as u32, successors })?;
                    }
                }
            }
            if let Some(frame) = until.top().filter(|_| !met) {
                let Frame { state, low, .. } = *frame;
                match self.space.next(&mut frame.successors).map(|next| (next, self.known(next, node))) {
                    Some((next, Answer::Unknown)) => enter = Some(next),
                    Some((_, Answer::No)) => {}
                    Some((next, Answer::Waiting)) => {
                        let place = until.places[next];
                        until.reaches(place);
                    }
                    Some((_, Answer::Yes)) => met = true,
                    None => {
                        until.depth -= 1;
                        until.reaches(low);
                        let own = until.places[state] as usize;
                        while low as usize == own && until.stack.len() > own {
                            self.decide_top(node, until, false)?;
                        }
                    }
                }
            } else if !met {
                return Ok(());
            }
            if met {
                while until.stack.len() > 0 {
                    self.decide_top(node, until, true)?;
                }
                until.depth = 0;
                return Ok(());
            }
        }
    }

    /// Takes a state from the stack of components: it leads to the goal, or does not.
    fn decide_top(&mut self, node: usize, until: &mut Until, holds: bool) -> Result<(), Stop> {
        until.stack.pop().map_or(Ok(()), |state| self.decide(state, node, holds))
    }

    fn all_until(&mut self, root: Number, node: usize, until: &mut Until) -> Result<(), Stop> {
        let mut enter = Some(root);
        loop {
            self.space.step()?;
            let mut fails = false;
            if let Some(state) = enter.take() {
                let answer = self.at_once(state, until)?;
                let successors = match answer {
                    None => Some(self.space.successors(state)?),
                    Some(_) => None,
                };
                match successors.filter(|successors| successors.left() > 0) {
                    Some(successors) => {
                        self.wait(state, node)?;
                        until.push(Frame { state, low: 0, successors })?;
                    }
                    // Decided by the operands, or the end of the run, without the goal.
                    None => {
                        let holds = answer.unwrap_or(false);
                        self.decide(state, node, holds)?;
                        fails = !holds;
                    }
                }
            }
            let Some(frame) = until.top() else { return Ok(()) };
            if !fails {
                let state = frame.state;
                match self.space.next(&mut frame.successors).map(|next| (next, self.known(next, node))) {
                    Some((next, Answer::Unknown)) => enter = Some(next),
                    Some((_, Answer::Yes)) => {}
                    Some((_, Answer::No | Answer::Waiting)) => fails = true,
                    None => {
                        until.depth -= 1;
                        self.decide(state, node, true)?;
                    }
                }
            }
            while let Some(frame) = until.top().filter(|_| fails) {
                let state = frame.state;
                until.depth -= 1;
                self.decide(state, node, false)?;
            }
        }
    }

    /// How many questions were answered, beside those about one state.
    pub fn configurations(&self) -> u64 {
        self.parts.iter().flatten().map(|part| part.answers.decided).sum()
    }

    pub fn bytes(&self) -> usize {
        let part = |part: &Part| part.answers.column.bytes() + part.until.as_ref().map_or(0, |until| until.bytes());
        self.space.bytes() + self.parts.iter().flatten().map(part).sum::<usize>()
    }
}
