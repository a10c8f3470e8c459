//! From formulas to small automata: simplify, translate, and reduce in every way we know.

use crate::arena::{Arena, Id};
use crate::automaton::{Automaton, MOST_ATOMS};
use crate::diagram::Diagram;
use crate::formula::Formula;
use crate::graph::Graph;
use crate::limits::{Limits, Meter, TooLarge};
use crate::marks::Outside;
use crate::obligation::obligation;
use crate::simulate::Direction;
use crate::tableau::tableau;

/// How many steps each way of making an automaton smaller may take; one that takes more is left out.
const STEPS: u64 = 20_000_000;

/// An automaton for exactly the words on which the formula holds. Atoms are numbers below 64.
///
/// # Errors
/// When the limits do not suffice, when the formula has path quantifiers, or an atom of a larger number.
pub fn translate(formula: &Formula<u32>, limits: &Limits) -> Result<Automaton, TooLarge> {
    let meter = Meter::new(limits);
    let atoms = atoms(formula);
    let mut arena = Arena::new(meter.clone());
    let (root, negation) = arena.read(formula)?;
    let automaton = plain(&mut arena, root, atoms)?;
    // From here on there is an automaton: what takes too long only leaves it larger.
    let mut diagram = Diagram::new(meter.part(STEPS));
    let automaton = reduced(&automaton, &mut diagram).unwrap_or(automaton);
    let certain = arena.shape(root).obligation;
    arena.diagram.meter = meter.part(STEPS);
    let opposite = if certain { None } else { plain(&mut arena, negation, atoms).ok() };
    if !certain && opposite.is_none() {
        return Ok(automaton);
    }
    let mut diagram = Diagram::new(meter.part(STEPS));
    Ok(match deterministic(&automaton, opposite.as_ref(), &mut diagram) {
        Ok(Some(weak)) if weak.states.len() <= automaton.states.len() => weak,
        _ => automaton,
    })
}

/// The automaton of a formula, as it comes.
fn plain(arena: &mut Arena, root: Id, atoms: usize) -> Result<Automaton, TooLarge> {
    let mut graph = tableau(arena, root)?;
    graph.trim();
    graph.automaton(atoms, &mut arena.diagram)
}

fn reduced(automaton: &Automaton, diagram: &mut Diagram) -> Result<Automaton, TooLarge> {
    let mut graph = Graph::of(automaton, diagram)?;
    reduce(&mut graph, diagram)?;
    graph.automaton(automaton.atoms, diagram)
}

/// The smallest weak deterministic automaton, if there is one.
fn deterministic(
    automaton: &Automaton,
    opposite: Option<&Automaton>,
    diagram: &mut Diagram,
) -> Result<Option<Automaton>, TooLarge> {
    let graph = Graph::of(automaton, diagram)?;
    let negation = opposite.map(|opposite| Graph::of(opposite, diagram)).transpose()?;
    match obligation(&graph, negation.as_ref(), diagram)? {
        Some(weak) => weak.automaton(automaton.atoms, diagram).map(Some),
        None => Ok(None),
    }
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
