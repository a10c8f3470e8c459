//! Small models in Rust: one with processes, messages and something that its values do not tell, and one without end.

use scrimp::{Batch, Describe, EventCode, EventText, Fault, Model, Passed, Property};
use scrimp_core::Condition;
use std::time::Duration;

/// A sender posts letters, two at most, that a receiver takes. Now and then the sender tosses a coin, which nobody sees: with
/// one side both meet, with the other a letter may be lost.
#[derive(Clone, Copy)]
pub struct Post;

const WAITING: usize = 0;
const COIN: usize = 1;
const LOST: usize = 2;

const LABELS: [&str; 5] = ["send", "receive", "toss", "lose", "meet"];
const SEND: EventCode = 0;
const RECEIVE: EventCode = 1;
const TOSS: EventCode = 2;
const LOSE: EventCode = 3;
const MEET: EventCode = 4;

pub const KEPT: &str = "no letter is lost";

impl Post {
    pub fn properties() -> [Property<Condition<'static>>; 3] {
        let few = Property::invariant("at most two wait", |state| state[WAITING] <= 2);
        [few, Property::invariant(KEPT, |state| state[LOST] == 0), Property::deadlock()]
    }
}

impl Model for Post {
    fn state_bytes(&self) -> usize {
        3
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&[0, 0, 0], 0);
        out.push(&[1, 0, 0], 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let &[waiting, coin, lost] = state else { panic!("three bytes") };
        if waiting < 2 {
            out.push(&[waiting + 1, coin, lost], SEND);
        }
        if waiting > 0 {
            out.push(&[waiting - 1, coin, lost], RECEIVE);
        }
        if coin == 0 {
            out.push(&[waiting, 1, lost], TOSS);
            out.push(&[waiting, 2, lost], TOSS);
        }
        if coin == 1 {
            out.push(&[waiting, 0, lost], MEET);
        }
        if coin == 2 && waiting == 2 {
            out.push(&[1, coin, 1], LOSE);
            out.push_fault(LOSE, Fault::Assertion);
        }
    }
}

impl Describe for Post {
    fn event(&self, code: EventCode) -> EventText {
        let processes: &[&str] = match code {
            RECEIVE => &["receiver"],
            MEET => &["sender", "receiver"],
            _ => &["sender"],
        };
        let processes = processes.iter().map(ToString::to_string).collect();
        EventText { label: LABELS[code as usize].into(), processes, ..EventText::default() }
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        let at = if state[COIN] == 0 { "ready" } else { "tossed" };
        let value = |name: &str, value: String| (name.to_string(), value);
        vec![
            value("waiting", state[WAITING].to_string()),
            value("lost", state[LOST].to_string()),
            value("sender", at.to_string()),
            value("receiver.idle", (state[WAITING] == 0).to_string()),
        ]
    }

    fn processes(&self) -> Vec<String> {
        vec!["sender".into(), "receiver".into()]
    }

    fn passed(&self, state: &[u8], code: EventCode) -> Option<Passed> {
        let passed = Passed { channel: "post".into(), queue: "post".into(), ..Passed::default() };
        let values = vec!["letter".to_string()];
        match code {
            SEND => Some(Passed { from: Some(0), values, position: Some(state[WAITING] as usize), ..passed }),
            RECEIVE => Some(Passed { to: Some(1), values, position: Some(0), ..passed }),
            _ => None,
        }
    }
}

/// Without end: numbers that grow in two ways, slowly, since the memory of one test is that of all.
pub struct Endless;

impl Model for Endless {
    fn state_bytes(&self) -> usize {
        16
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&1u128.to_le_bytes(), 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let number = u128::from_le_bytes(state.try_into().expect("sixteen bytes"));
        std::thread::sleep(Duration::from_micros(20));
        out.push(&number.wrapping_mul(3).to_le_bytes(), 0);
        out.push(&number.wrapping_add(5).to_le_bytes(), 1);
    }
}

impl Describe for Endless {
    fn event(&self, code: EventCode) -> EventText {
        EventText { label: ["triple", "add"][code as usize].into(), ..EventText::default() }
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        vec![("number".into(), format!("{state:?}"))]
    }
}
