//! Is what was recorded a run of the model?
//!
//! A log is a sequence of observations, each of which says whether an action, or the state that it leads to, may be what was seen.
//! Not every action is seen. All states are followed in which the model may be, one observation after the other.

use crate::code::tree;
use crate::model::TypedModel;
use crate::panics::caught;
use std::collections::HashMap;
use std::fmt;

/// Something that was seen.
pub trait Observation<M: TypedModel> {
    /// May it be this action, which has led from one state to another?
    fn fits(&self, model: &M, before: &M::State, action: &M::Action, after: &M::State) -> bool;

    /// What it is called where nothing fits.
    fn text(&self) -> String;
}

/// A function is an observation of what it is true of.
impl<M: TypedModel, F: Fn(&M, &M::State, &M::Action, &M::State) -> bool> Observation<M> for F {
    fn fits(&self, model: &M, before: &M::State, action: &M::Action, after: &M::State) -> bool {
        self(model, before, action, after)
    }

    fn text(&self) -> String {
        "an observation".into()
    }
}

/// An action that was seen as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen<A>(pub A);

impl<M: TypedModel> Observation<M> for Seen<M::Action> {
    fn fits(&self, _: &M, _: &M::State, action: &M::Action, _: &M::State) -> bool {
        self.0 == *action
    }

    fn text(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// How a log is held against a model.
#[derive(Debug, Clone, Copy)]
pub struct Unseen {
    /// So many actions may have happened between two observations without being seen.
    pub between: usize,
    /// So many states are followed at once; where there are more, the answer is not known.
    pub states: usize,
}

impl Default for Unseen {
    /// Every action was seen.
    fn default() -> Unseen {
        Unseen { between: 0, states: 1 << 20 }
    }
}

/// What became of a log.
#[derive(Debug, Clone, PartialEq)]
pub enum Conformance<A, S> {
    /// It is a run of the model: this one, with unseen actions among the others.
    Conforms(Vec<(A, S)>),
    /// No run of the model looks so. The longest beginning that does, and why it does not go on.
    Differs {
        /// So many observations fit.
        matched: usize,
        /// One run that looks so.
        run: Vec<(A, S)>,
        /// The observation that does not fit.
        seen: String,
        /// States that the model may be in by then, each with what could happen there instead.
        possible: Vec<(S, Vec<A>)>,
    },
    /// There are too many states to follow, after so many observations.
    Unknown {
        /// So many observations fit.
        matched: usize,
    },
}

/// States shown where a log differs.
const SHOWN: usize = 8;

/// A state on the way, the number of the one before it, and the action between.
struct Node<A, S> {
    state: S,
    before: Option<(usize, A)>,
}

/// Holds a log in which every action was seen against a model. Fails where code of the model panics.
pub fn conform<M: TypedModel>(
    model: &M,
    log: impl IntoIterator<Item = impl Observation<M>>,
) -> Result<Conformance<M::Action, M::State>, String> {
    conform_unseen(model, log, Unseen::default())
}

/// The same, where actions may have happened that were not seen.
pub fn conform_unseen<M: TypedModel>(
    model: &M,
    log: impl IntoIterator<Item = impl Observation<M>>,
    unseen: Unseen,
) -> Result<Conformance<M::Action, M::State>, String> {
    caught(|| follow(model, log, unseen))
}

fn follow<M: TypedModel>(
    model: &M,
    log: impl IntoIterator<Item = impl Observation<M>>,
    unseen: Unseen,
) -> Conformance<M::Action, M::State> {
    let mut nodes: Vec<Node<M::Action, M::State>> = Vec::new();
    let mut front: Vec<usize> = Vec::new();
    for state in model.initial() {
        front.push(nodes.len());
        nodes.push(Node { state, before: None });
    }
    let mut actions = Vec::new();
    for (matched, seen) in log.into_iter().enumerate() {
        // Where the observed action may have begun: by what was not seen, from where the last one led.
        let mut sources: HashMap<M::State, usize> = HashMap::new();
        let mut open: Vec<usize> = Vec::new();
        for &node in &front {
            if sources.insert(nodes[node].state.clone(), node).is_none() {
                open.push(node);
            }
        }
        let mut next: HashMap<M::State, usize> = HashMap::new();
        let mut after: Vec<usize> = Vec::new();
        for step in 0..=unseen.between {
            let mut further = Vec::new();
            for &node in &open {
                let state = nodes[node].state.clone();
                actions.clear();
                model.actions(&state, &mut actions);
                for action in &actions {
                    let Some(to) = model.next(&state, action) else { continue };
                    let before = || Some((node, action.clone()));
                    if seen.fits(model, &state, action, &to) && !next.contains_key(&to) {
                        next.insert(to.clone(), nodes.len());
                        after.push(nodes.len());
                        nodes.push(Node { state: to.clone(), before: before() });
                    }
                    if step < unseen.between && !sources.contains_key(&to) {
                        sources.insert(to.clone(), nodes.len());
                        further.push(nodes.len());
                        nodes.push(Node { state: to, before: before() });
                    }
                    if next.len() + sources.len() > unseen.states {
                        return Conformance::Unknown { matched };
                    }
                }
            }
            open = further;
        }
        if after.is_empty() {
            let possible = (front.iter().take(SHOWN))
                .map(|&node| {
                    let state = nodes[node].state.clone();
                    let mut all = Vec::new();
                    model.actions(&state, &mut all);
                    all.retain(|action| model.next(&state, action).is_some());
                    (state, all)
                })
                .collect();
            let run = front.first().map_or_else(Vec::new, |node| way(&nodes, *node));
            return Conformance::Differs { matched, run, seen: seen.text(), possible };
        }
        front = after;
    }
    Conformance::Conforms(front.first().map_or_else(Vec::new, |node| way(&nodes, *node)))
}

/// What led to a node.
fn way<A: Clone, S: Clone>(nodes: &[Node<A, S>], mut node: usize) -> Vec<(A, S)> {
    let mut steps = Vec::new();
    while let Some((before, action)) = &nodes[node].before {
        steps.push((action.clone(), nodes[node].state.clone()));
        node = *before;
    }
    steps.reverse();
    steps
}

impl<A, S> Conformance<A, S> {
    /// Is the log a run of the model?
    pub fn conforms(&self) -> bool {
        matches!(self, Conformance::Conforms(_))
    }
}

impl<A: fmt::Debug, S: serde::Serialize> fmt::Display for Conformance<A, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conformance::Conforms(run) => write!(f, "the log is a run of the model, of {} actions", run.len()),
            Conformance::Unknown { matched } => {
                write!(f, "after {matched} observations there are too many states that the model may be in")
            }
            Conformance::Differs { matched, seen, possible, .. } => {
                writeln!(f, "no run of the model looks so: after {matched} observations there is no {seen}")?;
                for (state, actions) in possible {
                    writeln!(f, "  in {}", tree(state))?;
                    let could: Vec<String> = actions.iter().map(|action| format!("{action:?}")).collect();
                    match could.is_empty() {
                        true => writeln!(f, "    nothing can happen")?,
                        false => writeln!(f, "    what can happen: {}", could.join(", "))?,
                    }
                }
                Ok(())
            }
        }
    }
}
