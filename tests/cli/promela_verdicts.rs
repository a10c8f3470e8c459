//! Verdicts on small Promela models, each of which was once decided otherwise than SPIN does.

use crate::common::command::{file, scrimp};

/// `check` of a model ends with this code.
fn ends(name: &str, text: &str, code: i32) {
    let path = file(&format!("verdict-{name}.pml"), text);
    scrimp(&["check", &path, "--quiet"]).code(code);
}

#[test]
fn claims_go_on_where_the_model_stands_still() {
    ends("stutter", "byte x; active proctype P() { x = 1 } never { x == 0; x == 1; x == 1; x == 1 }", 1);
}

#[test]
fn claims_do_not_look_into_atomic_sequences() {
    let claim = "never { do :: x == 2 -> break :: else od }";
    ends("atomic", &format!("byte x; active proctype A() {{ atomic {{ x = 1; x = 2; x = 3 }}; x = 4 }} {claim}"), 0);
    ends("steps", &format!("byte x; active proctype A() {{ x = 1; x = 2; x = 3; x = 4 }} {claim}"), 1);
}

#[test]
fn claims_make_assertions() {
    ends("asserts", "byte x; active proctype A() { x = 1; x = 3; x = 2 } never { do :: assert(x < 3) od }", 1);
}

#[test]
fn labels_may_not_be_passed_for_ever() {
    ends("accept", "byte x; active proctype P() { accept: do :: x < 5 -> x++ :: else -> x = 0 od }", 1);
    ends("accept-once", "byte x; active proctype P() { accept: x = 1; do :: x = 2 :: x = 1 od }", 0);
}

#[test]
fn a_priority_is_for_active_processes_or_for_a_run() {
    let model = |run: &str| {
        format!("byte x; proctype C() priority 4 {{ x = 1 }} active proctype I() {{ {run}; x = 3; assert(x == 3) }}")
    };
    ends("priority", &model("run C()"), 1);
    ends("priority-run", &model("run C() priority 4"), 0);
}

#[test]
fn initial_values_are_cut() {
    ends("cut", "proctype P(int p) { byte y = p; assert(y == 44) } init { run P(300) }", 0);
    ends("cut-not", "proctype P(int p) { byte y = p; assert(y != 44) } init { run P(300) }", 1);
}

#[test]
fn indices_are_checked_wherever_they_stand() {
    for (name, statement) in [("run", "run Q(a[i])"), ("print", "printf(\"%d\", a[i])"), ("nowhere", "_ = a[i]")] {
        let text = format!("byte a[3]; byte i = 7; proctype Q(byte q) {{ q == 0 }} init {{ {statement} }}");
        ends(name, &text, 1);
    }
    ends("alike", "proctype P(byte p) { byte a[3] = p; byte i = 2; i++; a[i] == p } init { run P(4) }", 1);
}

#[test]
fn a_provided_clause_may_wait_for_a_timeout() {
    ends("provided", "byte x; active proctype A() provided (timeout) { x = 1 } active proctype B() { x == 1 }", 0);
}

#[test]
fn channels_end_with_their_process() {
    let text = "chan q = [1] of { chan }; proctype P() { chan l = [2] of { byte }; q!l } \
                init { chan t; run P(); q?t; (_nr_pr == 1); t!1 }";
    ends("gone", text, 1);
}

#[test]
fn sequences_without_end_are_no_success() {
    ends("endless", "active proctype P() { d_step { do :: true od } }", 1);
    ends("endless-atomic", "active proctype P() { atomic { do :: true od } }", 1);
}

#[test]
fn enabled_is_for_claims() {
    ends("enabled", "byte x; active proctype P() { enabled(1) -> x = 1 } active proctype Q() { x = 2 }", 2);
}

#[test]
fn macros_come_from_outside() {
    let path = file("verdict-macro.pml", "active proctype P() { assert(N == 3) }");
    scrimp(&["check", &path, "--quiet", "-D", "N=3"]).code(0);
    scrimp(&["check", &path, "--quiet", "-DN"]).code(1);
    scrimp(&["check", &path, "--quiet", "-D", "3=N"]).code(2);
}

/// What a `provided` clause or a priority says is asked when a `d_step` begins, and not again within it.
#[test]
fn a_d_step_goes_on_whatever_it_changes() {
    let d_step = "d_step { g = 1; g = 2; g = 0 }; assert(g == 0)";
    ends("d_step-provided", &format!("byte g; active proctype P() provided (g == 0) {{ {d_step} }}"), 0);
    let waiting = "active proctype Q() priority 5 { end: g == 1; g = 9 }";
    ends("d_step-priority", &format!("byte g; active proctype P() priority 1 {{ {d_step} }} {waiting}"), 0);
}
