//! Measures as text and as numbers.

use proptest::prelude::*;
use scrimp_native::{Mode, NativeModel};
use scrimp_progress::{Measure, Sample, SampleLimits};
use scrimp_system::{Domain, Later, Layout, Role, Source, System, VarId, Variable, Weight};
use std::sync::Arc;

const TEXT: &str = "
byte x; int y; byte a[3] = {1, 2, 3};
process P { byte x, idle; state idle, try, cs; init idle;
  trans idle -> try { effect x = x + 1; }, try -> cs {}, cs -> idle { guard y < 3; effect y = y + 1, a[1] = y; }; }
process Q { state one, two; init one; trans one -> two { effect x = 5; }; }
system async;";

fn system() -> System {
    scrimp_lang::parse_dve(Source::new("test.dve", TEXT)).unwrap_or_else(|e| panic!("{e}"))
}

fn parse(text: &str) -> Measure {
    Measure::parse(&system(), text).unwrap_or_else(|e| panic!("{e}"))
}

fn error(text: &str) -> String {
    Measure::parse(&system(), text).err().map(|e| e.to_string()).unwrap_or_default()
}

/// A state by assignments to named variables and locations.
fn state(set: &[(&str, usize, i64)]) -> Vec<u8> {
    let system = system();
    let layout = Layout::new(&system);
    let mut state = vec![0; layout.bytes()];
    layout.encode(&system.initial[0], &mut state);
    for (name, index, value) in set {
        let variable = (0..system.variables.len() as u32).map(VarId).find(|&v| system.full_name(v) == *name);
        layout.write(&mut state, variable.unwrap_or_else(|| panic!("{name}")), *index, *value);
    }
    state
}

#[test]
fn text_is_read_back() {
    for text in [
        "x",
        "-x, y",
        "a[0] + a[1] - 2 * a[2] + 7",
        "P{idle < try < cs}, P.x",
        "P{idle, cs < try} - Q{two < one}, P->idle",
        "y{-2 < -3 < 2, 5}, x % 3",
        "3",
        "x * y, P.try, a[x]",
    ] {
        let measure = parse(text);
        assert_eq!(measure.text(), text);
        assert_eq!(parse(&measure.text()).text(), text);
    }
    assert_eq!(parse("x+0,  2*(y - x) - -1").text(), "x, 2 * y - 2 * x + 1");
}

#[test]
fn instances_and_channels_have_names_too() {
    let text = "
        channel {byte, byte} c[2];
        process t(key i, key j) { byte n; state s, u; init s; trans s -> u { sync c!{1, 2}; effect n = i + j; }; }
        process t(1, 2); process t(3, 4);
        process R { byte a, b; state r; init r; trans r -> r { sync c?{a, b}; }; }
        system async;";
    let system = scrimp_lang::parse_dve(Source::new("test.dve", text)).unwrap_or_else(|e| panic!("{e}"));
    let written = "t(1,2){s < u} + t(3,4){s < u}, t(1,2).n, t(3,4).n, R.a{0 < 1}, R.b";
    let measure = Measure::parse(&system, written).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(measure.text(), written);
    let unknown = Measure::parse(&system, "t(1, 3){s < u}").err().map(|e| e.to_string()).unwrap_or_default();
    assert!(unknown.starts_with("measure:1:1: error: unknown process `t(1,3)`"), "{unknown}");
    let system = Arc::new(system);
    let model = NativeModel::new(system.clone(), Mode::Interpreted).unwrap_or_else(|e| panic!("{e}"));
    let names = scrimp_system::Describe::values(&model, &vec![0; model.layout().bytes()]);
    let names = names.iter().map(|(name, _)| name.as_str());
    // Processes and channels as a whole are no numbers; the parts of a channel are.
    let process = |name: &str| system.processes.iter().any(|p| p.name == name);
    let numbers = names.filter(|name| !process(name) && *name != "c").chain(["c.len", "c.0[1]", "c.1[0]"]);
    let measures: Vec<Measure> =
        numbers.map(|name| Measure::parse(&system, name).unwrap_or_else(|e| panic!("{e}"))).collect();
    assert_eq!(measures.len(), 7);
}

#[test]
fn values_are_what_is_written() {
    let measure = parse("y, -x, P{idle < try, cs}, a[1] + a[2], y{-1 < 4}");
    let a = state(&[("y", 0, -7), ("x", 0, 9), ("P", 0, 2)]);
    assert_eq!(measure.components(&a), [-7, -9, 1, 5, 0]);
    assert_eq!(measure.show(measure.value(&a)), "(-7, -9, 1, 5, 0)");
    let b = state(&[("y", 0, 4), ("x", 0, 9), ("P", 0, 1), ("a", 2, 255)]);
    assert_eq!(measure.show(measure.value(&b)), "(4, -9, 1, 257, 1)");
    assert!(measure.value(&a) < measure.value(&b));
    assert_eq!(parse("0").value(&a), 0);
    let full = parse("7, y, y, y, y, y, y, y, -y, 8");
    assert_eq!(full.show(full.value(&a)), "(7, -7, -7, -7, -7, -7, -7, -7, 7, 8)");
    assert_eq!(parse("5, x, 6").show(parse("5, x, 6").value(&a)), "(5, 9, 6)");
}

#[test]
fn a_fault_is_the_least_value() {
    let measure = parse("a[x] % 16");
    assert_eq!(measure.components(&state(&[("x", 0, 200)])), [0]);
    let measure = parse("10 / x + y");
    let least = measure.value(&state(&[("x", 0, 0), ("y", 0, 5)]));
    assert!(least <= measure.value(&state(&[("x", 0, 1), ("y", 0, -32768)])));
}

