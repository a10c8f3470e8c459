//! Smaller DVE models: without one part, or with a smaller expression in one place.

use super::tree::*;

/// The model after its `number`th possible step to a smaller one.
pub fn smaller(model: &Model, number: usize) -> Option<Model> {
    let mut left = number;
    let mut next = model.clone();
    if cut(&mut next, &mut left) {
        return Some(next);
    }
    let mut done = false;
    visit(&mut next, &mut |e| {
        if done {
            return;
        }
        let mut steps: Vec<Expr> = e.parts().into_iter().cloned().collect();
        steps.extend(
            (!matches!(e, Expr::Number(0 | 1))).then_some([Expr::Number(0), Expr::Number(1)]).into_iter().flatten(),
        );
        match steps.into_iter().nth(left) {
            Some(step) => {
                *e = step;
                done = true;
            }
            None => left -= e.parts().len() + if matches!(e, Expr::Number(0 | 1)) { 0 } else { 2 },
        }
    });
    done.then_some(next)
}

/// Removes the part of that number; counts down where it has fewer.
fn cut(model: &mut Model, left: &mut usize) -> bool {
    fn remove<T>(list: &mut Vec<T>, left: &mut usize) -> bool {
        let found = *left < list.len();
        if found {
            list.remove(*left);
        } else {
            *left -= list.len();
        }
        found
    }
    if remove(&mut model.questions, left) || remove(&mut model.expressions, left) {
        return true;
    }
    // A process is taken away by taking what it does: others may speak of it.
    for body in &mut model.bodies {
        if *left == 0 && !body.transitions.is_empty() {
            body.transitions.clear();
            return true;
        }
        *left -= !body.transitions.is_empty() as usize;
        if remove(&mut body.transitions, left)
            || remove(&mut body.assertions, left)
            || remove(&mut body.committed, left)
            || remove(&mut body.accepting, left)
        {
            return true;
        }
        for transition in &mut body.transitions {
            if remove(&mut transition.guards, left) || remove(&mut transition.effects, left) {
                return true;
            }
            if transition.sync.is_some() {
                if *left == 0 {
                    transition.sync = None;
                    return true;
                }
                *left -= 1;
            }
        }
        for variable in body.variables.iter_mut().filter(|v| v.kind == Kind::Variable) {
            if remove(&mut variable.initial, left) {
                return true;
            }
        }
    }
    for question in &mut model.questions {
        if let Question::Formula { formula, .. } = question {
            let smaller = formula.smaller();
            if let Some(smaller) = smaller.get(*left) {
                *formula = smaller.clone();
                return true;
            }
            *left -= smaller.len();
        }
    }
    unused(model, left)
}

/// Removes the last variable or channel where nobody speaks of it.
fn unused(model: &mut Model, left: &mut usize) -> bool {
    let mut reads: Vec<(Scope, usize)> = Vec::new();
    let mut copy = model.clone();
    let mut targets = Vec::new();
    for body in &copy.bodies {
        for transition in &body.transitions {
            targets.extend(transition.effects.iter().map(|(target, _)| (target.scope, target.number)));
            if let Some(Sync { passed: Passed::Received(list), .. }) = &transition.sync {
                targets.extend(list.iter().map(|target| (target.scope, target.number)));
            }
        }
    }
    visit(&mut copy, &mut |e| {
        if let Expr::Read(reference) = e {
            reads.push((reference.scope, reference.number));
        }
    });
    reads.extend(targets);
    // Declarations speak of constants alone.
    let last = model.variables.iter().rposition(|v| v.kind == Kind::Variable && model.expressions.is_empty());
    if last.is_some_and(|last| !reads.contains(&(Scope::Global, last))) {
        if *left == 0 {
            model.variables.pop();
            return true;
        }
        *left -= 1;
    }
    for body in 0..model.bodies.len() {
        let last = model.bodies[body].variables.len().checked_sub(1).filter(|_| model.expressions.is_empty());
        let Some(number) = last else { continue };
        let processes: Vec<usize> = (0..model.processes.len()).filter(|p| model.processes[*p].body == body).collect();
        let foreign = |(scope, n): &(Scope, usize)| match scope {
            Scope::Own => *n == number,
            Scope::Of(process) => processes.contains(process) && *n == number,
            Scope::Global => false,
        };
        if !reads.iter().any(foreign) {
            if *left == 0 {
                model.bodies[body].variables.pop();
                return true;
            }
            *left -= 1;
        }
    }
    false
}

/// Calls for every expression that may be made smaller, the outer ones first.
pub fn visit(model: &mut Model, each: &mut dyn FnMut(&mut Expr)) {
    fn deep(e: &mut Expr, each: &mut dyn FnMut(&mut Expr)) {
        each(e);
        e.parts_mut().into_iter().for_each(|part| deep(part, each));
    }
    fn target(reference: &mut Reference, each: &mut dyn FnMut(&mut Expr)) {
        reference.index.iter_mut().for_each(|e| deep(e, each));
    }
    for body in &mut model.bodies {
        body.assertions.iter_mut().for_each(|(_, e)| deep(e, each));
        for transition in &mut body.transitions {
            transition.guards.iter_mut().for_each(|e| deep(e, each));
            for (reference, e) in &mut transition.effects {
                target(reference, each);
                deep(e, each);
            }
            match &mut transition.sync {
                Some(Sync { passed: Passed::Sent(values), .. }) => values.iter_mut().for_each(|e| deep(e, each)),
                Some(Sync { passed: Passed::Received(list), .. }) => list.iter_mut().for_each(|r| target(r, each)),
                None => {}
            }
        }
    }
    for question in &mut model.questions {
        match question {
            Question::Invariant(e) | Question::Reach(e) => deep(e, each),
            Question::Formula { atoms, .. } => atoms.iter_mut().for_each(|e| deep(e, each)),
        }
    }
}
