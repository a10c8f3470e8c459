//! Arbitrary bytes for everything that reads: each function gives them to one reader, and what it makes of them to what comes
//! right behind it. They are accepted or refused with a message; a panic is a finding, and so is whoever takes long or much.
//!
//! The tests give damaged files to them, and so does a fuzzer (`fuzz/`).

use scrimp::temporal::never;
use scrimp::walk::{Run, Walk, find_trace};
use scrimp::{
    Control, Language, LoadError, Loaded, Measure, Mode, ModelFacts, NativeModel, NetNames, Options, Plan, Question,
    System, open_as, parse_property, parse_property_file,
};
use scrimp_core::{Condition, Property, PropertyKind};
use scrimp_lang::{read_formulas_from, read_net};

use scrimp_search::checkpoint::{self, Identity};
use scrimp_search::plan::OrderChoice;
use scrimp_suite::suite::{self, Given};
use scrimp_system::{Expr, Source};
use scrimp_temporal::hoa;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A reader, and the endings of the files in `models/` that it reads.
pub struct Reader {
    pub name: &'static str,
    pub feed: fn(&[u8]),
    pub endings: &'static [&'static str],
}

/// All of them.
pub const READERS: [Reader; 11] = [
    Reader { name: "dve", feed: dve, endings: &["dve"] },
    Reader { name: "promela", feed: promela, endings: &["pml"] },
    Reader { name: "pnml", feed: pnml, endings: &["pnml"] },
    Reader { name: "aut", feed: aut, endings: &["aut"] },
    Reader { name: "network", feed: network, endings: &["network"] },
    Reader { name: "hoa", feed: automaton, endings: &[] },
    Reader { name: "formulas", feed: formulas, endings: &[] },
    Reader { name: "property", feed: property, endings: &[] },
    Reader { name: "checkpoint", feed: saved, endings: &[] },
    Reader { name: "trace", feed: trace, endings: &[] },
    Reader { name: "suite", feed: tasks, endings: &[] },
];

pub fn dve(bytes: &[u8]) {
    model(bytes, "m.dve", Language::Dve);
}

pub fn promela(bytes: &[u8]) {
    model(bytes, "m.pml", Language::Promela);
}

pub fn pnml(bytes: &[u8]) {
    model(bytes, "m.pnml", Language::Pnml);
}

pub fn aut(bytes: &[u8]) {
    model(bytes, "m.aut", Language::Aut);
}

/// The components that it may name are those of the networks in `models/`.
pub fn network(bytes: &[u8]) {
    static COMPONENTS: OnceLock<()> = OnceLock::new();
    COMPONENTS.get_or_init(|| {
        for entry in std::fs::read_dir(models()).expect("the models").flatten().map(|entry| entry.path()) {
            if let Some(name) = entry.file_name().filter(|_| entry.extension().is_some_and(|e| e == "aut")) {
                std::fs::copy(&entry, folder().join(name)).expect("a component can be copied");
            }
        }
    });
    model(bytes, "m.network", Language::Network);
}

/// A model file, and the system that is made of it.
fn model(bytes: &[u8], name: &str, language: Language) {
    let path = file(name, bytes);
    let loaded = open_as(&path, language).and_then(Loaded::at_once);
    match loaded {
        Ok(mut loaded) => {
            loaded.system.validate().expect("a reader must make valid systems");
            if loaded.add_claim().is_ok() {
                loaded.system.validate().expect("a reader must make valid systems");
            }
            loaded.take_claim().map_err(|error| shown(&error)).ok();
        }
        Err(error) => shown(&error),
    }
}

/// A refusal says why, and where if that is in the text.
fn shown(error: &LoadError) {
    assert!(!error.to_string().is_empty());
    if let LoadError::Model(diagnostic) = error {
        assert!(diagnostic.span.line >= 1 && diagnostic.span.start <= diagnostic.span.end, "{error}");
    }
}

