//! Random systems in which much goes wrong: indices out of range, divisions by zero, values outside their domain, in guards,
//! effects, indices of what is assigned to, assertions and what is passed on. They are small, so that all their states can
//! be looked at.

use scrimp_system::{
    Assign, BinaryOp, Domain, Event, Expr, Moment, Move, Process, ProcessId, Random, Role, Source, Span, System, Then,
    UnaryOp, VarId, Variable,
};

const DATA: [(&str, i64, i64, Option<u32>); 6] = [
    ("x", 0, 3, None),
    ("n", -1, 1, None),
    ("one", 1, 1, None),
    ("pair", 0, 2, Some(2)),
    ("single", 0, 1, Some(1)),
    ("slots", 0, 1, Some(2)),
];
const BYTE: VarId = VarId(6);
const FILL: VarId = VarId(7);
const SLOTS: VarId = VarId(5);

/// The system with this number. A special one has steps that run as one, events that are late, and declared faults.
pub fn system(seed: u64, special: bool) -> System {
    let mut random = Random(seed ^ 0xfa17);
    let mut system = System::new(Source::new(format!("faulty {seed}"), ""));
    let mut data = |name: &str, domain: Domain, length: Option<u32>| {
        system.variables.push(Variable { name: name.into(), owner: None, domain, length, role: Role::Data });
    };
    DATA.iter().for_each(|(name, low, high, length)| data(name, Domain::range(*low, *high), *length));
    data("byte", Domain::BYTE, None);
    data("fill", Domain::range(0, 2), None);
    for p in 0..2 + random.below(2) {
        let (process, count) = (ProcessId(p as u32), 2 + random.below(2));
        let control = VarId(system.variables.len() as u32);
        let (name, domain) = (format!("P{p}"), Domain::range(0, count as i64 - 1));
        system.variables.push(Variable { name: name.clone(), domain, ..Variable::control(process) });
        let locations = (0..count).map(|l| format!("l{l}")).collect();
        system.processes.push(Process { name, control, locations, accepting: vec![], span: Span::default() });
    }
    let cells: Vec<Domain> = system.variables.iter().flat_map(|v| std::iter::repeat_n(v.domain, v.cells())).collect();
    for _ in 0..1 + random.below(8) / 7 {
        let mut value =
            |domain: &Domain| if domain.contains(0) { random.below(2) as i64 % (domain.high + 1) } else { domain.low };
        let mut valuation: Vec<i64> = cells.iter().map(&mut value).collect();
        let data = valuation.len() - system.processes.len();
        valuation[data..].fill(0);
        system.initial.push(valuation);
    }
    system.fault_messages = vec!["as declared".into()];
    for p in 0..system.processes.len() {
        for from in 0..system.processes[p].locations.len() {
            for _ in 0..1 + random.below(5) / 2 {
                let event = event(&mut random, &system, p, from, special);
                system.events.push(Event { label: format!("e{}", system.events.len()), ..event });
            }
        }
    }
    if random.below(4) == 0 {
        system.valid_end = Some(system.at(ProcessId(0), 1));
    }
    system
}

/// An expression of at most this depth; about one in four is a fault somewhere.
pub fn expression(random: &mut Random, system: &System, depth: usize) -> Expr {
    let kind = random.below(if depth == 0 { 8 } else { 20 });
    if kind < 2 {
        return Expr::Const([0, 1, 1, 2, 3, -1][random.below(6)]);
    }
    if kind < 8 {
        let v = VarId(random.below(system.variables.len()) as u32);
        return match system.variables[v.index()].length {
            None => Expr::Var(v),
            Some(length) => Expr::Element(v, Box::new(index(random, system, length as usize, depth.saturating_sub(1)))),
        };
    }
    let inner = |random: &mut Random| Box::new(expression(random, system, depth - 1));
    use BinaryOp::*;
    match kind {
        8 => {
            let values: Vec<i64> = (0..random.below(4)).map(|_| random.below(3) as i64).collect();
            let index = index(random, system, values.len(), depth - 1);
            Expr::Table(values.into(), Box::new(index))
        }
        9 => Expr::Unary([UnaryOp::Negate, UnaryOp::Complement, UnaryOp::Not][random.below(3)], inner(random)),
        10 => Expr::If(inner(random), inner(random), inner(random)),
        11 | 12 => {
            let by = if random.below(3) > 0 { Expr::Const(random.below(4) as i64) } else { *inner(random) };
            Expr::Binary([Divide, Remainder][random.below(2)], inner(random), Box::new(by))
        }
        13 | 14 => Expr::Binary([And, Or][random.below(2)], inner(random), inner(random)),
        15..=17 => {
            let op = [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual][random.below(6)];
            Expr::Binary(op, inner(random), inner(random))
        }
        _ => {
            let op = [Add, Add, Subtract, Multiply, BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight][random.below(9)];
            Expr::Binary(op, inner(random), inner(random))
        }
    }
}

