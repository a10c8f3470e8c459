//! From a formula to an automaton: a state is what must hold from here on, an edge is a way to make it true.
//!
//! What a formula asks of the letter, of the next moment and as a promise (an until that is put off) is one decision
//! diagram, with the atoms first. Below the atoms are the choices that a letter leaves; each smallest one is an edge. This
//! is Couvreur's construction; formulas with the same diagram are one state.

use crate::arena::{Arena, Id, TRUE, Term};
use crate::automaton::MOST_SETS;
use crate::diagram::{ALWAYS, NEVER, Node};
use crate::graph::{Arc, Graph, every};
use crate::limits::TooLarge;
use std::collections::{BTreeMap, HashMap};

/// The first variable that is no atom.
const FIRST: u32 = 64;

#[derive(Clone, Copy)]
enum Wish {
    /// The formula holds from the next moment on.
    Next(Id),
    /// The formula of this set is still to come.
    Promise(usize),
}

pub(crate) struct Tableau<'a> {
    arena: &'a mut Arena,
    wishes: Vec<Wish>,
    next: HashMap<Id, u32>,
    promise: HashMap<Id, u32>,
    sets: usize,
    nodes: HashMap<Id, Node>,
}

/// The automaton of a formula, as it comes.
pub(crate) fn tableau(arena: &mut Arena, formula: Id) -> Result<Graph, TooLarge> {
    let tableau = Tableau {
        arena,
        wishes: Vec::new(),
        next: HashMap::new(),
        promise: HashMap::new(),
        sets: 0,
        nodes: HashMap::new(),
    };
    tableau.run(formula)
}

