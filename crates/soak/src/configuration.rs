//! Ways to search, drawn from everything that the program accepts, in the words of its command line.

use scrimp::{Mode, Options};
use scrimp_search::plan::EngineChoice;
use scrimp_system::Random;
use std::path::Path;

/// A way to search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Configuration {
    /// Options with their values, as the command line has them; of a flag, the empty text.
    words: Vec<(&'static str, String)>,
    /// So many bytes more than the process has: a budget that is soon used up.
    tiny: Option<usize>,
}

const ORDERS: &[&str] = &[
    "bfs",
    "dfs",
    "bbfs:3",
    "bbfs:inf",
    "alt:2,3",
    "alt:0,inf",
    "progress",
    "best",
    "best:astar",
    "random",
    "release",
];
const STORES: &[&str] =
    &["table", "tree", "collapse", "dfa", "dfa+collapse", "comback", "compact", "compact:20", "bitstate:1", "disk"];
const FORGETTERS: &[&str] = &[
    "pseudo-root",
    "pseudo-root:40",
    "cache:20",
    "cache:5,lru",
    "cache:30,strata",
    "cache:10,-frequency+random",
    "cache:16,in-degree",
    "cache:12,depth",
    "sweep",
    "sweep+cache:10",
    "sweep+cache:25,fifo",
];
const REDUCTIONS: &[&str] = &["por", "por:process", "por:closure", "por:deletion", "por+sleep", "edge-lean"];
const SYMBOLIC: &[&str] = &["symbolic", "symbolic:bfs", "symbolic:chaining", "symbolic:saturation"];
const PROGRESS: &[&str] = &["auto", "auto:0", "auto:3", "auto:5"];
const LAYERS: &[&str] = &["layout", "reversed", "by-change", "linked", "1,0"];
/// What a budget has beside what the process uses already.
const BUDGETS: &[usize] = &[600 << 10, 2 << 20, 6 << 20];

impl Configuration {
    /// The way that is taken when nothing is said.
    pub fn plain() -> Configuration {
        Configuration::default()
    }

    /// Any way; `measures` are expressions over the model.
    pub fn draw(random: &mut Random, measures: &[String]) -> Configuration {
        let mut way = Configuration::default();
        // Formulas take longest.
        match random.below(30) {
            0..=4 => way.symbolic(random),
            5 => way.set("--engine", if random.below(3) == 0 { "bmc:4" } else { "bmc" }),
            _ => way.explicit(random, measures),
        }
        if random.below(3) == 0 {
            way.flag("--interpret");
        }
        way
    }

    fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.words.push((name, value.into()));
    }

    fn flag(&mut self, name: &'static str) {
        self.set(name, "");
    }

    fn symbolic(&mut self, random: &mut Random) {
        self.set("--engine", pick(random, SYMBOLIC));
        if random.below(3) == 0 {
            self.set("--variables", "given");
        }
        if random.below(3) == 0 {
            self.set("--reorder", "never");
        }
        if random.below(3) == 0 {
            self.set("--reduce", "por");
            if random.below(2) == 0 {
                self.flag("--dont-care");
            }
        }
    }

    fn explicit(&mut self, random: &mut Random, measures: &[String]) {
        // Few parts at a time, so that most of what is drawn goes together; what does not is refused and drawn again.
        if random.below(2) == 0 {
            self.set("--store", pick(random, STORES));
        }
        if random.below(2) == 0 {
            self.set("--order", pick(random, ORDERS));
        }
        if random.below(4) == 0 {
            self.set("--forget", pick(random, FORGETTERS));
        }
        if random.below(3) == 0 {
            self.set("--reduce", pick(random, REDUCTIONS));
        }
        if random.below(3) == 0 {
            self.set("--threads", "2");
        }
        self.details(random, measures);
        if random.below(5) == 0 {
            self.tiny = Some(BUDGETS[random.below(BUDGETS.len())]);
        }
    }

    /// What goes with only some of the choices.
    fn details(&mut self, random: &mut Random, measures: &[String]) {
        let is = |way: &Configuration, name: &str, start: &str| way.value(name).is_some_and(|v| v.starts_with(start));
        if is(self, "--forget", "sweep") || is(self, "--order", "progress") {
            match measures.len() {
                most if most > 0 && random.below(3) == 0 => self.set("--progress", &*measures[random.below(most)]),
                _ => self.set("--progress", pick(random, PROGRESS)),
            }
        }
        if is(self, "--order", "best") {
            self.set("--heuristic", measures.get(random.below(measures.len())).map_or("0", String::as_str));
        }
        if is(self, "--store", "dfa") && random.below(2) == 0 {
            self.set("--layers", pick(random, LAYERS));
        }
        if is(self, "--store", "comback") {
            if random.below(3) == 0 {
                self.set("--backedges", "states");
            }
            if random.below(3) == 0 {
                self.set("--cache", "4");
            }
        }
        if is(self, "--forget", "cache") || is(self, "--forget", "sweep+cache") {
            match random.below(4) {
                0 => self.flag("--chains"),
                1 => self.set("--stride", ["1", "3"][random.below(2)]),
                2 if is(self, "--forget", "cache") => self.flag("--reconstruct"),
                _ => {}
            }
        }
        if self.value("--forget").is_some() && random.below(3) == 0 {
            self.flag("--audit");
        }
        match random.below(6) {
            0 => self.set("--cycles", "nested"),
            1 => self.set("--cycles", "components"),
            _ => {}
        }
        self.set("--seed", random.below(1000).to_string());
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    pub fn mode(&self) -> Mode {
        if self.has("--interpret") { Mode::Interpreted } else { Mode::Auto }
    }

    pub fn engine(&self) -> &str {
        self.value("--engine").unwrap_or("explicit")
    }

    pub fn measure(&self) -> Option<&str> {
        self.value("--progress")
    }

    pub fn heuristic(&self) -> Option<&str> {
        self.value("--heuristic")
    }

    /// Is the budget so small that anything may be left undecided?
    pub fn is_tiny(&self) -> bool {
        self.tiny.is_some()
    }

    pub fn is_plain(&self) -> bool {
        self.words.is_empty() && self.tiny.is_none()
    }

    /// Does it explore every order of events?
    pub fn explores_every_event(&self) -> bool {
        !self.has("--reduce")
    }

    /// May it end without an answer though nothing is used up? Formulas prove what they can.
    pub fn may_give_up(&self) -> bool {
        self.value("--engine").is_some_and(|engine| engine.starts_with("bmc"))
    }

    /// As options, with files below a folder. Fails where a word is none that the program knows.
    pub fn options(&self, folder: &Path) -> Result<Options, String> {
        fn read<T: std::str::FromStr>(text: Option<&str>) -> Result<Option<T>, String>
        where
            T::Err: std::fmt::Display,
        {
            text.map(|text| text.parse().map_err(|e: T::Err| format!("{text}: {e}"))).transpose()
        }
        let plain = Options::default();
        let store = match self.value("--store") {
            Some("disk") => Some(format!("disk:{}", folder.display())),
            other => other.map(String::from),
        };
        let memory = match self.tiny {
            // A hundredth of what is allowed is kept back.
            Some(bytes) => (scrimp::resident().unwrap_or(64 << 20) + bytes) * 100 / 99,
            None => 2 << 30,
        };
        Ok(Options {
            order: read(self.value("--order"))?,
            store: read(store.as_deref())?,
            layers: read(self.value("--layers"))?.unwrap_or(plain.layers),
            backedges: read(self.value("--backedges"))?.unwrap_or(plain.backedges),
            cached: read(self.value("--cache"))?,
            forget: read(self.value("--forget"))?.unwrap_or(plain.forget),
            reduce: read(self.value("--reduce"))?.unwrap_or(plain.reduce),
            engine: read(self.value("--engine"))?.unwrap_or(EngineChoice::Explicit),
            variables: read(self.value("--variables"))?.unwrap_or(plain.variables),
            reorder: !self.has("--reorder"),
            dont_care: self.has("--dont-care"),
            cycles: read(self.value("--cycles"))?.unwrap_or(plain.cycles),
            chains: self.has("--chains"),
            stride: read(self.value("--stride"))?,
            reconstruct: self.has("--reconstruct"),
            progress: self.measure().map(String::from),
            heuristic: self.heuristic().map(String::from),
            seed: read(self.value("--seed"))?.unwrap_or(1),
            threads: read(self.value("--threads"))?.unwrap_or(1),
            memory: Some(memory),
            audit: self.has("--audit"),
            keep_going: true,
            ..plain
        })
    }

    /// As words for the command line.
    pub fn arguments(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (name, value) in &self.words {
            // One word, for a value may begin with a minus sign.
            words.push(if value.is_empty() { name.to_string() } else { format!("{name}={value}") });
        }
        words
    }

    /// Can it count states at all?
    pub fn counts(&self) -> bool {
        self.value("--engine").is_none_or(|engine| !engine.starts_with("bmc"))
    }
}

impl std::fmt::Display for Configuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.words.is_empty(), self.tiny) {
            (true, None) => f.write_str("nothing said"),
            (_, None) => f.write_str(&self.arguments().join(" ")),
            (_, Some(bytes)) => write!(f, "{} with {} KiB to spare", self.arguments().join(" "), bytes >> 10),
        }
    }
}

fn pick<'a>(random: &mut Random, among: &[&'a str]) -> &'a str {
    among[random.below(among.len())]
}
