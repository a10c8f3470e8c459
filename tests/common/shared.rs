//! Random systems of processes that share what dependencies are about: counters, flags, channels, and steps in a row.

use scrimp_system::{
    Assign, BinaryOp, Domain, Event, Expr, Moment, Move, Process, ProcessId, Random, Role, Source, Span, System, Then,
    UnaryOp, VarId, Variable,
};

const CAPACITY: i64 = 3;

/// The data of every system; controls come behind it.
const COUNT: VarId = VarId(0);
const BYTE: VarId = VarId(1);
const FLAGS: VarId = VarId(2);
const FILL: VarId = VarId(3);
const SLOTS: VarId = VarId(4);
const SECOND: VarId = VarId(5);

fn var(v: VarId) -> Expr {
    Expr::Var(v)
}

fn at(v: VarId, index: i64) -> Expr {
    Expr::Element(v, Box::new(Expr::Const(index)))
}

fn number(value: i64) -> Expr {
    Expr::Const(value)
}

fn set(target: VarId, index: Option<Expr>, value: Expr, moment: Moment) -> Assign {
    Assign { target, index, value, moment }
}

/// What a family of systems is like.
#[derive(Debug, Clone, Copy)]
pub struct Mixture {
    pub processes: usize,
    /// Steps that run as one, events that are late, declared faults and assertions.
    pub special: bool,
}

/// The system with this number.
pub fn system(seed: u64, mixture: Mixture) -> System {
    let mut random = Random(seed);
    let mut system = System::new(Source::new("random", ""));
    let mut data = |name: &str, domain: Domain, length: Option<u32>| {
        let variable = Variable { name: name.into(), owner: None, domain, length, role: Role::Data };
        system.variables.push(variable);
    };
    data("count", Domain::range(0, 3), None);
    data("byte", Domain::BYTE, None);
    data("flags", Domain::range(0, 2), Some(2));
    data("fill", Domain::range(0, CAPACITY), None);
    data("slots", Domain::range(0, 2), Some(CAPACITY as u32));
    data("second", Domain::range(0, 2), Some(CAPACITY as u32));
    let mut places = Vec::new();
    for p in 0..mixture.processes {
        let process = ProcessId(p as u32);
        let count = 2 + random.below(3);
        let name = format!("P{p}");
        let domain = Domain::range(0, count as i64 - 1);
        let role = Role::Control(process);
        system.variables.push(Variable { name: name.clone(), owner: None, domain, length: None, role });
        let control = VarId(system.variables.len() as u32 - 1);
        let locations = (0..count).map(|l| format!("l{l}")).collect();
        system.processes.push(Process { name, control, locations, accepting: vec![], span: Span::default() });
        places.push(count);
    }
    let cells: usize = system.variables.iter().map(Variable::cells).sum();
    let mut initial = vec![0; cells];
    initial[0] = random.below(3) as i64;
    if random.below(2) == 0 {
        initial[1] = 254;
    }
    system.initial = vec![initial];
    system.fault_messages = vec!["as declared".into()];
    for p in 0..mixture.processes {
        for from in 0..places[p] {
            for _ in 0..[1, 1, 1, 2, 2, 3][random.below(6)] {
                let event = event(&mut random, p, from, &places, mixture.special);
                system.events.push(event);
            }
        }
    }
    for (number, event) in system.events.iter_mut().enumerate() {
        event.label = format!("e{number}");
    }
    if random.below(4) == 0 {
        let p = random.below(places.len());
        system.valid_end = Some(system.at(ProcessId(p as u32), random.below(places[p]) as u32));
    }
    system
}

