//! The pictures of a session: the state graph around a node, ways through it, and the net with its tokens.

use super::graph::{Graph, VertexId};
use super::net::{Moment, NetView, tokens};
use super::session::failed;
use crate::walk::{Node, Walk};
use scrimp_explorer::Refusal;
use serde_json::{Value, json};
use std::sync::Arc;

/// Ancestors from which a way to a vertex is looked for.
const MOST_ANCESTORS: usize = 1000;

#[derive(Default)]
pub struct Pictures {
    graph: Graph,
    /// How often the model had become another one when the graph was begun.
    of: usize,
    net: Option<NetView>,
}

impl Pictures {
    /// The state graph around a node.
    pub fn graph(&mut self, walk: &mut Walk, node: Node, expanded: &[VertexId], most: usize) -> Result<Value, Refusal> {
        // Few turns: each makes room for a process that was not there.
        for _ in 0..100 {
            self.follow(walk);
            let path: Vec<&[u8]> = walk.path(node).into_iter().map(|node| walk.state(node)).collect();
            let view = self.graph.view(walk.model(), &path, expanded, most);
            if !walk.make_room().map_err(failed)? {
                return Ok(view);
            }
            self.graph.clear();
        }
        Err(Refusal::wrong("the model grows without end here"))
    }

    /// Walks to a vertex: from the node, or from the last state before it from which there is a way.
    pub fn go(&mut self, walk: &mut Walk, node: Node, vertex: VertexId) -> Result<Value, Refusal> {
        self.follow(walk);
        if !self.graph.knows(vertex) {
            return Err(Refusal::unknown(format!("there is no vertex {vertex}")));
        }
        let path = walk.path(node);
        let from = path.iter().rev().take(MOST_ANCESTORS);
        let found = from.copied().find_map(|from| Some((from, self.graph.way(walk.state(from), vertex)?)));
        let (mut at, choices) = found.ok_or_else(|| Refusal::wrong("no run to this state is known from here"))?;
        for choice in choices {
            at = walk.step(at, choice).map_err(failed)?;
        }
        Ok(json!({ "node": at }))
    }

    /// The state that a vertex stands for.
    pub fn state(&mut self, walk: &Walk, vertex: VertexId) -> Result<Arc<[u8]>, Refusal> {
        self.follow(walk);
        self.graph.state(vertex).ok_or_else(|| Refusal::unknown(format!("there is no vertex {vertex}")))
    }

    /// The net with the tokens that it has there, for who has this drawing of it.
    pub fn net(&mut self, walk: &mut Walk, node: Node, drawing: Option<u32>) -> Result<Value, Refusal> {
        let net = walk.loaded().and_then(|loaded| Some(loaded.net.as_ref()?.net.clone()));
        let net = net.ok_or_else(|| Refusal::unknown("this model is not a net"))?;
        walk.choices(node).map_err(failed)?;
        let known = walk.model().file().zip(walk.here(node).map(|choices| &choices.batch));
        let (model, choices) = known.ok_or_else(|| Refusal::unknown("this state was not visited"))?;
        let transition = |event| model.parts(event).0;
        let enabled: Vec<_> =
            (0..choices.len()).filter_map(|choice| Some((transition(choices.event(choice))?, choice))).collect();
        let before = walk.parent(node).map(|parent| tokens(model, walk.state(parent)));
        let fired = walk.steps(node).last().and_then(|step| transition(step.event));
        let tokens = tokens(model, walk.state(node));
        let moment = Moment { tokens: &tokens, before: before.as_deref(), enabled: &enabled, fired };
        Ok(self.net.get_or_insert_with(|| NetView::new(net)).view(&moment, drawing))
    }

    /// Begins anew where the model has become another one: then states mean something else.
    fn follow(&mut self, walk: &Walk) {
        let of = walk.generation();
        if self.of != of {
            self.of = of;
            self.graph.clear();
        }
    }
}
