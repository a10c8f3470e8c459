//! DVE models at random: small, with every production inside every other.

use super::expressions::{Known, Writer};
use super::tree::*;
use crate::formula;
use scrimp_system::Random;

/// A model whose state space is likely to be small.
pub fn model(random: &mut Random) -> Model {
    let mut model = Model {
        variables: Vec::new(),
        channels: Vec::new(),
        bodies: Vec::new(),
        items: Vec::new(),
        expressions: Vec::new(),
        property: None,
        processes: Vec::new(),
        questions: Vec::new(),
        style: random.next(),
        before: Vec::new(),
    };
    for number in 0..random.below(3) {
        let kind = if random.below(3) == 0 { Kind::Input } else { Kind::Constant };
        let new = declaration(random, &model.variables, &[], format!("k{number}"), kind);
        model.variables.push(new);
    }
    for number in 0..1 + random.below(3) {
        // Words that mean something in formulas are names all the same.
        let name = match random.below(16) {
            0 => ["X", "U", "F", "W", "next", "until", "always"][random.below(7)].to_string(),
            _ => format!("g{number}"),
        };
        let name = if model.variables.iter().any(|v| v.name == name) { format!("g{number}") } else { name };
        let new = declaration(random, &model.variables, &[], name, Kind::Variable);
        model.variables.push(new);
    }
    for number in 0..random.below(3) {
        let new = channel(random, &model.variables, number);
        model.channels.push(new);
    }
    shapes(random, &mut model);
    contents(random, &mut model);
    for number in 0..(random.below(6) == 0) as usize {
        let e = Writer::new(&model, None).value(random, 3);
        model.expressions.push((format!("e{number}"), e));
    }
    questions(random, &mut model);
    model
}

/// An expression over what is known before anything runs.
fn known(random: &mut Random, constants: &[Variable], parameters: &[Parameter], rounds: usize, depth: usize) -> Expr {
    Known { constants, parameters: parameters.len(), rounds }.value(random, depth)
}

/// A declaration; what it refers to stands before it.
fn declaration(
    random: &mut Random,
    before: &[Variable],
    parameters: &[Parameter],
    name: String,
    kind: Kind,
) -> Variable {
    let ty = if random.below(3) == 0 { Type::Int } else { Type::Byte };
    let is_array = kind != Kind::Input && random.below(3) == 0;
    let size = is_array.then(|| {
        let size = 1 + random.below(3);
        (size, Known { constants: before, parameters: parameters.len(), rounds: 0 }.exactly(random, size as i64))
    });
    let length = size.as_ref().map_or(1, |(size, _)| *size);
    let count = match (kind, is_array) {
        (Kind::Variable, _) if random.below(2) == 0 => 0,
        // Missing values are 0, surplus ones are ignored.
        (_, true) => 1 + random.below(length + 1),
        _ => 1,
    };
    let initial = (0..count).map(|_| known(random, before, parameters, 0, 2)).collect();
    Variable { name, kind, ty, size, initial }
}

fn channel(random: &mut Random, constants: &[Variable], number: usize) -> Channel {
    let name = format!("c{number}");
    let types = |random: &mut Random| {
        let ty = |random: &mut Random| if random.below(2) == 0 { Type::Byte } else { Type::Int };
        Some((0..1 + random.below(2)).map(|_| ty(random)).collect())
    };
    match random.below(4) {
        0 => Channel { name, types: None, capacity: None },
        1 => {
            let zero = match random.below(3) {
                0 => None,
                _ => Some((0, Known { constants, parameters: 0, rounds: 0 }.exactly(random, 0))),
            };
            Channel { name, types: types(random), capacity: zero }
        }
        _ => {
            let room = 1 + random.below(2);
            let capacity = Some((room, Known { constants, parameters: 0, rounds: 0 }.exactly(random, room as i64)));
            Channel { name, types: types(random), capacity }
        }
    }
}

/// Which processes there are, with their variables and states.
fn shapes(random: &mut Random, model: &mut Model) {
    let plain = 1 + random.below(2);
    for number in 0..plain {
        let body = shape(random, model, format!("p{number}"), Vec::new());
        model.bodies.push(body);
        model.items.push(Item::Process(number));
        model.processes.push(Process { body: number, arguments: Vec::new() });
    }
    if random.below(3) == 0 {
        let parameter = |number| Parameter { name: format!("a{number}"), is_key: false };
        let mut parameters: Vec<Parameter> = (0..1 + random.below(2)).map(parameter).collect();
        if random.below(2) == 0 {
            parameters[0].is_key = true;
        }
        let body = shape(random, model, "t0".into(), parameters);
        model.bodies.push(body);
        instances(random, model);
    }
    if random.below(4) == 0 {
        let mut body = shape(random, model, "w0".into(), Vec::new());
        body.committed.clear();
        body.accepting = (0..body.states.len()).filter(|_| random.below(2) == 0).collect();
        model.items.push(Item::Process(model.bodies.len()));
        model.processes.push(Process { body: model.bodies.len(), arguments: Vec::new() });
        model.bodies.push(body);
        model.property = Some(random.below(2) == 0);
    }
}

