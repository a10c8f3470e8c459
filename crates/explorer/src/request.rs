//! What the page can ask, and who answers.

use serde::Deserialize;
use serde_json::Value;

/// A question of the page. Numbers of nodes name states that were visited before.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// What is there to look at?
    Model,
    /// A state, and what can happen in it; only values and events with these texts in their names.
    Node {
        node: u32,
        values: Option<String>,
        enabled: Option<String>,
    },
    /// Takes an event.
    Step {
        node: u32,
        choice: usize,
    },
    /// Takes up to so many events by chance.
    Random {
        node: u32,
        steps: usize,
        seed: u64,
    },
    /// The first so many steps from the initial state on, or behind a node that the way goes through.
    Path {
        node: u32,
        after: Option<u32>,
        most: usize,
    },
    /// The same as a trace to keep; with the node at which its loop begins.
    Trace {
        node: u32,
        again: Option<u32>,
    },
    /// Replays a trace.
    Replay {
        trace: Value,
    },
    /// Lines of a source file, counted from one.
    Source {
        file: usize,
        from: usize,
        count: usize,
    },
    /// The state graph around a node.
    Graph {
        node: u32,
        expanded: Vec<u32>,
        most: usize,
    },
    /// Walks to a vertex of that graph.
    Go {
        node: u32,
        vertex: u32,
    },
    /// A net with its tokens; who has this drawing of it is told no more than the tokens.
    Net {
        node: u32,
        drawing: Option<u32>,
    },
    /// Begins to check properties; without any, those of the model.
    Check {
        properties: Vec<String>,
        options: CheckOptions,
    },
    /// How the check stands, with samples from this number on.
    Checked {
        from: usize,
    },
    StopCheck,
    /// Replays the run that was found for a property.
    LoadRun {
        property: usize,
    },
    /// A state of the graph in full, and what tells it from the node's.
    Vertex {
        node: u32,
        vertex: u32,
    },
    /// The run to a node as a page by itself; with the node at which its loop begins, and the property that it breaks.
    Export {
        node: u32,
        again: Option<u32>,
        property: Option<Value>,
    },
    /// Has the model become another one, and is something wrong with its text?
    Watch,
    /// The text of the model's file, to be edited.
    Text,
    /// What is wrong with a text?
    Diagnose {
        text: String,
    },
    /// Shows the model of a text that is not saved.
    Try {
        text: String,
    },
    /// Saves a text to the model's file, if that is as this stamp says; without one, whatever it says.
    Save {
        text: String,
        stamp: Option<String>,
    },
    /// Goes back to what the file says.
    Reload,
    /// Goes the way to a node of the model before it became another one, as far as it still leads.
    Carry {
        node: u32,
        at: u32,
        again: Option<u32>,
    },
}

/// How to check: flags of the command line by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckOptions {
    pub memory: Option<String>,
    pub time: Option<String>,
    pub threads: Option<u32>,
    pub order: Option<String>,
    pub store: Option<String>,
    pub reduce: Option<String>,
    pub engine: Option<String>,
    pub forget: Option<String>,
    pub fair: Option<String>,
    pub keep_going: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the reply, of the kind that blames the request.
    pub status: u16,
    pub message: String,
}

impl Refusal {
    /// There is no such thing.
    pub fn unknown(message: impl Into<String>) -> Refusal {
        Refusal { status: 404, message: message.into() }
    }

    /// This cannot be done now.
    pub fn conflict(message: impl Into<String>) -> Refusal {
        Refusal { status: 409, message: message.into() }
    }

    /// This makes no sense.
    pub fn wrong(message: impl Into<String>) -> Refusal {
        Refusal { status: 422, message: message.into() }
    }
}

/// Whoever answers. Requests come from several threads at once.
pub trait Explored: Send + Sync + 'static {
    fn answer(&self, request: Request) -> Result<Value, Refusal>;
}
