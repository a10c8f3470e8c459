//! A walk through the model, as the page follows it.

use super::pictures::Pictures;
use super::source::{self, Active};
use super::view::{self, View};
use crate::PropertyResult;
use crate::report::trace;
use crate::walk::{Node, Replayed, Run, Walk, exact_json};
use scrimp_explorer::Refusal;
use scrimp_system::Random;
use serde_json::{Value, json};

/// Initial states that are offered.
const MOST_STARTS: usize = 100;
/// Events that are taken by chance at once.
const MOST_STEPS: usize = 10_000;
/// Bytes of visited states, above which no more are kept.
const MOST_BYTES: usize = 120 << 20;

pub struct Session {
    walk: Walk,
    language: &'static str,
    /// The model asks something by a claim.
    has_claim: bool,
    /// What depends on the model alone, made anew when that grows.
    active: Active,
    entries: usize,
    start: Node,
    pictures: Pictures,
}

impl Session {
    pub fn new(mut walk: Walk, language: &'static str, has_claim: bool) -> Result<Session, String> {
        if walk.starts().is_empty() {
            return Err("the model has no initial state".into());
        }
        let start = walk.start(0).map_err(|e| e.to_string())?;
        let (active, entries) = (active(&walk), walk.entries().len());
        Ok(Session { walk, language, has_claim, active, entries, start, pictures: Pictures::default() })
    }

    pub fn start(&self) -> Node {
        self.start
    }

    pub fn walk(&self) -> &Walk {
        &self.walk
    }

    pub fn walk_mut(&mut self) -> &mut Walk {
        &mut self.walk
    }

    /// What there is to look at.
    pub fn model(&mut self) -> Value {
        let count = self.walk.starts().len();
        let starts: Vec<Node> = (0..count.min(MOST_STARTS)).map_while(|i| self.walk.start(i).ok()).collect();
        let first = starts.first().copied().unwrap_or(self.start);
        let labels: Vec<String> = starts.iter().map(|node| self.extract_claim(first, *node)).collect();
        let model = self.walk.model();
        let (file, entries) = (model.file(), self.walk.entries().len());
        let system = file.map(|file| file.system());
        let net = self.walk.loaded().and_then(|loaded| Some(&loaded.net.as_ref()?.net));
        let is_net = net.is_some();
        // A claim that was taken out does nothing, and has no lane.
        let gone = |lane: usize| system.is_some_and(|system| view::is_gone(system, &system.processes[lane]));
        let lanes: Vec<Option<String>> =
            model.lanes().into_iter().enumerate().map(|(lane, name)| (!gone(lane)).then_some(name)).collect();
        let warnings = system.map_or(Vec::new(), |system| system.warnings.iter().map(ToString::to_string).collect());
        json!({
            "name": model.name(),
            "language": self.language,
            "net": is_net,
            "state_bytes": model.state_bytes(),
            "variables": net.map_or(system.map_or(entries, |system| system.variables.len()), |net| net.places.len()),
            "events": net.map(|net| net.transitions.len()).or(system.map(|system| system.events.len())),
            "lanes": lanes,
            "files": file.map_or(json!([]), source::files),
            "properties": self.properties(is_net),
            "initial": starts,
            "initial_total": count,
            "initial_labels": labels,
            "warnings": warnings,
        })
    }

    /// What tells an initial state from the first.
    fn extract_claim(&self, first: Node, node: Node) -> String {
        let (first, state) = (self.walk.state(first), self.walk.state(node));
        let changes = self.walk.model().changes(first, state);
        let words: Vec<String> =
            changes.iter().take(4).map(|change| format!("{} = {}", change.name, change.after)).collect();
        words.join(", ")
    }

    /// What the model asks of itself.
    fn properties(&self, is_net: bool) -> Vec<String> {
        if is_net {
            return vec!["deadlock".into()];
        }
        let mut names = self.walk.model().asks();
        names.extend(self.has_claim.then(|| "claim".to_string()));
        names
    }

    pub fn known(&self, node: Node) -> Result<Node, Refusal> {
        match self.walk.has(node) {
            true => Ok(node),
            false => Err(Refusal::unknown(format!("there is no state {node}"))),
        }
    }

    pub fn node(&mut self, node: Node, values: Option<&str>, enabled: Option<&str>) -> Result<Value, Refusal> {
        let node = self.known(node)?;
        // What can happen is looked at first: the model may have to grow for it.
        self.walk.choices(node).map_err(failed)?;
        if self.entries != self.walk.entries().len() {
            (self.active, self.entries) = (active(&self.walk), self.walk.entries().len());
        }
        View { walk: &mut self.walk, active: &self.active, values, enabled }.node(node).map_err(failed)
    }

