//! Walking through a model: a tree of the states that were visited, each by the choice that led to it.
//!
//! A system that was made too small for what is met on the way is made larger, and all states are found again: the larger
//! one has the same choices on every way that was gone, in the same order.

mod replay;
mod seek;

pub use replay::exact_json;
pub use replay::{Mismatch, Replayed, Run, find_trace};
pub use seek::{Sight, Sought};

use crate::{Explorable, Loaded};
use scrimp_native::{Entry, Mode, NativeModel};
use scrimp_system::{Batch, EventCode};
use scrimp_system::{FaultRecord, Random};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Names a state of the tree.
pub type Node = u32;

type Failed = Box<dyn std::error::Error>;

/// A model and where one has been in it.
pub struct Walk {
    ground: Ground,
    /// What every state consists of.
    entries: Vec<Entry>,
    /// The initial states.
    starts: Batch,
    nodes: Vec<Visited>,
    /// The number of the first node.
    base: Node,
    /// Where choices have led; before the first state there is a choice among the initial ones.
    taken: HashMap<(Option<Node>, usize), Node>,
    /// States by their hashes, the first of each.
    hashes: HashMap<u64, Node>,
    /// What can happen in the state that was last looked at.
    here: Option<(Node, Choices)>,
    /// How often the model has become another one.
    generation: usize,
}

/// What a walk goes through.
enum Ground {
    /// A model file, which may have to be made larger on the way.
    File {
        loaded: Box<Loaded>,
        model: Box<NativeModel>,
    },
    Given(Box<dyn Explorable + Send>),
}

impl Ground {
    fn model(&self) -> &dyn Explorable {
        match self {
            Ground::File { model, .. } => &**model,
            Ground::Given(model) => &**model,
        }
    }

    /// Makes the system larger where a state was looked at that it is too small for; the model is still the old one then.
    fn grow(&mut self) -> Result<bool, Failed> {
        match self {
            Ground::File { loaded, model } => Ok(loaded.grow_just_enough(model)?),
            Ground::Given(_) => Ok(false),
        }
    }
}

struct Visited {
    parent: Option<Node>,
    choice: usize,
    event: EventCode,
    depth: u32,
    state: Box<[u8]>,
}

/// What can happen in a state.
pub struct Choices {
    /// The enabled events with the states that they lead to, and the events that would end in a fault.
    pub batch: Batch,
    /// Nothing can happen, and something should.
    pub deadlock: bool,
}

/// Why nothing can happen in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    pub text: &'static str,
    /// It is an error.
    pub bad: bool,
}

/// A single step on the way from a state to one of its successors.
pub struct SingleStep {
    pub event: EventCode,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

impl Walk {
    /// Before the first state.
    pub fn new(loaded: Loaded) -> Result<Walk, Failed> {
        let model = Box::new(runnable(&loaded)?);
        Ok(Walk::on(Ground::File { loaded: Box::new(loaded), model }))
    }

    /// Before the first state of a model that is no file.
    pub fn through(model: Box<dyn Explorable + Send>) -> Walk {
        Walk::on(Ground::Given(model))
    }

    fn on(ground: Ground) -> Walk {
        let (entries, starts) = (ground.model().entries(), starts(ground.model()));
        Walk {
            ground,
            entries,
            starts,
            nodes: Vec::new(),
            base: 0,
            taken: HashMap::new(),
            hashes: HashMap::new(),
            here: None,
            generation: 0,
        }
    }

    /// With other numbers than those from 0 on, for who has several walks.
    pub fn numbered_from(mut self, base: Node) -> Walk {
        self.base = base;
        self
    }

    /// The number that no state has yet, nor any before it.
    pub fn next(&self) -> Node {
        self.base + self.nodes.len() as Node
    }

    fn visited(&self, node: Node) -> &Visited {
        &self.nodes[(node - self.base) as usize]
    }

    /// Is there such a state?
    pub fn has(&self, node: Node) -> bool {
        node.checked_sub(self.base).is_some_and(|number| (number as usize) < self.nodes.len())
    }

    pub fn model(&self) -> &dyn Explorable {
        self.ground.model()
    }

    /// What every state consists of.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The model file.
    pub fn loaded(&self) -> Option<&Loaded> {
        match &self.ground {
            Ground::File { loaded, .. } => Some(loaded),
            Ground::Given(_) => None,
        }
    }

