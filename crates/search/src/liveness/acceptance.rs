//! When a cycle counts: it meets every mark that is wanted, and grants every request that it meets.
//!
//! The marks of the automaton and of weakly fair processes are wanted of every cycle (generalised Büchi acceptance). A strongly
//! fair process makes a request where it is enabled, and its move is the grant: a cycle with the request must have the grant
//! (Streett acceptance). Requests stand as many bits above their grants as there are such processes.

use scrimp_temporal::Marks;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Acceptance {
    /// The marks that every cycle must meet.
    pub all: Marks,
    /// The grants, and how far above them the requests stand.
    pub grants: Marks,
    pub strong: u32,
}

impl Acceptance {
    /// `sets` marks that are wanted, and `strong` pairs behind them.
    pub fn new(sets: usize, strong: usize) -> Acceptance {
        let ones = |count: usize| (1u64 << count) - 1;
        Acceptance { all: ones(sets), grants: ones(strong) << sets, strong: strong as u32 }
    }

    /// Every mark that matters.
    pub fn kept(&self) -> Marks {
        self.all | self.grants | self.grants << self.strong
    }

    /// The grants that are missing where these marks are met.
    pub fn ungranted(&self, marks: Marks) -> Marks {
        marks >> self.strong & !marks & self.grants
    }

    pub fn accepts(&self, marks: Marks) -> bool {
        marks & self.all == self.all && self.ungranted(marks) == 0
    }

    /// What a cycle must meet in a part of the graph that accepts as a whole: whatever it passes, it is granted.
    pub fn wanted(&self, marks: Marks) -> Marks {
        self.all | marks & self.grants
    }

    /// The requests that ask for these grants.
    pub fn requests(&self, grants: Marks) -> Marks {
        grants << self.strong
    }
}
