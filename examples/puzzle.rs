//! A puzzle solved by reachability: four people, one torch, a bridge, and seventeen minutes.
//!
//! They need 1, 2, 5 and 10 minutes to cross. The bridge carries two, who walk as fast as the slower one, and nobody
//! crosses without the torch. Can all be on the far side after 17 minutes?
//!
//! ```text
//! cargo run --example puzzle
//! ```
//!
//! A puzzle is a model whose solution is a run: asked whether the goal can be reached, the search answers with a shortest
//! run to it. When it cannot be reached, the search has seen every position, which is a proof.

use scrimp::report::{Style, trace};
use scrimp::{
    Batch, Control, Describe, EventCode, EventText, Model, ModelFacts, Options, Plan, Property, PropertyResult, run,
};

/// People by the minutes they need, and the minutes they have.
#[derive(Debug, Clone)]
pub struct Bridge {
    pub people: Vec<u8>,
    pub minutes: u8,
}

/// The state: who is on the far side, one bit for each; where the torch is, 0 or 1; minutes gone.
const FAR: usize = 0;
const TORCH: usize = 1;
const GONE: usize = 2;

impl Bridge {
    /// Everyone on the far side.
    fn goal(&self) -> u8 {
        (1 << self.people.len()) - 1
    }
}

impl Model for Bridge {
    fn state_bytes(&self) -> usize {
        3
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&[0, 0, 0], 0);
    }

    /// One or two of those who are where the torch is cross with it, if there is time. The event is the set of those who
    /// cross.
    fn expand(&self, state: &[u8], out: &mut Batch) {
        let near = if state[TORCH] == 0 { self.goal() & !state[FAR] } else { state[FAR] };
        for group in 1..=self.goal() {
            if group & !near != 0 || group.count_ones() > 2 {
                continue;
            }
            let slowest = (0..self.people.len()).filter(|i| group & 1 << i != 0).map(|i| self.people[i]).max();
            let gone = state[GONE] + slowest.unwrap_or(0);
            if gone <= self.minutes {
                out.push(&[state[FAR] ^ group, 1 - state[TORCH], gone], group as EventCode);
            }
        }
    }
}

impl Describe for Bridge {
    fn event(&self, code: EventCode) -> EventText {
        let names: Vec<String> =
            (0..self.people.len()).filter(|i| code & 1 << i != 0).map(|i| self.people[i].to_string()).collect();
        let verb = if names.len() == 1 { "crosses" } else { "cross" };
        EventText { label: format!("{} {verb}", names.join(" and ")), ..EventText::default() }
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        let side = |far: bool| if far { "far side" } else { "near side" }.to_string();
        let people = self.people.iter().enumerate().map(|(i, p)| (p.to_string(), side(state[FAR] & 1 << i != 0)));
        people.chain([("torch".into(), side(state[TORCH] == 1)), ("minutes".into(), state[GONE].to_string())]).collect()
    }
}

/// Can everyone be across in time?
pub fn solve(bridge: &Bridge) -> PropertyResult {
    let goal = bridge.goal();
    let across = Property::reach("everyone is across", move |state| state[FAR] == goal);
    let properties = [across];
    let plan = Plan::new(&Options::default(), &properties, &ModelFacts::of(bridge)).expect("the usual options combine");
    let mut report = run(bridge, &properties, &plan, &Control::new(None)).expect("there is memory to begin with");
    report.properties.remove(0)
}

fn main() {
    for minutes in [17, 16] {
        let bridge = Bridge { people: vec![1, 2, 5, 10], minutes };
        match solve(&bridge).trace {
            Some(run) => println!("in {minutes} minutes:\n{}", trace::text(&bridge, &run, Style::PLAIN)),
            None => println!("in {minutes} minutes: not possible"),
        }
    }
}