    /// Begins anew with the model's claim taken out, or taken in; `false` where there is none.
    pub fn take_other_claim(&mut self) -> Result<bool, Failed> {
        let Ground::File { loaded, .. } = &mut self.ground else { return Ok(false) };
        let other = loaded.take_claim()?.is_some() || loaded.add_claim()?;
        if other {
            self.nodes.clear();
            self.taken.clear();
            self.grown()?;
        }
        Ok(other)
    }

    /// The initial states.
    pub fn starts(&self) -> &Batch {
        &self.starts
    }

    /// How many states were visited.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn state(&self, node: Node) -> &[u8] {
        &self.visited(node).state
    }

    pub fn parent(&self, node: Node) -> Option<Node> {
        self.visited(node).parent
    }

    /// How many choices led here from the initial state.
    pub fn depth(&self, node: Node) -> u32 {
        self.visited(node).depth
    }

    /// The states on the way here, from the initial one on.
    pub fn path(&self, node: Node) -> Vec<Node> {
        let mut path = vec![node];
        while let Some(parent) = self.parent(path[path.len() - 1]) {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// The run to a state.
    pub fn run(&self, node: Node) -> scrimp_core::Trace {
        let path = self.path(node);
        let step = |node: &Node| (self.visited(*node).event, self.state(*node).to_vec());
        scrimp_core::Trace { initial: self.state(path[0]).to_vec(), steps: path[1..].iter().map(step).collect() }
    }

    /// A state of the tree that is equal to this one; of two with one hash only the first is found.
    pub fn find(&self, state: &[u8]) -> Option<Node> {
        self.hashes.get(&hash(state)).copied().filter(|node| self.state(*node) == state)
    }

    /// Where a choice has led before.
    pub fn taken(&self, from: Option<Node>, choice: usize) -> Option<Node> {
        self.taken.get(&(from, choice)).copied()
    }

    /// The single steps from a state's parent to it; none for an initial state.
    pub fn steps(&self, node: Node) -> Vec<SingleStep> {
        let Some(parent) = self.parent(node) else { return Vec::new() };
        let mut before = self.state(parent).to_vec();
        let single = self.model().steps(&before, self.visited(node).event, self.state(node));
        let step = |(event, after): (EventCode, Vec<u8>)| {
            let before = std::mem::replace(&mut before, after.clone());
            SingleStep { event, before, after }
        };
        single.into_iter().map(step).collect()
    }

    /// Enters an initial state.
    pub fn start(&mut self, choice: usize) -> Result<Node, Failed> {
        self.enter(None, choice)
    }

    /// Takes a choice.
    pub fn step(&mut self, from: Node, choice: usize) -> Result<Node, Failed> {
        self.enter(Some(from), choice)
    }

    /// Takes up to so many choices by chance, as long as nothing goes wrong.
    pub fn random(&mut self, from: Node, steps: usize, random: &mut Random) -> Result<Node, Failed> {
        let mut node = from;
        for _ in 0..steps {
            match self.choices(node)?.batch.len() {
                0 => break,
                count => node = self.step(node, random.below(count))?,
            }
            if self.violated(node) {
                break;
            }
        }
        Ok(node)
    }

    /// Was an assertion violated by the last step?
    pub fn violated(&self, node: Node) -> bool {
        self.steps(node).iter().any(|step| self.model().violated(&step.before, step.event).is_some())
    }

    fn enter(&mut self, from: Option<Node>, choice: usize) -> Result<Node, Failed> {
        if let Some(node) = self.taken(from, choice) {
            return Ok(node);
        }
        let depth = from.map_or(0, |from| self.depth(from) + 1);
        let (state, event) = self.choice(from, choice)?;
        let number = Node::try_from(self.nodes.len()).ok().and_then(|number| self.base.checked_add(number));
        let node = number.ok_or("too many states were visited")?;
        self.hashes.entry(hash(&state)).or_insert(node);
        self.nodes.push(Visited { parent: from, choice, event, depth, state: state.into() });
        self.taken.insert((from, choice), node);
        // What is missing in the system shows only when it is looked at what can happen.
        self.choices(node)?;
        Ok(node)
    }

    fn choice(&mut self, from: Option<Node>, choice: usize) -> Result<(Vec<u8>, EventCode), Failed> {
        let batch = match from {
            None => &self.starts,
            Some(from) => &self.choices(from)?.batch,
        };
        match choice < batch.len() {
            true => Ok((batch.state(choice).to_vec(), batch.event(choice))),
            false => Err(format!("there is no choice {choice} here").into()),
        }
    }

    /// What can happen in a state.
    pub fn choices(&mut self, node: Node) -> Result<&Choices, Failed> {
        if self.here.as_ref().is_none_or(|(here, _)| *here != node) {
            loop {
                let choices = expand(self.model(), self.state(node));
                if !self.ground.grow()? {
                    self.here = Some((node, choices));
                    break;
                }
                self.grown()?;
            }
        }
        self.here(node).ok_or_else(|| "this state was not visited".into())
    }

    /// Makes the system larger where a state was looked at that it is too small for, whoever did.
    pub fn make_room(&mut self) -> Result<bool, Failed> {
        let grown = self.ground.grow()?;
        if grown {
            self.grown()?;
        }
        Ok(grown)
    }

    /// How often the model has become another one: then states mean something else.
    pub fn generation(&self) -> usize {
        self.generation
    }

    /// The same, where it was the last state that was looked at.
    pub fn here(&self, node: Node) -> Option<&Choices> {
        self.here.as_ref().filter(|(here, _)| *here == node).map(|(_, choices)| choices)
    }

    /// Finds all states again in the larger system; where that fails, everything stays as it was.
    fn grown(&mut self) -> Result<(), Failed> {
        let Some(loaded) = self.loaded() else { return Ok(()) };
        let model = runnable(loaded)?;
        let starts = starts(&model);
        let mut found: Vec<(EventCode, Box<[u8]>)> = Vec::with_capacity(self.nodes.len());
        let mut last: Option<(Node, Choices)> = None;
        for Visited { parent, choice, .. } in &self.nodes {
            if let Some(parent) = parent.filter(|parent| last.as_ref().is_none_or(|(node, _)| node != parent)) {
                last = Some((parent, expand(&model, &found[(parent - self.base) as usize].1)));
            }
            let batch = match (parent, &last) {
                (Some(_), Some((_, choices))) => &choices.batch,
                _ => &starts,
            };
            if *choice >= batch.len() {
                return Err("this run cannot be replayed in the larger model".into());
            }
            found.push((batch.event(*choice), batch.state(*choice).into()));
        }
        self.hashes.clear();
        for (number, (event, state)) in found.into_iter().enumerate() {
            self.hashes.entry(hash(&state)).or_insert(self.base + number as Node);
            (self.nodes[number].event, self.nodes[number].state) = (event, state);
        }
        (self.entries, self.starts, self.here) = (model.entries(), starts, None);
        if let Ground::File { model: old, .. } = &mut self.ground {
            **old = model;
        }
        self.generation += 1;
        Ok(())
    }

    /// Why nothing can happen in a state; `None` where something can.
    pub fn ending(&mut self, node: Node) -> Result<Option<Ending>, Failed> {
        let Choices { batch, deadlock } = self.choices(node)?;
        let (enabled, deadlock) = (batch.len(), *deadlock);
        let processes = !self.model().standing(self.state(node)).is_empty();
        let ending = |text, bad| Some(Ending { text, bad });
        Ok(match enabled {
            0 if deadlock && processes => ending("invalid end state: nothing more can happen", true),
            0 if deadlock => ending("deadlock: no event is enabled", true),
            0 if self.model().file().is_none_or(|file| file.system().claim.is_none()) => {
                ending("the end: nothing more can happen", false)
            }
            0 => ending("the model could move, but its property automaton cannot follow", false),
            _ => None,
        })
    }

    /// The events that would end in a fault in a state.
    pub fn faults(&mut self, node: Node) -> Result<Vec<FaultRecord>, Failed> {
        Ok(self.choices(node)?.batch.faults().to_vec())
    }

    /// Bytes held for the states, about.
    pub fn bytes(&self) -> usize {
        let each = self.model().state_bytes() + size_of::<Visited>() + 3 * size_of::<(Option<Node>, usize, Node)>();
        self.nodes.len() * each
    }
}

/// A few states are looked at: it does not pay to make machine code. And what interprets a net has its events in one order,
/// however much room the net has.
fn runnable(loaded: &Loaded) -> Result<NativeModel, Failed> {
    Ok(NativeModel::new(loaded.system.clone(), Mode::Interpreted)?)
}

fn starts(model: &dyn Explorable) -> Batch {
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    batch
}

fn expand(model: &dyn Explorable, state: &[u8]) -> Choices {
    let mut batch = Batch::new(model.state_bytes());
    model.expand(state, &mut batch);
    let deadlock = batch.take_deadlock(batch.len());
    Choices { batch, deadlock }
}

fn hash(state: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(state);
    hasher.finish()
}