    /// Is there room for more states?
    fn room(&self) -> Result<(), Refusal> {
        match self.walk.bytes() < MOST_BYTES {
            true => Ok(()),
            false => Err(Refusal::conflict("too many states were visited; open the model anew to visit others")),
        }
    }

    pub fn step(&mut self, node: Node, choice: usize) -> Result<Value, Refusal> {
        let node = self.known(node)?;
        self.room()?;
        let next = self.walk.step(node, choice).map_err(failed)?;
        self.node(next, None, None)
    }

    pub fn random(&mut self, node: Node, steps: usize, seed: u64) -> Result<Value, Refusal> {
        let mut node = self.known(node)?;
        let mut random = Random(seed);
        // Room is looked for now and then, not only at the beginning.
        let mut left = steps.min(MOST_STEPS);
        while left > 0 {
            self.room()?;
            let (before, some) = (node, left.min(100));
            node = self.walk.random(node, some, &mut random).map_err(failed)?;
            left -= some;
            if self.walk.depth(node) < self.walk.depth(before) + some as u32 {
                break;
            }
        }
        Ok(json!({ "node": node }))
    }

    /// The state graph around a state, with what follows the expanded vertices.
    pub fn graph(&mut self, node: Node, expanded: &[u32], most: usize) -> Result<Value, Refusal> {
        let node = self.known(node)?;
        self.pictures.graph(&mut self.walk, node, expanded, most)
    }

    /// Walks to a vertex of that graph.
    pub fn go(&mut self, node: Node, vertex: u32) -> Result<Value, Refusal> {
        let node = self.known(node)?;
        self.room()?;
        self.pictures.go(&mut self.walk, node, vertex)
    }

    /// A vertex of that graph in full, beside the state of a node.
    pub fn vertex(&mut self, node: Node, vertex: u32) -> Result<Value, Refusal> {
        let node = self.known(node)?;
        let state = self.pictures.state(&self.walk, vertex)?;
        Ok(View { walk: &mut self.walk, active: &self.active, values: None, enabled: None }.beside(node, &state))
    }

    /// The net with its tokens.
    pub fn net(&mut self, node: Node, drawing: Option<u32>) -> Result<Value, Refusal> {
        let node = self.known(node)?;
        self.pictures.net(&mut self.walk, node, drawing)
    }

    /// The first so many steps to a state; those behind another one, if the way goes through that.
    pub fn path(&mut self, node: Node, after: Option<Node>, most: usize) -> Result<Value, Refusal> {
        let path = self.walk.path(self.known(node)?);
        let known = after.and_then(|after| path.iter().position(|node| *node == after)).map_or(0, |place| place + 1);
        let step = |node: &Node| json!({ "node": node, "parent": self.walk.parent(*node), "steps": view::steps(&self.walk, *node) });
        Ok(json!({ "path": path[known..].iter().take(most).map(step).collect::<Vec<_>>() }))
    }

    /// The way to a state as a trace, as a check writes it.
    pub fn trace(&mut self, node: Node, again: Option<Node>) -> Result<Value, Refusal> {
        let path = self.walk.path(self.known(node)?);
        let mut result = PropertyResult::undecided("explored");
        result.trace = Some(self.walk.run(node));
        if let Some(again) = again {
            let edges = path.iter().position(|on_way| *on_way == again);
            let edges = edges.ok_or_else(|| Refusal::wrong("the loop does not begin on this run"))?;
            let stays = self.walk.choices(node).map_err(failed)?.batch.is_empty();
            let closed = if again == node { stays } else { self.walk.state(again) == self.walk.state(node) };
            if !closed {
                return Err(Refusal::wrong("the run does not return to where its loop begins"));
            }
            result.cycle = Some(edges);
        }
        let model = self.walk.model();
        let told = if model.file().is_some() { trace::json(model, &result) } else { exact_json(model, &result) };
        told.ok_or_else(|| Refusal::unknown("there is no trace"))
    }

    /// Goes the way of a trace.
    pub fn replay(&mut self, run: &Run) -> Result<Replayed, Refusal> {
        self.room()?;
        self.walk.replay(run).map_err(|mismatch| {
            let help = "the trace is of another model, or the model was changed";
            Refusal::wrong(format!("{} ({help})", mismatch.message))
        })
    }
}

fn active(walk: &Walk) -> Active {
    walk.model().file().map(Active::new).unwrap_or_default()
}

pub fn failed(error: Box<dyn std::error::Error>) -> Refusal {
    Refusal::wrong(error.to_string())
}
