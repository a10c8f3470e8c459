//! Models written in Rust, with states of their own types.

use crate::common;
use crate::common::every_state::counted;
use scrimp::{Checker, CheckerError, Conformance, Seen, Taken, TypedModel, Unseen, Verdict, conform, conform_unseen};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A counter from 0 to `top`, which may go back to 0 from the top, and calls names.
struct Counter {
    top: u32,
    round: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Count {
    value: u32,
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Up,
    Back,
}

impl TypedModel for Counter {
    type State = Count;
    type Action = Step;

    fn initial(&self) -> Vec<Count> {
        vec![Count { value: 0, names: Vec::new() }]
    }

    fn actions(&self, state: &Count, out: &mut Vec<Step>) {
        out.push(Step::Up);
        if self.round && state.value == self.top {
            out.push(Step::Back);
        }
    }

    fn next(&self, state: &Count, action: &Step) -> Option<Count> {
        let value = match action {
            Step::Up if state.value < self.top => state.value + 1,
            Step::Up => return None,
            Step::Back => 0,
        };
        Some(Count { value, names: (0..value % 4).map(|i| format!("a name that is long enough, {i}")).collect() })
    }
}

#[test]
fn states_are_counted_and_found() {
    let answer = Checker::new(Counter { top: 999, round: false }).count().unwrap();
    assert_eq!((answer.states(), answer.transitions(), answer.is_complete()), (1000, 999, true));
    let answer = Checker::new(Counter { top: 20, round: true })
        .invariant("below seven", |_, state| state.value < 7)
        .reach("three names", |_, state| state.names.len() == 3)
        .no_deadlock()
        .check()
        .unwrap();
    assert_eq!(answer.verdict("below seven"), Verdict::Violated);
    assert_eq!(answer.verdict("three names"), Verdict::Verified);
    assert_eq!(answer.verdict("deadlock"), Verdict::Verified);
    assert_eq!(answer.verdict("no panic"), Verdict::Verified);
    let path = answer.trace("below seven").unwrap();
    assert_eq!((path.len(), path.last().value, path.lasso()), (7, 7, None));
    assert!(path.actions().all(|action| *action == Step::Up));
    assert_eq!(path.states().map(|state| state.value).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    path.replay(&Counter { top: 20, round: true }).unwrap();
    assert!(path.replay(&Counter { top: 5, round: true }).unwrap_err().contains("step 6"));
    let text = answer.to_string();
    assert!(text.starts_with("Counter: violated: below seven\n"), "{text}");
    assert!(text.contains("  7  Up  value = 7"), "{text}");
}

#[test]
fn runs_that_go_on_for_ever() {
    let answer = Checker::new(Counter { top: 5, round: true })
        .eventually("the top", |model, state| state.value == model.top)
        .eventually("beyond", |model, state| state.value > model.top)
        .ltl("again and again", "[] (low -> <> high)", [("low", |_, s| s.value == 0), ("high", |_, s| s.value == 5)])
        .ltl("for ever", "<> [] high", [("high", |_, s| s.value == 5)])
        .ctl("a way back", "AG EF low", [("low", |_, s| s.value == 0)])
        .ctl("no way", "AG EF no", [("no", |_, s| s.value == 9)])
        .check()
        .unwrap();
    let verdicts =
        ["the top", "beyond", "again and again", "for ever", "a way back", "no way"].map(|p| answer.verdict(p));
    use Verdict::{Verified, Violated};
    assert_eq!(verdicts, [Verified, Violated, Verified, Violated, Verified, Violated]);
    let path = answer.trace("beyond").unwrap();
    assert_eq!((path.lasso(), path.len()), (Some(0), 6));
    path.replay(&Counter { top: 5, round: true }).unwrap();
    // A run that ends stays where it is.
    let answer =
        Checker::new(Counter { top: 5, round: false }).eventually("beyond", |_, s| s.value == 6).check().unwrap();
    let path = answer.trace("beyond").unwrap();
    assert_eq!((path.lasso(), path.len()), (Some(5), 5));
}

/// Clients that send to a server over a network that may lose messages: maps and sets that grow and shrink.
struct Network {
    clients: u8,
    lossy: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Message {
    Ask { from: u8 },
    Answer(u8, String),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
struct World {
    wire: BTreeSet<Message>,
    waits: BTreeMap<u8, Option<(i32, char)>>,
    done: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
enum Event {
    Send(u8),
    Serve(u8),
    Receive(u8, String),
    Lose(Message),
}

impl TypedModel for Network {
    type State = World;
    type Action = Event;

    fn initial(&self) -> Vec<World> {
        vec![World::default()]
    }

    fn actions(&self, state: &World, out: &mut Vec<Event>) {
        out.extend((0..self.clients).map(Event::Send));
        for message in &state.wire {
            out.push(match message {
                Message::Ask { from } => Event::Serve(*from),
                Message::Answer(to, text) => Event::Receive(*to, text.clone()),
            });
            if self.lossy {
                out.push(Event::Lose(message.clone()));
            }
        }
    }

    fn next(&self, state: &World, action: &Event) -> Option<World> {
        let mut next = state.clone();
        match action {
            Event::Send(client) if state.waits.contains_key(client) || state.done.contains(client) => return None,
            Event::Send(client) => {
                next.waits.insert(*client, Some((-(*client as i32), 'x')));
                next.wire.insert(Message::Ask { from: *client });
            }
            Event::Serve(client) => {
                next.wire.remove(&Message::Ask { from: *client });
                next.wire.insert(Message::Answer(*client, format!("an answer to client {client}")));
            }
            Event::Receive(client, text) => {
                next.wire.remove(&Message::Answer(*client, text.clone()));
                next.waits.remove(client);
                next.done.push(*client);
            }
            Event::Lose(message) => {
                next.wire.remove(message);
            }
        }
        Some(next)
    }

    fn process(&self, action: &Event) -> usize {
        match action {
            Event::Send(client) | Event::Receive(client, _) => *client as usize + 1,
            Event::Serve(_) => 0,
            Event::Lose(_) => self.clients as usize + 1,
        }
    }

    fn canonical(&self, state: &World) -> World {
        // Clients have numbers in the order in which they were done, then of what they wait for.
        let rank = |client: u8| {
            let asks = state.wire.contains(&Message::Ask { from: client });
            let done = state.done.iter().position(|done| *done == client).map_or(u8::MAX, |place| place as u8);
            let answered = state.wire.iter().any(|m| matches!(m, Message::Answer(to, _) if *to == client));
            (done, state.waits.contains_key(&client), asks, answered)
        };
        let mut order: Vec<u8> = (0..self.clients).collect();
        order.sort_by_key(|client| rank(*client));
        let new = |client: u8| order.iter().position(|old| *old == client).unwrap_or(0) as u8;
        World {
            wire: (state.wire.iter())
                .map(|message| match message {
                    Message::Ask { from } => Message::Ask { from: new(*from) },
                    Message::Answer(to, _) => Message::Answer(new(*to), format!("an answer to client {}", new(*to))),
                })
                .collect(),
            waits: state.waits.keys().map(|client| (new(*client), Some((-(new(*client) as i32), 'x')))).collect(),
            done: state.done.iter().map(|client| new(*client)).collect(),
        }
    }
}

#[test]
fn every_store_and_order_has_the_same_states() {
    for lossy in [false, true] {
        let model = || Network { clients: 4, lossy };
        let expected = counted(&model());
        for store in ["table", "packed", "tree", "collapse", "dfa", "comback"] {
            let answer = Checker::new(model()).store(store).threads(1).count().unwrap();
            assert_eq!((answer.states(), answer.transitions()), expected, "{store}");
        }
        for threads in [1, 2, 4] {
            let answer = Checker::new(model()).threads(threads).memory("256M").count().unwrap();
            assert_eq!((answer.states(), answer.transitions()), expected, "{threads} threads");
        }
        for order in ["bfs", "dfs", "random"] {
            let answer = Checker::new(model()).order(order).threads(1).count().unwrap();
            assert_eq!(answer.states(), expected.0, "{order}");
        }
        let answer = Checker::new(model()).forget("cache:64").order("dfs").threads(1).check();
        answer.unwrap().assert_holds();
    }
}

#[test]
fn fairness_is_about_processes() {
    let check = |lossy: bool, fair: bool| {
        let checker = Checker::new(Network { clients: 2, lossy }).eventually("all done", |_, s| s.done.len() == 2);
        (if fair { checker.fair_weak() } else { checker }).check().unwrap().verdict("all done")
    };
    // What can be lost is lost some time.
    assert_eq!(check(true, true), Verdict::Violated);
    // Every run ends, and then all is done.
    assert_eq!(check(false, false), Verdict::Verified);
    // Weak fairness is looked for by all threads.
    let answer = Checker::new(Network { clients: 2, lossy: true })
        .eventually("all done", |_, s| s.done.len() == 2)
        .ltl(
            "asked",
            "[] (asked -> <> done)",
            [("asked", |_, s| !s.waits.is_empty()), ("done", |_, s| s.waits.is_empty())],
        )
        .fair_weak()
        .memory("256M")
        .threads(2)
        .check()
        .unwrap();
    assert_eq!(answer.verdict("asked"), Verdict::Violated, "{answer}");
    assert!(!answer.to_string().contains("cannot be shared"), "{answer}");
    let round = || Checker::new(Counter { top: 3, round: true });
    // What cannot be shared by threads is searched by one.
    let answer = round().eventually("no", |_, s| s.value == 4).fair_strong().threads(2).check().unwrap();
    assert!(answer.to_string().contains("cannot be shared"), "{answer}");
    assert_eq!(
        round().eventually("no", |_, s| s.value == 4).fair_strong().check().unwrap().verdict("no"),
        Verdict::Violated
    );
}

#[test]
fn symmetric_states_are_one() {
    let model = || Network { clients: 3, lossy: true };
    let whole = Checker::new(model()).count().unwrap().states();
    let answer = Checker::new(model()).symmetry().reach("all done", |_, s| s.done.len() == 3).check().unwrap();
    assert!(answer.states() * 3 < whole, "{} of {whole}", answer.states());
    // What is shown is a run of the model itself.
    answer.trace("all done").unwrap().replay(&model()).unwrap();
}

/// A token that is passed round a ring: all its states are one, and only after a whole turn is it where it was.
struct Ring(u8);

impl TypedModel for Ring {
    type State = Vec<bool>;
    type Action = u8;

    fn initial(&self) -> Vec<Vec<bool>> {
        vec![(0..self.0).map(|place| place == 2).collect()]
    }

    fn actions(&self, state: &Vec<bool>, out: &mut Vec<u8>) {
        out.extend(state.iter().position(|has| *has).map(|place| place as u8));
    }

    fn next(&self, state: &Vec<bool>, place: &u8) -> Option<Vec<bool>> {
        let mut next = vec![false; state.len()];
        next[(*place as usize + 1) % state.len()] = true;
        Some(next)
    }

    fn canonical(&self, state: &Vec<bool>) -> Vec<bool> {
        let mut sorted = state.clone();
        sorted.sort();
        sorted
    }
}

#[test]
fn a_cycle_of_symmetric_states_is_a_cycle_of_the_model() {
    let two = |_: &Ring, state: &Vec<bool>| state.iter().filter(|has| **has).count() == 2;
    let answer = Checker::new(Ring(5)).symmetry().eventually("two tokens", two).check().unwrap();
    assert_eq!((answer.states(), answer.verdict("two tokens")), (1, Verdict::Violated), "{answer}");
    let path = answer.trace("two tokens").unwrap();
    assert_eq!((path.lasso(), path.len()), (Some(0), 5), "{path}");
    assert_eq!(path.actions().copied().collect::<Vec<_>>(), [2, 3, 4, 0, 1]);
    path.replay(&Ring(5)).unwrap();
    // What is printed are the states of the model.
    let result = &answer.searches()[1].report.properties[0];
    assert_eq!((result.cycle, result.trace.as_ref().unwrap().steps.len()), (Some(0), 5));
    let text = answer.to_string();
    assert!(text.contains("[1] = false, [2] = true") && text.contains("[0] = true, [4] = false"), "{text}");
    // A formula of branching time has such runs, too.
    let answer = Checker::new(Ring(3)).symmetry().ctl("gone", "AF gone", [("gone", |_, s| s.is_empty())]).check();
    answer.unwrap().trace("gone").unwrap().replay(&Ring(3)).unwrap();
    let refused = Checker::new(Ring(3)).symmetry().fair_weak().eventually("two", two).check().unwrap_err();
    assert!(matches!(refused, CheckerError::Option(_)), "{refused}");
}

/// Divides by what counts down.
struct Careless {
    where_: &'static str,
}

impl TypedModel for Careless {
    type State = u8;
    type Action = u8;

    fn initial(&self) -> Vec<u8> {
        if self.where_ == "initial" {
            panic!("nothing to begin with");
        }
        vec![3]
    }

    fn actions(&self, state: &u8, out: &mut Vec<u8>) {
        assert!(self.where_ != "actions" || *state > 0, "no actions at {state}");
        out.push(1);
    }

    fn next(&self, state: &u8, action: &u8) -> Option<u8> {
        if self.where_ == "next" && *state == 0 {
            panic!("cannot go below zero");
        }
        state.checked_sub(*action)
    }
}

#[test]
fn panics_are_violations_with_a_run() {
    for (where_, said) in [("next", "cannot go below zero"), ("actions", "no actions at 0")] {
        let answer = Checker::new(Careless { where_ }).check().unwrap();
        assert_eq!(answer.verdict("no panic"), Verdict::Violated, "{where_}");
        assert_eq!(answer.trace("no panic").unwrap().len(), 3, "{where_}");
        assert!(answer.to_string().contains(said), "{answer}");
    }
    let answer = Checker::new(Careless { where_: "" }).invariant("small", |_, s| 10 / *s > 0).check().unwrap();
    assert_eq!(answer.verdict("small"), Verdict::Violated);
    assert_eq!(answer.trace("small").unwrap().len(), 3);
    let answer = Checker::new(Careless { where_: "" })
        .ctl("formula", "AG small", [("small", |_, state| 10 / *state < 100)])
        .check()
        .unwrap();
    assert_eq!(answer.verdict("formula"), Verdict::Undecided, "{answer}");
    let error = Checker::new(Careless { where_: "initial" }).check().unwrap_err();
    assert!(matches!(error, CheckerError::Model(_)), "{error}");
    assert!(error.to_string().contains("nothing to begin with"), "{error}");
}

/// What serde leaves out is lost.
struct Forgetful;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Leaky {
    kept: u8,
    #[serde(skip)]
    lost: u8,
}

impl TypedModel for Forgetful {
    type State = Leaky;
    type Action = ();

    fn initial(&self) -> Vec<Leaky> {
        vec![Leaky { kept: 0, lost: 0 }]
    }

    fn actions(&self, _: &Leaky, out: &mut Vec<()>) {
        out.push(());
    }

    fn next(&self, state: &Leaky, _: &()) -> Option<Leaky> {
        Some(Leaky { kept: state.kept + 1, lost: state.lost + 1 }).filter(|next| next.kept < 9)
    }
}

#[test]
fn a_wrong_model_is_told_from_a_wrong_program() {
    let error = Checker::new(Forgetful).check().unwrap_err();
    assert!(error.to_string().contains("not read as it was written"), "{error}");
    assert!(error.to_string().contains("kept: 1"), "{error}");
}

#[test]
fn what_is_asked_in_vain_is_said() {
    let counter = || Checker::new(Counter { top: 3, round: true });
    let said = |checker: Checker<Counter>| checker.check().unwrap_err().to_string();
    assert!(said(counter().memory("a lot")).contains("a lot"), "{}", said(counter().memory("a lot")));
    assert!(said(counter().store("drawer")).contains("drawer"));
    let formula = said(counter().ltl("f", "[] (low -> <> hihg)", [("low", |_, s| s.value == 0)]));
    assert!(formula.contains("hihg"), "{formula}");
    let twice = said(counter().no_deadlock().no_deadlock());
    assert!(twice.contains("deadlock"), "{twice}");
}

#[test]
fn limits_are_kept_and_told() {
    let endless = || Checker::new(Counter { top: u32::MAX, round: false });
    let answer = endless().time(Duration::from_millis(300)).invariant("small", |m, s| s.value < m.top).check().unwrap();
    assert_eq!(answer.verdict("small"), Verdict::Undecided);
    assert!(!answer.is_complete() && !answer.holds());
}

#[test]
fn tests_fail_with_the_run() {
    let answer = Checker::new(Counter { top: 9, round: true }).invariant("small", |_, s| s.value < 4).check().unwrap();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer.assert_holds())).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("violated: small") && message.contains("  4  Up  value = 4"), "{message}");
    Checker::new(Counter { top: 9, round: true })
        .invariant("small", |_, s| s.value < 10)
        .check()
        .unwrap()
        .assert_holds();
}

#[test]
fn walks_find_what_is_wrong() {
    let counter = || Checker::new(Counter { top: 50, round: true });
    let found = counter().invariant("small", |_, s| s.value < 40).simulate(10, 100).unwrap();
    let (property, path) = found.violated.as_ref().unwrap();
    assert_eq!((&property[..], path.len()), ("small", 40));
    path.replay(&Counter { top: 50, round: true }).unwrap();
    let found =
        counter().invariant("small", |_, s| s.value < 40).reach("ten", |_, s| s.value == 10).simulate(10, 20).unwrap();
    found.assert_nothing_violated();
    assert_eq!((found.walks, found.reached.len()), (10, 1));
}

#[test]
fn logs_are_held_against_the_model() {
    let model = Network { clients: 3, lossy: true };
    let answer = |client: u8| Event::Receive(client, format!("an answer to client {client}"));
    let whole = [Event::Send(1), Event::Send(0), Event::Serve(0), Event::Serve(1), answer(1), answer(0)];
    let log = |events: &[Event]| events.iter().cloned().map(Seen).collect::<Vec<_>>();
    assert!(conform(&model, log(&whole)).unwrap().conforms());
    // Of what the server does nothing is seen: between two observations it may have acted.
    let seen = [Event::Send(1), Event::Send(0), answer(1), answer(0)];
    assert!(!conform(&model, log(&seen)).unwrap().conforms());
    let Conformance::Conforms(run) =
        conform_unseen(&model, log(&seen), Unseen { between: 1, ..Unseen::default() }).unwrap()
    else {
        panic!("the server has acted");
    };
    assert_eq!(run.len(), 6);
    let path = scrimp::Path::new(World::default(), run);
    path.replay(&model).unwrap();
    // What was never asked is not answered.
    let found = conform(&model, log(&[Event::Send(1), answer(2)])).unwrap();
    let Conformance::Differs { matched, run, possible, .. } = &found else { panic!("{found}") };
    assert_eq!((*matched, run.len(), possible.len()), (1, 1, 1));
    assert!(possible[0].1.contains(&Event::Serve(1)), "{found}");
    assert!(found.to_string().contains("after 1 observations there is no Receive(2"), "{found}");
    // What is seen may be a state.
    let done = |count: usize| move |_: &Network, _: &World, _: &Event, after: &World| after.done.len() == count;
    let sizes = [0, 0, 0, 1].map(done);
    assert!(conform(&model, sizes).unwrap().conforms());
    // A long log.
    let counter = Counter { top: 5, round: true };
    let turn = [Step::Up, Step::Up, Step::Up, Step::Up, Step::Up, Step::Back].map(Seen);
    let log: Vec<_> = std::iter::repeat_n(turn, 2000).flatten().collect();
    assert!(conform(&counter, log).unwrap().conforms());
}

#[test]
fn logs_of_json_lines_are_held_against_the_model() {
    use scrimp::logs::{Log, Mapping, Unseen};
    let counter = || Checker::new(Counter { top: 3, round: true }).name("counter");
    let log = |text: &str| [Log::Text("run.jsonl".into(), text.as_bytes().into())];
    let turn =
        "{\"event\": \"Up\", \"value\": 1}\n{\"value\": 2}\n{\"event\": \"Up\"}\n{\"event\": \"Back\", \"value\": 0}\n";
    let held = counter().conform(&log(&turn.repeat(3)), &Mapping::default(), Unseen::Most(0)).unwrap();
    held.assert_conforms();
    assert!(held.to_string().starts_with("run.jsonl: a run of counter\n  12 records, 12 steps\n"), "{held}");
    // Steps that nobody saw, and words of the program's own.
    let mapping = Mapping::parse("run.map", "event kind\nevent reset = Back\nvalue n = value before\n").unwrap();
    let resets = "{\"kind\": \"reset\", \"n\": 3}\n".repeat(5);
    let held = counter().conform(&log(&resets), &mapping, Unseen::Any).unwrap();
    assert_eq!(held.found.run.as_ref().unwrap().unseen(), 15);
    // What could happen instead is told, and what a value would be.
    let wrong = "{\"event\": \"Up\", \"value\": 2}\n";
    let held = counter().conform(&log(wrong), &Mapping::default(), Unseen::Most(0)).unwrap();
    assert!(!held.conforms());
    assert!(held.to_string().contains("value would be 1, and the log says 2"), "{held}");
    assert!(held.to_string().contains("what can happen there:\n  Up\n"), "{held}");
    assert!(held.json().contains("\"verdict\": \"differs\""));
    let error = counter().conform(&log("{}"), &Mapping::default(), Unseen::Any).err().unwrap();
    assert!(error.to_string().contains("run.jsonl:1:1: error: this record says nothing"), "{error}");
}

#[test]
fn runs_are_saved_and_followed_again() {
    let model = || Network { clients: 2, lossy: true };
    let answer = Checker::new(model()).reach("all done", |_, s| s.done.len() == 2).check().unwrap();
    let file = std::env::temp_dir().join(format!("scrimp-typed-{}.json", std::process::id()));
    answer.save("all done", &file).unwrap();
    assert!(answer.save("no panic", &file).is_err());
    let loaded = scrimp::Path::load(&model(), &file).unwrap();
    assert_eq!(Some(loaded), answer.trace("all done"));
    let error = scrimp::Path::load(&Network { clients: 1, lossy: true }, &file).unwrap_err();
    assert!(error.contains("step"), "{error}");
    std::fs::write(&file, "{}").unwrap();
    assert!(scrimp::Path::load(&model(), &file).unwrap_err().contains("is not a run"));
    let _ = std::fs::remove_file(file);
}

#[test]
fn model_files_are_asked_in_the_same_way() {
    let file = |name: &str| format!("{}/models/{name}", env!("CARGO_MANIFEST_DIR"));
    let answer =
        Checker::open(file("naive_lock.dve")).unwrap().property("ltl: []<> P_0@idle").memory("1G").check().unwrap();
    assert_eq!(answer.verdict("ltl: []<> P_0@idle"), Some(Verdict::Violated), "{answer}");
    assert!(!answer.holds() && answer.trace("ltl: []<> P_0@idle").is_some());
    let lock = || Checker::open(file("peterson3.dve")).unwrap();
    lock().property("invariant: !(P_0@cs && P_1@cs)").store("tree").threads(1).check().unwrap().assert_holds();
    lock().property("ltl: [] (P_0@enter -> <> P_0@cs)").fair("weak").check().unwrap().assert_holds();
    assert!(lock().count().unwrap().states() > 1000);
    assert!(matches!(Checker::open(file("nowhere.dve")), Err(CheckerError::File(_))));
    assert!(matches!(lock().store("drawer").check(), Err(CheckerError::Option(_))));
    let refused = lock().property("invariant: nonsense").check().unwrap_err();
    assert!(refused.to_string().contains("nonsense"), "{refused}");
    let refused = lock().store("tree").fair("strong").property("ltl: <> P_0@cs").check().unwrap_err();
    assert!(matches!(refused, CheckerError::Refused(_)), "{refused:?}");
}

#[test]
fn actions_are_counted_by_their_variants() {
    let times = |taken: &[Taken], name: &str| taken.iter().find(|taken| taken.action == name).map(|taken| taken.times);
    for threads in [1, 4] {
        let model = Network { clients: 4, lossy: true };
        let answer = Checker::new(model).coverage().threads(threads).memory("256M").check().unwrap();
        let taken = answer.coverage();
        let names: Vec<&str> = taken.iter().map(|taken| &taken.action[..]).collect();
        assert_eq!(names, ["Lose", "Receive", "Send", "Serve"]);
        assert_eq!(taken.iter().map(|taken| taken.times).sum::<u64>(), answer.transitions());
        assert!(answer.to_string().contains("actions taken: 4 of 4\n"), "{answer}");
    }
    // What is offered and led nowhere each time is never taken; further searches count nothing.
    let answer = Checker::new(Counter { top: 0, round: true })
        .coverage()
        .eventually("zero", |_, state| state.value == 0)
        .check()
        .unwrap();
    assert_eq!((times(answer.coverage(), "Up"), times(answer.coverage(), "Back")), (Some(0), Some(1)));
    assert!(answer.to_string().contains("\tBack: 1 time\n\tUp: never\n"), "{answer}");
    // Numbers have no variants.
    let answer = Checker::new(Careless { where_: "" }).coverage().check().unwrap();
    assert_eq!(answer.coverage(), [Taken { action: "u8".into(), times: 3 }]);
    // A step that panics is taken. The run there is followed once more, but not counted.
    let answer = Checker::new(Careless { where_: "next" }).coverage().check().unwrap();
    assert_eq!(times(answer.coverage(), "u8"), Some(4));
    assert!(Checker::new(Counter { top: 3, round: true }).check().unwrap().coverage().is_empty());
}

#[test]
fn answers_are_written_as_json_and_as_a_page() {
    let answer = Checker::new(Network { clients: 2, lossy: true })
        .invariant("not all done", |_, s| s.done.len() < 2)
        .eventually("all done", |_, s| s.done.len() == 2)
        .coverage()
        .threads(1)
        .check()
        .unwrap();
    let json: serde_json::Value = serde_json::from_str(&answer.json()).unwrap();
    let schema = common::schema::Schema::new(include_str!("../../docs/schema/scrimp.schema.json"));
    assert!(schema.check(&json).errors.is_empty(), "{:?}", schema.check(&json).errors);
    assert_eq!((&json["model"], &json["verdict"]), (&"Network".into(), &"violated".into()));
    let names: Vec<&str> = json["properties"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["not all done", "no panic", "all done"]);
    assert_eq!(json["coverage"]["parts"][0]["kind"], "action");
    let file = std::env::temp_dir().join(format!("scrimp-typed-{}.html", std::process::id()));
    answer.report_html(&file).unwrap();
    let page = std::fs::read_to_string(&file).unwrap();
    let _ = std::fs::remove_file(file);
    for part in ["not all done", "<svg", "process 1", "Serve(", "<h3>Actions</h3>", "Network"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