/// One or two instances of the template, each by itself or in loops.
fn instances(random: &mut Random, model: &mut Model) {
    let body = model.bodies.len() - 1;
    let count = model.bodies[body].parameters.len();
    let constants = model.variables.clone();
    let constants: Vec<Variable> = constants.into_iter().take_while(|v| v.kind != Kind::Variable).collect();
    let first = random.below(3) as i64;
    let know = |rounds| Known { constants: &constants, parameters: 0, rounds };
    match random.below(3) {
        0 => {
            let mut arguments = vec![first];
            let mut written = vec![know(0).exactly(random, first)];
            for _ in 1..count {
                let e = known(random, &constants, &[], 0, 2);
                arguments.push(know(0).constant(&e, &[]));
                written.push(e);
            }
            model.items.push(Item::Instance(body, written));
            model.processes.push(Process { body, arguments });
        }
        nested => {
            let last = first + random.below(2) as i64;
            let bounds = (know(0).exactly(random, first), know(0).exactly(random, last));
            let second = if count > 1 { Some(known(random, &constants, &[], nested, 2)) } else { None };
            let round = Expr::Round(0);
            let mut written =
                vec![if random.below(2) == 0 { round } else { Expr::binary(Binary::Plus, round, Expr::Number(0)) }];
            written.extend(second.clone());
            let mut item = Item::Instance(body, written);
            let inner = random.below(3) as i64;
            // The inner loop makes one round: with a number, or with the outer one's.
            let by_outer = random.below(2) == 0;
            if nested == 2 {
                let bounds = match by_outer {
                    true => (Expr::Round(0), Expr::Round(0)),
                    false => (know(0).exactly(random, inner), know(0).exactly(random, inner)),
                };
                item = Item::For("n1".into(), bounds.0, bounds.1, vec![item]);
            }
            model.items.push(Item::For("n0".into(), bounds.0, bounds.1, vec![item]));
            for value in first..=last {
                let rounds = if nested == 2 { vec![value, if by_outer { value } else { inner }] } else { vec![value] };
                let mut arguments = vec![value];
                arguments.extend(second.iter().map(|e| know(nested).constant(e, &rounds)));
                model.processes.push(Process { body, arguments });
            }
        }
    }
}

/// A body with variables and states, and nothing that it does yet.
fn shape(random: &mut Random, model: &Model, name: String, parameters: Vec<Parameter>) -> Body {
    let constants: Vec<Variable> = model.variables.iter().take_while(|v| v.kind != Kind::Variable).cloned().collect();
    let mut variables = Vec::new();
    for number in 0..random.below(3) {
        let kind = if random.below(4) == 0 { Kind::Constant } else { Kind::Variable };
        // A local variable may hide a global one.
        let hides = kind == Kind::Variable && random.below(10) == 0;
        let name = if hides { format!("g{number}") } else { format!("v{number}") };
        variables.push(declaration(random, &constants, &parameters, name, kind));
    }
    let states: Vec<String> = (0..1 + random.below(4)).map(|number| format!("s{number}")).collect();
    let some = |random: &mut Random, odds: usize| (0..states.len()).filter(|_| random.below(odds) == 0).collect();
    let initial = random.below(states.len());
    let accepting = if random.below(6) == 0 { some(random, 2) } else { Vec::new() };
    let committed = if random.below(4) == 0 { some(random, 3) } else { Vec::new() };
    Body {
        name,
        parameters,
        variables,
        states,
        initial,
        accepting,
        committed,
        assertions: Vec::new(),
        transitions: Vec::new(),
    }
}

/// What the processes do.
fn contents(random: &mut Random, model: &mut Model) {
    for body in 0..model.bodies.len() {
        let states = model.bodies[body].states.len();
        let watches = model.watcher().is_some_and(|process| model.processes[process].body == body);
        let writer = Writer::new(model, Some(body));
        let mut transitions = Vec::new();
        for _ in 0..1 + random.below(if watches { 4 } else { 5 }) {
            let (from, to) = (random.below(states), random.below(states));
            let guards = (0..random.below(3)).map(|_| writer.condition(random)).collect();
            let mut transition = Transition { from, to, guards, sync: None, effects: Vec::new() };
            if !watches {
                transition.sync = writer.sync(random);
                transition.effects = (0..random.below(3)).map(|_| writer.effect(random)).collect();
            }
            transitions.push(transition);
        }
        let count = if !watches && random.below(3) == 0 { 1 + random.below(2) } else { 0 };
        let assertions = (0..count).map(|_| (random.below(states), writer.condition(random))).collect();
        model.bodies[body].transitions = transitions;
        model.bodies[body].assertions = assertions;
    }
}

fn questions(random: &mut Random, model: &mut Model) {
    let writer = Writer::new(model, None).for_properties();
    let mut questions = vec![Question::Invariant(writer.condition(random)), Question::Reach(writer.condition(random))];
    let branching = random.below(2) == 0;
    let atoms: Vec<Expr> = (0..1 + random.below(3)).map(|_| writer.condition(random)).collect();
    let formula = formula::generate::formula(random, branching, atoms.len(), 4);
    questions.push(Question::Formula { formula, branching, atoms, fair: !branching && random.below(3) == 0 });
    model.questions = questions;
}
