//! What DVE means, by the systems that come out: their states are counted, and their parts looked at.

use crate::common::{Counts, count};
use scrimp_lang::parse_dve;
use scrimp_system::{Domain, Expr, Moment, ProcessId, Role, Source, System};

fn system(text: &str) -> System {
    let system = parse_dve(Source::new("model.dve", text)).unwrap_or_else(|e| panic!("{e}"));
    system.validate().unwrap_or_else(|e| panic!("{}", e.0));
    system
}

/// The numbers were counted with the reference counter for DVE.
fn assert_counts(text: &str, states: usize, transitions: usize, deadlocks: usize, violations: usize) {
    assert_eq!(count(&system(text), 200_000), Counts { states, transitions, deadlocks, violations });
}

/// Committed states, a rendezvous between two of them, and one that never happens.
#[test]
fn committed_counts() {
    let text = "
        byte x;
        channel c;
        process A { state a, b, d; commit b; init a;
          trans a -> b { effect x = 1; }, b -> d { sync c!; }, b -> a { guard x == 1; effect x = 0; }, d -> a {}; }
        process B { state p, q, r; init p; commit q, r;
          trans p -> q {}, q -> r { sync c?; }, r -> p { effect x = x + 1; }, p -> p { guard x < 5; effect x = x + 1; }; }
        process C { byte n; state s; init s; trans s -> s { guard n < 3; effect n = n + 1; }; }
        system async;
    ";
    assert_counts(text, 52, 90, 24, 0);
}

/// Values cast by typed channels, an index read before the processes move, a receiver that takes nothing.
#[test]
fn typed_counts() {
    let text = "
        channel {byte} c;
        channel u;
        channel {int, byte} t[0];
        int a = 200;
        process P { int y; state s, e; init s; trans
          s -> s { guard a < 500; sync c!a + 100; effect a = a + 100; },
          s -> e { sync u!a*7; },
          e -> s { guard a > 240; sync t!{a-300, a}; effect a = a - 45; }; }
        process Q { int z; byte b; byte arr[3]; state s; init s; trans
          s -> s { sync c?z; effect b = z; },
          s -> s { sync u?b; },
          s -> s { guard b < 250; sync t?{z, arr[P.e]}; },
          s -> s { sync t?; }; }
        system async;
    ";
    assert_counts(text, 50694, 89984, 4209, 0);
}

/// Tuples in a buffer, received with and without variables, and a fault in a guard.
#[test]
fn buffered_counts() {
    let text = "
        channel {byte, int} c[3];
        byte g;
        process P { byte n; state s; init s; trans
          s -> s { guard n < 6; sync c!{n * 100, n - 3}; effect n = n + 1, g = n; },
          s -> s { guard n == 6; effect n = 0; }; }
        process Q { byte x; int y; int arr[4]; state s, t; init s; trans
          s -> t { sync c?{x, y}; effect g = x; },
          t -> s { sync c?; },
          t -> s { guard 10 / y > 0; sync c?{arr[y+3], y}; effect g = arr[1]; }; }
        system async;
    ";
    assert_counts(text, 46, 73, 0, 0);
}

/// Wrapping at 8 and 16 bits, constant tables, faults, hidden sources, several guards, foreign variables.
#[test]
fn wraps_counts() {
    let text = "
        const byte K = 3, T[3] = {5, 7, 9};
        byte x = 254; int y = 32760; byte a[2] = {1, 2, 3};
        process P { const int L = K + 1; byte v = L; state s, t; init s; assert s: x != 1, t: v imply y > 0; accept t; trans
          s -> t { guard x > 3 or not v; effect x = x + 1, a[x % 2] = T[x % 4]; },
          -> s { guard x < L; guard v; guard y > 0 or y < 0 - 32760; effect y = y + 1, v = v - 1; },
          t -> s { guard P->v << 1 > 0 and P.t; effect v = ~v & 7, x = x | K ^ 1; }; }
        process O { state s; init s; trans s -> s { effect P->v = 1, x = (x - 1) & 135; }; }
        system async;
    ";
    assert_counts(text, 5055, 9130, 0, 1008);
}

