//! DVE models that mean the same as others.

use super::print::Printer;
use super::shrink::visit;
use super::tree::*;
use crate::language::Twin;
use scrimp_system::Random;

pub fn twin(model: &Model, random: &mut Random) -> Option<Twin<Model>> {
    let mut twin = model.clone();
    twin.before = asked(model);
    let how = match random.below(7) {
        0 => {
            rename(&mut twin);
            "renamed"
        }
        1 => {
            twin.style ^= 0x5555_5555;
            "written otherwise"
        }
        2 => {
            idle(&mut twin)?;
            "with a process that does nothing"
        }
        3 => {
            dead(&mut twin, random);
            "with a transition that cannot happen"
        }
        4 => {
            de_morgan(&mut twin);
            "by De Morgan"
        }
        5 => {
            split(&mut twin);
            "with guards split, and values stored twice"
        }
        _ => {
            let body = random.below(twin.bodies.len());
            twin.bodies[body].transitions.reverse();
            "with transitions in another order"
        }
    };
    Some(Twin { model: twin, how, same_counts: true, property: question_of })
}

/// The question of the twin that was this one before.
fn question_of(twin: &Model, text: &str) -> Option<String> {
    let own = |number: usize| twin.questions.get(number).map(|question| Printer::new(twin).question(question));
    twin.before.iter().position(|before| before == text).map_or(Some(text.to_string()), own)
}

/// What a name becomes: all that the generator invents end in a digit.
fn renamed(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let invented =
            word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.ends_with(|c: char| c.is_ascii_digit());
        // Another order of the alphabet too.
        out.push_str(&if invented { format!("z{}_{word}", 9 - word.len().min(9)) } else { word.clone() });
        word.clear();
        out.push(c);
    }
    out.pop();
    out
}

fn rename(model: &mut Model) {
    let change = |name: &mut String| *name = renamed(name);
    for variable in model.variables.iter_mut().chain(model.bodies.iter_mut().flat_map(|body| &mut body.variables)) {
        change(&mut variable.name);
    }
    model.channels.iter_mut().for_each(|channel| change(&mut channel.name));
    model.expressions.iter_mut().for_each(|(name, _)| change(name));
    for body in &mut model.bodies {
        change(&mut body.name);
        body.states.iter_mut().for_each(change);
        body.parameters.iter_mut().for_each(|parameter| change(&mut parameter.name));
    }
}

/// A process more, that never moves. It stands before the one that watches, if there is one.
fn idle(model: &mut Model) -> Option<()> {
    if model.property.is_some() {
        return None;
    }
    let body = model.bodies.len();
    model.bodies.push(Body {
        name: "q9".into(),
        parameters: Vec::new(),
        variables: Vec::new(),
        states: vec!["s9".into()],
        initial: 0,
        accepting: Vec::new(),
        committed: Vec::new(),
        assertions: Vec::new(),
        transitions: Vec::new(),
    });
    model.items.push(Item::Process(body));
    model.processes.push(Process { body, arguments: Vec::new() });
    Some(())
}

/// A transition more, with a guard that is never true but looks as if it could be.
fn dead(model: &mut Model, random: &mut Random) {
    let Some(number) = model.variables.iter().position(|v| v.kind == Kind::Variable) else { return };
    let watcher = model.watcher().map(|process| model.processes[process].body);
    let body = random.below(model.bodies.len());
    let hidden = model.bodies[body].variables.iter().any(|v| v.name == model.variables[number].name);
    if hidden || Some(body) == watcher {
        return;
    }
    let read = Reference { scope: Scope::Global, number, index: None };
    let e = Expr::binary(Binary::Greater, Expr::Read(read.clone()), Expr::Number(70_000));
    let states = model.bodies[body].states.len();
    let (from, to) = (random.below(states), random.below(states));
    let effects = vec![(read, Expr::Number(77))];
    model.bodies[body].transitions.push(Transition { from, to, guards: vec![e], sync: None, effects });
}

/// `a and b` becomes `not (not a or not b)`, and so on.
fn de_morgan(model: &mut Model) {
    let not = |e: &Expr| Expr::unary(Unary::Not, e.clone());
    // Parts are visited after the whole, so each is changed once.
    visit(model, &mut |e| {
        let changed = match e {
            Expr::Binary(Binary::And, a, b) => Expr::unary(Unary::Not, Expr::binary(Binary::Or, not(a), not(b))),
            Expr::Binary(Binary::Imply, a, b) => Expr::binary(Binary::Or, not(a), Expr::unary(Unary::Not, not(b))),
            Expr::Binary(Binary::Less, a, b) => not(&Expr::binary(Binary::GreaterEqual, *a.clone(), *b.clone())),
            Expr::Binary(Binary::Equal, a, b) => not(&Expr::binary(Binary::NotEqual, *a.clone(), *b.clone())),
            _ => return,
        };
        *e = changed;
    });
    for question in &mut model.questions {
        if let Question::Formula { formula, .. } = question {
            *formula = formula.dual();
        }
    }
}

/// `guard a and b` becomes two guards, and what is stored in a plain variable is stored once more.
fn split(model: &mut Model) {
    for transition in model.bodies.iter_mut().flat_map(|body| &mut body.transitions) {
        transition.guards = (std::mem::take(&mut transition.guards).into_iter())
            .flat_map(|guard| match guard {
                Expr::Binary(Binary::And, a, b) => vec![*a, *b],
                guard => vec![guard],
            })
            .collect();
        transition.effects = (std::mem::take(&mut transition.effects).into_iter())
            .flat_map(|(target, e)| {
                let again = (target.clone(), Expr::Read(target.clone()));
                let plain = target.index.is_none();
                [Some((target, e)), plain.then_some(again)].into_iter().flatten()
            })
            .collect();
    }
}

/// The questions of a model as they are asked.
fn asked(model: &Model) -> Vec<String> {
    model.questions.iter().map(|question| Printer::new(model).question(question)).collect()
}
