//! From formulas to small automata: simplify, translate, and reduce in every way we know.

use crate::arena::{Arena, Id};
use crate::automaton::{Automaton, MOST_ATOMS};
use crate::diagram::Diagram;
use crate::formula::Formula;
use crate::graph::Graph;
use crate::limits::{Limits, Meter, TooLarge};
use crate::marks::Outside;
use crate::obligation::obligation;
use crate::parts::graph_of;
use crate::simulate::Direction;

/// How many steps each way of making an automaton smaller may take; one that takes more is left out.
const STEPS: u64 = 4_000_000;
/// How many steps it may take for each state there is to find a deterministic one that is no larger.
const STEPS_PER_STATE: u64 = 5_000;

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
    let automaton = reduced(&automaton, &meter).unwrap_or(automaton);
    // Where few states are enough, fewer still are found soon or not at all.
    let steps = STEPS.min(STEPS_PER_STATE * automaton.states.len() as u64);
    let certain = arena.shape(root).obligation;
    arena.diagram.meter = meter.part(steps);
    let opposite = if certain { None } else { plain(&mut arena, negation, atoms).ok() };
    if !certain && opposite.is_none() {
        return Ok(automaton);
    }
    Ok(match deterministic(&automaton, opposite.as_ref(), &mut Diagram::new(meter.part(steps))) {
        Ok(Some(weak)) if weak.states.len() <= automaton.states.len() => weak,
        _ => automaton,
    })
}

/// The automaton of a formula, as it comes.
fn plain(arena: &mut Arena, root: Id, atoms: usize) -> Result<Automaton, TooLarge> {
    let graph = graph_of(arena, root)?;
    graph.automaton(atoms, &mut arena.diagram)
}

fn reduced(automaton: &Automaton, meter: &Meter) -> Result<Automaton, TooLarge> {
    let mut diagram = Diagram::new(meter.part(STEPS));
    let mut graph = Graph::of(automaton, &mut diagram)?;
    // When it takes too long it is reduced as far as it came.
    let _ = reduce(&mut graph, &mut diagram, false);
    diagram.meter = meter.part(STEPS);
    graph.automaton(automaton.atoms, &mut diagram)
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

/// Takes away what is not needed until nothing more goes; marks may have to stay those of states. At every moment, also
/// where it ends with an error, the graph accepts the same.
pub(crate) fn reduce(graph: &mut Graph, diagram: &mut Diagram, on_states: bool) -> Result<(), TooLarge> {
    let settle = if on_states { Graph::settle_states } else { Graph::settle_marks };
    graph.trim();
    loop {
        let mut changed = false;
        for outside in [Outside::All, Outside::None] {
            settle(graph, outside);
            graph.merge_edges(diagram)?;
            for direction in [Direction::Future, Direction::Past] {
                changed |= graph.simulate(direction, on_states, diagram)?;
            }
        }
        settle(graph, Outside::None);
        graph.merge_edges(diagram)?;
        if !changed {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Chance;
    use crate::tableau::{Choice, tableau};

    /// Covers are what is used when there are too many letters, which random formulas do not have.
    #[test]
    fn edges_by_covers_accept_the_same() {
        let mut chance = Chance(0x5eed_0007);
        for round in 0..1000 {
            let formula = chance.formula(2 + round % 14, 3);
            let mut arena = Arena::new(Meter::new(&Limits::default()));
            let (root, _) = arena.read(&formula).expect("small enough");
            let graph = tableau(&mut arena, root, Choice::ByCover).expect("small enough");
            let automaton = graph.automaton(3, &mut arena.diagram).expect("small enough");
            for _ in 0..40 {
                let (stem, cycle) = chance.word(3);
                let holds = formula.holds_on(&stem, &cycle);
                assert_eq!(automaton.accepts(&stem, &cycle), holds, "{formula} on {stem:?} {cycle:?}");
            }
        }
    }

    /// Wherever reducing ends, the automaton accepts the same.
    #[test]
    fn reducing_may_end_anywhere() {
        let mut chance = Chance(0x5eed_0008);
        for round in 0..400 {
            let formula = chance.formula(6 + round % 10, 3);
            let mut arena = Arena::new(Meter::new(&Limits::default()));
            let (root, _) = arena.read(&formula).expect("small enough");
            let automaton = plain(&mut arena, root, 3).expect("small enough");
            let mut diagram = Diagram::new(Meter::free());
            let mut graph = Graph::of(&automaton, &mut diagram).expect("small enough");
            diagram.meter = Meter::free().part(chance.below(400) as u64);
            let _ = reduce(&mut graph, &mut diagram, false);
            diagram.meter = Meter::free();
            let reduced = graph.automaton(3, &mut diagram).expect("small enough");
            for _ in 0..40 {
                let (stem, cycle) = chance.word(3);
                let holds = formula.holds_on(&stem, &cycle);
                assert_eq!(reduced.accepts(&stem, &cycle), holds, "{formula} on {stem:?} {cycle:?}");
            }
        }
    }
}
