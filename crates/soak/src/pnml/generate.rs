//! Nets at random: small, mostly bounded, with every term inside every other.

use super::tree::*;
use crate::formula;
use scrimp_system::Random;

pub fn model(random: &mut Random) -> Model {
    let coloured = random.below(2) == 0;
    let pages = 1 + (random.below(4) == 0) as usize + (random.below(8) == 0) as usize;
    let mut model = Model {
        sorts: vec![Sort::Dot],
        partitions: Vec::new(),
        variables: Vec::new(),
        places: Vec::new(),
        transitions: Vec::new(),
        pages,
        nested: random.below(2) == 0,
        units: None,
        coloured,
        questions: Vec::new(),
        style: random.next(),
    };
    if coloured {
        sorts(random, &mut model);
    }
    for _ in 0..2 + random.below(4) {
        let sort = if coloured { random.below(model.sorts.len()) } else { 0 };
        let marking = match coloured {
            false => Multiset::Plain(random.below(3) as u64),
            true if random.below(3) == 0 => Multiset::Empty(sort),
            true => Terms { model: &model, variables: false }.multiset(random, sort, 2),
        };
        model.places.push(Place { sort, marking, page: random.below(pages) });
    }
    for _ in 0..1 + random.below(4) {
        let transition = transition(random, &model);
        model.transitions.push(transition);
    }
    if !coloured && random.below(4) == 0 {
        let count = 1 + random.below(3);
        let mut units = vec![Vec::new(); count];
        (0..model.places.len()).for_each(|place| units[random.below(count)].push(place));
        model.units = Some(units);
    }
    model.questions = questions(random, &model);
    model
}

fn sorts(random: &mut Random, model: &mut Model) {
    for _ in 0..1 + random.below(3) {
        let sort = match random.below(6) {
            0 => Sort::Bool,
            1 => Sort::Cyclic(1 + random.below(3)),
            2 => Sort::Enumeration(1 + random.below(3)),
            3 => {
                let first = random.below(4) as i64 - 1;
                Sort::Range(first, first + random.below(3) as i64)
            }
            _ => {
                let parts: Vec<usize> = (0..1 + random.below(2)).map(|_| random.below(model.sorts.len())).collect();
                Sort::Product(parts)
            }
        };
        model.sorts.push(sort);
        if model.size(model.sorts.len() - 1) > 6 {
            model.sorts.pop();
        }
    }
    for sort in 1..model.sorts.len() {
        if matches!(model.sorts[sort], Sort::Cyclic(_) | Sort::Enumeration(_) | Sort::Range(..)) && random.below(3) == 0
        {
            // Parts are numbered in the order in which they come.
            let mut parts = Vec::new();
            for _ in 0..model.size(sort) {
                let next = parts.iter().max().map_or(0, |most| most + 1);
                parts.push(random.below(next + 1));
            }
            model.partitions.push(Partition { sort, parts });
        }
    }
    for sort in 0..model.sorts.len() {
        (0..random.below(3)).for_each(|_| model.variables.push(sort));
    }
}

fn transition(random: &mut Random, model: &Model) -> Transition {
    let page = random.below(model.pages);
    let mut arcs = Vec::new();
    let places = model.places.len();
    let mut add = |random: &mut Random, kind: Kind| {
        let place = random.below(places);
        let sort = model.places[place].sort;
        let plain = [1, 1, 1, 1, 2, 3][random.below(6)];
        let terms = Terms { model, variables: true };
        let term = match (model.coloured, kind) {
            (_, Kind::Reset) | (false, _) => Multiset::Plain(plain),
            (true, _) => terms.multiset(random, sort, 2),
        };
        arcs.push(Arc { place, kind, term, page: random.below(model.pages) });
    };
    let inputs = random.below(3) + (random.below(4) > 0) as usize;
    (0..inputs).for_each(|_| add(random, Kind::Taking));
    // Mostly no more out than in.
    let outputs = if random.below(6) == 0 { random.below(3) } else { random.below(inputs + 1) };
    (0..outputs).for_each(|_| add(random, Kind::Giving));
    if random.below(3) == 0 {
        let kind = [Kind::Inhibitor, Kind::Reset, Kind::Test][random.below(3)];
        add(random, kind);
    }
    let terms = Terms { model, variables: true };
    let guard = (model.coloured && random.below(2) == 0).then(|| terms.guard(random, 2));
    Transition { guard, page, arcs }
}

/// Writes terms, with variables or without.
struct Terms<'m> {
    model: &'m Model,
    variables: bool,
}

