//! States that are packed into bits.

#[allow(dead_code)]
#[path = "../../examples/filter_lock.rs"]
mod filter_lock;

use crate::common::every_state::counted;
use filter_lock::Filter;
use proptest::prelude::*;
use scrimp::packed::{Packing, Reader, Writer};
use scrimp::{Checker, CheckerError, Packed, TypedModel, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::marker::PhantomData;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
enum Colour {
    Red,
    Green = 7,
    Blue,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
enum Message {
    Nothing,
    Ask {
        #[packed(max = 5)]
        from: usize,
        urgent: bool,
    },
    Answer(#[packed(bits = 3)] i8, Option<char>, Colour),
    Whole(Box3),
}

/// A tuple struct within an enum.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
struct Box3(u64, i16, ());

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
struct Nothing;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Packed)]
struct Pair<T: Clone, const N: usize>
where
    T: Debug,
{
    first: [T; N],
    second: Option<T>,
    marker: PhantomData<T>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Packed)]
struct Everything {
    flag: bool,
    message: [Message; 3],
    integers: (u8, i8, u16, i16, u32, i32, u64, i64),
    sizes: (usize, isize),
    #[packed(bits = 5)]
    narrow: [[i32; 2]; 2],
    #[packed(max = 1000)]
    counts: [Option<u16>; 3],
    #[packed(max = 0)]
    zero: u8,
    pair: Pair<Colour, 2>,
    nothing: Nothing,
}

fn colour() -> impl Strategy<Value = Colour> {
    prop_oneof![Just(Colour::Red), Just(Colour::Green), Just(Colour::Blue)]
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        Just(Message::Nothing),
        (0usize..=5, any::<bool>()).prop_map(|(from, urgent)| Message::Ask { from, urgent }),
        (-4i8..4, any::<Option<char>>(), colour()).prop_map(|(a, b, c)| Message::Answer(a, b, c)),
        (any::<u64>(), any::<i16>()).prop_map(|(a, b)| Message::Whole(Box3(a, b, ()))),
    ]
}

prop_compose! {
    fn everything()(
        (flag, integers, sizes) in any::<(bool, (u8, i8, u16, i16, u32, i32, u64, i64), (usize, isize))>(),
        message in [message(), message(), message()],
        narrow in [[-16i32..16, -16..16], [-16..16, -16..16]],
        counts in [prop::option::of(0u16..=1000), prop::option::of(0u16..=1000), prop::option::of(0u16..=1000)],
        first in [colour(), colour()],
        second in prop::option::of(colour()),
    ) -> Everything {
        let pair = Pair { first, second, marker: PhantomData };
        Everything { flag, message, integers, sizes, narrow, counts, zero: 0, pair, nothing: Nothing }
    }
}

/// What is packed into bytes that were something else before.
fn packed<T: Packed>(value: &T) -> Vec<u8> {
    let packing = Packing::<T>::of();
    let mut bytes = vec![0xa5; packing.bytes];
    (packing.pack)(value, &mut bytes).unwrap();
    bytes
}

fn comes_back<T: Packed + PartialEq + Debug>(value: &T) -> Vec<u8> {
    let bytes = packed(value);
    assert_eq!((Packing::<T>::of().unpack)(&bytes).as_ref(), Some(value));
    bytes
}

proptest! {
    #[test]
    fn what_is_packed_comes_back(one in everything(), other in everything()) {
        let (bytes, others) = (comes_back(&one), comes_back(&other));
        prop_assert_eq!(one == other, bytes == others);
        prop_assert_eq!(&packed(&one.clone()), &bytes);
    }

    #[test]
    fn messages_come_back(one in message(), other in message()) {
        prop_assert_eq!(one == other, comes_back(&one) == comes_back(&other));
    }

    #[test]
    fn what_does_not_fit_is_told(value in any::<i16>()) {
        #[derive(Packed, PartialEq, Debug)]
        struct Narrow {
            #[packed(bits = 6)]
            signed: i16,
        }
        let mut bytes = [0; 1];
        let result = (Packing::of().pack)(&Narrow { signed: value }, &mut bytes);
        prop_assert_eq!(result.is_ok(), (-32..32).contains(&value), "{:?}", result);
    }

    /// Bytes of no value are noted, and nothing panics.
    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), Packing::<Everything>::of().bytes)) {
        if let Some(value) = (Packing::<Everything>::of().unpack)(&bytes) {
            let _ = (Packing::of().pack)(&value, &mut vec![0; bytes.len()]);
        }
    }
}

