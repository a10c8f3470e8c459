//! The model as the search sees it: counts of known state spaces, texts, claims, and the switch to machine code.

#[allow(dead_code)]
use crate::common::{binary, element, empty, event, peterson, process, set, set_at, variable, zeros};
use scrimp_native::{Limits, Mode, NativeModel};
use scrimp_system::{
    Batch, BinaryOp, Claim, ClaimMove, Describe, Domain, Event, Expr, Fault, Model, Move, ProcessId, Source, Span,
    System, VarId,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// States and transitions.
fn count(model: &NativeModel) -> (usize, usize) {
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut states = Batch::new(model.state_bytes());
    let mut out = Batch::new(model.state_bytes());
    model.initial(&mut out);
    let (mut next, mut transitions) = (0, 0);
    loop {
        for i in 0..out.len() {
            if seen.insert(out.state(i).to_vec()) {
                states.push(out.state(i), 0);
            }
        }
        if next == states.len() {
            return (states.len(), transitions);
        }
        out.clear();
        model.expand(states.state(next), &mut out);
        transitions += out.len();
        next += 1;
    }
}

#[test]
fn peterson_for_three_has_its_state_space() {
    let system = Arc::new(peterson(3));
    for mode in [Mode::Auto, Mode::AtOnce, Mode::Interpreted, Mode::Compiled] {
        let model = NativeModel::new(system.clone(), mode).unwrap();
        assert_eq!(model.is_compiled(), mode != Mode::Interpreted);
        assert_eq!(count(&model), STATES_AND_TRANSITIONS);
    }
    for part in [1, 2, 5, 8] {
        let model =
            NativeModel::with_limits(system.clone(), Mode::Compiled, Limits { whole: 0, part, ..Limits::default() })
                .unwrap();
        assert_eq!(count(&model), STATES_AND_TRANSITIONS);
    }
}

/// Counted by a program that shares nothing with this one.
const STATES_AND_TRANSITIONS: (usize, usize) = (12498, 33369);

fn step(process: ProcessId, from: u32, to: u32) -> Vec<Move> {
    vec![Move { process, from, to }]
}

/// A counter that goes to 2 and stops, and a claim with a choice.
fn counter() -> System {
    let mut system = empty();
    system.source = Source::new("counter", "one\n  two  \nthree");
    let p = process(&mut system, "P", &["run"]);
    let x = VarId(system.variables.len() as u32);
    system.variables.push(variable("x", Some(p.0), Domain::range(0, 2), None));
    system.variables.push(variable("a", None, Domain::BYTE, Some(2)));
    let up = set(x, binary(BinaryOp::Add, Expr::Var(x), Expr::Const(1)));
    let below = binary(BinaryOp::Less, Expr::Var(x), Expr::Const(2));
    system.events.push(event("up".into(), step(p, 0, 0), below, vec![up]));
    system.events[0].span.line = 2;
    system.initial = vec![zeros(&system)];
    system
}

fn with_claim() -> System {
    let mut system = counter();
    let never = process(&mut system, "never", &["s", "t"]);
    let to = |from, to, guard| ClaimMove { from, to, guard, span: Span { line: 3, ..Span::default() } };
    let broken = Expr::Binary(BinaryOp::Divide, Box::new(Expr::Const(1)), Box::new(Expr::Var(VarId(1))));
    let moves = vec![to(0, 0, Expr::TRUE), to(0, 1, Expr::equals(VarId(1), 1)), to(1, 1, broken)];
    system.claim = Some(Claim { process: never, moves });
    system.initial = vec![zeros(&system)];
    system
}

#[test]
fn texts_name_processes_lines_and_values() {
    let model = NativeModel::new(Arc::new(counter()), Mode::Auto).unwrap();
    let text = model.event(0);
    assert_eq!((text.label.as_str(), text.line, text.source.as_str()), ("up", 2, "two"));
    assert_eq!(text.processes, ["P"]);
    let mut out = Batch::new(model.state_bytes());
    model.initial(&mut out);
    let shown: Vec<String> = model.values(out.state(0)).into_iter().map(|(n, v)| format!("{n}={v}")).collect();
    assert_eq!(shown, ["P=run", "P.x=0", "a[0]=0", "a[1]=0"]);
}

#[test]
fn a_claim_moves_in_step_and_alone() {
    for mode in [Mode::Interpreted, Mode::Compiled] {
        let model = NativeModel::new(Arc::new(with_claim()), mode).unwrap();
        let mut out = Batch::new(model.state_bytes());
        let seen = |out: &Batch| -> Vec<(String, String, String)> {
            let state = |i| model.values(out.state(i));
            (0..out.len())
                .map(|i| (state(i)[1].1.clone(), state(i)[2].1.clone(), model.event(out.event(i)).label))
                .collect()
        };
        let entry = |never: &str, x: &str, label: &str| (never.to_string(), x.to_string(), label.to_string());
        let state = |x: i64, never: i64| {
            let mut batch = Batch::new(model.state_bytes());
            model.layout().encode(&[0, x, 0, 0, never], batch.push_with(0));
            batch
        };
        model.expand(state(0, 0).state(0), &mut out);
        assert_eq!(seen(&out), [entry("s", "1", "up; never.s -> never.s")]);
        out.clear();
        model.expand(state(1, 0).state(0), &mut out);
        let both = [entry("s", "2", "up; never.s -> never.s"), entry("t", "2", "up; never.s -> never.t")];
        assert_eq!(seen(&out), both);
        out.clear();
        model.expand(state(2, 0).state(0), &mut out);
        assert_eq!(seen(&out), [entry("s", "2", "never.s -> never.s")]);
        out.clear();
        model.expand(state(0, 1).state(0), &mut out);
        assert!(out.is_empty());
        assert_eq!(out.faults().len(), 1);
        assert_eq!(out.faults()[0].fault, Fault::Division);
        assert_eq!(model.parts(out.faults()[0].event), (None, Some(2)));
    }
}

#[test]
fn faults_are_reported_once_and_leave_no_successor() {
    let mut system = empty();
    let a = VarId(0);
    system.variables.push(variable("a", None, Domain::BYTE, Some(2)));
    system.variables.push(variable("r", None, Domain::range(0, 3), None));
    let bad = Expr::Binary(BinaryOp::Divide, Box::new(Expr::Const(1)), Box::new(element(a, Expr::Const(0))));
    let far = element(a, Expr::Var(VarId(1)));
    let events = [
        (bad.clone(), vec![]),
        (Expr::TRUE, vec![set_at(a, Expr::Const(1), Expr::Const(9)), set(VarId(1), Expr::Const(4))]),
        (Expr::TRUE, vec![set_at(a, far, bad)]),
        (Expr::TRUE, vec![set(VarId(1), Expr::Const(3))]),
    ];
    for (guard, effects) in events {
        system.events.push(event("e".into(), vec![], guard, effects));
    }
    system.initial = vec![vec![0, 0, 2]];
    for mode in [Mode::Interpreted, Mode::Compiled] {
        let model = NativeModel::new(Arc::new(system.clone()), mode).unwrap();
        let (mut start, mut out) = (Batch::new(3), Batch::new(3));
        model.initial(&mut start);
        model.expand(start.state(0), &mut out);
        let faults: Vec<_> = out.faults().iter().map(|f| (f.event, f.fault)).collect();
        assert_eq!(faults, [(0, Fault::Division), (1, Fault::Range), (2, Fault::Index)]);
        assert_eq!((out.len(), out.event(0)), (1, 3));
        assert_eq!(model.values(out.state(0))[2], ("r".to_string(), "3".to_string()));
    }
}

#[test]
fn effects_see_what_earlier_ones_wrote() {
    let mut system = empty();
    let (a, x, y, z) = (VarId(0), VarId(1), VarId(2), VarId(3));
    system.variables.push(variable("a", None, Domain::BYTE, Some(2)));
    for name in ["x", "y", "z"] {
        system.variables.push(variable(name, None, Domain::BYTE, None));
    }
    let (known, told) = (|| Expr::Const(0), || Expr::Var(x));
    let effects = vec![
        set_at(a, known(), Expr::Const(1)),
        set_at(a, told(), Expr::Const(2)),
        set(y, element(a, known())),
        set_at(a, known(), Expr::Const(259)),
        set(z, element(a, told())),
        set_at(a, Expr::Const(1), binary(BinaryOp::Add, element(a, known()), Expr::Var(z))),
    ];
    system.events.push(event("e".into(), vec![], Expr::TRUE, effects));
    system.initial = vec![vec![0; 5]];
    for mode in [Mode::Interpreted, Mode::Compiled] {
        let model = NativeModel::new(Arc::new(system.clone()), mode).unwrap();
        let (mut start, mut out) = (Batch::new(5), Batch::new(5));
        model.initial(&mut start);
        model.expand(start.state(0), &mut out);
        let values: Vec<String> = model.values(out.state(0)).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, ["3", "6", "0", "2", "3"]);
    }
}

