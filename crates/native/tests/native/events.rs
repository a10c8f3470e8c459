//! What events can be beyond guard and effects, each on a system small enough to see through.

#[allow(dead_code)]
use crate::common::{binary, empty, event, process, set, variable, zeros};
use scrimp_native::{Limits, Mode, NativeModel};
use scrimp_system::{
    Batch, BinaryOp, Claim, ClaimMove, Describe, Domain, Event, Expr, Fault, FaultRecord, Model, Move, ProcessId, Span,
    System, Then, VarId,
};
use std::sync::Arc;

const X: VarId = VarId(0);
const P: ProcessId = ProcessId(0);
const Q: ProcessId = ProcessId(1);

/// A byte x, a process P with six locations and Q with two.
fn system(events: Vec<Event>) -> System {
    let mut system = empty();
    system.variables.push(variable("x", None, Domain::BYTE, None));
    process(&mut system, "P", &["0", "1", "2", "3", "4", "5"]);
    process(&mut system, "Q", &["0", "1"]);
    system.events = events;
    system.initial = vec![zeros(&system)];
    system
}

fn step(process: ProcessId, from: u32, to: u32) -> Event {
    event(format!("{}:{from}-{to}", process.0), vec![Move { process, from, to }], Expr::TRUE, vec![])
}

fn sets(value: i64) -> Vec<scrimp_system::Assign> {
    vec![set(X, Expr::Const(value))]
}

/// x, the locations of P and Q, and the label of the first step, for each successor; the faults; is it a deadlock?
type Seen = (Vec<(i64, i64, i64)>, Vec<(u32, Fault)>, bool);

fn models(system: System) -> [NativeModel; 2] {
    models_within(system, Limits::default())
}

fn models_within(system: System, limits: Limits) -> [NativeModel; 2] {
    let system = Arc::new(system);
    [Mode::Interpreted, Mode::Compiled].map(|mode| NativeModel::with_limits(system.clone(), mode, limits).unwrap())
}

fn at(model: &NativeModel, values: &[i64]) -> Vec<u8> {
    let mut state = vec![0; model.state_bytes()];
    model.layout().encode(values, &mut state);
    state
}

fn look(model: &NativeModel, values: &[i64]) -> Seen {
    let mut out = Batch::new(model.state_bytes());
    model.expand(&at(model, values), &mut out);
    let value = |i: usize, v: u32| model.layout().read(out.state(i), VarId(v), 0).unwrap();
    let states = (0..out.len()).map(|i| (value(i, 0), value(i, 1), value(i, 2))).collect();
    let faults = out.faults().iter().map(|f| (f.event, f.fault)).collect();
    let mut codes: Vec<u32> = (0..out.len()).map(|i| out.event(i)).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), out.len(), "codes are unique");
    let count = out.len();
    (states, faults, out.take_deadlock(count))
}

/// The predecessors of a state, in order.
fn before(model: &NativeModel, values: &[i64]) -> Vec<(i64, i64, i64)> {
    let mut out = Batch::new(model.state_bytes());
    model.predecessors(&at(model, values), &mut out).unwrap();
    let value = |i: usize, v: u32| model.layout().read(out.state(i), VarId(v), 0).unwrap();
    let mut states: Vec<_> = (0..out.len()).map(|i| (value(i, 0), value(i, 1), value(i, 2))).collect();
    states.sort_unstable();
    states
}

