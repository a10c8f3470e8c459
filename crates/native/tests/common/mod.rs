//! Systems made by hand, for tests and for the speed example.

use scrimp_system::{
    Assign, BinaryOp, Domain, Event, Expr, Moment, Move, Process, ProcessId, Role, Source, Span, System, VarId,
    Variable,
};

pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(op, a, b)
}

pub fn element(v: VarId, index: Expr) -> Expr {
    Expr::Element(v, Box::new(index))
}

pub fn set(target: VarId, value: Expr) -> Assign {
    Assign { target, index: None, value, moment: Moment::Current }
}

pub fn set_at(target: VarId, index: Expr, value: Expr) -> Assign {
    Assign { target, index: Some(index), value, moment: Moment::Current }
}

pub fn event(label: String, moves: Vec<Move>, guard: Expr, effects: Vec<Assign>) -> Event {
    Event { label, moves, guard, effects, ..Event::default() }
}

pub fn variable(name: &str, owner: Option<u32>, domain: Domain, length: Option<u32>) -> Variable {
    Variable { name: name.into(), owner: owner.map(ProcessId), domain, length, role: Role::Data }
}

/// Adds a process with its control variable.
pub fn process(system: &mut System, name: &str, locations: &[&str]) -> ProcessId {
    let id = ProcessId(system.processes.len() as u32);
    let control = VarId(system.variables.len() as u32);
    let domain = Domain::range(0, locations.len() as i64 - 1);
    system.variables.push(Variable {
        name: "location".into(),
        owner: Some(id),
        domain,
        length: None,
        role: Role::Control(id),
    });
    system.processes.push(Process {
        name: name.into(),
        control,
        locations: locations.iter().map(|l| l.to_string()).collect(),
        accepting: vec![],
        span: Span::default(),
    });
    id
}

pub fn empty() -> System {
    System::new(Source::new("made by hand", ""))
}

/// All variables at zero.
pub fn zeros(system: &System) -> Vec<i64> {
    vec![0; system.variables.iter().map(Variable::cells).sum()]
}

/// Peterson's mutual exclusion for `n` processes.
pub fn peterson(n: i64) -> System {
    use BinaryOp::*;
    let mut system = empty();
    let (pos, step) = (VarId(0), VarId(1));
    system.variables.push(variable("pos", None, Domain::BYTE, Some(n as u32)));
    system.variables.push(variable("step", None, Domain::BYTE, Some(n as u32)));
    for i in 0..n {
        let name = format!("P_{i}");
        let p = process(&mut system, &name, &["NCS", "CS", "wait", "q2", "q3"]);
        let j = VarId(system.variables.len() as u32);
        let k = VarId(j.0 + 1);
        system.variables.push(variable("j", Some(p.0), Domain::BYTE, None));
        system.variables.push(variable("k", Some(p.0), Domain::BYTE, None));
        let [ncs, cs, wait, q2, q3] = [0, 1, 2, 3, 4];
        let number = Expr::Const;
        let increased = |v: VarId| set(v, binary(Add, Expr::Var(v), Expr::Const(1)));
        let level = || binary(Subtract, Expr::Var(j), Expr::Const(1));
        let below = binary(Less, element(pos, Expr::Var(k)), Expr::Var(j));
        let scan = binary(And, binary(Less, Expr::Var(k), number(n)), binary(Or, Expr::equals(k, i), below));
        let leave = binary(Or, binary(NotEqual, element(step, level()), number(i)), Expr::equals(k, n));
        let mut add = |from: u32, to: u32, guard: Expr, effects: Vec<Assign>| {
            let label = format!("{name}: {from} -> {to}");
            system.events.push(event(label, vec![Move { process: p, from, to }], guard, effects));
        };
        add(ncs, wait, Expr::TRUE, vec![set(j, number(1))]);
        add(wait, q2, binary(Less, Expr::Var(j), number(n)), vec![set_at(pos, number(i), Expr::Var(j))]);
        add(q2, q3, Expr::TRUE, vec![set_at(step, level(), number(i)), set(k, number(0))]);
        add(q3, q3, scan, vec![increased(k)]);
        add(q3, wait, leave, vec![increased(j)]);
        add(wait, cs, Expr::equals(j, n), vec![]);
        add(cs, ncs, Expr::TRUE, vec![set_at(pos, number(i), number(0))]);
    }
    system.initial = vec![zeros(&system)];
    system
}
