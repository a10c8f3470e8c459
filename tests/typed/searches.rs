//! How typed models are searched: saved and taken up again, led by measures, and past code that panics.

use scrimp::{Checker, CheckerError, Packed, TypedModel, Verdict};
use serde::{Deserialize, Deserializer, Serialize};
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// Two counters with names for what they count, so that states have pieces of their own.
struct Grid;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct At {
    across: String,
    up: Vec<String>,
}

impl TypedModel for Grid {
    type State = At;
    type Action = bool;

    fn initial(&self) -> Vec<At> {
        vec![At { across: "column 0".into(), up: vec!["row 0".into()] }]
    }

    fn actions(&self, _: &At, out: &mut Vec<bool>) {
        out.extend([false, true]);
    }

    fn next(&self, at: &At, upwards: &bool) -> Option<At> {
        let more = |text: &str, word: &str| {
            let number: u32 = text[word.len() + 1..].parse().unwrap();
            (number < 299).then(|| format!("{word} {}", number + 1))
        };
        Some(match upwards {
            true => At { up: vec![more(&at.up[0], "row")?, "a line that all have".into()], ..at.clone() },
            false => At { across: more(&at.across, "column")?, ..at.clone() },
        })
    }
}

#[test]
fn a_search_that_was_saved_is_taken_up_by_another_program() {
    let file = std::env::temp_dir().join(format!("scrimp-typed-{}", std::process::id()));
    for threads in [1, 2] {
        let search = || Checker::new(Grid).invariant("less", |_, at| at.across != "column 299").threads(threads);
        let whole = search().check().unwrap();
        assert_eq!((whole.states(), whole.trace("less").unwrap().len()), (90_000, 299));
        let mut time = Duration::from_millis(20);
        let mut answer = search().checkpoint(&file).time(time).check().unwrap();
        let mut rounds = 0;
        while !answer.is_complete() {
            time *= 2;
            answer = search().checkpoint(&file).resume(&file).time(time).check().unwrap();
            rounds += 1;
        }
        assert!(rounds > 0, "the first search was through at once");
        assert_eq!((answer.states(), answer.transitions()), (whole.states(), whole.transitions()));
        assert_eq!(answer.trace("less").unwrap().last(), whole.trace("less").unwrap().last());
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn searches_go_by_what_is_measured() {
    let far = |_: &Grid, at: &At| at.up[0][4..].parse::<u64>().unwrap() + at.across[7..].parse::<u64>().unwrap();
    let checker = || Checker::new(Grid).invariant("less", |_, at| at.across != "column 299");
    let swept = checker().progress(far).forget("sweep").check().unwrap();
    assert_eq!((swept.states(), swept.trace("less").unwrap().len()), (90_000, 299));
    let stored = swept.searches()[0].report.forget.stored_peak;
    assert!(stored < 2000, "{stored} states were stored at once");
    // The corner lies at the end of every way, and the best way goes straight on.
    let to_the_right = |_: &Grid, at: &At| 299 - at.across[7..].parse::<u64>().unwrap();
    let best = checker().heuristic(to_the_right).order("best").options(|options| options.keep_going = false);
    let best = best.threads(1).check().unwrap();
    assert_eq!(best.trace("less").unwrap().len(), 299);
    assert!(best.states() < 1000, "{} states were visited", best.states());
    assert!(matches!(checker().progress(far).check(), Err(CheckerError::Refused(_))), "it would not be used");
    assert!(matches!(checker().forget("sweep").check(), Err(CheckerError::Refused(_))), "nothing to go by");
}

#[test]
fn one_search_is_saved_in_one_file() {
    let file = std::env::temp_dir().join(format!("scrimp-typed-two-{}", std::process::id()));
    let error = Checker::new(Grid).eventually("there", |_, at| at.across == "column 3").checkpoint(&file).check();
    assert!(matches!(error, Err(CheckerError::Option(why)) if why.contains("checkpoint")));
}

/// Two processes that are alike, each going from 0 on. In one place an action of theirs panics, before the one that goes on.
struct Chain {
    length: u32,
    panics_at: Option<u32>,
}

impl TypedModel for Chain {
    type State = Vec<u32>;
    type Action = usize;

    fn initial(&self) -> Vec<Vec<u32>> {
        vec![vec![0, 0]]
    }

    fn actions(&self, _: &Vec<u32>, out: &mut Vec<usize>) {
        out.extend(0..4);
    }

    fn next(&self, state: &Vec<u32>, action: &usize) -> Option<Vec<u32>> {
        let process = action / 2;
        if action.is_multiple_of(2) {
            assert!(self.panics_at != Some(state[process]), "this goes wrong");
            return None;
        }
        let mut next = state.clone();
        next[process] += 1;
        (next[process] <= self.length).then_some(next)
    }

    fn canonical(&self, state: &Vec<u32>) -> Vec<u32> {
        let mut sorted = state.clone();
        sorted.sort_unstable();
        sorted
    }
}

fn chain(length: u32) -> Checker<Chain> {
    Checker::new(Chain { length, panics_at: None })
}

#[test]
fn conditions_that_panic_are_told() {
    let at = |state: &[u32]| assert!(state != [3, 2], "here it panics");
    let goal = move |_: &Chain, state: &Vec<u32>| {
        at(state);
        false
    };
    let answer = chain(5).reach("goal", goal).invariant("fine", |_, _| true).check().unwrap();
    assert_eq!(answer.verdict("goal"), Verdict::Undecided, "{answer}");
    assert_eq!(answer.verdict("no panic"), Verdict::Violated, "{answer}");
    assert_eq!(answer.verdict("fine"), Verdict::Verified, "{answer}");
    assert!(answer.to_string().contains("goal: the condition panics in [3, 2]"), "{answer}");
    // Nor is it reached where the search is left behind.
    let hangs = |_: &Chain, state: &Vec<u32>| {
        if state[0] == 5 {
            std::thread::sleep(Duration::from_secs(60));
        }
        true
    };
    let left = chain(5).reach("goal", goal).invariant("slow", hangs).threads(1).time(Duration::from_millis(300));
    assert_eq!(left.check().unwrap().verdict("goal"), Verdict::Undecided);
    assert!(matches!(chain(5).invariant("no panic", |_, _| true).check(), Err(CheckerError::Option(_))));
}

#[test]
fn a_panic_on_the_way_hides_no_run() {
    let answer = Checker::new(Chain { length: 3, panics_at: Some(1) })
        .symmetry()
        .reach("far", |_, state| state.contains(&3))
        .check()
        .unwrap();
    assert_eq!(answer.verdict("far"), Verdict::Verified, "{answer}");
    assert_eq!(answer.verdict("no panic"), Verdict::Violated, "{answer}");
    assert!(answer.to_string().contains("panicked: this goes wrong"), "{answer}");
}

#[test]
fn a_saved_search_has_the_same_questions() {
    let file = std::env::temp_dir().join(format!("scrimp-typed-kinds-{}", std::process::id()));
    let saved = chain(2000).reach("x", |_, state| state[0] == 2000).checkpoint(&file).time(Duration::from_millis(100));
    assert!(!saved.check().unwrap().is_complete());
    let refused = |checker: Checker<Chain>| {
        let error = checker.resume(&file).check().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("checkpoint is of"), "{error}");
    };
    refused(chain(2000).invariant("x", |_, state| state[0] != 2000));
    refused(chain(2000).reach("x", |_, state| state[0] == 2000).symmetry());
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn what_is_refused_is_refused_at_once() {
    let begun = std::time::Instant::now();
    let formula = chain(3000).eventually("far", |_, state| state.contains(&9)).forget("cache:50").check();
    assert!(matches!(formula, Err(CheckerError::Refused(_))));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// A counter of fixed size. One function of the model or of its states goes wrong at five.
struct Fragile {
    place: &'static str,
    hangs: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Packed)]
struct Step {
    #[serde(deserialize_with = "delicate")]
    #[packed(max = 9)]
    at: u8,
}

thread_local! {
    /// Reading a state goes wrong in this thread: it panics, or hangs.
    static READING: Cell<Option<bool>> = const { Cell::new(None) };
}

fn delicate<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    let at = u8::deserialize(from)?;
    if let Some(hangs) = READING.get() {
        Fragile { place: "reading", hangs }.touch("reading", at);
    }
    Ok(at)
}

impl Fragile {
    fn touch(&self, place: &str, at: u8) {
        if self.place != place || at != 5 {
            return;
        }
        if self.hangs {
            std::thread::sleep(Duration::from_secs(60));
        }
        panic!("{place} goes wrong");
    }
}

impl TypedModel for Fragile {
    type State = Step;
    type Action = u8;

    fn initial(&self) -> Vec<Step> {
        vec![Step { at: 0 }]
    }

    fn actions(&self, step: &Step, out: &mut Vec<u8>) {
        self.touch("actions", step.at);
        out.extend([1, 2]);
        if self.place == "reading" && step.at == 3 {
            READING.set(Some(self.hangs));
        }
    }

    fn next(&self, step: &Step, by: &u8) -> Option<Step> {
        if *by == 1 {
            self.touch("next", step.at);
        }
        Some(Step { at: step.at + by }).filter(|next| next.at < 10)
    }

    fn canonical(&self, step: &Step) -> Step {
        self.touch("canonical", step.at);
        step.clone()
    }
}

fn fragile(place: &'static str, hangs: bool, packed: bool) -> Checker<Fragile> {
    let own = Fragile { place, hangs };
    let checker = Checker::new(Fragile { place, hangs })
        .symmetry()
        .invariant("fine", move |_, step| {
            own.touch("condition", step.at);
            true
        })
        .reach("end", |_, step| step.at == 9)
        .threads(1);
    if packed { checker.packed() } else { checker }
}

/// An expansion is one piece of work for those who catch and watch; all the same it is known which function it was.
#[test]
fn the_function_that_goes_wrong_is_told() {
    let places = [("actions", "`actions`", 3), ("next", "`next`", 3), ("canonical", "`canonical`", 2)];
    for packed in [false, true] {
        for (place, name, length) in places {
            let answer = fragile(place, false, packed).check().unwrap();
            assert_eq!(answer.verdict("no panic"), Verdict::Violated, "{answer}");
            assert_eq!(answer.trace("no panic").unwrap().len(), length, "{place}: {answer}");
            assert!(answer.to_string().contains(&format!("panicked: {place} goes wrong")), "{answer}");
            // What happens beside it happens all the same.
            assert_eq!(answer.verdict("end"), Verdict::Verified, "{answer}");
            let left = fragile(place, true, packed).time(Duration::from_millis(300)).check().unwrap();
            assert!(left.to_string().contains(&format!("{name} has been running")), "{left}");
        }
        let answer = fragile("condition", false, packed).check().unwrap();
        assert_eq!(answer.trace("fine").unwrap().len(), 3, "{answer}");
        let left = fragile("condition", true, packed).time(Duration::from_millis(300)).check().unwrap();
        assert!(left.to_string().contains("a condition has been running"), "{left}");
    }
}

#[test]
fn a_state_that_cannot_be_read_is_told() {
    let read = |hangs| fragile("reading", hangs, false).time(Duration::from_millis(300)).check();
    let error = read(false).unwrap_err().to_string();
    assert!(error.contains("reading a state or comparing it panics: reading goes wrong\n  Step { at: 5 }"), "{error}");
    let left = read(true).unwrap().to_string();
    assert!(left.contains("reading a state has been running"), "{left}");
}

/// A counter whose states go wrong at one number: they cannot be dropped, or not be compared.
struct Brittle {
    at: u16,
    eq: bool,
}

#[derive(Clone, Serialize, Deserialize, Packed)]
struct Shard {
    number: u16,
    at: u16,
    eq: bool,
}

impl PartialEq for Shard {
    fn eq(&self, other: &Shard) -> bool {
        assert!(!self.eq || self.number != self.at, "compared");
        self.number == other.number
    }
}

impl Eq for Shard {}

impl Hash for Shard {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.number.hash(to);
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        assert!(self.eq || self.number != self.at || std::thread::panicking(), "dropped");
    }
}

impl TypedModel for Brittle {
    type State = Shard;
    type Action = ();

    fn initial(&self) -> Vec<Shard> {
        vec![Shard { number: 0, at: self.at, eq: self.eq }]
    }

    fn actions(&self, _: &Shard, out: &mut Vec<()>) {
        out.push(());
    }

    fn next(&self, state: &Shard, _: &()) -> Option<Shard> {
        (state.number < 3000).then(|| Shard { number: state.number + 1, ..*state })
    }
}

#[test]
fn states_that_panic_by_themselves_are_told() {
    // Late ones are not looked at closely.
    for case in 0..12 {
        let (at, packed, eq) = ([0, 3, 2000][case / 4], case & 1 == 1, case & 2 == 2);
        let checker = Checker::new(Brittle { at, eq }).reach("end", |_, state| state.number == 3000).threads(1);
        let said = match if packed { checker.packed() } else { checker }.check() {
            Err(error) => error.to_string(),
            Ok(answer) => {
                assert_eq!(answer.verdict("no panic"), Verdict::Violated, "{at} {packed} {eq}: {answer}");
                answer.to_string()
            }
        };
        assert!(said.contains(if eq { "compared" } else { "dropped" }), "{at} {packed} {eq}: {said}");
    }
}
