//! Interpreter and machine code, held against each other on random systems.
//!
//! For every system, state by state, both must give the same successors, events and faults in the same order: in states
//! that are reachable and in states that are not, with the code in one function and cut up.

use crate::common;
use crate::reference::{self, Reference};
use proptest::prelude::*;
use proptest::sample::select;
use scrimp_native::{Limits, Mode, NativeModel};
use scrimp_system::{
    Assign, Batch, BinaryOp, Claim, ClaimMove, Describe, Domain, Event, Expr, Fault, FaultRecord, Model, Moment, Move,
    Overflow, ProcessId, Span, System, Then, UnaryOp, VarId, Variable,
};
use std::collections::HashSet;
use std::sync::Arc;

/// The data variables that every system has, of all widths and kinds. Controls come behind them.
fn menu(long: bool) -> Vec<Variable> {
    let wrap = |low, high| Domain { low, high, overflow: Overflow::Wrap };
    let data = common::variable;
    vec![
        data("byte", None, Domain::BYTE, None),
        data("short", None, Domain::INT16, None),
        data("small", None, Domain::range(-3, 5), None),
        data("fixed", None, Domain::range(2, 2), None),
        data("int", None, wrap(i32::MIN as i64, i32::MAX as i64), None),
        data("long", None, wrap(i64::MIN, i64::MAX), None),
        data("wide", None, Domain::range(-5, 1 << 33), None),
        data("nothing", None, wrap(0, 0), None),
        data("bytes", None, Domain::BYTE, Some(3)),
        data("digits", None, Domain::range(0, 6), Some(4)),
        data("signed", None, wrap(-128, 127), Some(if long { 301 } else { 2 })),
        data("sevens", None, Domain::range(7, 7), Some(2)),
        data("shorts", None, Domain::range(-300, 300), Some(3)),
    ]
}

const SCALARS: u32 = 8;
const ARRAYS: u32 = 5;
const DATA: u32 = SCALARS + ARRAYS;

fn constant() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => -2i64..8,
        1 => select(vec![63, 64, 65, 127, 128, 255, 256, 300, 32767, 65535, -129, i64::MAX, i64::MIN, 1 << 32]),
    ]
}

fn scalar(processes: u32) -> impl Strategy<Value = VarId> {
    (0..SCALARS + processes).prop_map(|v| VarId(if v < SCALARS { v } else { v + ARRAYS }))
}

fn array() -> impl Strategy<Value = VarId> {
    (SCALARS..DATA).prop_map(VarId)
}

fn operator() -> impl Strategy<Value = BinaryOp> {
    use BinaryOp::*;
    select(vec![
        Add,
        Subtract,
        Multiply,
        Divide,
        Remainder,
        ShiftLeft,
        ShiftRight,
        BitAnd,
        BitOr,
        BitXor,
        Equal,
        NotEqual,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        And,
        Or,
        And,
        Or,
        Add,
        Divide,
    ])
}

fn expression(processes: u32) -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![1 => constant().prop_map(Expr::Const), 2 => scalar(processes).prop_map(Expr::Var)];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            2 => (array(), constant()).prop_map(|(v, i)| Expr::Element(v, Box::new(Expr::Const(i)))),
            2 => (array(), boxed()).prop_map(|(v, index)| Expr::Element(v, index)),
            1 => (proptest::collection::vec(constant(), 0..5), boxed())
                .prop_map(|(values, index)| Expr::Table(values.into(), index)),
            1 => (select(vec![UnaryOp::Negate, UnaryOp::Complement, UnaryOp::Not]), boxed())
                .prop_map(|(op, a)| Expr::Unary(op, a)),
            6 => (operator(), boxed(), boxed()).prop_map(|(op, a, b)| Expr::Binary(op, a, b)),
            1 => (boxed(), boxed(), boxed()).prop_map(|(c, a, b)| Expr::If(c, a, b)),
        ]
    })
}

/// An index that mostly exists.
fn near_index() -> impl Strategy<Value = Expr> {
    let of = |v: u32| Expr::Binary(BinaryOp::BitAnd, Box::new(Expr::Var(VarId(v))), Box::new(Expr::Const(1)));
    prop_oneof![(0i64..3).prop_map(Expr::Const), (0u32..6).prop_map(of)]
}

/// Little but the few variables that [`near_assignment`] writes, so that effects see what earlier ones did.
fn near_expression() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        1 => constant().prop_map(Expr::Const),
        2 => select(vec![0, 1, 4, 5]).prop_map(|v| Expr::Var(VarId(v))),
        3 => (select(vec![8, 10, 12]), near_index()).prop_map(|(v, index)| Expr::Element(VarId(v), Box::new(index))),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        (operator(), inner.clone(), inner).prop_map(|(op, a, b)| Expr::Binary(op, Box::new(a), Box::new(b)))
    })
}

