//! The tools: what they are called, what they take, and what they say of themselves.

use crate::arguments::{Argument, Kind};
use serde_json::{Map, Value, json};

/// What an agent can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Open,
    Check,
    Count,
    Simulate,
    Explain,
    Trace,
    Chart,
    Next,
}

const MODEL: Argument = Argument::needed("model", Kind::Text, "The model's file, from the folder of the server");
const TRACE: Argument =
    Argument::needed("trace", Kind::Number(u64::MAX), "The number of a run, from the answer of check or simulate");
const DEFINE: Argument =
    Argument::flag("define", Kind::Texts, "Macros of a Promela model, such as [\"N=3\"], as `spin -DN=3` defines them");
const PROPERTIES: Argument = Argument::flag(
    "property",
    Kind::Texts,
    "What to check instead of what the model asks of itself: `deadlock`, `faults` (run-time errors), `assertions`, \
     `invariant: EXPR`, `reach: EXPR`, `ltl: FORMULA`, `ctl: FORMULA`, or a name that `open` lists. In EXPR, `P@cs` says that process P \
     is at cs and `P.x` is its variable x",
);
const MEMORY: Argument =
    Argument::flag("memory", Kind::Text, "The most memory, such as 512M; at most that of the server");
const TIME: Argument = Argument::flag("time", Kind::Text, "The most time, such as 30s or 10m; 60s if not said");
const REDUCE: Argument =
    Argument::flag("reduce", Kind::Text, "Events and states to leave out: none, por, por+sleep, edge-lean or symmetry");
const ENGINE: Argument = Argument::flag("engine", Kind::Text, "explicit, symbolic, bmc or bmc:K; auto if not said");
const STORE: Argument = Argument::flag(
    "store",
    Kind::Text,
    "How states are kept: table, packed, tree, collapse, dfa, comback; compact and bitstate:MIB (such as bitstate:64) may miss states. \
     Best left out: the search picks what fits",
);
const FORGET: Argument = Argument::flag(
    "forget",
    Kind::Text,
    "Visited states to forget where memory is short: pseudo-root, cache:N; sweep or sweep+cache:N, which need `progress`",
);
const PROGRESS: Argument = Argument::flag(
    "progress",
    Kind::Text,
    "What grows while the model runs, for `forget`: auto, or an expression such as `sent + received`",
);
const ORDER: Argument = Argument::flag(
    "order",
    Kind::Text,
    "bfs finds shortest runs; dfs follows one path; bbfs:WIDTH is between them; random seeks errors",
);
const FAIR: Argument = Argument::flag(
    "fair",
    Kind::Texts,
    "Only fair runs count, for ltl: `weak`, `strong`, `WF(P)`, `SF(P)` or a condition",
);
const KEEP_GOING: Argument = Argument::flag("keep-going", Kind::Flag, "Go on after a violation, until all are decided");
const THREADS: Argument =
    Argument::flag("threads", Kind::Number(1024), "Threads; one a core where these help, if not said");
const STEPS: Argument = Argument::flag("steps", Kind::Number(10_000), "The most steps; 20 if not said");
const SEED: Argument = Argument::flag("seed", Kind::Number(u64::MAX), "The same number gives the same run");
const FIRST: Argument = Argument::plain("first", Kind::Number(u64::MAX), "The first line that is given, from 1");
const LINES: Argument = Argument::plain(
    "lines",
    Kind::Number(u64::MAX),
    "The most lines that are given, in at most 256 KiB; if not said, 200, in at most 32 KiB",
);
const FIRST_STEP: Argument = Argument::plain("first", Kind::Number(u64::MAX), "The first step that is drawn, from 1");
const DRAWN: Argument = Argument::plain("steps", Kind::Number(500), "The most steps that are drawn; 100 if not said");
const FORMAT: Argument = Argument::plain(
    "format",
    Kind::OneOf(&["text", "table", "mermaid", "json", "itf"]),
    "text (a line a step) if not said; table (steps by variables), mermaid, json, or itf (that of Apalache and Quint)",
);
const DRAWING: Argument = Argument::plain(
    "format",
    Kind::OneOf(&["text", "mermaid", "svg"]),
    "text if not said; mermaid, or svg (a picture)",
);

impl Tool {
    pub const ALL: [Tool; 8] =
        [Tool::Open, Tool::Check, Tool::Count, Tool::Simulate, Tool::Explain, Tool::Trace, Tool::Chart, Tool::Next];

    pub fn name(self) -> &'static str {
        match self {
            Tool::Open => "open",
            Tool::Check => "check",
            Tool::Count => "count",
            Tool::Simulate => "simulate",
            Tool::Explain => "explain",
            Tool::Trace => "trace",
            Tool::Chart => "chart",
            Tool::Next => "next",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Tool::Open => {
                "Read a model (Promela .pml, DVE .dve, Petri net .pnml, .aut, .network): what it asks of itself, its initial state, \
                 how large it may be. What is wrong with the text is told with file, line and column."
            }
            Tool::Check => {
                "Decide properties of a model. `verified` means that nothing was left out; `incomplete` that a limit was reached \
                 first (then ask `next`). A violated property comes with the number of a run that shows it: ask `explain` for it."
            }
            Tool::Count => {
                "Visit all states of a model and say how many there are, and what shape the state space has."
            }
            Tool::Simulate => "Run a model at random for some steps. Shows what it does; proves nothing.",
            Tool::Explain => {
                "Why a property is violated: what went wrong, where, and the run that leads there, a line a step."
            }
            Tool::Trace => "A run in a form of your choice, or a part of a long one.",
            Tool::Chart => {
                "A run, or a part of a long one, as a message sequence chart: processes side by side, messages as arrows between \
                 them."
            }
            Tool::Next => {
                "What to try where a check was incomplete or takes long: options that would be accepted, each with what it is \
                 expected to do, from a short look at the model."
            }
        }
    }

    pub fn arguments(self) -> Vec<Argument> {
        let search = [MEMORY, TIME, REDUCE, ENGINE, STORE, FORGET, PROGRESS, ORDER, THREADS];
        match self {
            Tool::Open => vec![MODEL, DEFINE],
            Tool::Check | Tool::Next => {
                let asked = [MODEL, PROPERTIES, DEFINE, FAIR, KEEP_GOING];
                asked.into_iter().chain(search).collect()
            }
            Tool::Count => [MODEL, DEFINE].into_iter().chain(search).collect(),
            Tool::Simulate => vec![MODEL, DEFINE, STEPS, SEED],
            Tool::Explain => vec![TRACE],
            Tool::Trace => vec![TRACE, FORMAT, FIRST, LINES],
            Tool::Chart => vec![TRACE, DRAWING, FIRST_STEP, DRAWN],
        }
    }

    /// As a list of tools has it.
    fn described(self) -> Value {
        let arguments = self.arguments();
        let properties: Map<String, Value> =
            arguments.iter().map(|argument| (argument.name.to_string(), argument.schema())).collect();
        let needed: Vec<&str> = arguments.iter().filter(|a| a.needed).map(|a| a.name).collect();
        json!({
            "name": self.name(),
            "description": self.about(),
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": needed,
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        })
    }
}

/// All tools, as `tools/list` answers them.
pub fn list() -> Value {
    json!({ "tools": Tool::ALL.map(Tool::described) })
}
