//! Smaller nets: without a transition, an arc, a guard, a question, or with a smaller term.

use super::tree::*;

/// The net after its `number`th possible step to a smaller one.
pub fn smaller(model: &Model, number: usize) -> Option<Model> {
    let mut steps: Vec<Model> = Vec::new();
    let mut step = |change: &dyn Fn(&mut Model)| {
        let mut next = model.clone();
        change(&mut next);
        steps.push(next);
    };
    for i in 0..model.questions.len() {
        step(&|m| {
            m.questions.remove(i);
        });
        for question in smaller_question(&model.questions[i]) {
            step(&|m| m.questions[i] = question.clone());
        }
    }
    if model.units.is_some() {
        step(&|m| m.units = None);
    }
    if model.pages > 1 {
        step(&|m| {
            m.pages = 1;
            m.places.iter_mut().for_each(|place| place.page = 0);
            for transition in &mut m.transitions {
                transition.page = 0;
                transition.arcs.iter_mut().for_each(|arc| arc.page = 0);
            }
        });
    }
    for (t, transition) in model.transitions.iter().enumerate() {
        // Others are spoken of by their numbers, so the transition stays, with nothing to do.
        if transition.guard.is_some() {
            step(&|m| m.transitions[t].guard = None);
        }
        for a in 0..transition.arcs.len() {
            step(&|m| {
                m.transitions[t].arcs.remove(a);
            });
            for term in smaller_term(&transition.arcs[a].term) {
                step(&|m| m.transitions[t].arcs[a].term = term.clone());
            }
        }
        for guard in transition.guard.iter().flat_map(smaller_guard) {
            step(&|m| m.transitions[t].guard = Some(guard.clone()));
        }
    }
    let speaks = |t: usize| model.questions.iter().any(|q| format!("{q:?}").contains(&format!("Fireable({t})")));
    if let Some(last) = model.transitions.len().checked_sub(1)
        && last > 0
        && !speaks(last)
    {
        step(&|m| {
            m.transitions.pop();
        });
    }
    for p in 0..model.places.len() {
        for marking in smaller_term(&model.places[p].marking) {
            step(&|m| m.places[p].marking = marking.clone());
        }
    }
    steps.into_iter().nth(number)
}

fn smaller_term(term: &Multiset) -> Vec<Multiset> {
    match term {
        Multiset::Plain(0 | 1) | Multiset::All(_) | Multiset::Empty(_) | Multiset::One(_) | Multiset::Tuple(_) => {
            Vec::new()
        }
        Multiset::Plain(tokens) => vec![Multiset::Plain(tokens - 1)],
        Multiset::Times(_, inner) | Multiset::Scaled(_, inner) => vec![*inner.clone()],
        Multiset::Add(list) => list.clone(),
        Multiset::Subtract(a, _) => vec![*a.clone()],
    }
}

fn smaller_guard(guard: &Guard) -> Vec<Guard> {
    match guard {
        Guard::Truth(_) | Guard::Compare(..) => Vec::new(),
        Guard::Not(inner) => vec![*inner.clone()],
        Guard::And(list) | Guard::Or(list) => list.clone(),
        Guard::Imply(a, b) => vec![*a.clone(), *b.clone()],
    }
}

fn smaller_condition(condition: &Condition) -> Vec<Condition> {
    match condition {
        Condition::Truth(_) | Condition::Deadlock | Condition::Fireable(_) | Condition::Compare(..) => Vec::new(),
        Condition::Not(a) => vec![*a.clone()],
        Condition::And(a, b) | Condition::Or(a, b) | Condition::Imply(a, b) => vec![*a.clone(), *b.clone()],
    }
}

fn smaller_question(question: &Question) -> Vec<Question> {
    match question {
        Question::Invariant(c) => smaller_condition(c).into_iter().map(Question::Invariant).collect(),
        Question::Reach(c) => smaller_condition(c).into_iter().map(Question::Reach).collect(),
        Question::Formula { formula, branching, atoms } => {
            let new = |formula, atoms| Question::Formula { formula, branching: *branching, atoms };
            let mut found: Vec<Question> = formula.smaller().into_iter().map(|f| new(f, atoms.clone())).collect();
            for (i, atom) in atoms.iter().enumerate() {
                for smaller in smaller_condition(atom) {
                    let mut atoms = atoms.clone();
                    atoms[i] = smaller;
                    found.push(new(formula.clone(), atoms));
                }
            }
            found
        }
        _ => Vec::new(),
    }
}
