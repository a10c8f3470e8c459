//! Limits of time and memory hold while a model's own code runs.
//!
//! What is about memory, or leaves a thread behind, runs in a process of its own: this program once more, told by a variable
//! which case it is.

use scrimp::report::number::parse_size;
use scrimp::{Answer, Checker, CheckerError, Limit, TypedModel, Verdict};
use serde::{Deserialize, Serialize};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Names the case, in the process that is to run it.
const CASE: &str = "SCRIMP_TYPED_LIMITS";

/// A counter, one function of which goes wrong at seven.
#[derive(Clone)]
struct Trap {
    place: &'static str,
    how: How,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// It never comes back.
    Hang,
    /// It takes more and more memory.
    Grow,
    /// It takes much memory, and then never comes back.
    Hold,
}

impl Trap {
    fn spring(&self, place: &str, value: u32) {
        if self.place != place || value != 7 {
            return;
        }
        let mut kept: Vec<Vec<u8>> = Vec::new();
        loop {
            let full = self.how == How::Hold && kept.len() >= 300;
            if self.how == How::Hang || full {
                std::thread::sleep(Duration::from_millis(5));
            } else {
                kept.push(vec![1; 1 << 20]);
                std::thread::sleep(Duration::from_micros(500));
            }
        }
    }
}

impl TypedModel for Trap {
    type State = u32;
    type Action = u32;

    fn initial(&self) -> Vec<u32> {
        self.spring("initial", 7);
        vec![0]
    }

    fn actions(&self, state: &u32, out: &mut Vec<u32>) {
        self.spring("actions", *state);
        if self.place == "a billion actions" && *state == 7 {
            out.extend(0..1_000_000_000);
        }
        if self.place == "many actions" && *state == 7 {
            out.extend(0..8_000_000);
        }
        out.push(1);
    }

    fn next(&self, state: &u32, action: &u32) -> Option<u32> {
        self.spring("next", *state);
        if self.place == "many actions" && *state == 7 {
            std::thread::sleep(Duration::from_micros(1));
        }
        Some((state + action) % 100)
    }

    fn canonical(&self, state: &u32) -> u32 {
        self.spring("canonical", *state);
        *state
    }
}

fn trap(place: &'static str, how: How) -> Checker<Trap> {
    let trap = Trap { place, how };
    let condition = trap.clone();
    Checker::new(trap)
        .symmetry()
        .invariant("below five", |_, state| *state < 5)
        .invariant("the trap", move |_, state| {
            condition.spring("condition", *state);
            true
        })
        .eventually("fifty", |_, state| *state == 50)
        .threads(1)
}

/// What must not be said of a search that was left behind.
#[track_caller]
fn is_honest<M: TypedModel>(answer: &Answer<M>, limit: Limit) {
    assert!(!answer.holds() && !answer.is_complete(), "{answer}");
    let report = &answer.searches().last().unwrap().report;
    assert_eq!(report.limit, Some(limit), "{answer}");
}