/// An index of an array of this length, which is mostly within it.
fn index(random: &mut Random, system: &System, length: usize, depth: usize) -> Expr {
    match random.below(12) {
        0 => Expr::Const([-1, length as i64, length as i64 + 1][random.below(3)]),
        1..=7 => Expr::Const(random.below(length) as i64),
        8 => Expr::Var(VarId([0, 1, 2, 7][random.below(4)])),
        _ => expression(random, system, depth),
    }
}

fn assignment(random: &mut Random, system: &System) -> Assign {
    let target = VarId(random.below(8) as u32);
    let variable = &system.variables[target.index()];
    let index = variable.length.map(|length| index(random, system, length as usize, 1));
    let read = match &index {
        None => Expr::Var(target),
        Some(index) => Expr::Element(target, Box::new(index.clone())),
    };
    let value = match random.below(8) {
        0 | 1 => Expr::Const(random.below(3) as i64 - (variable.domain.low < 0) as i64),
        2 | 3 => Expr::Binary(BinaryOp::Add, Box::new(read), Box::new(Expr::Const([1, 1, -1, 2][random.below(4)]))),
        4 => expression(random, system, 2),
        _ => {
            // Within its domain, most of the time.
            let span = variable.domain.high.min(3) + (random.below(6) == 0) as i64;
            let value =
                Expr::Binary(BinaryOp::BitAnd, Box::new(expression(random, system, 2)), Box::new(Expr::Const(1)));
            Expr::Binary(BinaryOp::Multiply, Box::new(value), Box::new(Expr::Const(span)))
        }
    };
    let moment = [Moment::Source, Moment::Current, Moment::Current][random.below(3)];
    Assign { target, index, value, moment }
}

/// Stores a message at the end of the queue, or takes the first one out.
fn queue(random: &mut Random, system: &System, event: &mut Event) {
    let step = |by| Assign {
        target: FILL,
        index: None,
        value: Expr::Binary(BinaryOp::Add, Box::new(Expr::Var(FILL)), Box::new(Expr::Const(by))),
        moment: Moment::Current,
    };
    let guarded = random.below(4) > 0;
    let compare = |op, k| Expr::Binary(op, Box::new(Expr::Var(FILL)), Box::new(Expr::Const(k)));
    if random.below(2) == 0 {
        event.guard = if guarded { compare(BinaryOp::Less, 2) } else { Expr::TRUE };
        let value = expression(random, system, 1);
        event.effects.push(Assign { target: SLOTS, index: Some(Expr::Var(FILL)), value, moment: Moment::Source });
        event.effects.push(step(1));
    } else {
        event.guard = if guarded { compare(BinaryOp::Greater, 0) } else { Expr::TRUE };
        let front = Expr::Element(SLOTS, Box::new(Expr::Const(0)));
        if random.below(2) == 0 {
            event.effects.push(Assign { target: BYTE, index: None, value: front, moment: Moment::Source });
        }
        let next = Expr::Element(SLOTS, Box::new(Expr::Const(1)));
        for (place, value) in [next, Expr::Const(0)].into_iter().enumerate() {
            let index = Some(Expr::Const(place as i64));
            event.effects.push(Assign { target: SLOTS, index, value, moment: Moment::Current });
        }
        event.effects.push(step(-1));
    }
}

fn event(random: &mut Random, system: &System, p: usize, from: usize, special: bool) -> Event {
    let places = |p: usize| system.processes[p].locations.len();
    let to = random.below(places(p)) as u32;
    let mut event =
        Event { moves: vec![Move { process: ProcessId(p as u32), from: from as u32, to }], ..Event::default() };
    match random.below(5) {
        0 => {}
        1 => queue(random, system, &mut event),
        2 => event.guard = expression(random, system, 3),
        _ => event.guard = expression(random, system, 1),
    }
    if random.below(5) == 0 {
        let other = random.below(system.processes.len());
        if other != p {
            let (from, to) = (random.below(places(other)) as u32, random.below(places(other)) as u32);
            event.moves.push(Move { process: ProcessId(other as u32), from, to });
        }
    }
    event.effects.extend((0..random.below(3)).map(|_| assignment(random, system)));
    event.assertion = (random.below(8) == 0).then(|| expression(random, system, 2));
    if special {
        event.late = random.below(15) == 0;
        event.fault = (random.below(25) == 0).then_some(0);
        event.then = match random.below(10) {
            0 | 1 => Then::Atomic(ProcessId(p as u32)),
            2 => Then::DStep(ProcessId(p as u32)),
            _ => Then::Free,
        };
    }
    event
}
