//! What combines with what. The only place that knows.
//!
//! Options say what the user wants; a plan is a combination that is sound. What is not is refused, with the reason and
//! what to ask for instead.

use crate::budget;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub order: OrderChoice,
    pub store: StoreChoice,
    pub forget: ForgetChoice,
    pub reduce: ReduceChoice,
    pub engine: EngineChoice,
    pub threads: usize,
    pub memory: Option<usize>,
    pub time: Option<Duration>,
    /// Go on after a violation until every property is decided.
    pub keep_going: bool,
    /// Count in-degrees however many states there are.
    pub in_degrees: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            order: OrderChoice::BreadthFirst,
            store: StoreChoice::Table,
            forget: ForgetChoice::Nothing,
            reduce: ReduceChoice::Nothing,
            engine: EngineChoice::Explicit,
            threads: 1,
            memory: None,
            time: None,
            keep_going: false,
            in_degrees: false,
        }
    }
}

/// Declares the choices for one part: their names on the command line, what each means, and the names that are known
/// but not available.
macro_rules! choices {
    ($(#[$doc:meta])* $type:ident, $part:literal, {$($name:literal => $variant:ident: $reason:literal),+}, later: [$($later:literal),*]) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type {
            $(#[doc = $reason] $variant),+
        }

        impl $type {
            fn reason(self) -> &'static str {
                match self { $($type::$variant => $reason),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($type::$variant => $name),+ })
            }
        }

        impl FromStr for $type {
            type Err = Refusal;

            fn from_str(text: &str) -> Result<$type, Refusal> {
                let later: &[&str] = &[$($later),*];
                let name = text.split(':').next().unwrap_or(text);
                match text {
                    $($name => Ok($type::$variant),)+
                    _ => Err(Refusal {
                        reason: if later.contains(&name) {
                            format!("{} '{text}' is not available in this version", $part)
                        } else {
                            format!("there is no {} '{text}'", $part)
                        },
                        instead: concat!("choose from:", $(" ", $name),+).into(),
                    }),
                }
            }
        }
    };
}

choices!(
    /// Which state next.
    OrderChoice, "order", {
        "bfs" => BreadthFirst: "level by level, so that traces are shortest and the queue costs nothing",
        "dfs" => DepthFirst: "one path at a time, so that few states are open"
    }, later: ["bbfs", "alt", "progress", "best", "random"]
);

choices!(
    /// How states are kept.
    StoreChoice, "store", {
        "table" => Table: "every state in full: exact, and fastest where it fits"
    }, later: ["collapse", "tree", "dfa", "compact", "bitstate", "comback", "disk"]
);

choices!(
    /// Which states may be dropped.
    ForgetChoice, "forgetting method", {
        "none" => Nothing: "every state is kept"
    }, later: ["pseudo-root", "sweep", "cache"]
);

choices!(
    /// Which events may be skipped.
    ReduceChoice, "reduction", {
        "none" => Nothing: "every event is explored"
    }, later: ["por", "edge-lean", "por+sleep"]
);

choices!(
    /// What does the searching.
    EngineChoice, "engine", {
        "explicit" => Explicit: "state by state, with successors from machine code"
    }, later: ["symbolic", "bmc"]
);

/// A sound combination, ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub order: OrderChoice,
    pub store: StoreChoice,
    pub forget: ForgetChoice,
    pub reduce: ReduceChoice,
    pub engine: EngineChoice,
    pub threads: usize,
    pub memory: usize,
    /// Whether the user named the memory or it is what the machine has.
    pub memory_given: bool,
    pub time: Option<Duration>,
    pub keep_going: bool,
    pub in_degrees: bool,
}

/// A combination that would not be sound or does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub reason: String,
    pub instead: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}; {}", self.reason, self.instead)
    }
}

impl std::error::Error for Refusal {}

impl Plan {
    pub fn new(options: &Options) -> Result<Plan, Refusal> {
        let threads = options.threads;
        if threads == 0 || threads > 1024 {
            return Err(Refusal {
                reason: format!("{threads} threads cannot search"),
                instead: "use --threads with a number from 1 to 1024".into(),
            });
        }
        if threads > 1 && options.order == OrderChoice::DepthFirst {
            return Err(Refusal {
                reason: "depth-first order follows one path and has no work for a second thread".into(),
                instead: "use --threads 1, or --order bfs with several threads".into(),
            });
        }
        if threads > 1 && options.in_degrees {
            return Err(Refusal {
                reason: "in-degrees are counted by one thread".into(),
                instead: "use --threads 1, or leave --in-degrees out".into(),
            });
        }
        Ok(Plan {
            order: options.order,
            store: options.store,
            forget: options.forget,
            reduce: options.reduce,
            engine: options.engine,
            threads,
            memory: options.memory.unwrap_or_else(budget::default_memory),
            memory_given: options.memory.is_some(),
            time: options.time,
            keep_going: options.keep_going,
            in_degrees: options.in_degrees,
        })
    }

    /// The plan in short words, part by part.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let mut parts = vec![
            ("order", self.order.to_string()),
            ("store", self.store.to_string()),
            ("forget", self.forget.to_string()),
            ("reduce", self.reduce.to_string()),
            ("engine", self.engine.to_string()),
            ("threads", self.threads.to_string()),
            ("memory", self.memory.to_string()),
        ];
        if let Some(time) = self.time {
            parts.push(("time", format!("{}s", time.as_secs_f64())));
        }
        parts
    }

    /// Why a part of the plan is as it is.
    pub fn reason(&self, part: &str) -> &'static str {
        match part {
            "order" => self.order.reason(),
            "store" => self.store.reason(),
            "forget" => self.forget.reason(),
            "reduce" => self.reduce.reason(),
            "engine" => self.engine.reason(),
            "memory" if self.memory_given => "as asked for",
            "memory" => "nine tenths of what is free now",
            _ => "",
        }
    }
}