/// An automaton in the Hanoi format; what is read is written so that it is read as the same.
pub fn automaton(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match hoa::read(&text) {
        Ok((automaton, names)) => {
            let written = hoa::write(&automaton, &names, "again");
            let (again, same) = hoa::read(&written).unwrap_or_else(|error| panic!("{error} in\n{written}"));
            assert_eq!((again.states.len(), same), (automaton.states.len(), names), "{written}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let system = &systems()[0];
    let atom = |text: &str| match parse_property(system, &format!("invariant: {text}")) {
        Ok(Property { kind: PropertyKind::Invariant(e), .. }) => Ok(e),
        Ok(_) => Err("this is not a condition".to_string()),
        Err(error) => Err(error.to_string()),
    };
    let _ = never::read("f.hoa", &text, &atom);
}

/// Formulas of the Model Checking Contest.
pub fn formulas(bytes: &[u8]) {
    static NETS: OnceLock<Vec<scrimp_net::Net>> = OnceLock::new();
    let names = ["printer.pnml", "database.pnml"];
    let nets = NETS.get_or_init(|| names.map(|name| read_net(&models().join(name)).expect("a net")).into());
    for net in nets {
        if let Err(error) = read_formulas_from("f.xml", bytes, net) {
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Properties, conditions and measures, of systems and of a net; of formulas, the automata too.
pub fn property(bytes: &[u8]) {
    static NET: OnceLock<NetNames> = OnceLock::new();
    let text = String::from_utf8_lossy(bytes);
    for system in systems() {
        let _ = Measure::parse(system, &text).map_err(|error| error.to_string());
        let source = Source::new("p", text.as_ref());
        let mut found = parse_property_file(system, source).map_err(|error| error.to_string()).unwrap_or_default();
        found.extend(parse_property(system, &text).map_err(|error| error.to_string()));
        for property in found {
            decide(property.kind);
        }
    }
    let net = NET.get_or_init(|| NetNames::new(&read_net(&models().join("printer.pnml")).expect("a net")));
    let _ = net.question(&text).map_err(|error| error.to_string());
    let _ = net.questions(&Source::new("p", text.as_ref())).map_err(|error| error.to_string());
}

/// The runs that break a property.
fn decide(kind: PropertyKind<Expr>) {
    if let PropertyKind::Ltl(_) = kind {
        let _ = never::broken_by(&Property::new("p", kind), &[Expr::TRUE], Duration::from_secs(1));
    }
}

/// The searches that can be saved, by their stores, and by their order where it is not that of levels.
pub const SEARCHES: [(&str, OrderChoice); 13] = [
    ("auto", OrderChoice::BreadthFirst),
    ("table", OrderChoice::BreadthFirst),
    ("packed", OrderChoice::BreadthFirst),
    ("tree", OrderChoice::BreadthFirst),
    ("collapse", OrderChoice::BreadthFirst),
    ("comback", OrderChoice::BreadthFirst),
    ("dfa", OrderChoice::BreadthFirst),
    ("dfa+collapse", OrderChoice::BreadthFirst),
    ("table", OrderChoice::DepthFirst),
    ("tree", OrderChoice::DepthFirst),
    ("dfa+collapse", OrderChoice::DepthFirst),
    ("collapse", OrderChoice::Bounded(3)),
    ("disk", OrderChoice::BreadthFirst),
];

type Searched = (&'static str, OrderChoice);

/// A checkpoint: the bytes as a whole file, and behind the heading and before the checksum of one that belongs to the search.
pub fn saved(bytes: &[u8]) {
    static HEADINGS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let headings = HEADINGS.get_or_init(|| SEARCHES.map(|search| checkpoint_of(search, 0)).into());
    let (Some((&first, content)), path) = (bytes.split_first(), folder().join("search")) else { return };
    let choice = usize::from(first) % SEARCHES.len();
    let number = |at: usize| u64::from_le_bytes(headings[choice][at..at + 8].try_into().expect("eight bytes"));
    let identity = Identity { model: number(24), options: number(32) };
    checkpoint::write(&path, identity, &[], &mut |to| to.write_all(content)).expect("a file can be written");
    resume(SEARCHES[choice], &path);
    resume(SEARCHES[choice], &file("search", bytes));
}

/// A whole checkpoint of the searched model, from about when so many states were found.
pub fn checkpoint_of(search: Searched, states: usize) -> Vec<u8> {
    let path = folder().join("whole");
    let plan = plan(search, |options| options.checkpoint = Some(path.clone()));
    // It is saved when its time is over. Who looks at the states sees to it that it is.
    let time = if states == 0 { Duration::ZERO } else { Duration::from_millis(400) };
    let seen = AtomicUsize::new(0);
    let looks = Condition::new(|_| {
        if seen.fetch_add(1, Ordering::Relaxed) == states {
            std::thread::sleep(time);
        }
        true
    });
    let looked_at = [Property::new("p", PropertyKind::Invariant(looks))];
    let properties = if states == 0 { &[][..] } else { &looked_at };
    scrimp::run(searched(), properties, &plan, &Control::new(Some(time))).expect("a search");
    std::fs::read(&path).expect("a checkpoint")
}

fn resume(search: Searched, path: &Path) {
    let plan = plan(search, |options| options.resume = Some(path.to_path_buf()));
    let _ = scrimp::run(searched(), &[], &plan, &Control::new(Some(Duration::from_secs(1))));
}

fn plan((store, order): Searched, more: impl Fn(&mut Options)) -> Plan {
    let mut options = Options { memory: Some(64 << 20), order: Some(order), ..Options::default() };
    if store != "auto" {
        options.store = Some(store.parse().expect("a store"));
    }
    more(&mut options);
    Plan::of(&options, Question::count(), &ModelFacts::default()).expect("a plan")
}

fn searched() -> &'static NativeModel {
    static MODEL: OnceLock<NativeModel> = OnceLock::new();
    MODEL.get_or_init(|| {
        let system = scrimp::load(&models().join("phils3.dve")).expect("a model");
        NativeModel::new(Arc::new(system), Mode::Interpreted).expect("a model that runs")
    })
}

/// A trace, of one of two models.
pub fn trace(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice(bytes) else { return };
    let Some(trace) = find_trace(&value) else { return };
    let Ok(run) = Run::of(trace) else { return };
    for name in TRACED {
        let opened = scrimp::open(&models().join(name)).expect("a model");
        let mut walk = Walk::new(Loaded::at_once(opened).expect("a system")).expect("a walk");
        if let Err(mismatch) = walk.replay(&run) {
            assert!(!mismatch.message.is_empty());
        }
    }
}

/// What traces are of.
pub const TRACED: [&str; 2] = ["phils3.dve", "semaphore.pml"];

/// A suite of tasks.
pub fn tasks(bytes: &[u8]) {
    if let Err(message) = suite::load(&file("s.toml", bytes), &Given { skip_missing: true, ..Given::default() }) {
        assert!(!message.is_empty());
    }
}

/// Systems that properties can be about.
fn systems() -> &'static [System] {
    static SYSTEMS: OnceLock<Vec<System>> = OnceLock::new();
    let names = ["alternating_bit.dve", "semaphore.pml", "phils3.network"];
    SYSTEMS.get_or_init(|| names.map(|name| scrimp::load(&models().join(name)).expect("a model")).into())
}

pub fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|p| p.join("models")).find(|p| p.is_dir()).expect("models/")
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, bytes).expect("a file can be written");
    path
}

/// A place of this process's own.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("scrimp-readers-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        path
    })
}
