//! Random systems, decided by bounded model checking and by a plain breadth-first search: the same verdicts, the same
//! depths, and runs that the model makes.

#[path = "../../../../tests/common/random.rs"]
#[allow(dead_code)]
mod texts;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use scrimp_bounded::{BoundedReport, Options, run};
use scrimp_core::{Control, Property, PropertyKind, PropertyResult, Verdict};
use scrimp_native::{Mode, NativeModel};
use scrimp_system::{
    Assign, Batch, BinaryOp, Domain, Event, Expr, Fault, Model, Moment, Move, Overflow, Process, ProcessId, Random,
    Role, Source, Span, System, Then, VarId, Variable,
};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use texts::{Shape, text};

/// States after which a system is too large to be compared.
const MOST: usize = 20_000;

/// Steps that are looked at.
const BOUND: u32 = 6;

/// For each goal how many steps lead to what decides it; `None` if there are too many states.
fn searched(model: &NativeModel, goals: &[Property<Expr>]) -> Option<Vec<Option<u32>>> {
    let mut depths = vec![None; goals.len()];
    let mut level = Batch::new(model.state_bytes());
    let mut successors = Batch::new(model.state_bytes());
    model.initial(&mut level);
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut states: Vec<Vec<u8>> = (0..level.len()).map(|i| level.state(i).to_vec()).collect();
    states.retain(|state| seen.insert(state.clone()));
    let mut depth = 0;
    while !states.is_empty() {
        let mut next = Vec::new();
        for state in &states {
            successors.clear();
            model.expand(state, &mut successors);
            let count = successors.len();
            let deadlock = successors.take_deadlock(count);
            let fault = |asserted: bool| {
                successors.faults().iter().any(|record| (record.fault == Fault::Assertion) == asserted)
            };
            for (goal, found) in goals.iter().zip(&mut depths) {
                let decided = match &goal.kind {
                    PropertyKind::Deadlock => deadlock,
                    PropertyKind::Faults => fault(false),
                    PropertyKind::Assertions => fault(true),
                    PropertyKind::Invariant(e) => model.layout().holds(e, state) != Ok(true),
                    PropertyKind::Reach(e) => model.layout().holds(e, state) == Ok(true),
                    kind => panic!("{kind:?}"),
                };
                if decided && found.is_none() {
                    *found = Some(depth);
                }
            }
            for i in 0..count {
                if seen.insert(successors.state(i).to_vec()) {
                    next.push(successors.state(i).to_vec());
                }
            }
        }
        if seen.len() > MOST {
            return None;
        }
        states = next;
        depth += 1;
    }
    Some(depths)
}

/// Holds what was found against what the search has found.
fn compare(
    report: &BoundedReport,
    goal: &Property<Expr>,
    found: &PropertyResult,
    depth: Option<u32>,
    endless: bool,
) -> Result<(), String> {
    let context =
        format!("{}: {:?} {:?}, searched {depth:?}, {:?}", goal.name, found.verdict, found.how, report.remarks);
    let steps = found.trace.as_ref().map(|trace| trace.steps.len() as u32);
    let right = match (found.verdict, steps) {
        _ if !report.remarks.is_empty() => false,
        (Verdict::Undecided, _) => report.single_steps || depth.is_none_or(|depth| depth > BOUND),
        (verdict, Some(steps)) => {
            let expected = if goal.finding_violates() { Verdict::Violated } else { Verdict::Verified };
            // Where steps run as one, a run with the fewest single steps need not have the fewest of them.
            let longer = report.single_steps && depth.is_some_and(|depth| depth <= steps);
            verdict == expected && (Some(steps) == depth || longer || endless)
        }
        (verdict, None) => {
            let expected = if goal.finding_violates() { Verdict::Verified } else { Verdict::Violated };
            verdict == expected && depth.is_none()
        }
    };
    if right { Ok(()) } else { Err(context) }
}

/// What the systems had in them, to be sure that they had something: found by a run, proven, left open.
type Met = [Cell<usize>; 3];

fn agree(system: System, met: &Met) -> Result<(), TestCaseError> {
    let system = Arc::new(system);
    let model = NativeModel::new(system.clone(), Mode::Interpreted).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let mut goals = Property::all(&system);
    for (number, process) in system.processes.iter().enumerate() {
        let at = Expr::equals(process.control, process.locations.len() as i64 - 1);
        goals.push(Property::new(format!("reach {number}"), PropertyKind::Reach(at.clone())));
        goals.push(Property::new(format!("never {number}"), PropertyKind::Invariant(Expr::not(at))));
    }
    let Some(depths) = searched(&model, &goals) else {
        return Err(TestCaseError::reject("too many states"));
    };
    let options = Options { bound: Some(BOUND), induction: true, memory: 4 << 30, keep_going: true };
    let control = Control::new(Some(Duration::from_secs(60)));
    let report = run(&model, &system, model.layout(), &goals, &options, &control)
        .map_err(|e| TestCaseError::fail(e.to_string()))?;
    for ((goal, found), depth) in goals.iter().zip(&report.properties).zip(depths) {
        // Going on for ever is a fault that only a search sees.
        let endless = report.single_steps && goal.kind == PropertyKind::Faults;
        compare(&report, goal, found, depth, endless).map_err(TestCaseError::fail)?;
        let add = |cell: &Cell<usize>, met: bool| cell.set(cell.get() + met as usize);
        add(&met[0], found.trace.is_some());
        add(&met[1], found.trace.is_none() && found.verdict != Verdict::Undecided);
        add(&met[2], found.verdict == Verdict::Undecided);
    }
    Ok(())
}

