//! Smaller networks: without an edge, a line, an operator or a question.

use super::tree::*;

/// The network after its `number`th possible step to a smaller one.
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
        if let Question::Formula { formula, .. } = &model.questions[i] {
            for smaller in formula.smaller() {
                step(&|m| {
                    if let Question::Formula { formula, .. } = &mut m.questions[i] {
                        *formula = smaller.clone();
                    }
                });
            }
        }
    }
    if model.forbid.is_some() {
        step(&|m| m.forbid = None);
    }
    for (f, file) in model.files.iter().enumerate() {
        for e in 0..file.edges.len() {
            step(&|m| {
                m.files[f].edges.remove(e);
            });
        }
    }
    match &model.body {
        Body::Lines(lines) => {
            for i in (0..lines.len()).filter(|_| lines.len() > 1) {
                step(&|m| {
                    if let Body::Lines(lines) = &mut m.body {
                        lines.remove(i);
                    }
                });
            }
        }
        Body::Behaviour(inner) => {
            for smaller in smaller_behaviours(inner) {
                step(&|m| m.body = Body::Behaviour(smaller.clone()));
            }
        }
    }
    steps.into_iter().nth(number)
}

/// Without one operator that has one operand: all components stay.
fn smaller_behaviours(behaviour: &Behaviour) -> Vec<Behaviour> {
    let within = |inner: &Behaviour, build: &dyn Fn(Behaviour) -> Behaviour| -> Vec<Behaviour> {
        smaller_behaviours(inner).into_iter().map(build).collect()
    };
    match behaviour {
        Behaviour::Component(_) => Vec::new(),
        Behaviour::Hide(list, inner) => {
            let mut found = vec![*inner.clone()];
            found.extend(within(inner, &|b| Behaviour::Hide(list.clone(), Box::new(b))));
            found
        }
        Behaviour::Cut(list, inner) => {
            let mut found = vec![*inner.clone()];
            found.extend(within(inner, &|b| Behaviour::Cut(list.clone(), Box::new(b))));
            found
        }
        Behaviour::Rename(list, inner) => {
            let mut found = vec![*inner.clone()];
            found.extend(within(inner, &|b| Behaviour::Rename(list.clone(), Box::new(b))));
            found
        }
        Behaviour::On(gates, a, b) => {
            let mut found = vec![Behaviour::Beside(vec![*a.clone(), *b.clone()])];
            found.extend(within(a, &|a| Behaviour::On(gates.clone(), Box::new(a), b.clone())));
            found.extend(within(b, &|b| Behaviour::On(gates.clone(), a.clone(), Box::new(b))));
            found
        }
        Behaviour::Using(_, _, list) | Behaviour::Par(_, list) => vec![Behaviour::Beside(list.clone())],
        Behaviour::Beside(_) | Behaviour::Together(_) => Vec::new(),
    }
}
