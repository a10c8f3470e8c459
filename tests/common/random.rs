//! Random small models, as text; every other one gets what no text of its language can say.

use proptest::prelude::*;
use proptest::sample::select;
use scrimp_lang::Diagnostic;
use scrimp_system::{Expr, Random, Source, System, Then};
use std::fmt;

/// A model as its text, so that a failure shows something that can be saved and run.
#[derive(Clone)]
pub struct Text(pub String);

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

impl Text {
    /// The system, in half of the cases with events that are late, that make assertions, or after which a process goes on
    /// by itself. It depends on the text alone.
    pub fn system(&self) -> Result<System, Diagnostic> {
        let mut system = scrimp_lang::parse_dve(Source::new("random.dve", self.0.as_str()))?;
        let mut random = Random(self.0.bytes().fold(7, |sum, byte| sum * 31 % 1_000_000_007 + byte as u64));
        if random.below(2) == 0 {
            enrich(&mut system, &mut random);
        }
        Ok(system)
    }
}

fn enrich(system: &mut System, random: &mut Random) {
    let controls: Vec<_> = system.processes.iter().map(|p| (p.control, p.locations.len())).collect();
    let place = |random: &mut Random| {
        let (control, locations) = controls[random.below(controls.len())];
        Expr::equals(control, random.below(locations) as i64)
    };
    system.valid_end = (random.below(2) == 0).then(|| place(random));
    system.fault_messages = vec!["as declared".into()];
    for event in &mut system.events {
        event.late = random.below(12) == 0;
        event.assertion = (random.below(6) == 0).then(|| place(random));
        event.fault = (random.below(20) == 0).then_some(0);
        let first = event.moves.first().map(|m| m.process);
        event.then = match (first, random.below(8)) {
            (Some(process), 0 | 1) => Then::Atomic(process),
            (Some(process), 2) => Then::DStep(process),
            _ => Then::Free,
        };
    }
}

/// What a family of models is like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub processes: (usize, usize),
    /// Out of ten, how many processes mind their own business: many states side by side.
    pub independent: u32,
}

fn expression() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        3 => (0..4u8).prop_map(|n| n.to_string()),
        6 => select(vec!["x", "y", "i", "l", "l", "a[0]", "a[1]"]).prop_map(str::to_string),
        // These may be out of range, or not.
        1 => select(vec!["a[x]", "a[l]", "a[y % 2]", "a[i]"]).prop_map(str::to_string),
    ];
    let combine = |inner: BoxedStrategy<String>| {
        let operators = vec!["+", "-", "*", "&", "|", "^", "==", "!=", "<", ">=", "&&", "||", "imply", "+", "==", "<"];
        let faulty = select(vec!["/", "%", "<<", ">>"]);
        prop_oneof![
            10 => (inner.clone(), select(operators), inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (inner.clone(), faulty, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => inner.clone().prop_map(|a| format!("(not {a})")),
            1 => inner.prop_map(|a| format!("-({a})")),
        ]
    };
    leaf.prop_recursive(3, 8, 2, move |inner| combine(inner.boxed())).boxed()
}

fn target() -> impl Strategy<Value = &'static str> {
    select(vec!["x", "y", "i", "l", "l", "a[0]", "a[1]", "a[y % 2]", "a[l]"])
}

fn assignment() -> impl Strategy<Value = String> {
    let bound = prop_oneof![8 => (2..4u8).prop_map(Some), 1 => Just(None)];
    (target(), expression(), bound).prop_map(|(target, value, bound)| match bound {
        Some(bound) => format!("{target} = ({value}) % {bound}"),
        None => format!("{target} = {value}"),
    })
}

fn synchronisation() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec!["r!", "r?"]).prop_map(str::to_string),
        expression().prop_map(|e| format!("c!({e}) % 3")),
        target().prop_map(|t| format!("c?{t}")),
        expression().prop_map(|e| format!("q!{{({e}) % 2, 1}}")),
        (target(), target()).prop_map(|(s, t)| format!("q?{{{s}, {t}}}")),
    ]
}

/// A transition; its locations are taken modulo how many there are.
fn transition() -> impl Strategy<Value = (usize, usize, String)> {
    let guard = prop::option::weighted(0.35, expression());
    let sync = prop::option::weighted(0.3, synchronisation());
    let effects = prop::collection::vec(assignment(), 0..3);
    (0..12usize, 0..12usize, guard, sync, effects).prop_map(|(from, to, guard, sync, effects)| {
        let guard = guard.map(|g| format!(" guard {g};")).unwrap_or_default();
        let sync = sync.map(|s| format!(" sync {s};")).unwrap_or_default();
        let effects = if effects.is_empty() { String::new() } else { format!(" effect {};", effects.join(", ")) };
        (from, to, format!("{{{guard}{sync}{effects} }}"))
    })
}

/// A transition that nobody else sees.
fn private_transition() -> impl Strategy<Value = (usize, usize, String)> {
    (0..12usize, 0..12usize, 1..4u8).prop_map(|(from, to, k)| (from, to, format!("{{ effect l = (l + {k}) % 5; }}")))
}

fn process(independent: u32) -> impl Strategy<Value = String> {
    let transitions = prop_oneof![
        10 - independent => prop::collection::vec(transition(), 4..9),
        independent => prop::collection::vec(private_transition(), 6..10),
    ];
    let committed = prop::option::weighted(if independent > 0 { 0.02 } else { 0.2 }, 0..4usize);
    (2..5usize, transitions, committed, 0..3u8).prop_map(|(locations, transitions, committed, l)| {
        let names: Vec<String> = (0..locations).map(|i| format!("s{i}")).collect();
        let commit = committed.map(|i| format!(" commit s{};", i % locations)).unwrap_or_default();
        let rows: Vec<String> = transitions
            .into_iter()
            .map(|(from, to, body)| format!("        s{} -> s{} {body}", from % locations, to % locations))
            .collect();
        format!(
            "    byte l = {l};\n    state {}; init s0;{commit}\n    trans\n{};\n",
            names.join(", "),
            rows.join(",\n")
        )
    })
}

pub fn text(shape: Shape) -> impl Strategy<Value = Text> {
    let (fewest, most) = shape.processes;
    let processes = prop::collection::vec(process(shape.independent), fewest..=most);
    (processes, 0..3u8, 0..3u8, -2..3i8, 1..3u8).prop_map(|(processes, x, y, i, capacity)| {
        let processes: Vec<String> =
            processes.iter().enumerate().map(|(n, body)| format!("process P{n} {{\n{body}}}\n")).collect();
        Text(format!(
            "byte x = {x}, y = {y}, a[2];\nint i = {i};\nchannel r;\nchannel {{byte}} c[0];\n\
             channel {{byte, int}} q[{capacity}];\n\n{}\nsystem async;\n",
            processes.join("\n")
        ))
    })
}