#[test]
fn broken_systems_are_refused() {
    let mut system = peterson(2);
    system.events[0].moves[0].to = 9;
    assert!(NativeModel::new(Arc::new(system), Mode::Auto).is_err());
}

/// Peterson with every event many times over: large enough to be compiled in the background.
fn large(copies: usize) -> Arc<System> {
    let mut system = peterson(3);
    let events = system.events.clone();
    system.events = (0..copies).flat_map(|_| events.iter().cloned()).collect();
    Arc::new(system)
}

#[test]
fn code_is_made_where_there_is_memory_for_it() {
    let system = large(100);
    let work = system.events.iter().map(Event::size).sum::<usize>() << 10;
    let within = |mode: Mode, memory| mode.within(&system, memory);
    let memories = [work, 2 * work, 31 * work, 32 * work];
    let modes = [Mode::Interpreted, Mode::AtOnce, Mode::AtOnce, Mode::Auto];
    assert_eq!(memories.map(|memory| within(Mode::Auto, memory)), modes);
    assert_eq!([Mode::Interpreted, Mode::Compiled].map(|mode| within(mode, 1)), [Mode::Interpreted, Mode::Compiled]);
    assert!(NativeModel::new(system.clone(), Mode::AtOnce).unwrap().is_compiled());
}