/// A property process with a variable, a committed state and a guard that can fault.
#[test]
fn claim_counts() {
    let text = "
        byte x;
        process P { state s; commit s; init s; trans s -> s { guard x < 3; effect x = x + 1; }; }
        process R { state a, b; init a; trans a -> b {}, b -> a { guard x; }; }
        process N { byte k = 2; state q, r; init q; accept r; commit r; trans q -> q {}, q -> r { guard x == k; }, r -> r { guard 1 / x; }; }
        system async property N;
    ";
    assert_counts(text, 5, 5, 2, 0);
}

#[test]
fn variables_have_their_owners_roles_and_initial_values() {
    let system = system(
        "byte x = 300; const int N = 2; int a[N] = {1, -1, 7}; channel {byte, int} c[2];
         process P { byte v = N * 2; state s, t; init t; } system async;",
    );
    let names: Vec<String> =
        (0..system.variables.len() as u32).map(|v| system.full_name(scrimp_system::VarId(v))).collect();
    assert_eq!(names, ["x", "a", "c.len", "c.0", "c.1", "P", "P.v"]);
    assert_eq!(system.initial, [vec![44, 1, -1, 0, 0, 0, 0, 0, 1, 4]]);
    assert_eq!(system.variables[2].domain, Domain::range(0, 2));
    assert_eq!(system.variables[3].role, Role::Channel);
    assert_eq!(system.variables[5].role, Role::Control(ProcessId(0)));
    assert_eq!(system.variables[6].owner, Some(ProcessId(0)));
}

#[test]
fn constants_are_as_large_as_their_types_say() {
    let text = "const byte K = 300, T[2] = {7}, U[1] = {1, 2};
         process P { state s, t; init s; trans
           s -> t { guard K == 44 && T[1] == 0; },
           s -> t { guard U[1] == 2; }; }
         system async;";
    assert_counts(text, 2, 1, 1, 0);
}

#[test]
fn a_rendezvous_passes_its_values_before_any_effect() {
    let system = system(
        "int x; channel c;
         process P { state a, b; init a; trans a -> b { guard x < 5; sync c!x + 1; effect x = 2; }; }
         process Q { int y; state u, v; init u; trans u -> v { guard y == 0; sync c?y; effect x = y; }; }
         system async;",
    );
    let [event] = system.events.as_slice() else { panic!("one pair, one event") };
    assert_eq!(event.label, "c!x + 1: P a -> b, Q u -> v");
    assert_eq!((event.span.line, event.span.column), (2, 48));
    assert_eq!(event.moves.iter().map(|m| (m.process.0, m.from, m.to)).collect::<Vec<_>>(), [(0, 0, 1), (1, 0, 1)]);
    let message = event.message.as_ref().unwrap();
    assert_eq!((message.channel.as_str(), message.from, message.to), ("c", Some(ProcessId(0)), Some(ProcessId(1))));
    let order: Vec<(String, Moment)> = event.effects.iter().map(|a| (system.full_name(a.target), a.moment)).collect();
    let expected = [("Q.y", Moment::Source), ("x", Moment::Current), ("x", Moment::Current)];
    assert_eq!(order, expected.map(|(name, moment)| (name.to_string(), moment)));
}

#[test]
fn events_stand_in_the_order_of_their_senders() {
    let system = system(
        "channel c;
         process P { state s; init s; trans s -> s {}, s -> s { sync c!; }, s -> s { sync c?; }; }
         process Q { state t; init t; trans t -> t { sync c?; }, t -> t { sync c!; }; }
         system async;",
    );
    let labels: Vec<&str> = system.events.iter().map(|e| e.label.as_str()).collect();
    assert_eq!(labels, ["P: s -> s", "c!: P s -> s, Q t -> t", "c!: Q t -> t, P s -> s"]);
}

#[test]
fn a_committed_state_needs_no_test_of_its_own() {
    let system = system(
        "process P { state a, b; commit b; init a; trans a -> b {}, b -> a {}; }
         process Q { state u; init u; trans u -> u {}; }
         system async;",
    );
    let guards: Vec<bool> = system.events.iter().map(|e| e.guard == Expr::TRUE).collect();
    assert_eq!(guards, [true, true, false]);
}

#[test]
fn assertions_hold_elsewhere() {
    let system = system("byte x; process P { state a, b; init a; assert b: (x  <\n 3) ; } system async;");
    assert_eq!(system.assertions[0].name, "P.b: (x < 3)");
    assert_eq!(count(&system, 10).violations, 0);
}