fn near_assignment() -> impl Strategy<Value = Assign> {
    let value = || (near_expression(), select(vec![Moment::Source, Moment::Current, Moment::Current]));
    prop_oneof![
        (select(vec![0, 1, 4, 5]), value()).prop_map(|(v, (value, moment))| Assign {
            target: VarId(v),
            index: None,
            value,
            moment
        }),
        (select(vec![8, 10, 12]), near_index(), value()).prop_map(|(v, index, (value, moment))| Assign {
            target: VarId(v),
            index: Some(index),
            value,
            moment
        }),
    ]
}

fn assignment(processes: u32) -> impl Strategy<Value = Assign> {
    let moment = || select(vec![Moment::Source, Moment::Current, Moment::Current]);
    let index = prop_oneof![constant().prop_map(Expr::Const), expression(processes)];
    prop_oneof![
        (0..SCALARS, expression(processes), moment()).prop_map(|(v, value, moment)| Assign {
            target: VarId(v),
            index: None,
            value,
            moment
        }),
        (array(), index, expression(processes), moment()).prop_map(|(target, index, value, moment)| Assign {
            target,
            index: Some(index),
            value,
            moment
        }),
    ]
}

/// Locations are drawn from the process's number of them, which is known only later: they are taken modulo it.
fn a_move(processes: u32) -> impl Strategy<Value = Move> {
    (0..processes, 0u32..12, 0u32..12).prop_map(|(process, from, to)| Move { process: ProcessId(process), from, to })
}

fn guard(processes: u32) -> impl Strategy<Value = Expr> {
    prop_oneof![1 => Just(Expr::TRUE), 3 => expression(processes)]
}

fn an_event(processes: u32) -> impl Strategy<Value = Event> {
    let moves = prop_oneof![
        1 => Just(vec![]),
        6 => a_move(processes).prop_map(|m| vec![m]),
        3 => (a_move(processes), a_move(processes)).prop_map(|(m, n)| vec![m, n]),
    ];
    let effects = prop_oneof![
        proptest::collection::vec(assignment(processes), 0..4),
        proptest::collection::vec(near_assignment(), 0..7),
    ];
    let assertion = proptest::option::weighted(0.15, expression(processes));
    let then = prop_oneof![
        5 => Just(Then::Free),
        2 => (0..processes).prop_map(|p| Then::Atomic(ProcessId(p))),
        1 => (0..processes).prop_map(|p| Then::DStep(ProcessId(p))),
    ];
    let rest = (assertion, then, proptest::bool::weighted(0.1), proptest::option::weighted(0.05, 0u32..2));
    (moves, guard(processes), effects, rest).prop_map(|(moves, guard, effects, (assertion, then, late, fault))| Event {
        assertion,
        then,
        late,
        fault,
        ..common::event("e".into(), moves, guard, effects)
    })
}

fn claim_move(processes: u32) -> impl Strategy<Value = ClaimMove> {
    (0u32..3, 0u32..3, guard(processes)).prop_map(|(from, to, guard)| ClaimMove {
        from,
        to,
        guard,
        span: Span::default(),
    })
}

#[derive(Debug, Clone)]
struct Case {
    system: Arc<System>,
    conditions: Vec<Expr>,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let sizes = (proptest::collection::vec(1usize..5, 2..4), proptest::bool::weighted(0.1));
    sizes.prop_flat_map(|(locations, long)| {
        let processes = locations.len() as u32;
        let claim = proptest::option::weighted(0.3, proptest::collection::vec(claim_move(processes), 0..6));
        let events = proptest::collection::vec(an_event(processes), 0..14);
        let conditions = proptest::collection::vec(expression(processes), 1..4);
        (events, claim, conditions, any::<u64>(), 1usize..4).prop_map(
            move |(events, claim, conditions, seed, starts)| {
                let system = Arc::new(assemble(&locations, long, events, claim, seed, starts));
                Case { system, conditions, seed }
            },
        )
    })
}

fn assemble(
    locations: &[usize],
    long: bool,
    events: Vec<Event>,
    claim: Option<Vec<ClaimMove>>,
    seed: u64,
    starts: usize,
) -> System {
    let mut system = common::empty();
    system.variables = menu(long);
    for (i, count) in locations.iter().enumerate() {
        common::process(&mut system, &format!("P{i}"), &["a", "b", "c", "d"][..*count]);
    }
    system.events = events;
    system.fault_messages = vec!["one".into(), "two".into()];
    for event in &mut system.events {
        for m in &mut event.moves {
            let count = locations[m.process.index()] as u32;
            (m.from, m.to) = (m.from % count, m.to % count);
        }
    }
    if let Some(moves) = claim {
        let process = common::process(&mut system, "never", &["x", "y", "z"]);
        system.claim = Some(Claim { process, moves });
    }
    let mut random = Random(seed);
    system.initial = (0..starts).map(|_| random.valuation(&system)).collect();
    system.validate().expect("a valid system");
    system
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }

    /// Mostly near zero, so that guards and indices have a chance.
    fn value(&mut self, domain: Domain) -> i64 {
        let span = (domain.high.wrapping_sub(domain.low) as u64).wrapping_add(1);
        let any = match span {
            0 => self.next() as i64,
            _ => domain.low.wrapping_add((self.next() % span) as i64),
        };
        if self.next().is_multiple_of(8) {
            return domain.low;
        }
        let near = self.next() as i64 % 4;
        if !self.next().is_multiple_of(4) && domain.contains(near) { near } else { any }
    }

    fn valuation(&mut self, system: &System) -> Vec<i64> {
        let cells = system.variables.iter().flat_map(|v| std::iter::repeat_n(v.domain, v.cells()));
        cells.map(|domain| self.value(domain)).collect()
    }
}

