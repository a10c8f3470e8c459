//! Networks at random: small systems, and every operator inside every other.

use super::tree::*;
use crate::formula;
use scrimp_system::Random;

const GATES: [&str; 4] = ["a", "b", "c", "d"];
const OFFERS: [&str; 5] = ["", "", " !0", " !1", "(2)"];

pub fn model(random: &mut Random) -> Model {
    let files: Vec<Lts> = (0..1 + random.below(2)).map(|_| lts(random)).collect();
    let count = 1 + random.below(3);
    let components: Vec<usize> = (0..count).map(|_| random.below(files.len())).collect();
    let sets = (0..random.below(2)).map(|_| (0..1 + random.below(2)).map(|_| plain(random)).collect()).collect();
    let mut model =
        Model { files, components, sets, body: Body::Lines(Vec::new()), forbid: None, questions: Vec::new() };
    model.body = match random.below(2) {
        0 => Body::Lines(lines(random, &model)),
        _ => Body::Behaviour(behaviour(random, &model, &(0..count).collect::<Vec<_>>(), 2)),
    };
    if random.below(3) == 0 {
        model.forbid = Some(labels(random, &model));
    }
    model.questions = questions(random, &model);
    model
}

fn label(random: &mut Random) -> Label {
    match random.below(8) {
        0 => Label::hidden(),
        1 => Label { gate: "tau".into(), offers: String::new() },
        _ => visible(random),
    }
}

fn visible(random: &mut Random) -> Label {
    Label { gate: GATES[random.below(4)].into(), offers: OFFERS[random.below(5)].into() }
}

fn lts(random: &mut Random) -> Lts {
    let states = 1 + random.below(4);
    let edge = |random: &mut Random| (random.below(states), label(random), random.below(states));
    Lts { initial: random.below(states), states, edges: (0..random.below(7)).map(|_| edge(random)).collect() }
}

/// A gate or a label.
fn plain(random: &mut Random) -> Pattern {
    match random.below(3) {
        0 => Pattern::Exactly(visible(random)),
        _ => Pattern::Gate(GATES[random.below(4)].into()),
    }
}

fn pattern(random: &mut Random, model: &Model) -> Pattern {
    match model.sets.is_empty() || random.below(4) > 0 {
        true => plain(random),
        false => Pattern::Set(random.below(model.sets.len())),
    }
}

fn patterns(random: &mut Random, model: &Model) -> Vec<Pattern> {
    (0..1 + random.below(2)).map(|_| pattern(random, model)).collect()
}

fn labels(random: &mut Random, model: &Model) -> Labels {
    match random.below(6) {
        0 => Labels::All,
        1 => Labels::AllBut(patterns(random, model)),
        _ => Labels::These(patterns(random, model)),
    }
}

fn vector(random: &mut Random, width: usize) -> Vector {
    let exact = random.below(3) == 0;
    let one = |random: &mut Random| match exact {
        true => Pattern::Exactly(visible(random)),
        false => Pattern::Gate(GATES[random.below(4)].into()),
    };
    let mut parts: Vec<Option<Pattern>> = (0..width).map(|_| (random.below(3) > 0).then(|| one(random))).collect();
    if parts.iter().all(Option::is_none) {
        parts[random.below(width)] = Some(one(random));
    }
    let seen = if random.below(4) == 0 { Pattern::Gate("i".into()) } else { one(random) };
    Vector { parts, seen }
}

fn renames(random: &mut Random) -> Vec<(Pattern, Pattern)> {
    let first = random.below(4);
    let pair = |random: &mut Random, from: usize| match random.below(3) {
        0 => (Pattern::Exactly(Label { gate: GATES[from].into(), offers: OFFERS[random.below(5)].into() }), {
            Pattern::Exactly(visible(random))
        }),
        _ => (Pattern::Gate(GATES[from].into()), Pattern::Gate(["a", "b", "e", "i"][random.below(4)].into())),
    };
    (0..1 + random.below(2)).map(|number| pair(random, (first + number) % 4)).collect()
}

fn lines(random: &mut Random, model: &Model) -> Vec<Line> {
    let width = model.components.len();
    let mut lines: Vec<Line> = (0..random.below(4)).map(|_| Line::Sync(vector(random, width))).collect();
    if lines.is_empty() || random.below(3) > 0 {
        lines.push(Line::Alone(labels(random, model)));
    }
    for _ in 0..random.below(3) {
        lines.push(match random.below(3) {
            0 => Line::Hide(labels(random, model)),
            1 => Line::Cut(labels(random, model)),
            _ => Line::Rename(renames(random)),
        });
    }
    lines
}

/// A behaviour of these components, each once.
fn behaviour(random: &mut Random, model: &Model, components: &[usize], depth: usize) -> Behaviour {
    if depth > 0 && (components.len() == 1 || random.below(3) == 0) && random.below(3) > 0 {
        let inner = Box::new(behaviour(random, model, components, depth - 1));
        return match random.below(3) {
            0 => Behaviour::Hide(labels(random, model), inner),
            1 => Behaviour::Cut(labels(random, model), inner),
            _ => Behaviour::Rename(renames(random), inner),
        };
    }
    let [first, rest @ ..] = components else { return Behaviour::Component(0) };
    if rest.is_empty() {
        return Behaviour::Component(*first);
    }
    let at = 1 + random.below(components.len() - 1);
    let (a, b) = components.split_at(at);
    let deeper = depth.saturating_sub(1);
    let (a, b) = (behaviour(random, model, a, deeper), behaviour(random, model, b, deeper));
    match random.below(5) {
        0 => Behaviour::Beside(vec![a, b]),
        1 => Behaviour::Together(vec![a, b]),
        2 => Behaviour::On(patterns(random, model), Box::new(a), Box::new(b)),
        3 => {
            let gates = if random.below(3) == 0 { Vec::new() } else { patterns(random, model) };
            Behaviour::Par(gates, vec![a, b])
        }
        _ => {
            let vectors = (0..1 + random.below(2)).map(|_| vector(random, 2)).collect();
            let alone = (random.below(2) == 0).then(|| labels(random, model));
            Behaviour::Using(vectors, alone, vec![a, b])
        }
    }
}

fn questions(random: &mut Random, model: &Model) -> Vec<Question> {
    let atom = |random: &mut Random| {
        let component = random.below(model.components.len());
        (component, random.below(model.files[model.components[component]].states))
    };
    let (a, b) = (atom(random), atom(random));
    let branching = random.below(2) == 0;
    let atoms: Vec<(usize, usize)> = (0..1 + random.below(3)).map(|_| atom(random)).collect();
    let formula = formula::generate::formula(random, branching, atoms.len(), 4);
    let formula = Question::Formula { formula, branching, atoms, fair: false };
    vec![Question::Invariant(a.0, a.1), Question::Reach(b.0, b.1), formula]
}
