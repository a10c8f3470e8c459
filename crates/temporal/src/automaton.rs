//! Automata on infinite words, with marks on their edges.
//!
//! A word is accepted by a run that meets, for each of the sets, edges with its mark infinitely often. With no set, every
//! infinite run accepts.

/// Which atoms hold: bit i is atom i.
pub type Letter = u64;
/// To which sets an edge belongs: bit i is set i.
pub type Marks = u64;
/// The most atoms.
pub const MOST_ATOMS: usize = 64;
/// The most sets.
pub const MOST_SETS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automaton {
    /// Atoms have the numbers below this.
    pub atoms: usize,
    /// The edges that leave each state.
    pub states: Vec<Vec<Edge>>,
    pub initial: u32,
    /// How many sets there are.
    pub sets: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub guard: Guard,
    pub to: u32,
    pub marks: Marks,
}

/// A condition on a letter: one of the cubes holds. Without cubes it never does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guard {
    pub cubes: Vec<Cube>,
}

/// A condition on a letter: these atoms hold, and those do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Cube {
    pub positive: Letter,
    pub negative: Letter,
}

impl Cube {
    pub fn holds(self, letter: Letter) -> bool {
        letter & self.positive == self.positive && letter & self.negative == 0
    }
}

impl Guard {
    pub fn always() -> Guard {
        Guard { cubes: vec![Cube::default()] }
    }

    pub fn holds(&self, letter: Letter) -> bool {
        self.cubes.iter().any(|cube| cube.holds(letter))
    }

    /// The atoms that it looks at.
    pub fn support(&self) -> Letter {
        self.cubes.iter().fold(0, |all, cube| all | cube.positive | cube.negative)
    }
}

impl Automaton {
    /// All marks together.
    pub fn all_marks(&self) -> Marks {
        match self.sets {
            0 => 0,
            sets => Marks::MAX >> (MOST_SETS - sets),
        }
    }
}