impl Terms<'_> {
    fn value(&self, random: &mut Random, sort: usize, depth: usize) -> Value {
        let variables: Vec<usize> = match self.variables {
            true => (0..self.model.variables.len()).filter(|v| self.model.variables[*v] == sort).collect(),
            false => Vec::new(),
        };
        let ordered = matches!(self.model.sorts[sort], Sort::Cyclic(_) | Sort::Enumeration(_) | Sort::Range(..));
        match (&self.model.sorts[sort], random.below(6)) {
            (_, 0..3) if !variables.is_empty() => Value::Variable(variables[random.below(variables.len())]),
            (Sort::Product(parts), 3..) if depth > 0 => {
                Value::Tuple(parts.iter().map(|part| self.value(random, *part, depth - 1)).collect())
            }
            (_, 3) if ordered && depth > 0 => Value::Successor(Box::new(self.value(random, sort, depth - 1))),
            (_, 4) if ordered && depth > 0 => Value::Predecessor(Box::new(self.value(random, sort, depth - 1))),
            _ => Value::Constant(sort, random.below(self.model.size(sort))),
        }
    }

    fn multiset(&self, random: &mut Random, sort: usize, depth: usize) -> Multiset {
        let inner = |random: &mut Random| Box::new(self.multiset(random, sort, depth - 1));
        match random.below(if depth == 0 { 4 } else { 12 }) {
            0 if random.below(3) == 0 => Multiset::All(sort),
            1 if random.below(6) == 0 => Multiset::Empty(sort),
            0..5 => Multiset::One(self.value(random, sort, 2)),
            // No times anything leaves it open which variables there are.
            5 => Multiset::Times(random.below(3).max(self.variables as usize) as u64, inner(random)),
            6 => Multiset::Scaled(random.below(3).max(self.variables as usize) as u64, inner(random)),
            7 => Multiset::Add((0..1 + random.below(2)).map(|_| *inner(random)).collect()),
            // What may be less than empty is refused; a multiset less itself, or all less one, never is.
            8 => {
                let b = inner(random);
                let a = Multiset::Add(vec![*b.clone(), *inner(random)]);
                Multiset::Subtract(Box::new(a), b)
            }
            9 => {
                let one = Multiset::One(self.value(random, sort, 1));
                Multiset::Subtract(Box::new(Multiset::All(sort)), Box::new(one))
            }
            _ => match &self.model.sorts[sort] {
                Sort::Product(parts) => {
                    Multiset::Tuple(parts.iter().map(|part| self.multiset(random, *part, depth - 1)).collect())
                }
                _ => Multiset::One(self.value(random, sort, 2)),
            },
        }
    }

    fn guard(&self, random: &mut Random, depth: usize) -> Guard {
        let inner = |random: &mut Random| self.guard(random, depth - 1);
        match random.below(if depth == 0 { 4 } else { 8 }) {
            0 if random.below(3) == 0 => Guard::Truth(random.below(3) > 0),
            0..4 => self.comparison(random),
            4 => Guard::Not(Box::new(inner(random))),
            5 => Guard::And((0..1 + random.below(2)).map(|_| inner(random)).collect()),
            6 => Guard::Or((0..1 + random.below(2)).map(|_| inner(random)).collect()),
            _ => Guard::Imply(Box::new(inner(random)), Box::new(inner(random))),
        }
    }

    fn comparison(&self, random: &mut Random) -> Guard {
        let mut comparison = Comparison::ALL[random.below(6)];
        if !self.model.partitions.is_empty() && random.below(3) == 0 {
            let number = random.below(self.model.partitions.len());
            let partition = &self.model.partitions[number];
            let a = Value::PartOf(number, Box::new(self.value(random, partition.sort, 1)));
            let parts = partition.parts.iter().max().map_or(1, |most| most + 1);
            let b = match random.below(2) {
                0 => Value::Part(number, random.below(parts)),
                _ => Value::PartOf(number, Box::new(self.value(random, partition.sort, 1))),
            };
            return Guard::Compare(comparison, a, b);
        }
        // Mostly about a variable, whose sort is then known.
        let sort = match self.model.variables.get(random.below(self.model.variables.len())) {
            Some(sort) => *sort,
            None => random.below(self.model.sorts.len()),
        };
        if matches!(self.model.sorts[sort], Sort::Product(_)) {
            comparison = [Comparison::Equal, Comparison::Unequal][random.below(2)];
        }
        let (a, b) = (self.value(random, sort, 1), self.value(random, sort, 1));
        // A tuple does not show its sort: that of the other side must.
        match (&a, &b) {
            (Value::Tuple(_), Value::Tuple(_)) => Guard::Truth(true),
            (Value::Tuple(_), _) => Guard::Compare(comparison, b, a),
            _ => Guard::Compare(comparison, a, b),
        }
    }
}

fn sum(random: &mut Random, model: &Model) -> Sum {
    let term = |random: &mut Random| {
        let place = random.below(model.places.len());
        let colours = model.size(model.places[place].sort);
        let colour = (model.coloured && colours > 1 && random.below(2) == 0).then(|| random.below(colours));
        (place, colour, [1, 1, 1, 2, 3][random.below(5)])
    };
    Sum { terms: (0..random.below(3)).map(|_| term(random)).collect(), constant: random.below(4) as i64 }
}

fn condition(random: &mut Random, model: &Model, depth: usize) -> Condition {
    let inner = |random: &mut Random| Box::new(condition(random, model, depth - 1));
    match random.below(if depth == 0 { 6 } else { 12 }) {
        0 if random.below(3) == 0 => Condition::Truth(random.below(2) == 0),
        1 if random.below(3) == 0 => Condition::Deadlock,
        2 => Condition::Fireable(random.below(model.transitions.len())),
        0..6 => Condition::Compare(Comparison::ALL[random.below(6)], sum(random, model), sum(random, model)),
        6 | 7 => Condition::Not(inner(random)),
        8 | 9 => Condition::And(inner(random), inner(random)),
        10 => Condition::Or(inner(random), inner(random)),
        _ => Condition::Imply(inner(random), inner(random)),
    }
}

fn questions(random: &mut Random, model: &Model) -> Vec<Question> {
    let mut questions = vec![
        Question::Deadlock,
        Question::Invariant(condition(random, model, 2)),
        Question::Reach(condition(random, model, 2)),
        Question::Bound((0..1 + random.below(2)).map(|_| random.below(model.places.len())).collect()),
    ];
    for question in [Question::Bounded, Question::OneSafe, Question::StableMarking, Question::QuasiLive, Question::Live]
    {
        if random.below(2) == 0 {
            questions.push(question);
        }
    }
    let branching = random.below(2) == 0;
    let atoms: Vec<Condition> = (0..1 + random.below(3)).map(|_| condition(random, model, 1)).collect();
    let formula = formula::generate::formula(random, branching, atoms.len(), 4);
    questions.push(Question::Formula { formula, branching, atoms });
    questions
}