#[test]
fn as_few_bits_as_can_be() {
    assert_eq!((Colour::BITS, Nothing::BITS, <()>::BITS, char::BITS), (2, 0, 0, 21));
    // The longest variant has 64 + 16 bits.
    assert_eq!(Message::BITS, 2 + 80);
    assert_eq!(Pair::<Colour, 3>::BITS, 3 * 2 + 1 + 2);
    let integers = 2 * (8 + 16 + 32 + 64);
    assert_eq!(Everything::BITS, 1 + 3 * 82 + integers + 128 + 4 * 5 + 3 * 11 + (2 * 2 + 3));
    assert_eq!(comes_back(&Nothing), [0]);
    assert_eq!(comes_back(&(true, Colour::Blue, 3u8)), [0b0001_1101, 0]);
    // Three bits of four: a number that no variant has.
    assert_eq!((Packing::<Colour>::of().unpack)(&[3]), None);
}

/// Messages go round a ring: enums with fields, options and numbers in one state.
struct Ring {
    /// So many rounds are counted, though the field holds 7.
    rounds: u8,
    begins: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
struct Table {
    seats: [Option<Message>; 3],
    #[packed(max = 7)]
    round: u8,
}

#[derive(Clone, Debug, PartialEq)]
enum Move {
    Put(usize),
    Pass(usize),
    Change(usize, i8),
}

impl TypedModel for Ring {
    type State = Table;
    type Action = Move;

    fn initial(&self) -> Vec<Table> {
        vec![Table { seats: [None, None, None], round: self.begins }]
    }

    fn actions(&self, _: &Table, out: &mut Vec<Move>) {
        for seat in 0..3 {
            out.extend([Move::Put(seat), Move::Pass(seat), Move::Change(seat, 1), Move::Change(seat, -2)]);
        }
    }

    fn next(&self, state: &Table, action: &Move) -> Option<Table> {
        let mut next = state.clone();
        match *action {
            Move::Put(seat) if state.seats[seat].is_none() => {
                next.seats[seat] = Some(Message::Ask { from: seat, urgent: state.round.is_multiple_of(2) });
            }
            Move::Pass(seat) if state.seats[(seat + 1) % 3].is_none() => {
                next.seats.swap(seat, (seat + 1) % 3);
                next.round += (seat == 2) as u8;
                if next.round > self.rounds {
                    return None;
                }
            }
            Move::Change(seat, by) => {
                next.seats[seat] = Some(match state.seats[seat].as_ref()? {
                    Message::Ask { from, .. } => Message::Answer(*from as i8 + by, Some('ä'), Colour::Green),
                    Message::Answer(number, ..) if *number > 0 => Message::Whole(Box3(1 << 40, -1, ())),
                    Message::Answer(number, ..) => Message::Answer(-number, None, Colour::Blue),
                    Message::Whole(_) => Message::Nothing,
                    Message::Nothing => return None,
                });
            }
            _ => return None,
        }
        Some(next)
    }