fn check<T: std::fmt::Debug>(cases: u32, systems: impl Strategy<Value = T>, system: impl Fn(&T) -> System) {
    let met = Met::default();
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    if let Err(failure) = TestRunner::new_with_rng(config, random).run(&systems, |drawn| agree(system(&drawn), &met)) {
        panic!("{failure}");
    }
    let [found, proven, open] = met.map(Cell::into_inner);
    println!("{found} by a run, {proven} by proof, {open} open");
    assert!(found > cases as usize && proven > cases as usize, "{found} by a run, {proven} by proof");
}

/// Models as text, every other one with events that are late, make assertions, or let a process go on by itself.
#[test]
fn models_of_processes() {
    check(200, text(Shape { processes: (2, 3), independent: 0 }), |text| text.system().expect("a model"));
}

const DATA: u32 = 5;

fn variable(name: &str, domain: Domain, length: Option<u32>) -> Variable {
    Variable { name: name.into(), owner: None, domain, length, role: Role::Data }
}

fn expression() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        1 => (-2i64..6).prop_map(Expr::Const),
        2 => select(vec![0, 1, 2, 5, 6]).prop_map(|v| Expr::Var(VarId(v))),
        1 => (0i64..3).prop_map(|i| Expr::Element(VarId(3), Box::new(Expr::Const(i)))),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        use BinaryOp::*;
        let boxed = || inner.clone().prop_map(Box::new);
        let op =
            select(vec![Add, Subtract, Multiply, Divide, Remainder, BitXor, Equal, NotEqual, Less, LessEqual, And, Or]);
        prop_oneof![
            5 => (op, boxed(), boxed()).prop_map(|(op, a, b)| Expr::Binary(op, a, b)),
            1 => (select(vec![3, 4]), boxed()).prop_map(|(v, index)| Expr::Element(VarId(v), index)),
            1 => (boxed(), boxed(), boxed()).prop_map(|(c, a, b)| Expr::If(c, a, b)),
        ]
    })
}

fn assignment() -> impl Strategy<Value = Assign> {
    let target = prop_oneof![
        3 => (0u32..3).prop_map(|v| (VarId(v), None)),
        2 => (3u32..5, expression()).prop_map(|(v, index)| (VarId(v), Some(index))),
    ];
    // Small values keep the number of states down.
    let value = prop_oneof![expression(), (0i64..4).prop_map(Expr::Const)];
    let moment = select(vec![Moment::Source, Moment::Current, Moment::Current]);
    (target, value, moment).prop_map(|((target, index), value, moment)| Assign { target, index, value, moment })
}

fn event() -> impl Strategy<Value = Event> {
    let a_move =
        || (0u32..2, 0u32..3, 0u32..3).prop_map(|(process, from, to)| Move { process: ProcessId(process), from, to });
    let moves = prop_oneof![
        1 => Just(vec![]),
        6 => a_move().prop_map(|m| vec![m]),
        2 => (a_move(), a_move()).prop_map(|(m, n)| vec![m, n]),
    ];
    let guard = prop_oneof![1 => Just(Expr::TRUE), 2 => expression()];
    let then = prop_oneof![
        5 => Just(Then::Free),
        2 => (0u32..2).prop_map(|p| Then::Atomic(ProcessId(p))),
        1 => (0u32..2).prop_map(|p| Then::DStep(ProcessId(p))),
    ];
    let assertion = proptest::option::weighted(0.2, expression());
    let rest = (assertion, then, proptest::bool::weighted(0.15), proptest::option::weighted(0.05, Just(0u32)));
    (moves, guard, proptest::collection::vec(assignment(), 0..3), rest).prop_map(
        |(moves, guard, effects, (assertion, then, late, fault))| Event {
            moves,
            guard,
            effects,
            assertion,
            then,
            late,
            fault,
            ..Event::default()
        },
    )
}

/// Events with all that they can have, or without what makes steps run as one; one initial state or several.
fn assemble((events, single, seed, starts): &(Vec<Event>, bool, u64, usize)) -> System {
    let mut system = System::new(Source::new("random", ""));
    let wrap = |low, high| Domain { low, high, overflow: Overflow::Wrap };
    system.variables = vec![
        variable("digit", Domain::range(0, 6), None),
        variable("small", Domain::range(-2, 3), None),
        variable("bit", Domain::range(0, 1), None),
        variable("digits", Domain::range(0, 2), Some(3)),
        variable("signed", wrap(-128, 127), Some(2)),
    ];
    assert_eq!(system.variables.len(), DATA as usize);
    for number in 0..2u32 {
        let process = ProcessId(number);
        system.variables.push(Variable { domain: Domain::range(0, 2), ..Variable::control(process) });
        system.processes.push(Process {
            name: format!("P{number}"),
            control: VarId(DATA + number),
            locations: ["a", "b", "c"].map(String::from).into(),
            accepting: Vec::new(),
            span: Span::default(),
        });
    }
    system.events = events.clone();
    if *single {
        system.events.iter_mut().for_each(|event| event.then = Then::Free);
    }
    system.fault_messages = vec!["as declared".into()];
    let mut random = Random(*seed);
    system.valid_end = (random.below(3) == 0).then(|| Expr::equals(VarId(DATA), 2));
    for _ in 0..*starts {
        let cells = system.variables.iter().flat_map(|v| std::iter::repeat_n(v.domain, v.cells()));
        let valuation = cells.map(|d| d.low.max(0) + random.below(2.min(1 + (d.high - d.low.max(0)) as usize)) as i64);
        system.initial.push(valuation.collect());
    }
    system
}

#[test]
fn events_with_everything() {
    let drawn = (proptest::collection::vec(event(), 4..16), any::<bool>(), any::<u64>(), 1usize..4);
    check(400, drawn, assemble);
}
