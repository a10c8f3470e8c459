//! Automata as text: what was written is read again, and what others write is understood or refused with its place.

use crate::common;
use crate::common::Chance;
use scrimp_temporal::{Limits, hoa, translate};

const ATOMS: usize = 3;

#[test]
fn what_is_written_is_read_again() {
    let mut chance = Chance(0x5eed_0002);
    for round in 0..300 {
        let formula = chance.formula(2 + round % 12, ATOMS);
        let automaton = translate(&formula, &Limits::default()).expect("small enough");
        let names: Vec<String> = (0..ATOMS).map(|i| format!("{i} \"quoted\" \\ back")).collect();
        for automaton in [automaton.degeneralised(), automaton.state_based(), automaton] {
            let text = hoa::write(&automaton, &names, &formula.to_string());
            let (again, read) = hoa::read(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
            assert_eq!(read, names[..automaton.atoms]);
            assert_eq!(
                (again.states.len(), again.sets, again.atoms),
                (automaton.states.len(), automaton.sets, automaton.atoms)
            );
            for _ in 0..20 {
                let (stem, cycle) = chance.word(ATOMS);
                assert_eq!(again.accepts(&stem, &cycle), formula.holds_on(&stem, &cycle), "{formula}");
            }
        }
    }
}

fn head(more: &str) -> String {
    format!("HOA: v1 States: 2 AP: 2 \"a\" \"b\" {more}\n--BODY--\n")
}

/// The text is an automaton of the formula, on many words.
fn means(text: &str, formula: &str) {
    let (automaton, _) = hoa::read(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let formula = common::letters(formula);
    let mut chance = Chance(0x5eed_0003);
    for _ in 0..500 {
        let (stem, cycle) = chance.word(2);
        assert_eq!(automaton.accepts(&stem, &cycle), formula.holds_on(&stem, &cycle), "{text} on {stem:?} {cycle:?}");
    }
}

#[test]
fn what_others_write_is_understood() {
    let buchi = "Acceptance: 1 Inf(0)";
    means(
        &(head(&format!("Start: 0 {buchi} tool: \"x\" \"1\" properties: state-acc explicit-labels"))
            + "State: 0 \"first\" [0] 1 [!0] 0 State: 1 {0} [0] 1 [!0] 0 --END--"),
        "G F a",
    );
    // Labels of states: what is read when leaving them.
    means(
        &(head("Start: 0 Start: 1 Acceptance: 0 t acc-name: all /* any /* nested */ run */")
            + "State: [0] 0 0 State: [!0&1] 1 1 --END--"),
        "(G a) || G (!a && b)",
    );
    // Without labels: one edge for each letter, in order.
    means(&(head(&format!("Start: 0 {buchi}")) + "State: 0 0 {0} 1 0 {0} 1 State: 1 1 1 1 1 --END--"), "G !a");
    means(
        &(head("Start: 0 Alias: @both 0&1 Alias: @none !(0|1) Acceptance: 2 Inf(0)&(Inf(!1))")
            + "State: 0 [@both] 0 {0} [@none] 0 {1} [!@both & !@none] 0 {0 1} --END--"),
        "(G F (a || b)) && G F (a && b)",
    );
    means(
        &("HOA: v1 AP: 1 \"a\" Acceptance: 0 t --BODY-- State: 0 [t] --ABORT--".to_string()
            + &head("Start: 1 Acceptance: 0 t")
            + "State: 1 [1] 1 --END-- HOA: v2"),
        "G b",
    );
    means(&(head("Acceptance: 0 t") + "--END--"), "false");
}

#[test]
fn as_many_sets_as_there_may_be_are_read() {
    let sets = |count: usize| {
        let all: Vec<String> = (0..count).map(|set| format!("Inf({set})")).collect();
        head(&format!("Start: 0 Acceptance: {count} {}", all.join("&"))) + "State: 0 [t] 0 --END--"
    };
    assert_eq!(hoa::read(&sets(64)).expect("64 sets are few enough").0.sets, 64);
    assert!(hoa::read(&sets(65)).expect_err("65 sets are too many").message.contains("64 sets"));
}

#[test]
fn what_is_not_ours_is_refused_with_its_place() {
    let refused = |text: &str, line: usize, message: &str| {
        let error = hoa::read(text).expect_err(text);
        assert!(error.line == line && error.message.contains(message), "{error} for {text}");
    };
    let state = "State: 0\n[0] 0\n--END--";
    refused(&(head("Start: 0 Acceptance: 1 Fin(0)") + state), 1, "Fin");
    refused(&(head("Start: 0 Acceptance: 2 Inf(0) | Inf(1)") + state), 1, "alternatives");
    refused(&(head("Start: 0&1 Acceptance: 0 t") + state), 1, "alternation");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0\n[0] 0&1\n--END--"), 4, "alternation");
    refused(&(head("Start: 0 Acceptance: 1 Inf(1)") + state), 1, "unknown set");
    refused(&(head("Start: 0 Acceptance: 0 t Strange: 1") + state), 1, "Strange");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0\n[2] 0\n--END--"), 4, "no atom 2");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0\n[@x] 0\n--END--"), 4, "@x");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0\n[0] 5\n--END--"), 4, "no state 5");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0\n[0] 0 {0}\n--END--"), 4, "no set 0");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0\n0 0 0\n--END--"), 3, "one edge for each letter");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0 [0] 0\n1 --END--"), 4, "expected a condition");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0 State: 0 --END--"), 3, "appears twice");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0 [0] 0\nState: 2 [0] 0 --END--"), 4, "no state 2");
    refused(&(head("Start: 7 Acceptance: 0 t") + state), 5, "initial state");
    refused(&head("Start: 0"), 3, "Acceptance");
    refused(&(head("Start: 0 Acceptance: 0 t") + "State: 0 --ABORT--"), 3, "ends with --ABORT--");
    refused("HOA: v2", 1, "version");
    refused("never { }", 1, "HOA");
    refused("HOA: v1 name: \"open", 1, "not closed");
    refused("HOA: v1 /* open", 1, "not closed");
    refused(&(head(&format!("Alias: @deep {}0", "!".repeat(100_000))) + state), 1, "deep");
    refused(&(head(&format!("Acceptance: 1 {}t", "(".repeat(100_000))) + state), 1, "deep");
    for end in 0..head("Start: 0 Acceptance: 0 t").len() {
        assert!(hoa::read(&head("Start: 0 Acceptance: 0 t")[..end]).is_err());
    }
}
