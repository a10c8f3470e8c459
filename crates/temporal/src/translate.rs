//! From formulas to small automata: simplify, translate, and reduce in every way we know.

use crate::arena::{Arena, FALSE, Id, TRUE};
use crate::automaton::{Automaton, MOST_ATOMS};
use crate::diagram::Diagram;
use crate::formula::Formula;
use crate::graph::Graph;
use crate::limits::{Limits, Meter, TooLarge};
use crate::marks::Outside;
use crate::simulate::Direction;
use crate::tableau::tableau;

/// An automaton for exactly the words on which the formula holds. Atoms are numbers below 64.
///
/// # Errors
/// When the limits do not suffice, when the formula has path quantifiers, or an atom of a larger number.
pub fn translate(formula: &Formula<u32>, limits: &Limits) -> Result<Automaton, TooLarge> {
    let mut arena = Arena::new(Meter::new(limits));
    let (root, _) = arena.read(formula)?;
    let graph = small_graph(&mut arena, root)?;
    graph.automaton(atoms(formula), &mut arena.diagram)
}

/// One more than the largest atom.
pub(crate) fn atoms(formula: &Formula<u32>) -> usize {
    let mut atoms = 0;
    formula.atoms(&mut |atom| atoms = atoms.max(*atom as usize + 1));
    atoms.min(MOST_ATOMS)
}

/// A formula that says the same and is easier to translate. What is too large to simplify stays as it is.
pub fn simplify(formula: &Formula<u32>) -> Formula<u32> {
    let mut arena = Arena::new(Meter::new(&Limits::default()).part(1_000_000));
    match arena.read(formula) {
        Ok((root, _)) if arena.tree_size(root) <= 4 * formula.size() + 64 => arena.write(root),
        _ => formula.clone(),
    }
}

/// The automaton of a formula, reduced.
fn small_graph(arena: &mut Arena, root: Id) -> Result<Graph, TooLarge> {
    if root == FALSE {
        return Ok(Graph::nothing());
    }
    debug_assert!(root >= TRUE);
    let mut graph = tableau(arena, root)?;
    reduce(&mut graph, &mut arena.diagram)?;
    Ok(graph)
}

/// Takes away what is not needed until nothing more goes. What would take too long is left out.
pub(crate) fn reduce(graph: &mut Graph, diagram: &mut Diagram) -> Result<(), TooLarge> {
    graph.trim();
    loop {
        let mut changed = false;
        for outside in [Outside::All, Outside::None] {
            graph.settle_marks(outside);
            graph.merge_edges(diagram)?;
            for direction in [Direction::Future, Direction::Past] {
                changed |= graph.simulate(direction, false, diagram)?;
            }
        }
        graph.settle_marks(Outside::None);
        graph.merge_edges(diagram)?;
        if !changed {
            return Ok(());
        }
    }
}