#[test]
fn errors_have_a_place() {
    let starts = [
        ("x, zz", "measure:1:4: error: unknown name `zz`\n  x, zz\n     ^~"),
        ("x, P{idle < tri}", "measure:1:13: error: there is no location `tri`"),
        ("R{a < b}", "measure:1:1: error: unknown process `R`"),
        ("P{idle < idle}", "measure:1:10: error: this is ranked twice"),
        ("x{0 < 3 < 0}", "measure:1:11: error: this is ranked twice"),
        ("x{0 < }", "measure:1:7: error: expected a value to rank"),
        ("P{idle < 3}", "measure:1:10: error: expected the name of a location"),
        ("x{0 < 1} y", "measure:1:10: error: expected `,`"),
        ("x,", "measure:1:3: error: expected an expression"),
        ("P", "measure:1:1: error: `P` is a process, not a variable"),
        ("", "measure:1:1: error: expected an expression"),
        ("x == 1{0 < 1}", "measure:1:7: error: expected `,`"),
        ("P.idle + P@try{0 < 1}", "measure:1:3: error: `P.idle` is both"),
        ("P@try{0 < 1}", "measure:1:1: error: only the values of a variable"),
        ("x, y * y * y * y, y * y * y * y, y * y * y * y", "measure:1:19: error: the components up to this one"),
    ];
    for (text, start) in starts {
        assert!(error(text).starts_with(start), "{text}: {}", error(text));
    }
    assert!(error("x{-2147483647 < 2147483647}").contains("must be within"));
}

#[test]
fn rankings_are_for_measures_only() {
    assert!(scrimp_lang::parse_property(&system(), "invariant: P{idle < try} == 0").is_err());
}

proptest! {
    #[test]
    fn order_is_that_of_the_components(cells in prop::collection::vec((any::<u8>(), any::<i16>(), 0..3i64), 2..20)) {
        let texts = ["x, y", "-y, P{try < cs, idle}, x", "x - y, y", "y % 5, x * 3 - 7, -y", "(x & 3) * y, P{cs < try}"];
        for text in texts {
            let measure = parse(text);
            let made: Vec<Vec<u8>> = cells
                .iter()
                .map(|&(x, y, p)| state(&[("x", 0, x as i64), ("y", 0, y as i64), ("P", 0, p)]))
                .collect();
            for a in &made {
                for b in &made {
                    let (packed, plain) =
                        (measure.value(a).cmp(&measure.value(b)), measure.components(a).cmp(&measure.components(b)));
                    prop_assert_eq!(packed, plain, "{}", text);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn no_text_does_harm(tokens in prop::collection::vec(prop::sample::select(TOKENS.to_vec()), 0..14)) {
        if let Ok(measure) = Measure::parse(&system(), &tokens.join(" ")) {
            let text = measure.text();
            prop_assert_eq!(parse(&text).text(), text);
            measure.value(&state(&[]));
        }
    }
}

const TOKENS: [&str; 26] = [
    "x", "y", "a", "P", "Q", "idle", "try", "cs", "one", "{", "}", "{", "}", "<", "<", ",", ",", "+", "-", "*", "[",
    "]", "0", "1", ".", "32767",
];

#[test]
fn measures_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&parse("x"));
}

#[test]
fn a_sum_and_its_tree_agree() {
    // The same values, once as a sum and once in a form that is evaluated as a tree.
    let (sum, tree) = (parse("2 * x - y + P{idle < try < cs}"), parse("x * 2 - y + P{idle < try < cs} * (x == x)"));
    let model = NativeModel::new(Arc::new(system()), Mode::Interpreted).unwrap_or_else(|e| panic!("{e}"));
    let sample = Sample::new(&model, SampleLimits { states: 10_000, bytes: 1 << 24 }, 1);
    for number in 0..sample.len() {
        assert_eq!(sum.components(sample.state(number)), tree.components(sample.state(number)));
    }
}

/// A system of counters that take bits, with a sum of its own.
fn packed() -> System {
    let mut system = System::new(Source::new("packed", ""));
    system.packed = true;
    for (number, high) in [3, 1, 200, 5, 1, 1000, 2].into_iter().enumerate() {
        let (name, domain) = (format!("v{number}"), Domain::range(0, high));
        system.variables.push(Variable { name, owner: None, domain, length: None, role: Role::Data });
    }
    system.initial = vec![vec![0; 7]];
    let table = vec![2, -3, 7, 0, 1, 9];
    let terms = vec![(VarId(0), Weight::Times(-2)), (VarId(3), Weight::Of(table)), (VarId(5), Weight::Times(3))];
    system.growing = Later::new(move |_| terms.clone());
    system
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The value computed at once is that of the components, also where variables are bits among others.
    #[test]
    fn bits_are_read_as_they_are_written(
        values in (0..4i64, 0..2i64, 0..201i64, 0..6i64, 0..2i64, 0..1001i64, 0..3i64)
    ) {
        let system = packed();
        let layout = Layout::new(&system);
        let list = [values.0, values.1, values.2, values.3, values.4, values.5, values.6];
        let mut state = vec![0; layout.bytes()];
        layout.encode(&list, &mut state);
        let text = "v0, v1 - v4, v2, v5 + 2 * v6, v3{0 < 1 < 5}, linear, linear % 7, v6";
        let measure = Measure::parse(&system, text).unwrap_or_else(|e| panic!("{e}"));
        prop_assert_eq!(measure.text(), text);
        let linear = -2 * list[0] + [2, -3, 7, 0, 1, 9][list[3] as usize] + 3 * list[5];
        let components = measure.components(&state);
        prop_assert_eq!((components[5], components[6]), (linear, linear % 7));
        let shown: Vec<String> = components.iter().map(i64::to_string).collect();
        prop_assert_eq!(measure.show(measure.value(&state)), format!("({})", shown.join(", ")));
    }
}