    fn process(&self, action: &Move) -> usize {
        match action {
            Move::Put(seat) | Move::Pass(seat) | Move::Change(seat, _) => *seat,
        }
    }
}

#[test]
fn every_store_has_the_states_that_serde_has() {
    let filter = || Filter { processes: 3, turns: 5 };
    let ring = || Ring { rounds: 1, begins: 0 };
    let (filters, rings) = (counted(&filter()), counted(&ring()));
    assert_eq!(filters, filter_lock::by_hand(filter()));
    assert_eq!(filters, filter_lock::typed(filter(), true, true).unwrap());
    for store in ["table", "packed", "tree", "collapse", "dfa", "comback"] {
        for packed in [false, true] {
            let checker = Checker::new(filter()).store(store).threads(1);
            let answer = if packed { checker.packed() } else { checker }.count().unwrap();
            assert_eq!((answer.states(), answer.transitions()), filters, "{store}, packed: {packed}");
            let checker = Checker::new(ring()).store(store).threads(1);
            let answer = if packed { checker.packed() } else { checker }.count().unwrap();
            assert_eq!((answer.states(), answer.transitions()), rings, "{store}, packed: {packed}");
        }
    }
    for threads in [2, 4] {
        let answer = Checker::new(ring()).packed().threads(threads).memory("256M").count().unwrap();
        assert_eq!((answer.states(), answer.transitions()), rings, "{threads} threads");
    }
}

#[test]
fn verdicts_and_runs_are_those_of_serde() {
    let ask = |packed: bool| {
        let checker = Checker::new(Ring { rounds: 1, begins: 0 })
            .invariant("no whole", |_, s| !s.seats.iter().flatten().any(|m| matches!(m, Message::Whole(_))))
            .reach("full", |_, s| s.seats.iter().all(Option::is_some))
            .eventually("counted", |_, s| s.round == 1)
            .ctl("can be counted", "EF counted", [("counted", |_, s| s.round == 1)])
            .no_deadlock();
        (if packed { checker.packed() } else { checker }).check().unwrap()
    };
    let (with, without) = (ask(true), ask(false));
    for property in ["no whole", "full", "counted", "can be counted", "deadlock", "no panic"] {
        assert_eq!(with.verdict(property), without.verdict(property), "{property}");
        let length = |answer: &scrimp::Answer<Ring>| answer.trace(property).map(|path| path.len());
        if property != "counted" {
            assert_eq!(length(&with), length(&without), "{property}");
        }
        if let Some(path) = with.trace(property) {
            path.replay(with.model()).unwrap();
        }
    }
    assert_eq!(with.verdict("no whole"), Verdict::Violated);
    assert!(with.to_string().contains("Change("), "{with}");
}

#[test]
fn a_value_that_does_not_fit_is_an_error_of_the_model() {
    let error = Checker::new(Ring { rounds: 9, begins: 6 }).packed().count().unwrap_err();
    assert!(matches!(error, CheckerError::Model(_)), "{error}");
    let told = error.to_string();
    assert!(told.contains("`Table.round` is 8, which does not fit: the field says max = 7"), "{told}");
    assert!(told.contains("round: 8"), "{told}");
    let told = Checker::new(Ring { rounds: 9, begins: 9 }).packed().count().unwrap_err().to_string();
    assert!(told.contains("`Table.round` is 9") && told.contains("seats: "), "{told}");
    // Serde holds everything.
    assert!(Checker::new(Ring { rounds: 9, begins: 9 }).count().is_ok());
}

/// What is packed by hand may be wrong, and what a model does may panic.
struct Wrong;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Half(u8);

impl Packed for Half {
    const BITS: u32 = 7;

    fn pack(&self, out: &mut Writer<'_>) {
        out.write(self.0 as u64 / 2, 7);
    }

    fn unpack(from: &mut Reader<'_>) -> Half {
        Half(2 * from.read(7) as u8)
    }
}

impl TypedModel for Wrong {
    type State = Half;
    type Action = u8;

    fn initial(&self) -> Vec<Half> {
        vec![Half(0)]
    }

    fn actions(&self, _: &Half, out: &mut Vec<u8>) {
        out.push(1);
    }

    fn next(&self, state: &Half, by: &u8) -> Option<Half> {
        Some(Half(state.0 + by))
    }
}

#[test]
fn what_does_not_come_back_is_told() {
    let told = Checker::new(Wrong).packed().count().unwrap_err().to_string();
    assert!(told.contains("not unpacked as it was packed"), "{told}");
}

/// Panics where a number is divided by zero.
struct Divides;

impl TypedModel for Divides {
    type State = [u8; 2];
    type Action = u8;

    fn initial(&self) -> Vec<[u8; 2]> {
        vec![[3, 0]]
    }

    fn actions(&self, _: &[u8; 2], out: &mut Vec<u8>) {
        out.extend([0, 1]);
    }

    fn next(&self, state: &[u8; 2], action: &u8) -> Option<[u8; 2]> {
        match action {
            0 => Some([state[0].checked_sub(1)?, state[1]]),
            _ => Some([state[0], 12 / state[0]]),
        }
    }
}

#[test]
fn panics_are_violations_of_packed_models_too() {
    let answer = Checker::new(Divides).packed().threads(1).check().unwrap();
    assert_eq!(answer.verdict("no panic"), Verdict::Violated);
    assert_eq!(answer.trace("no panic").unwrap().len(), 3);
    assert!(answer.to_string().contains("divide by zero"), "{answer}");
    assert_eq!(answer.states(), Checker::new(Divides).threads(1).check().unwrap().states());
}

macro_rules! through_a_macro {
    ($($item:item)*) => {$(#[derive(Clone, Debug, PartialEq, Packed)] $item)*};
}

through_a_macro! {
    struct Through {
        #[packed(max = 4)]
        count: u8,
        on: bool,
    }
}

#[test]
fn types_may_come_out_of_macros() {
    assert_eq!(Through::BITS, 4);
    let packing = scrimp::packed::Packing::<Through>::of();
    let mut bytes = vec![0; packing.bytes];
    let one = Through { count: 4, on: true };
    (packing.pack)(&one, &mut bytes).unwrap();
    assert_eq!((packing.unpack)(&bytes), Some(one));
}