type Successors = reference::Successors;

fn successors(model: &NativeModel, state: &[u8], out: &mut Batch) -> Successors {
    out.clear();
    model.expand(state, out);
    let states = (0..out.len()).map(|i| (out.state(i).to_vec(), out.event(i))).collect();
    (states, out.faults().iter().map(|f| (f.event, f.fault)).collect())
}

/// The same from single steps, each of which must be one that leads from one state to the next.
fn check_steps(model: &NativeModel, reference: &Reference, state: &[u8], found: &Successors) {
    for (successor, code) in &found.0 {
        let steps = model.steps(state, *code, successor);
        assert_eq!(&steps.last().unwrap().1, successor);
        reference.check_steps(state, &steps);
    }
    for (event, fault) in &found.1 {
        let record = FaultRecord { event: *event, fault: *fault };
        let steps = model.steps_to_fault(state, record);
        reference.check_steps(state, &steps);
        let last = steps.last().map_or(state, |(_, state)| state);
        assert!(reference.has_fault(last, (*event, *fault)), "{record:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn code_does_what_the_interpreter_does(case in case()) {
        let system = &case.system;
        const STEPS: usize = 300;
        let limits = Limits { steps: STEPS, ..Limits::default() };
        let oracle = NativeModel::with_limits(system.clone(), Mode::Interpreted, limits).unwrap();
        let reference = Reference::new(system.clone());
        let shapes = [limits, Limits { whole: 0, part: 1, ..limits }, Limits { whole: 0, part: 4, ..limits }];
        let models = shapes.map(|limits| NativeModel::with_limits(system.clone(), Mode::Compiled, limits).unwrap());
        let predicates: Vec<_> = case.conditions.iter().map(|e| (e, models[0].predicate(e))).collect();
        let conditions = models[0].conditions(&case.conditions);
        let mut states = Batch::new(oracle.state_bytes());
        oracle.initial(&mut states);
        let mut seen: HashSet<Vec<u8>> = (0..states.len()).map(|i| states.state(i).to_vec()).collect();
        let mut random = Random(case.seed ^ 1);
        for _ in 0..60 {
            let values = random.valuation(system);
            let state = states.push_with(0);
            state.fill(0);
            oracle.layout().encode(&values, state);
        }
        let mut out = Batch::new(oracle.state_bytes());
        let mut next = 0;
        while next < states.len() && next < 300 {
            let state = states.state(next);
            let expected = successors(&oracle, state, &mut out);
            match reference.successors(state, STEPS) {
                Some(defined) => prop_assert_eq!(&defined, &expected),
                None if expected.1.iter().any(|(_, fault)| *fault == Fault::Endless) => {}
                None => {
                    let found: HashSet<Vec<u8>> = expected.0.iter().map(|(state, _)| state.clone()).collect();
                    prop_assert_eq!(&reference.outcomes(state), &found);
                }
            }
            let codes: HashSet<u32> = expected.0.iter().map(|(_, code)| *code).collect();
            prop_assert_eq!(codes.len(), expected.0.len());
            if next.is_multiple_of(7) && expected.0.len() + expected.1.len() < 30 {
                check_steps(&oracle, &reference, state, &expected);
            }
            for model in &models {
                prop_assert_eq!(&successors(model, state, &mut out), &expected);
            }
            for (e, predicate) in &predicates {
                prop_assert_eq!(predicate.holds(state), oracle.layout().holds(e, state));
            }
            let failing = case.conditions.iter().map(|e| oracle.layout().holds(e, state) != Ok(true));
            let failing: Vec<usize> = failing.enumerate().filter(|(_, fails)| *fails).map(|(i, _)| i).collect();
            prop_assert_eq!(conditions.failing(state).collect::<Vec<_>>(), failing);
            for (state, code) in expected.0 {
                let _ = oracle.event(code);
                if seen.insert(state.clone()) {
                    states.push(&state, 0);
                }
            }
            next += 1;
        }
    }
}
