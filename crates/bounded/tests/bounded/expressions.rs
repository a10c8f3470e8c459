//! Circuits against `Expr::eval`: the same value and the same faults, on random expressions and values.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use scrimp_bounded::circuit::{Bit, Circuit, Gate};
use scrimp_bounded::evaluate::{Cells, evaluate};
use scrimp_bounded::word::Word;
use scrimp_system::{BinaryOp, Expr, Fault, UnaryOp, VarId};

/// The intervals of scalars, and of arrays with their lengths.
const SCALARS: [(i64, i64); 8] =
    [(0, 255), (-32768, 32767), (-3, 5), (2, 2), (i64::MIN, i64::MAX), (0, 1), (-5, 1 << 33), (i64::MIN, -1)];
const ARRAYS: [(i64, i64, usize); 3] = [(0, 6, 4), (-128, 127, 3), (0, 255, 1)];

struct Words {
    words: Vec<Vec<Word>>,
}

impl Cells for Words {
    fn cells(&self, variable: VarId) -> &[Word] {
        &self.words[variable.index()]
    }
}

/// The value of a bit, given the inputs in the order in which they were made.
fn compute(circuit: &Circuit, inputs: &[bool]) -> Vec<bool> {
    let mut values: Vec<bool> = Vec::with_capacity(circuit.count());
    let mut inputs = inputs.iter();
    for number in 0..circuit.count() {
        let of = |bit: Bit| values[bit.gate()] != bit.is_complement();
        let value = match circuit.gate(number) {
            Gate::False => false,
            Gate::Input => *inputs.next().expect("an input for each"),
            Gate::And(a, b) => of(a) && of(b),
            Gate::Xor(a, b) => of(a) != of(b),
            Gate::Choose(which, a, b) => of(if of(which) { a } else { b }),
        };
        values.push(value);
    }
    values
}

fn constant() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => -2i64..8,
        2 => select(vec![63, 64, 65, 127, 128, 255, 256, 300, 32767, 65535, -129, i64::MAX, i64::MIN, 1 << 32, 16, -8]),
    ]
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
    ])
}

fn expression() -> impl Strategy<Value = Expr> {
    let scalars = SCALARS.len() as u32;
    let arrays = ARRAYS.len() as u32;
    let leaf = prop_oneof![
        1 => constant().prop_map(Expr::Const),
        2 => (0..scalars).prop_map(|v| Expr::Var(VarId(v))),
    ];
    leaf.prop_recursive(4, 20, 3, move |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            2 => (scalars..scalars + arrays, boxed()).prop_map(|(v, index)| Expr::Element(VarId(v), index)),
            1 => (proptest::collection::vec(constant(), 0..6), boxed())
                .prop_map(|(values, index)| Expr::Table(values.into(), index)),
            1 => (select(vec![UnaryOp::Negate, UnaryOp::Complement, UnaryOp::Not]), boxed())
                .prop_map(|(op, a)| Expr::Unary(op, a)),
            7 => (operator(), boxed(), boxed()).prop_map(|(op, a, b)| Expr::Binary(op, a, b)),
            1 => (boxed(), boxed(), boxed()).prop_map(|(c, a, b)| Expr::If(c, a, b)),
        ]
    })
}

/// Mostly near zero, now and then anything of the interval.
fn draw((low, high): (i64, i64), seed: u64) -> i64 {
    let mixed = (seed ^ seed >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let near = (mixed >> 40) as i64 % 12 - 3;
    let span = (high.wrapping_sub(low) as u64).wrapping_add(1);
    match mixed >> 61 {
        0 => low,
        1 => high,
        2..=5 if (low..=high).contains(&near) => near,
        _ if span == 0 => mixed.wrapping_mul(0x94D0_49BB_1331_11EB) as i64,
        _ => low.wrapping_add((mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9) % span) as i64),
    }
}

#[test]
fn circuits_do_what_expressions_say() {
    let config = Config { cases: 3000, failure_persistence: None, ..Config::default() };
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let strategy = (expression(), proptest::collection::vec(any::<u64>(), 8));
    let faults = std::cell::Cell::new(0);
    TestRunner::new_with_rng(config, random)
        .run(&strategy, |(e, seeds)| {
            let mut circuit = Circuit::new();
            let mut words: Vec<Vec<Word>> =
                SCALARS.iter().map(|(low, high)| vec![Word::input(&mut circuit, *low, *high)]).collect();
            for (low, high, length) in ARRAYS {
                words.push((0..length).map(|_| Word::input(&mut circuit, low, high)).collect());
            }
            let read = Words { words };
            let value = evaluate(&mut circuit, &e, &read);
            for seed in seeds {
                let drawn: Vec<Vec<i64>> = read
                    .words
                    .iter()
                    .enumerate()
                    .map(|(v, cells)| {
                        let at = |c: usize| seed.wrapping_add((v * 64 + c) as u64 * 0x1234_5678_9ABC_DEF1);
                        (0..cells.len()).map(|c| draw(cells[c].hull(), at(c))).collect()
                    })
                    .collect();
                let mut inputs = Vec::new();
                for (cells, values) in read.words.iter().zip(&drawn) {
                    for (word, value) in cells.iter().zip(values) {
                        let signed = word.hull().0 < 0 && word.hull().1 >= 0;
                        // A word asks for its sign first.
                        if word.known().is_none() {
                            inputs.extend(signed.then_some(*value < 0));
                            inputs.extend((0..word.width()).map(|i| value >> i & 1 == 1));
                        }
                    }
                }
                let bits = compute(&circuit, &inputs);
                let bit = |bit: Bit| bits[bit.gate()] != bit.is_complement();
                let expected = e.eval(&|variable, index| {
                    let cells: &Vec<i64> = &drawn[variable.index()];
                    usize::try_from(index).ok().and_then(|i| cells.get(i)).copied().ok_or(Fault::Index)
                });
                prop_assert_eq!(bit(value.fault), expected.is_err(), "{:?} on {:?}", e, drawn);
                faults.set(faults.get() + expected.is_err() as usize);
                if let Ok(expected) = expected {
                    prop_assert_eq!(value.word.value(bit), expected, "{:?} on {:?}", e, drawn);
                    let (low, high) = value.word.hull();
                    prop_assert!((low..=high).contains(&expected), "{:?} on {:?}", e, drawn);
                }
            }
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(faults.get() > 1000, "only {} faults", faults.get());
}