#[test]
fn a_model_may_go_while_it_is_being_compiled() {
    for wait in 0..8 {
        let model = NativeModel::new(large(100), Mode::Auto).unwrap();
        let mut out = Batch::new(model.state_bytes());
        model.initial(&mut out);
        std::thread::sleep(Duration::from_millis(wait * 3));
        drop(model);
    }
}

#[test]
fn threads_run_on_through_the_switch() {
    let system = large(60);
    let oracle = NativeModel::new(system.clone(), Mode::Interpreted).unwrap();
    let model = NativeModel::new(system, Mode::Auto).unwrap();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let new = || Batch::new(model.state_bytes());
                let (mut state, mut out, mut expected) = (new(), new(), new());
                model.initial(&mut state);
                let mut after = 0;
                while after < 1000 && start.elapsed() < Duration::from_secs(60) {
                    out.clear();
                    expected.clear();
                    after += model.is_compiled() as usize;
                    model.expand(state.state(0), &mut out);
                    oracle.expand(state.state(0), &mut expected);
                    assert_eq!(out.len(), expected.len());
                    for i in 0..out.len() {
                        assert_eq!((out.state(i), out.event(i)), (expected.state(i), expected.event(i)));
                    }
                    let chosen = after.wrapping_mul(7919) % out.len();
                    state.clear();
                    state.push(out.state(chosen), 0);
                }
            });
        }
    });
    assert!(model.is_compiled());
}
