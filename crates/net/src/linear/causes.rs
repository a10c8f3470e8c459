//! What the order of firings excludes: a solution of the state equation says how often, not whether it can be done in turn.
//!
//! A transition needs its tokens before it fires, so that some transition must be first to mark what was unmarked; and
//! tokens that nothing takes away are there in the end. Both give alternatives, one of which holds of every run, and none of
//! which holds at the solution that was looked at.

use super::equation::Equation;
use super::literal::{Literal, Node};
use super::siphons::Sets;
use super::tableau::Stop;
use crate::net::Net;

/// Which moves the present solution makes.
fn support(equation: &Equation) -> Vec<bool> {
    (0..equation.moves() as u32).map(|m| equation.tableau.value(m).0 > 0).collect()
}

fn at_least_one(equation: &mut Equation, moves: &[u32]) -> Result<Node, Stop> {
    let variable = equation.sum_of(moves.iter().map(|&m| (m, 1)).collect())?;
    Ok(Node::Bound(Literal { variable, at_most: false, bound: 1 }))
}

fn none(equation: &mut Equation, moves: &[u32]) -> Result<Node, Stop> {
    let variable = equation.sum_of(moves.iter().map(|&m| (m, 1)).collect())?;
    Ok(Node::Bound(Literal { variable, at_most: true, bound: 0 }))
}

/// Moves of the solution that its other moves never enable: either they are not made, or another move comes in that marks
/// what they lack, from what the solution can mark.
pub(super) fn too_early(net: &Net, sets: &Sets, equation: &mut Equation) -> Result<Option<Node>, Stop> {
    let made = support(equation);
    let mut move_of = vec![None; net.transitions.len()];
    for (m, members) in equation.members.iter().enumerate() {
        members.iter().for_each(|&t| move_of[t as usize] = Some(m));
    }
    let mut marked: Vec<bool> = equation.initial.iter().map(|&tokens| tokens > 0).collect();
    let mut missing: Vec<usize> =
        net.transitions.iter().map(|t| t.inputs.iter().filter(|arc| !marked[arc.place as usize]).count()).collect();
    let makes = |t: u32| move_of[t as usize].is_some_and(|m| made[m]);
    let mut work: Vec<u32> = (0..missing.len() as u32).filter(|&t| missing[t as usize] == 0 && makes(t)).collect();
    let mut enabled = vec![false; equation.moves()];
    while let Some(t) = work.pop() {
        move_of[t as usize].into_iter().for_each(|m| enabled[m] = true);
        for arc in &net.transitions[t as usize].outputs {
            if !std::mem::replace(&mut marked[arc.place as usize], true) {
                for &taker in sets.takers(arc.place) {
                    missing[taker as usize] -= 1;
                    if missing[taker as usize] == 0 && makes(taker) {
                        work.push(taker);
                    }
                }
            }
        }
    }
    let all = 0..equation.moves() as u32;
    let is_removal = |m: u32| equation.members[m as usize].is_empty();
    let early: Vec<u32> = all.clone().filter(|&m| made[m as usize] && !enabled[m as usize] && !is_removal(m)).collect();
    if early.is_empty() {
        return Ok(None);
    }
    let opens = |t: u32| {
        let outputs = &net.transitions[t as usize].outputs;
        missing[t as usize] == 0 && outputs.iter().any(|arc| !marked[arc.place as usize])
    };
    let openers: Vec<u32> =
        all.filter(|&m| !made[m as usize] && equation.members[m as usize].iter().any(|&t| opens(t))).collect();
    let mut parts = vec![none(equation, &early)?];
    if !openers.is_empty() {
        parts.push(at_least_one(equation, &openers)?);
    }
    Ok(Some(Node::Any(parts)))
}

/// Places that are marked at some time, are empty in the end, and that no move of the solution empties: they are marked in
/// the end, or another move empties them, or what marks them is not made.
pub(super) fn vanished(net: &Net, equation: &mut Equation) -> Result<Option<Node>, Stop> {
    let made = support(equation);
    let mut set: Vec<bool> = (0..equation.places() as u32)
        .map(|p| {
            let (numerator, denominator) = equation.tableau.value(equation.place(p));
            numerator + i128::from(equation.initial[p as usize]) * i128::from(denominator) == 0
        })
        .collect();
    // Leave out what a move takes from without giving back, until nothing changes.
    let mut changed = true;
    while changed {
        changed = false;
        for m in (0..equation.moves()).filter(|&m| made[m]) {
            if equation.members[m].is_empty() {
                for &(place, _) in equation.effect(m) {
                    changed |= std::mem::take(&mut set[place as usize]);
                }
            }
            for &t in &equation.members[m] {
                let transition = &net.transitions[t as usize];
                if !transition.outputs.iter().any(|arc| set[arc.place as usize]) {
                    for arc in &transition.inputs {
                        changed |= std::mem::take(&mut set[arc.place as usize]);
                    }
                }
            }
        }
    }
    let inside = |place: u32| set[place as usize];
    let gives = |t: u32| net.transitions[t as usize].outputs.iter().any(|arc| inside(arc.place));
    let takes = |t: u32| net.transitions[t as usize].inputs.iter().any(|arc| inside(arc.place));
    let first: i64 = (0..set.len()).filter(|&p| set[p]).map(|p| equation.initial[p]).sum();
    let all = 0..equation.moves() as u32;
    let mut markers = all.clone().filter(|&m| {
        let members = &equation.members[m as usize];
        made[m as usize] && !members.is_empty() && members.iter().all(|&t| gives(t))
    });
    let marker = markers.next();
    if first == 0 && marker.is_none() {
        return Ok(None);
    }
    let emptying: Vec<u32> = all
        .filter(|&m| {
            let members = &equation.members[m as usize];
            let removes = members.is_empty() && equation.effect(m as usize).iter().any(|e| inside(e.0));
            !made[m as usize] && (removes || members.iter().any(|&t| takes(t) && !gives(t)))
        })
        .collect();
    let terms: Vec<(u32, i64)> = (0..set.len() as u32).filter(|&p| inside(p)).map(|p| (p, 1)).collect();
    let variable = equation.sum(&terms)?;
    let mut parts = vec![Node::Bound(Literal { variable, at_most: false, bound: 1 - first })];
    if !emptying.is_empty() {
        parts.push(at_least_one(equation, &emptying)?);
    }
    if let Some(marker) = marker.filter(|_| first == 0) {
        parts.push(none(equation, &[marker])?);
    }
    Ok(Some(Node::Any(parts)))
}
