//! Peterson's lock for several processes, written in three ways: what does it cost to have states of one's own types?
//!
//! ```text
//! cargo run --release --example filter_lock [PROCESSES [TURNS [WAY]]]
//! ```
//!
//! The same states are searched as bytes in a layout made by hand, as a struct packed by `#[derive(Packed)]`, the same with actions counted, and as the same struct taken
//! apart by serde. Each search is made three times on one thread, and the best time of each is printed, with what it is beside the
//! first. With `WAY` (0 to 3) that one alone is searched, for those who look at where its time goes.
//!
//! The lock is a filter of levels. Who wants to enter announces the level, writes itself down as the last one there, and waits until
//! nobody else is as far or somebody else came later; after the last level it is inside.

use scrimp::{
    Batch, Checker, CheckerError, Control, Model, ModelFacts, Options, Packed, Plan, Property, PropertyKind,
    TypedModel, run,
};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The most processes.
const MOST: usize = 6;

/// So many processes, which count up to so many turns and then begin to count again.
#[derive(Debug, Clone, Copy)]
pub struct Filter {
    pub processes: usize,
    pub turns: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
pub enum Place {
    Idle,
    Announce,
    Write,
    Wait,
    Inside,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
pub struct State {
    pub at: [Place; MOST],
    /// The level that each process has announced; 0 where it wants nothing.
    #[packed(max = 5)]
    pub level: [u8; MOST],
    /// Who came last to each level.
    #[packed(max = 5)]
    pub last: [u8; MOST],
    /// How often somebody has left.
    #[packed(max = 15)]
    pub turn: u8,
}

impl TypedModel for Filter {
    type State = State;
    type Action = usize;

    fn initial(&self) -> Vec<State> {
        vec![State { at: [Place::Idle; MOST], level: [0; MOST], last: [0; MOST], turn: 0 }]
    }

    fn actions(&self, _: &State, out: &mut Vec<usize>) {
        out.extend(0..self.processes);
    }

    fn next(&self, state: &State, me: &usize) -> Option<State> {
        let (me, level) = (*me, state.level[*me]);
        let mut next = state.clone();
        next.at[me] = match state.at[me] {
            Place::Idle => Place::Announce,
            Place::Announce => {
                next.level[me] += 1;
                Place::Write
            }
            Place::Write => {
                next.last[level as usize] = me as u8;
                Place::Wait
            }
            Place::Wait => {
                let others = (0..self.processes).any(|other| other != me && state.level[other] >= level);
                if others && state.last[level as usize] == me as u8 {
                    return None;
                }
                if level as usize == self.processes - 1 { Place::Inside } else { Place::Announce }
            }
            Place::Inside => {
                next.level[me] = 0;
                next.turn = (state.turn + 1) % self.turns;
                Place::Idle
            }
        };
        Some(next)
    }

    fn process(&self, me: &usize) -> usize {
        *me
    }
}

/// The same by hand: a byte for every number, in the order of the struct.
pub struct Bytes(pub Filter);

const LEVEL: usize = MOST;
const LAST: usize = 2 * MOST;
const TURN: usize = 3 * MOST;
const INSIDE: u8 = Place::Inside as u8;

impl Model for Bytes {
    fn state_bytes(&self) -> usize {
        TURN + 1
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&[0; TURN + 1], 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let Bytes(Filter { processes, turns }) = *self;
        for me in 0..processes {
            let level = state[LEVEL + me];
            let mut next: [u8; TURN + 1] = state.try_into().expect("a state of this model");
            next[me] += 1;
            match state[me] {
                0 => {}
                1 => next[LEVEL + me] += 1,
                2 => next[LAST + level as usize] = me as u8,
                3 => {
                    let others = (0..processes).any(|other| other != me && state[LEVEL + other] >= level);
                    if others && state[LAST + level as usize] == me as u8 {
                        continue;
                    }
                    if (level as usize) < processes - 1 {
                        next[me] = 1;
                    }
                }
                _ => (next[me], next[LEVEL + me], next[TURN]) = (0, 0, (state[TURN] + 1) % turns),
            }
            out.push(&next, me as u32);
        }
    }
}

/// How many states and transitions there are by hand, if only one process is inside in all of them.
pub fn by_hand(filter: Filter) -> (u64, u64) {
    let one = |state: &[u8]| state[..MOST].iter().filter(|at| **at == INSIDE).count() < 2;
    let properties = [Property::invariant("one inside", one), Property::new("no panic", PropertyKind::Faults)];
    let options = Options { keep_going: true, ..Options::default() };
    let model = Bytes(filter);
    let plan = Plan::new(&options, &properties, &ModelFacts::of(&model)).expect("a plan");
    let report = run(&model, &properties, &plan, &Control::new(None)).expect("a search");
    assert!(report.properties.iter().all(|property| property.verdict == scrimp::Verdict::Verified));
    (report.facts.states, report.facts.transitions)
}

/// The same with states of the model's own type, packed or not; actions are counted or not.
pub fn typed(filter: Filter, packed: bool, counted: bool) -> Result<(u64, u64), CheckerError> {
    let checker = Checker::new(filter)
        .invariant("one inside", |_, state| state.at.iter().filter(|at| **at == Place::Inside).count() < 2)
        .threads(1);
    let checker = if packed { checker.packed() } else { checker };
    let answer = if counted { checker.coverage() } else { checker }.check()?;
    answer.assert_holds();
    Ok((answer.states(), answer.transitions()))
}

/// By hand, packed, packed with actions counted, or by serde.
fn search(filter: Filter, way: usize) -> Result<(u64, u64), CheckerError> {
    if way == 0 { Ok(by_hand(filter)) } else { typed(filter, way < 3, way == 2) }
}

fn main() -> Result<(), CheckerError> {
    let mut given = std::env::args().skip(1).filter_map(|argument| argument.parse::<u8>().ok());
    let (processes, turns) = (given.next().unwrap_or(5), given.next().unwrap_or(5));
    assert!((2..=MOST as u8).contains(&processes) && (1..=16).contains(&turns), "2 to 6 processes, 1 to 16 turns");
    let filter = Filter { processes: processes.into(), turns };
    if let Some(way) = given.next() {
        search(filter, way.into())?;
        return Ok(());
    }
    let mut best = [Duration::MAX; 4];
    let mut found = [(0, 0); 4];
    for _ in 0..3 {
        for (way, best) in best.iter_mut().enumerate() {
            let begun = Instant::now();
            found[way] = search(filter, way)?;
            *best = begun.elapsed().min(*best);
        }
    }
    assert!(found[1..].iter().all(|other| *other == found[0]), "{found:?}");
    println!("{} states, {} transitions, one thread, best of three", found[0].0, found[0].1);
    for (name, time) in ["bytes by hand", "derive(Packed)", "and coverage", "serde"].into_iter().zip(best) {
        let beside = time.as_secs_f64() / best[0].as_secs_f64();
        println!("{name:<16}{:>8.2} s{beside:>8.2}", time.as_secs_f64());
    }
    Ok(())
}