impl Tableau<'_> {
    fn run(mut self, formula: Id) -> Result<Graph, TooLarge> {
        let mut states: Vec<Vec<Arc>> = Vec::new();
        let mut number: HashMap<Node, u32> = HashMap::new();
        let mut open: Vec<Node> = Vec::new();
        let mut edges = 0;
        let first = self.node(formula)?;
        number.insert(first, 0);
        open.push(first);
        while states.len() < open.len() {
            let mut arcs = Vec::new();
            for (choice, label) in self.choices(open[states.len()])? {
                let (mut later, mut marks) = (Vec::new(), every(MOST_SETS));
                for wish in choice {
                    match self.wishes[wish as usize] {
                        Wish::Next(id) => later.push(id),
                        Wish::Promise(set) => marks &= !(1 << set),
                    }
                }
                // No rules here: one that drops what others imply could drop it again and again, and nobody would notice
                // that it never comes true.
                let later = self.arena.keep_sorted(later, true);
                let node = self.node(later)?;
                if node == NEVER {
                    continue;
                }
                let to = *number.entry(node).or_insert_with(|| {
                    open.push(node);
                    open.len() as u32 - 1
                });
                arcs.push(Arc { to, marks, label });
            }
            edges += arcs.len();
            states.push(arcs);
            self.arena.diagram.meter.states(open.len().max(edges / 16))?;
        }
        let all = every(self.sets);
        states.iter_mut().flatten().for_each(|arc| arc.marks &= all);
        let mut graph = Graph { states, initial: 0, sets: self.sets };
        graph.merge_edges(&mut self.arena.diagram)?;
        Ok(graph)
    }

    /// The smallest sets of wishes that satisfy a node, each with the letters for which they do.
    fn choices(&mut self, root: Node) -> Result<BTreeMap<Vec<u32>, Node>, TooLarge> {
        // Which letters lead to each node, from the top down: in order of variables, parents come first.
        let mut reached: BTreeMap<(u32, Node), Node> = BTreeMap::new();
        reached.insert((self.arena.diagram.variable(root), root), ALWAYS);
        let mut choices: BTreeMap<Vec<u32>, Node> = BTreeMap::new();
        while let Some(((variable, node), letters)) = reached.pop_first() {
            let diagram = &mut self.arena.diagram;
            if variable >= FIRST {
                for choice in self.smallest(node)? {
                    let label = choices.get(&choice).copied().unwrap_or(NEVER);
                    choices.insert(choice, self.arena.diagram.or(label, letters)?);
                }
                continue;
            }
            for (to, positive) in [(diagram.low(node), false), (diagram.high(node), true)] {
                let literal = diagram.literal(variable, positive)?;
                let there = diagram.and(letters, literal)?;
                let key = (diagram.variable(to), to);
                let so_far = reached.get(&key).copied().unwrap_or(NEVER);
                reached.insert(key, diagram.or(so_far, there)?);
            }
        }
        Ok(choices)
    }

    /// The smallest sets of wishes that satisfy a node, in which every variable only helps.
    fn smallest(&mut self, node: Node) -> Result<Vec<Vec<u32>>, TooLarge> {
        self.arena.diagram.meter.tick()?;
        match node {
            NEVER => return Ok(Vec::new()),
            ALWAYS => return Ok(vec![Vec::new()]),
            _ => {}
        }
        let diagram = &self.arena.diagram;
        let (variable, low, high) = (diagram.variable(node), diagram.low(node), diagram.high(node));
        let mut all = self.smallest(low)?;
        for mut choice in self.smallest(high)? {
            self.arena.diagram.meter.tick()?;
            if !self.satisfied(low, &choice) {
                choice.insert(0, variable - FIRST);
                all.push(choice);
            }
        }
        Ok(all)
    }

    /// Does a choice (in order) satisfy a node?
    fn satisfied(&self, mut node: Node, choice: &[u32]) -> bool {
        let diagram = &self.arena.diagram;
        while node > ALWAYS {
            let chosen = choice.binary_search(&(diagram.variable(node) - FIRST)).is_ok();
            node = if chosen { diagram.high(node) } else { diagram.low(node) };
        }
        node == ALWAYS
    }

    fn variable(&mut self, wish: Wish) -> u32 {
        self.wishes.push(wish);
        FIRST + self.wishes.len() as u32 - 1
    }

    /// From the next moment on: each operand of a conjunction is a wish of its own.
    fn later(&mut self, id: Id) -> Result<Node, TooLarge> {
        if id == TRUE {
            return Ok(ALWAYS);
        }
        if let Term::And(all) = self.arena.term(id).clone() {
            let mut node = ALWAYS;
            for one in all {
                let one = self.later(one)?;
                node = self.arena.diagram.and(node, one)?;
            }
            return Ok(node);
        }
        let variable = match self.next.get(&id) {
            Some(&variable) => variable,
            None => {
                let variable = self.variable(Wish::Next(id));
                self.next.insert(id, variable);
                variable
            }
        };
        self.arena.diagram.literal(variable, true)
    }

    fn promised(&mut self, id: Id) -> Result<Node, TooLarge> {
        let variable = match self.promise.get(&id) {
            Some(&variable) => variable,
            None if self.sets == MOST_SETS => return Err(TooLarge::Sets),
            None => {
                let variable = self.variable(Wish::Promise(self.sets));
                self.sets += 1;
                self.promise.insert(id, variable);
                variable
            }
        };
        self.arena.diagram.literal(variable, true)
    }

    /// What a formula asks of letter, next moment and promises.
    fn node(&mut self, id: Id) -> Result<Node, TooLarge> {
        if self.arena.shape(id).state {
            return self.arena.condition(id);
        }
        if let Some(&node) = self.nodes.get(&id) {
            return Ok(node);
        }
        self.arena.diagram.meter.tick()?;
        let node = match self.arena.term(id).clone() {
            Term::And(all) => {
                let mut node = ALWAYS;
                for one in all {
                    let one = self.node(one)?;
                    node = self.arena.diagram.and(node, one)?;
                }
                node
            }
            Term::Or(all) => {
                let mut node = NEVER;
                for one in all {
                    let one = self.node(one)?;
                    node = self.arena.diagram.or(node, one)?;
                }
                node
            }
            Term::Next(a) => self.later(a)?,
            Term::Globally(a) => {
                let (now, later) = (self.again(a)?, self.later(id)?);
                self.arena.diagram.and(now, later)?
            }
            Term::Finally(a) => {
                let (now, later, promise) = (self.node(a)?, self.later(id)?, self.promised(a)?);
                let put_off = self.arena.diagram.and(later, promise)?;
                self.arena.diagram.or(now, put_off)?
            }
            Term::Until(a, b) => {
                let (first, now) = (self.node(a)?, self.node(b)?);
                let (later, promise) = (self.later(id)?, self.promised(b)?);
                let put_off = self.arena.diagram.and(later, promise)?;
                let put_off = self.arena.diagram.and(first, put_off)?;
                self.arena.diagram.or(now, put_off)?
            }
            Term::Weak(a, b) => {
                let (first, now, later) = (self.node(a)?, self.node(b)?, self.later(id)?);
                let put_off = self.arena.diagram.and(first, later)?;
                self.arena.diagram.or(now, put_off)?
            }
            Term::Release(a, b) => {
                let (end, now, later) = (self.node(a)?, self.node(b)?, self.later(id)?);
                let either = self.arena.diagram.or(end, later)?;
                self.arena.diagram.and(now, either)?
            }
            Term::Strong(a, b) => {
                let (end, now) = (self.node(a)?, self.node(b)?);
                let (later, promise) = (self.later(id)?, self.promised(a)?);
                let put_off = self.arena.diagram.and(later, promise)?;
                let either = self.arena.diagram.or(end, put_off)?;
                self.arena.diagram.and(now, either)?
            }
            Term::False | Term::True | Term::Literal(..) => self.arena.condition(id)?,
        };
        self.nodes.insert(id, node);
        Ok(node)
    }

    /// What a formula asks that is asked again at every moment: it need not ask for the next moment itself.
    fn again(&mut self, id: Id) -> Result<Node, TooLarge> {
        match self.arena.term(id).clone() {
            Term::And(all) => {
                let mut node = ALWAYS;
                for one in all {
                    let one = self.again(one)?;
                    node = self.arena.diagram.and(node, one)?;
                }
                Ok(node)
            }
            Term::Globally(a) => self.again(a),
            Term::Finally(a) => {
                let (now, promise) = (self.node(a)?, self.promised(a)?);
                self.arena.diagram.or(now, promise)
            }
            Term::Until(a, b) => {
                let (first, now, promise) = (self.node(a)?, self.node(b)?, self.promised(b)?);
                let put_off = self.arena.diagram.and(first, promise)?;
                self.arena.diagram.or(now, put_off)
            }
            Term::Weak(a, b) => {
                let (first, now) = (self.node(a)?, self.node(b)?);
                self.arena.diagram.or(first, now)
            }
            Term::Release(_, b) => self.node(b),
            Term::Strong(a, b) => {
                let (end, now, promise) = (self.node(a)?, self.node(b)?, self.promised(a)?);
                let either = self.arena.diagram.or(end, promise)?;
                self.arena.diagram.and(now, either)
            }
            _ => self.node(id),
        }
    }
}