fn event(random: &mut Random, p: usize, from: usize, places: &[usize], special: bool) -> Event {
    // Mostly forwards: fewer cycles, more deadlocks.
    let to = if random.below(3) == 0 { random.below(places[p]) } else { (from + 1).min(places[p] - 1) };
    let mut event = Event {
        moves: vec![Move { process: ProcessId(p as u32), from: from as u32, to: to as u32 }],
        ..Event::default()
    };
    let less = |v: VarId, k: i64| Expr::binary(BinaryOp::Less, var(v), number(k));
    let more = |v: VarId, k: i64| Expr::binary(BinaryOp::Greater, var(v), number(k));
    let plus = |v: VarId, k: i64| set(v, None, Expr::binary(BinaryOp::Add, var(v), number(k)), Moment::Current);
    let flag = random.below(2) as i64;
    let small = random.below(3) as i64;
    match random.below(18) {
        0 | 1 => {}
        2 => {
            event.guard = less(COUNT, 1 + small);
            event.effects.push(plus(COUNT, 1));
        }
        3 => {
            event.guard = more(COUNT, 0);
            event.effects.push(plus(COUNT, -1));
        }
        4 => event.effects.push(plus(BYTE, 1 + small)),
        5 => event.effects.push(plus(BYTE, -1)),
        6 => event.effects.push(set(FLAGS, Some(number(flag)), number(small), Moment::Current)),
        7 => event.guard = Expr::binary(BinaryOp::Equal, at(FLAGS, flag), number(small)),
        8 => event.guard = Expr::not(Expr::binary(BinaryOp::Equal, at(FLAGS, flag), number(small))),
        9 | 10 => {
            event.guard = less(FILL, CAPACITY);
            let message = [number(small), at(FLAGS, flag), var(COUNT)][random.below(3)].clone();
            let message = Expr::binary(BinaryOp::Remainder, message, number(3));
            event.effects.push(set(SLOTS, Some(var(FILL)), message, Moment::Source));
            if random.below(3) > 0 {
                event.effects.push(set(SECOND, Some(var(FILL)), number(small), Moment::Source));
            }
            event.effects.push(plus(FILL, 1));
        }
        11 | 12 => {
            event.guard = more(FILL, 0);
            if random.below(3) == 0 {
                let expected = Expr::binary(BinaryOp::Equal, at(SLOTS, 0), number(small));
                event.guard = Expr::and(event.guard, expected);
            }
            if random.below(2) == 0 {
                event.effects.push(set(FLAGS, Some(number(flag)), at(SLOTS, 0), Moment::Source));
            }
            let moment = if random.below(2) == 0 { Moment::Source } else { Moment::Current };
            for slots in [SLOTS, SECOND] {
                for place in 0..CAPACITY {
                    let next = if place + 1 == CAPACITY { number(0) } else { at(slots, place + 1) };
                    event.effects.push(set(slots, Some(number(place)), next, moment));
                }
            }
            event.effects.push(plus(FILL, -1));
        }
        13 => {
            event.guard = Expr::and(more(FILL, 0), Expr::binary(BinaryOp::Equal, at(SLOTS, 0), number(small)));
        }
        14 => event.guard = less(FILL, 1 + small),
        15 => event.guard = Expr::binary(BinaryOp::LessEqual, var(COUNT), at(FLAGS, flag)),
        16 => {
            let index = Expr::binary(BinaryOp::Remainder, var(COUNT), number(2 + (random.below(8) == 0) as i64));
            event.effects.push(set(FLAGS, Some(index), number(small), Moment::Current));
        }
        _ => {
            let other = random.below(places.len());
            if other != p {
                let (from, to) = (random.below(places[other]) as u32, random.below(places[other]) as u32);
                event.moves.push(Move { process: ProcessId(other as u32), from, to });
            }
        }
    }
    if random.below(12) == 0 {
        let more = [more(COUNT, small), less(FILL, 2), Expr::unary(UnaryOp::Not, at(FLAGS, flag))];
        event.guard = Expr::and(event.guard, more[random.below(3)].clone());
    }
    if random.below(24) == 0 {
        event.effects.push(plus(COUNT, 1));
    }
    if special {
        event.late = random.below(30) == 0;
        event.assertion = (random.below(15) == 0).then(|| Expr::binary(BinaryOp::Less, at(FLAGS, flag), number(2)));
        event.fault = (random.below(40) == 0).then_some(0);
        event.then = match random.below(12) {
            0 | 1 => Then::Atomic(ProcessId(p as u32)),
            2 => Then::DStep(ProcessId(p as u32)),
            _ => Then::Free,
        };
    }
    event
}

/// A condition on the states of any system.
pub fn condition(random: &mut Random, system: &System) -> Expr {
    let mut leaf = || {
        let v = random.below(system.variables.len());
        let variable = &system.variables[v];
        let value = match variable.length {
            None => var(VarId(v as u32)),
            Some(length) if random.below(8) > 0 => at(VarId(v as u32), random.below(length as usize) as i64),
            Some(_) => Expr::Element(VarId(v as u32), Box::new(var(VarId(0)))),
        };
        use BinaryOp::*;
        let op = [Equal, Equal, NotEqual, Less, GreaterEqual][random.below(5)];
        Expr::binary(op, value, number(random.below(4) as i64))
    };
    let (a, b, c) = (leaf(), leaf(), leaf());
    match random.below(7) {
        0 => a,
        1 => Expr::and(a, b),
        2 => Expr::binary(BinaryOp::Or, a, b),
        3 => Expr::not(Expr::and(a, b)),
        4 => Expr::and(a, Expr::binary(BinaryOp::Or, b, c)),
        5 => Expr::binary(BinaryOp::Greater, Expr::binary(BinaryOp::Add, a, b), number(1)),
        _ => Expr::binary(BinaryOp::Equal, a, b),
    }
}
