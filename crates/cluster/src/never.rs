//! What must not happen on infinite runs, as it is sent to other processes: an automaton, and what its atoms mean.

use scrimp_core::Never;
use scrimp_native::NativeModel;
use scrimp_system::Expr;
use scrimp_temporal::{Automaton, Cube, Edge, Guard, Letter, MOST_ATOMS, MOST_SETS, Marks};
use serde::{Deserialize, Serialize};

/// An edge: the cubes of its guard, where it leads, its marks.
type SentEdge = (Vec<(Letter, Letter)>, u32, Marks);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentNever {
    atoms: Vec<Expr>,
    states: Vec<Vec<SentEdge>>,
    initial: u32,
    sets: u32,
    /// Does a run that comes to an end stay there for ever?
    repeats: bool,
}

impl SentNever {
    pub fn of(never: &Never<Expr>) -> SentNever {
        let edge = |edge: &Edge| {
            let cubes = edge.guard.cubes.iter().map(|cube| (cube.positive, cube.negative)).collect();
            (cubes, edge.to, edge.marks)
        };
        SentNever {
            atoms: never.atoms.clone(),
            states: never.automaton.states.iter().map(|edges| edges.iter().map(edge).collect()).collect(),
            initial: never.automaton.initial,
            sets: never.automaton.sets as u32,
            repeats: never.repeats,
        }
    }

    /// The automaton that was sent, if it is one.
    pub fn received(self, model: &NativeModel) -> Result<Sought, String> {
        let SentNever { atoms, states, initial, sets, repeats } = self;
        let count = states.len();
        let edges = || states.iter().flatten();
        let bits = |cubes: &[(Letter, Letter)]| cubes.iter().fold(0, |all, (a, b)| all | a | b);
        let fits = atoms.len() <= MOST_ATOMS
            && sets as usize <= MOST_SETS
            && (initial as usize) < count
            && edges().all(|(cubes, to, marks)| {
                (*to as usize) < count
                    && marks.checked_shr(sets).unwrap_or(0) == 0
                    && bits(cubes).checked_shr(atoms.len() as u32).unwrap_or(0) == 0
            });
        if !fits {
            return Err("the automaton makes no sense".to_string());
        }
        let edge = |(cubes, to, marks): (Vec<(Letter, Letter)>, u32, Marks)| {
            let cubes = cubes.into_iter().map(|(positive, negative)| Cube { positive, negative }).collect();
            Edge { guard: Guard { cubes }, to, marks }
        };
        let automaton = Automaton {
            atoms: atoms.len(),
            states: states.into_iter().map(|edges| edges.into_iter().map(edge).collect()).collect(),
            initial,
            sets: sets as usize,
        };
        let atoms = atoms.iter().map(|atom| model.predicate(atom)).collect();
        Ok(Sought { automaton, atoms, repeats })
    }
}

/// The runs that are looked for.
pub struct Sought {
    pub automaton: Automaton,
    pub atoms: Vec<scrimp_native::Predicate>,
    pub repeats: bool,
}