#[test]
fn templates_become_processes() {
    let system = system(
        "input int n = 2;
         process node(key i, limit) { byte v = i; state idle, busy; init idle;
           trans idle -> busy { guard v < limit && node(1).idle; effect v = node(n)->v + i; }; }
         for (x : 1 .. n) { process node(x, 10 * x); }
         process watcher { state w; init w; accept w; trans w -> w { guard node(2)->v == 3; }; }
         system async;",
    );
    let names: Vec<&str> = system.processes.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["node(1)", "node(2)", "watcher"]);
    assert_eq!(system.initial[0], [0, 1, 0, 2, 0]);
    assert_eq!(system.events[1].label, "node(2): idle -> busy");
    assert_eq!(system.processes[2].accepting, [0]);
}

#[test]
fn a_property_process_becomes_the_claim() {
    for text in [
        "byte x; process P { state s; init s; trans s -> s {}; }
         property process N { state q; init q; accept q; trans q -> q { guard x; }; } system async;",
        "byte x; process P { state s; init s; trans s -> s {}; }
         process N { state q; init q; accept q; trans q -> q { guard x; }; } system async property N;",
    ] {
        let system = system(text);
        let claim = system.claim.as_ref().unwrap();
        assert_eq!((claim.process, claim.moves.len(), system.events.len()), (ProcessId(1), 1, 1));
        assert_eq!(system.processes[1].accepting, [0]);
    }
}

/// The same model with the first elements written out.
#[test]
fn an_array_without_an_index_is_its_first_element() {
    let text = "byte a[2] = {1, 2}; const byte T[2] = {3, 4}; channel c;
         process P { state s; init s; trans
           s -> s { guard a < T; effect a = a + 1; },
           s -> s { sync c!T; }; }
         process Q { byte b[2]; state s; init s; trans s -> s { guard 0 && O->z; sync c?b; }; }
         process O { byte z[1]; state s; init s; trans s -> s { guard Q->b == 0 && a; }; }
         system async;";
    let loose = system(text);
    assert_eq!(loose.warnings.len(), 6);
    let first = "model.dve:3:27: warning: array `a` is used without an index: its first element is taken\n\
                 \u{20}            s -> s { guard a < T; effect a = a + 1; },\n\
                 \u{20}                           ^\n\
                 help: write `a[0]` if that is meant";
    assert_eq!(loose.warnings[0], first);
    assert_eq!(loose.warnings[5], "model.dve: warning: arrays are used without an index in 4 more places");
    let mut strict = text.to_string();
    for (from, to) in [
        ("a < T", "a[0] < T[0]"),
        ("a = a + 1", "a[0] = a[0] + 1"),
        ("c!T", "c!T[0]"),
        ("c?b", "c?b[0]"),
        ("O->z;", "O->z[0];"),
        ("Q->b == 0 && a", "Q->b[0] == 0 && a[0]"),
    ] {
        strict = strict.replace(from, to);
    }
    let strict = system(&strict);
    assert!(strict.warnings.is_empty(), "{:?}", strict.warnings);
    assert_eq!(count(&loose, 1000), count(&strict, 1000));
}

#[test]
fn what_real_models_get_away_with() {
    system("process P { state s, t; init s; trans s -> t {}, -> s {}, } system async;");
    system("process P { state s; init s; trans s -> s {} s -> s {}; } system async;");
    system("process P { state commited, guard; init guard; trans guard -> commited { }; } system async;");
    system("process P { byte s; state s; init s; trans s -> s { guard P.s && P->s; }; } system async;");
    system("byte a[1] = {1, 2}; process P { state s; init s; } system async;  // the end");
    system("byte x; process P { byte x; state s; init s; trans s -> s { effect x = 1; }; } system async;");
}

#[test]
fn long_chains_are_balanced_and_mean_the_same() {
    for (operator, last) in [("||", "1"), ("&&", "1"), ("+", "1"), ("or", "x"), ("and", "x")] {
        let chain = vec!["x"; 20_000].join(&format!(" {operator} "));
        let text = format!(
            "byte x; process P {{ state s, t; init s; trans s -> t {{ guard {chain} {operator} {last}; }}; }} system async;"
        );
        let expected = if ["||", "+"].contains(&operator) { 2 } else { 1 };
        assert_eq!(count(&system(&text), 10).states, expected, "{operator}");
    }
}
