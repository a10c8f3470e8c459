//! The examples say what they are said to say.

#[allow(dead_code)]
#[path = "../../examples/lease.rs"]
mod lease;
#[allow(dead_code)]
#[path = "../../examples/paxos.rs"]
mod paxos;
#[allow(dead_code)]
#[path = "../../examples/puzzle.rs"]
mod puzzle;
#[allow(dead_code)]
#[path = "../../examples/raft.rs"]
mod raft;
#[allow(dead_code)]
#[path = "../../examples/rust_model.rs"]
mod rust_model;
#[allow(dead_code)]
#[path = "../../examples/two_phase_commit.rs"]
mod two_phase_commit;

use crate::common;
use crate::common::every_state::counted;
use puzzle::{Bridge, solve};
use rust_model::{Buffer, Wake, check};
use scrimp::report::{Style, Subject, text};
use scrimp::{Answer, Property, TypedModel, Verdict};

#[test]
fn the_faulty_buffer_deadlocks() {
    let buffer = Buffer { producers: 2, consumers: 1, capacity: 1, wake: Wake::One };
    let (plan, report) = check(&buffer);
    assert_eq!(report.properties[0].verdict, Verdict::Undecided);
    assert_eq!(report.properties[1].verdict, Verdict::Violated);
    let trace = report.properties[1].trace.as_ref().unwrap();
    common::replay(&buffer, trace, &Property::deadlock()).unwrap();
    assert_eq!(trace.last()[1], 0b111, "everybody waits");
    let told = text::check(
        &Subject { name: "wake one", model: &buffer, plan: &plan, report: &report, coverage: None, record: None },
        Style::PLAIN,
    );
    assert!(told.starts_with("wake one: violated"), "{told}");
    assert!(told.contains("producer 0 puts and wakes producer 1"), "{told}");
    assert!(told.contains("consumer 0 = waits"), "{told}");
}

#[test]
fn waking_all_repairs_it() {
    let buffer = Buffer { producers: 2, consumers: 1, capacity: 1, wake: Wake::All };
    let report = check(&buffer).1;
    assert!(report.properties.iter().all(|p| p.verdict == Verdict::Verified));
    // With no item the consumer may wait, with one each of the producers may: two states and four.
    assert_eq!((report.facts.states, report.facts.deadlocks), (6, 0));
}

/// Waking one is right as long as no more threads are about than twice the capacity.
#[test]
fn how_many_threads_the_faulty_buffer_bears() {
    for (producers, consumers, capacity) in
        (1..=4).flat_map(|p| (1..=4).flat_map(move |c| (1..=4).map(move |n| (p, c, n))))
    {
        let buffer = Buffer { producers, consumers, capacity, wake: Wake::One };
        let verdict = check(&buffer).1.properties[1].verdict;
        let expected = if producers + consumers <= 2 * capacity { Verdict::Verified } else { Verdict::Violated };
        assert_eq!(verdict, expected, "{buffer:?}");
    }
}

#[test]
fn the_bridge_takes_seventeen_minutes() {
    let solved = |minutes| solve(&Bridge { people: vec![1, 2, 5, 10], minutes });
    let solution = solved(17);
    assert_eq!(solution.verdict, Verdict::Verified);
    let trace = solution.trace.unwrap();
    assert_eq!((trace.steps.len(), trace.last()), (5, [0b1111, 1, 17].as_slice()));
    assert_eq!(solved(16).verdict, Verdict::Violated);
    assert_eq!(solved(16).trace, None);
}

/// A counter pair that panics somewhere in the middle, as a model under development may.
struct Panicking;

impl scrimp::Model for Panicking {
    fn state_bytes(&self) -> usize {
        4
    }

    fn initial(&self, out: &mut scrimp::Batch) {
        out.push(&[0; 4], 0);
    }

    fn expand(&self, state: &[u8], out: &mut scrimp::Batch) {
        assert!(state != [20, 20, 5, 5], "a bug in the model");
        for i in 0..4 {
            if state[i] < 40 {
                let mut next: [u8; 4] = state.try_into().unwrap();
                next[i] += 1;
                out.push(&next, i as u32);
            }
        }
    }
}

impl scrimp::Describe for Panicking {
    fn event(&self, _: u32) -> scrimp::EventText {
        scrimp::EventText::default()
    }

    fn values(&self, _: &[u8]) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A panic in one thread reaches the caller; the other threads do not wait for it.
#[test]
fn a_panicking_model_ends_the_search() {
    for threads in [1, 2, 4] {
        let options = scrimp::Options { threads, memory: Some(1 << 30), ..Default::default() };
        let plan = scrimp::Plan::of(&options, scrimp::Question::count(), &scrimp::ModelFacts::default()).unwrap();
        let run = || scrimp::run(&Panicking, &[], &plan, &scrimp::Control::new(None));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err(), "{threads} threads");
    }
}

/// A right protocol holds, with so many states and transitions; with its error, a run of so many actions violates this.
fn protocol<M: TypedModel>(right: Answer<M>, counts: (u64, u64), wrong: Answer<M>, violated: &str, actions: usize) {
    right.assert_holds();
    assert_eq!((right.states(), right.transitions()), counts);
    assert_eq!(counted(right.model()), counts);
    assert_eq!(wrong.verdict(violated), Verdict::Violated, "{wrong}");
    let run = wrong.trace(violated).unwrap();
    assert_eq!(run.len(), actions, "{run}");
    run.replay(wrong.model()).unwrap();
}

#[test]
fn two_phase_commit_decides_once() {
    let check = |hasty| two_phase_commit::check(2, hasty).unwrap();
    protocol(check(false), (372, 1456), check(true), "all decide alike", 3);
}

#[test]
fn raft_elects_one_leader_a_term() {
    let check = |forgetful| raft::check(3, 1, forgetful).unwrap();
    protocol(check(false), (9282, 41_208), check(true), "one leader a term", 8);
}

#[test]
fn paxos_chooses_one_value() {
    let check = |stubborn| paxos::check(3, stubborn).unwrap();
    protocol(check(false), (157_931, 754_788), check(true), "one value is chosen", 16);
}

#[test]
fn leases_need_fences() {
    let check = |fences| lease::check(2, 3, fences).unwrap();
    protocol(check(true), (3765, 11_574), check(false), "nothing old is written", 9);
}