#[test]
fn a_process_alone_is_joined_where_it_blocks() {
    let blocked = Expr::equals(X, 1);
    for model in models(system(vec![
        Event { then: Then::Atomic(P), ..step(P, 0, 1) },
        Event { then: Then::Atomic(P), guard: blocked, ..step(P, 1, 2) },
        Event { effects: sets(7), ..step(P, 2, 3) },
        Event { effects: sets(1), ..step(Q, 0, 1) },
    ])) {
        assert_eq!(look(&model, &[0, 0, 0]), (vec![(0, 1, 0), (1, 0, 1)], vec![], false));
        assert_eq!(look(&model, &[0, 1, 0]), (vec![(1, 1, 1)], vec![], false));
        assert_eq!(look(&model, &[1, 1, 1]), (vec![(7, 3, 1)], vec![], false));
        let steps = model.steps(&at(&model, &[1, 0, 1]), 0, &at(&model, &[7, 3, 1]));
        assert_eq!(steps.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(before(&model, &[7, 3, 1]), [(1, 0, 1), (1, 1, 1)], "from the beginning, and from where it blocked");
        assert_eq!(before(&model, &[0, 1, 0]), [(0, 0, 0)]);
        assert_eq!(before(&model, &[1, 1, 1]), [(0, 1, 0)], "P does not stop where it could go on");
        assert!(!model.independence().unwrap()[0].contains(3), "P reads x later");
    }
}

#[test]
fn every_way_through_is_a_transition() {
    for model in models(system(vec![
        Event { then: Then::Atomic(P), ..step(P, 0, 1) },
        Event { then: Then::Atomic(P), effects: sets(1), ..step(P, 1, 2) },
        Event { then: Then::Atomic(P), effects: sets(2), ..step(P, 1, 2) },
        Event { then: Then::Atomic(P), effects: sets(2), ..step(P, 1, 3) },
        step(P, 2, 4),
        step(P, 3, 4),
    ])) {
        let (states, faults, _) = look(&model, &[0, 0, 0]);
        assert_eq!(states, [(1, 4, 0), (2, 4, 0), (2, 4, 0)]);
        assert!(faults.is_empty());
        let source = at(&model, &[0, 0, 0]);
        let mut out = Batch::new(model.state_bytes());
        model.expand(&source, &mut out);
        let ways = (0..3).map(|i| model.steps(&source, out.event(i), out.state(i)));
        let ways: Vec<Vec<u32>> = ways.map(|way| way.into_iter().map(|(code, _)| code).collect()).collect();
        assert_eq!(ways, [[0, 1, 4], [0, 2, 4], [0, 3, 5]]);
        assert_eq!(model.event(out.event(2)).label, "0:0-1");
    }
}

#[test]
fn loops_are_left_by_every_exit() {
    let add = |limit: i64| Event {
        then: Then::Atomic(P),
        guard: binary(BinaryOp::Less, Expr::Var(X), Expr::Const(limit)),
        effects: vec![set(X, binary(BinaryOp::Add, Expr::Var(X), Expr::Const(1)))],
        ..step(P, 1, 1)
    };
    let enter = || Event { then: Then::Atomic(P), ..step(P, 0, 1) };
    // One that comes to an end, one that turns in one place, one that turns in two, one that never lets go.
    for (looping, expected) in [
        (vec![add(150)], 151),
        (vec![Event { then: Then::Atomic(P), ..step(P, 1, 1) }], 1),
        (
            vec![
                Event { effects: sets(3), then: Then::Atomic(P), ..step(P, 1, 5) },
                Event { then: Then::Atomic(P), ..step(P, 5, 1) },
            ],
            2,
        ),
    ] {
        let system = system([vec![enter()], looping, vec![step(P, 1, 2)]].concat());
        // The second pair soon remembers what was passed through.
        let few = Limits { steps: 20, ..Limits::default() };
        for model in models(system.clone()).into_iter().chain(models_within(system, few)) {
            let (mut states, faults, deadlock) = look(&model, &[0, 0, 0]);
            states.dedup();
            states.sort_unstable();
            states.dedup();
            assert_eq!((states.len(), faults.len(), deadlock), (expected, 0, false));
        }
    }
    for model in models(system(vec![enter(), Event { then: Then::DStep(P), ..step(P, 1, 1) }])) {
        assert_eq!(look(&model, &[0, 0, 0]), (vec![], vec![(0, Fault::Endless)], false), "it is busy, not dead");
    }
}

#[test]
fn one_that_is_given_up_does_not_hide_the_others() {
    let count = vec![set(X, binary(BinaryOp::Add, Expr::Var(X), Expr::Const(1)))];
    let system = system(vec![
        Event { then: Then::Atomic(P), ..step(P, 0, 1) },
        Event { then: Then::Atomic(P), effects: count, ..step(P, 1, 1) },
        step(Q, 0, 1),
    ]);
    for model in models_within(system, Limits { steps: 5, ..Limits::default() }) {
        let (states, faults, deadlock) = look(&model, &[0, 0, 0]);
        assert_eq!((states, faults.len(), deadlock), (vec![(0, 0, 1)], 1, false));
        assert_eq!(faults[0].1, Fault::Endless);
    }
}

#[test]
fn what_is_bound_must_go_on() {
    for model in models(system(vec![
        Event { then: Then::DStep(P), ..step(P, 0, 1) },
        Event { then: Then::DStep(P), effects: sets(1), ..step(P, 1, 2) },
        Event { guard: Expr::equals(X, 2), ..step(P, 2, 3) },
    ])) {
        assert_eq!(look(&model, &[0, 0, 0]), (vec![], vec![(1, Fault::Stuck)], false));
        let way = model.steps_to_fault(&at(&model, &[0, 0, 0]), FaultRecord { event: 1, fault: Fault::Stuck });
        assert_eq!(way, [(0, at(&model, &[0, 1, 0]))]);
    }
}

#[test]
fn late_events_wait_for_all_others() {
    let broken = binary(BinaryOp::Divide, Expr::Const(1), Expr::Var(X));
    for model in models(system(vec![
        Event { late: true, ..step(P, 0, 1) },
        Event { guard: Expr::equals(X, 1), ..step(Q, 0, 1) },
        Event { guard: broken, ..step(P, 2, 3) },
        Event { late: true, ..step(P, 2, 4) },
    ])) {
        assert_eq!(look(&model, &[0, 0, 0]), (vec![(0, 1, 0)], vec![], false));
        assert_eq!(look(&model, &[1, 0, 0]), (vec![(1, 0, 1)], vec![], false));
        assert_eq!(look(&model, &[0, 2, 0]), (vec![], vec![(2, Fault::Division)], false));
        assert_eq!(look(&model, &[2, 2, 0]), (vec![(2, 4, 0)], vec![], false), "1 / 2 is no guard that holds");
    }
}

#[test]
fn late_events_are_undone_where_they_had_to_wait() {
    for model in models(system(vec![
        Event { late: true, ..step(P, 0, 1) },
        Event { effects: sets(1), ..step(Q, 0, 1) },
        Event { guard: Expr::equals(X, 3), ..step(P, 0, 2) },
    ])) {
        assert_eq!(before(&model, &[0, 1, 0]), [], "Q could move");
        assert_eq!(before(&model, &[1, 1, 1]), [(0, 1, 0), (1, 0, 1)], "by either, though the first cannot be reached");
        let rows = model.independence().unwrap();
        assert!(rows[0].is_empty() && !rows[1].contains(0), "what is late depends on everything");
    }
}

#[test]
fn violated_assertions_do_not_stop_an_event() {
    let below = binary(BinaryOp::Less, Expr::Var(X), Expr::Const(2));
    let broken = binary(BinaryOp::Divide, Expr::Const(1), Expr::Var(X));
    for model in models(system(vec![
        Event { assertion: Some(below), effects: sets(9), ..step(P, 0, 1) },
        Event { assertion: Some(broken), ..step(Q, 0, 1) },
    ])) {
        assert_eq!(look(&model, &[1, 0, 1]), (vec![(9, 1, 1)], vec![], false));
        assert_eq!(look(&model, &[3, 0, 1]), (vec![(9, 1, 1)], vec![(0, Fault::Assertion)], false));
        assert_eq!(look(&model, &[0, 1, 0]), (vec![], vec![(1, Fault::Division)], true));
    }
    // Within a sequence it has a way that leads to it.
    for model in models(system(vec![
        Event { then: Then::Atomic(P), effects: sets(5), ..step(P, 0, 1) },
        Event { assertion: Some(Expr::equals(X, 0)), ..step(P, 1, 2) },
    ])) {
        assert_eq!(look(&model, &[0, 0, 0]), (vec![(5, 2, 0)], vec![(1, Fault::Assertion)], false));
        let way = model.steps_to_fault(&at(&model, &[0, 0, 0]), FaultRecord { event: 1, fault: Fault::Assertion });
        assert_eq!(way, [(0, at(&model, &[5, 1, 0]))]);
    }
}

#[test]
fn declared_faults_have_their_message() {
    let mut system = system(vec![Event { fault: Some(0), guard: Expr::equals(X, 1), ..step(P, 0, 1) }]);
    assert!(NativeModel::new(Arc::new(system.clone()), Mode::Auto).is_err(), "there is no message");
    system.fault_messages.push("nobody home".into());
    for model in models(system) {
        assert_eq!(look(&model, &[0, 0, 0]).1, []);
        assert_eq!(look(&model, &[1, 0, 0]), (vec![], vec![(0, Fault::Model)], true));
        assert_eq!(model.fault(FaultRecord { event: 0, fault: Fault::Model }), "nobody home");
    }
}

#[test]
fn an_end_may_be_valid() {
    let mut system = system(vec![Event { guard: Expr::equals(X, 1), ..step(P, 0, 1) }]);
    system.valid_end = Some(system.at(P, 1));
    for model in models(system) {
        assert!(look(&model, &[0, 0, 0]).2, "stuck on the way");
        assert!(!look(&model, &[1, 0, 0]).2);
        assert!(!look(&model, &[1, 1, 0]).2, "at the end");
    }
}

#[test]
fn a_claim_moves_once_for_steps_that_go_together() {
    for then in [Then::Atomic(P), Then::DStep(P)] {
        let expected = [["0:0-1; never.s -> never.t", "0:1-2"]];
        let mut system = system(vec![Event { then, effects: sets(1), ..step(P, 0, 1) }, step(P, 1, 2)]);
        let never = process(&mut system, "never", &["s", "t", "u"]);
        let follow = |from, to, guard| ClaimMove { from, to, guard, span: Span::default() };
        let moves = vec![follow(0, 1, Expr::TRUE), follow(1, 2, Expr::equals(X, 1)), follow(1, 0, Expr::equals(X, 0))];
        system.claim = Some(Claim { process: never, moves });
        system.initial = vec![zeros(&system)];
        for model in models(system) {
            let source = at(&model, &[0, 0, 0, 0]);
            let mut out = Batch::new(model.state_bytes());
            model.expand(&source, &mut out);
            let ways = (0..out.len()).map(|i| model.steps(&source, out.event(i), out.state(i)));
            let labels: Vec<Vec<String>> =
                ways.map(|way| way.into_iter().map(|(code, _)| model.event(code).label).collect()).collect();
            assert_eq!(labels, expected);
        }
    }
}

#[test]
fn events_are_watched_where_asked_for() {
    for mut model in models(system(vec![
        Event { then: Then::Atomic(P), ..step(P, 0, 1) },
        step(P, 1, 2),
        Event { guard: Expr::equals(X, 1), ..step(P, 2, 3) },
        step(Q, 0, 1),
    ])) {
        assert!(model.happened().is_empty());
        model.watch_events();
        look(&model, &[0, 0, 1]);
        look(&model, &[0, 2, 1]);
        assert_eq!(model.happened(), [true, true, false, false]);
    }
}
