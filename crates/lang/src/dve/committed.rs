//! Committed states, lowered into guards.
//!
//! While some process is in a committed state, only events whose participants all are may happen. The location that each
//! participant leaves is known from the event, so the guard asks about the other processes only.

use crate::expression::lower::all_of;
use scrimp_system::{BinaryOp, Expr, Move, VarId};
use std::sync::Arc;

/// A process that has committed states.
#[derive(Debug)]
struct Committing {
    process: u32,
    control: VarId,
    /// Per state: 1 if it is not committed.
    free: Arc<[i64]>,
}

#[derive(Debug, Default)]
pub(crate) struct Committed {
    /// In the order of the processes.
    processes: Vec<Committing>,
}

impl Committed {
    /// Declares the committed states of a process with `states` states. Processes come in their order.
    pub fn add(&mut self, process: u32, control: VarId, states: usize, committed: &[u32]) {
        let mut free = vec![1; states];
        for state in committed {
            free[*state as usize] = 0;
        }
        self.processes.push(Committing { process, control, free: free.into() });
    }

    /// What must hold for an event with these moves to be allowed; `None` when it never is.
    pub fn allows(&self, moves: &[Move]) -> Option<Expr> {
        let of = |m: &&Move| {
            let found = self.processes.binary_search_by_key(&m.process.0, |p| p.process);
            found.is_ok_and(|at| self.processes[at].free[m.from as usize] == 0)
        };
        let committed = moves.iter().filter(of).count();
        if committed == moves.len() {
            return Some(Expr::TRUE);
        }
        if committed > 0 {
            return None;
        }
        let others = self.processes.iter().filter(|p| moves.iter().all(|m| m.process.0 != p.process));
        Some(all_of(others.map(Committing::is_free).collect()))
    }
}

impl Committing {
    fn is_free(&self) -> Expr {
        let mut committed = self.free.iter().enumerate().filter(|(_, free)| **free == 0).map(|(state, _)| state);
        match (committed.next(), committed.next()) {
            (Some(state), None) => Expr::binary(BinaryOp::NotEqual, Expr::Var(self.control), Expr::Const(state as i64)),
            _ => Expr::Table(self.free.clone(), Box::new(Expr::Var(self.control))),
        }
    }
}