#[test]
fn time_is_kept_wherever_the_model_hangs() {
    let time = Duration::from_millis(400);
    for (place, name) in
        [("actions", "`actions`"), ("next", "`next`"), ("canonical", "`canonical`"), ("condition", "a condition")]
    {
        let begun = Instant::now();
        let answer = trap(place, How::Hang).time(time).check().unwrap();
        let took = begun.elapsed();
        assert!(took >= time && took < Duration::from_secs(3), "{place}: {took:?}");
        is_honest(&answer, Limit::Time);
        let said = answer.to_string();
        assert!(said.contains("has not come back") && said.contains(name), "{said}");
        // What was decided before stays decided; everything else has a verdict, too.
        assert_eq!(answer.verdict("below five"), Verdict::Violated, "{said}");
        for open in ["the trap", "fifty", "no panic"] {
            assert_eq!(answer.verdict(open), Verdict::Undecided, "{open}: {said}");
        }
    }
    let begun = Instant::now();
    let error = trap("initial", How::Hang).time(time).check().unwrap_err();
    assert!(matches!(error, CheckerError::Unfinished(_)), "{error}");
    assert!(error.to_string().contains("`initial` has been running"), "{error}");
    let error = Checker::new(Trap { place: "next", how: How::Hang }).time(time).simulate(9, 99).err().unwrap();
    assert!(error.to_string().contains("`next` has been running"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
}

#[test]
fn a_state_with_millions_of_actions_is_left_in_time() {
    let begun = Instant::now();
    let answer = trap("many actions", How::Hang).time(Duration::from_secs(1)).check().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    is_honest(&answer, Limit::Time);
    assert_eq!(answer.verdict("the trap"), Verdict::Undecided, "{answer}");
    assert_eq!(answer.verdict("fifty"), Verdict::Undecided, "{answer}");
    // The search has ended by itself: nothing was left behind.
    assert!(!answer.to_string().contains("left behind"), "{answer}");
}

#[test]
fn several_threads_are_left_behind_together() {
    let answer = trap("next", How::Hang).threads(2).time(Duration::from_millis(400)).check().unwrap();
    is_honest(&answer, Limit::Time);
    assert!(answer.to_string().contains("`next`"), "{answer}");
}

/// States of a megabyte, all of them different; so many from each.
struct Heavy {
    width: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Megabyte {
    number: u64,
    data: Vec<u32>,
}

impl TypedModel for Heavy {
    type State = Megabyte;
    type Action = u32;

    fn initial(&self) -> Vec<Megabyte> {
        vec![Megabyte { number: 0, data: vec![0; 1 << 18] }]
    }

    fn actions(&self, _: &Megabyte, out: &mut Vec<u32>) {
        out.extend(0..self.width);
    }

    fn next(&self, state: &Megabyte, action: &u32) -> Option<Megabyte> {
        let number = state.number * self.width as u64 + *action as u64 + 1;
        let mut data = state.data.clone();
        for (place, value) in data.iter_mut().enumerate() {
            *value = value.wrapping_mul(0x9e37_79b9) ^ (number as u32).wrapping_add(place as u32);
        }
        Some(Megabyte { number, data })
    }
}

fn heavy(width: u32, threads: usize) -> Checker<Heavy> {
    Checker::new(Heavy { width }).invariant("small", |_, state| state.number < u64::MAX).threads(threads)
}

/// States of many kilobytes, of which each changes a little: pieces are shared, and the budget holds.
struct Pages {
    pages: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Book {
    pages: Vec<Vec<u32>>,
    at: usize,
}

impl TypedModel for Pages {
    type State = Book;
    type Action = bool;

    fn initial(&self) -> Vec<Book> {
        vec![Book { pages: vec![(0..500).collect(); self.pages], at: 0 }]
    }

    fn actions(&self, _: &Book, out: &mut Vec<bool>) {
        out.extend([false, true]);
    }

    fn next(&self, state: &Book, marked: &bool) -> Option<Book> {
        let mut next = state.clone();
        next.pages.get_mut(state.at)?[7] = *marked as u32;
        next.at += 1;
        Some(next)
    }
}

/// Runs a case in a process of its own; answers what it said, and the most memory that it had.
fn apart(case: &str) -> (Output, u64) {
    let program = std::env::current_exe().expect("this program has a name");
    let child = Command::new(program)
        .args(["--exact", "limits::one_case", "--nocapture", "--test-threads=1"])
        .env(CASE, case)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(text) = std::fs::read_to_string(&status) {
            let Some(line) = text.lines().find(|line| line.starts_with("VmHWM:")) else { break };
            let kilobytes: Option<u64> = line.split_whitespace().nth(1).and_then(|number| number.parse().ok());
            peak = peak.max(kilobytes.unwrap_or(0) * 1024);
            std::thread::sleep(Duration::from_millis(1));
        }
        peak
    });
    let output = child.wait_with_output().expect("it ends");
    (output, watch.join().expect("the watch ends"))
}

/// The cases, in processes of their own.
#[test]
fn one_case() {
    let Ok(case) = std::env::var(CASE) else { return };
    let (kind, rest) = case.split_once(' ').unwrap_or((&case, ""));
    let place = |name: &str| {
        let all = ["initial", "actions", "next", "canonical", "condition", "a billion actions"];
        all.into_iter().find(|place| *place == name).expect("such a place")
    };
    match kind {
        "heavy" => {
            let numbers: Vec<u32> = rest.split(' ').map(|number| number.parse().unwrap()).collect();
            let answer = heavy(numbers[0], numbers[1] as usize).memory("256M").check().unwrap();
            is_honest(&answer, Limit::Memory);
            assert_eq!(answer.verdict("small"), Verdict::Undecided);
            // Where the first state has more successors than there is room for, there may be no more than it.
            assert!(answer.states() > 10 || numbers[0] == 400, "{answer}");
            println!("{answer}");
        }
        "run" => {
            let steps: u64 = rest.parse().unwrap();
            let short = move |_: &Heavy, state: &Megabyte| state.number < steps;
            let answer = heavy(1, 1).invariant("short", short).memory("256M").check().unwrap();
            println!("{:?} {:?}", answer.verdict("short"), answer.trace("short").map(|run| run.len()));
        }
        "pieces" => {
            let answer = Checker::new(Pages { pages: 11 }).threads(1).memory("200M").count().unwrap();
            assert_eq!(answer.states(), (1 << 12) - 1);
        }
        "grow" => {
            let said = trap(place(rest), How::Grow).memory("128M").check();
            unreachable!("{said:?}");
        }
        "hold" => {
            let answer = trap(place(rest), How::Hold).memory("300M").check().unwrap();
            is_honest(&answer, Limit::Memory);
            println!("{answer}");
        }
        other => panic!("there is no case {other}"),
    }
}

#[track_caller]
fn within(peak: u64, memory: &str, said: &Output) {
    let share = peak as f64 / parse_size(memory).unwrap() as f64;
    println!("{share:.3} of {memory}");
    assert!(share <= 1.05, "{share:.3} of {memory}: {}", String::from_utf8_lossy(&said.stdout));
}

#[test]
fn states_of_a_megabyte_stay_within_the_memory() {
    for case in ["heavy 1 1", "heavy 3 1", "heavy 400 1", "heavy 3 2", "heavy 400 2"] {
        let (output, peak) = apart(case);
        assert!(output.status.success(), "{case}: {output:?}");
        within(peak, "256M", &output);
    }
}

/// In full they would be 90 MB.
#[test]
fn large_states_are_kept_in_pieces() {
    let (output, peak) = apart("pieces");
    assert!(output.status.success(), "{output:?}");
    within(peak, "200M", &output);
}

#[test]
fn runs_of_large_states_stay_within_the_memory() {
    for case in ["run 10", "run 40"] {
        let (output, peak) = apart(case);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("Violated"), "{said}");
        within(peak, "256M", &output);
    }
}

#[test]
fn code_that_takes_more_and_more_memory_ends_the_process() {
    for place in ["initial", "actions", "next", "canonical", "condition", "a billion actions"] {
        let (output, peak) = apart(&format!("grow {place}"));
        assert_eq!(output.status.code(), Some(3), "{place}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let name = if place == "a billion actions" { "actions" } else { place };
        assert!(said.contains("takes more and more memory") && said.contains(name), "{place}: {said}");
        assert!(!said.contains("verified"), "{place}: {said}");
        // On a quiet machine it is within five per cent; where all cores are busy, looks come late.
        println!("{place}: {:.3} of 128M", peak as f64 / (128u64 << 20) as f64);
        assert!(peak <= 256 << 20, "{place}: {peak}");
    }
}

#[test]
fn code_that_keeps_too_much_memory_is_left_behind() {
    let (output, _) = apart("hold next");
    // On a busy machine it is noticed late, and the process ends because too much is taken already.
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let ended = output.status.code() == Some(3) && said.contains("the process ends here: `next`");
    assert!(output.status.success() || ended, "{output:?}");
    assert!(said.contains("when the memory was used up: `next`"), "{said}");
}
