//! From a formula to an automaton: a state is what must hold from here on, an edge is a way to make it true.
//!
//! What a formula asks of the letter, of the next moment and as a promise (an until that is put off) is one decision
//! diagram, with the atoms first. Below the atoms are the choices that a letter leaves; each smallest one is an edge. This
//! is Couvreur's construction; formulas with the same diagram are one state.

use crate::arena::{Arena, Id, TRUE, Term};
use crate::automaton::{Cube, MOST_ATOMS, MOST_SETS};
use crate::diagram::{ALWAYS, Diagram, NEVER, Node};
use crate::graph::{Arc, Graph, every};
use crate::limits::TooLarge;
use std::collections::{BTreeMap, HashMap};

/// What a variable of the diagram stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Atom(u32),
    /// The formula holds from the next moment on.
    Next(Id),
    /// The formula of this set is still to come.
    Promise(usize),
}

/// Which edges a state gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// For each letter the smallest sets of wishes: as deterministic as can be. Letters are many where atoms are.
    ByLetter,
    /// As few conditions on letter and wishes as suffice: edges may overlap, and many atoms do no harm.
    ByCover,
}

pub(crate) struct Tableau<'a> {
    /// The formulas; its diagram has the conditions on letters.
    arena: &'a mut Arena,
    choice: Choice,
    /// What formulas ask of letter, next moment and promises.
    diagram: Diagram,
    meanings: Vec<Meaning>,
    atom: HashMap<u32, u32>,
    next: HashMap<Id, u32>,
    promise: HashMap<Id, u32>,
    sets: usize,
    nodes: HashMap<Id, Node>,
}

/// Wishes, by their variables in order, and the letters for which they suffice.
type Choices = BTreeMap<Vec<u32>, Node>;

/// The automaton of a formula, as it comes. Its conditions are nodes of the arena's diagram.
pub(crate) fn tableau(arena: &mut Arena, formula: Id, choice: Choice) -> Result<Graph, TooLarge> {
    let diagram = Diagram::new(arena.diagram.meter.clone());
    // With the atoms before all wishes, letters can be told apart first; otherwise a wish stands near the atoms that it
    // goes with, which is smaller.
    let meanings: Vec<Meaning> = match choice {
        Choice::ByLetter => (0..MOST_ATOMS as u32).map(Meaning::Atom).collect(),
        Choice::ByCover => Vec::new(),
    };
    let atom = (0..meanings.len() as u32).map(|atom| (atom, atom)).collect();
    let tableau = Tableau {
        arena,
        choice,
        diagram,
        meanings,
        atom,
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
            for (wishes, label) in self.choices(open[states.len()])? {
                let (mut later, mut marks) = (Vec::new(), every(MOST_SETS));
                for wish in wishes {
                    match self.meanings[wish as usize] {
                        Meaning::Next(id) => later.push(id),
                        Meaning::Promise(set) => marks &= !(1 << set),
                        Meaning::Atom(_) => {}
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
            self.diagram.meter.states(open.len().max(edges / 16))?;
        }
        let all = every(self.sets);
        states.iter_mut().flatten().for_each(|arc| arc.marks &= all);
        let mut graph = Graph { states, initial: 0, sets: self.sets };
        graph.merge_edges(&mut self.arena.diagram)?;
        Ok(graph)
    }

    fn choices(&mut self, root: Node) -> Result<Choices, TooLarge> {
        let mut choices = BTreeMap::new();
        match self.choice {
            Choice::ByLetter => self.by_letter(root, &mut choices)?,
            Choice::ByCover => {
                self.cover(root, root, (Cube::default(), Vec::new()), &mut choices)?;
            }
        }
        Ok(choices)
    }

    fn choose(&mut self, wishes: Vec<u32>, letters: Node, choices: &mut Choices) -> Result<(), TooLarge> {
        let label = choices.get(&wishes).copied().unwrap_or(NEVER);
        choices.insert(wishes, self.arena.diagram.or(label, letters)?);
        Ok(())
    }

    /// The smallest sets of wishes that satisfy a node, each with the letters for which they do.
    fn by_letter(&mut self, root: Node, choices: &mut Choices) -> Result<(), TooLarge> {
        // Which letters lead to each node, from the top down: in order of variables, parents come first.
        let mut reached: BTreeMap<(u32, Node), Node> = BTreeMap::new();
        reached.insert((self.diagram.variable(root), root), ALWAYS);
        while let Some(((variable, node), letters)) = reached.pop_first() {
            if variable >= MOST_ATOMS as u32 {
                for wishes in self.smallest(node)? {
                    self.choose(wishes, letters, choices)?;
                }
                continue;
            }
            for (to, positive) in [(self.diagram.low(node), false), (self.diagram.high(node), true)] {
                let conditions = &mut self.arena.diagram;
                let literal = conditions.literal(variable, positive)?;
                let there = conditions.and(letters, literal)?;
                let key = (self.diagram.variable(to), to);
                let so_far = reached.get(&key).copied().unwrap_or(NEVER);
                reached.insert(key, conditions.or(so_far, there)?);
            }
        }
        Ok(())
    }

    /// The smallest sets of wishes that satisfy a node, in which every variable only helps.
    fn smallest(&mut self, node: Node) -> Result<Vec<Vec<u32>>, TooLarge> {
        self.diagram.meter.tick()?;
        match node {
            NEVER => return Ok(Vec::new()),
            ALWAYS => return Ok(vec![Vec::new()]),
            _ => {}
        }
        let (variable, low, high) = (self.diagram.variable(node), self.diagram.low(node), self.diagram.high(node));
        let mut all = self.smallest(low)?;
        for mut wishes in self.smallest(high)? {
            self.diagram.meter.tick()?;
            if !self.satisfied(low, &wishes) {
                wishes.insert(0, variable);
                all.push(wishes);
            }
        }
        Ok(all)
    }

    /// Do wishes (in order) satisfy a node?
    fn satisfied(&self, mut node: Node, wishes: &[u32]) -> bool {
        while node > ALWAYS {
            let wished = wishes.binary_search(&self.diagram.variable(node)).is_ok();
            node = if wished { self.diagram.high(node) } else { self.diagram.low(node) };
        }
        node == ALWAYS
    }

    /// Finds conditions that cover what must be covered, and nothing but what may be; gives what they cover.
    fn cover(
        &mut self,
        must: Node,
        may: Node,
        path: (Cube, Vec<u32>),
        choices: &mut Choices,
    ) -> Result<Node, TooLarge> {
        self.diagram.meter.tick()?;
        if must == NEVER {
            return Ok(NEVER);
        }
        if may == ALWAYS {
            let (cube, mut wishes) = path;
            wishes.sort_unstable();
            let letters = self.arena.diagram.of_cube(cube)?;
            self.choose(wishes, letters, choices)?;
            return Ok(ALWAYS);
        }
        let variable = self.diagram.variable(must).min(self.diagram.variable(may));
        let ((must0, must1), (may0, may1)) = (self.diagram.split(must, variable), self.diagram.split(may, variable));
        let step = |positive: bool| {
            let (mut cube, mut wishes) = path.clone();
            match self.meanings[variable as usize] {
                Meaning::Atom(atom) if positive => cube.positive |= 1 << atom,
                Meaning::Atom(atom) => cube.negative |= 1 << atom,
                // A wish only helps: it is never needed that there is none.
                _ if positive => wishes.push(variable),
                _ => {}
            }
            (cube, wishes)
        };
        let (down, up) = (step(false), step(true));
        let only0 = self.diagram.minus(must0, may1)?;
        let low = self.cover(only0, may0, down, choices)?;
        let only1 = self.diagram.minus(must1, may0)?;
        let high = self.cover(only1, may1, up, choices)?;
        let (rest0, rest1) = (self.diagram.minus(must0, low)?, self.diagram.minus(must1, high)?);
        let (rest, both) = (self.diagram.or(rest0, rest1)?, self.diagram.and(may0, may1)?);
        let middle = self.cover(rest, both, path, choices)?;
        let (low, high) = (self.diagram.or(low, middle)?, self.diagram.or(high, middle)?);
        self.diagram.branch(variable, low, high)
    }

    fn variable(&mut self, meaning: Meaning) -> u32 {
        self.meanings.push(meaning);
        self.meanings.len() as u32 - 1
    }

    fn literal(&mut self, atom: u32, positive: bool) -> Result<Node, TooLarge> {
        let variable = match self.atom.get(&atom) {
            Some(&variable) => variable,
            None => {
                let variable = self.variable(Meaning::Atom(atom));
                self.atom.insert(atom, variable);
                variable
            }
        };
        self.diagram.literal(variable, positive)
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
                node = self.diagram.and(node, one)?;
            }
            return Ok(node);
        }
        let variable = match self.next.get(&id) {
            Some(&variable) => variable,
            None => {
                let variable = self.variable(Meaning::Next(id));
                self.next.insert(id, variable);
                variable
            }
        };
        self.diagram.literal(variable, true)
    }

    fn promised(&mut self, id: Id) -> Result<Node, TooLarge> {
        let variable = match self.promise.get(&id) {
            Some(&variable) => variable,
            None if self.sets == MOST_SETS => return Err(TooLarge::Sets),
            None => {
                let variable = self.variable(Meaning::Promise(self.sets));
                self.sets += 1;
                self.promise.insert(id, variable);
                variable
            }
        };
        self.diagram.literal(variable, true)
    }

    /// What a formula asks of letter, next moment and promises.
    fn node(&mut self, id: Id) -> Result<Node, TooLarge> {
        if let Some(&node) = self.nodes.get(&id) {
            return Ok(node);
        }
        self.diagram.meter.tick()?;
        let node = match self.arena.term(id).clone() {
            Term::And(all) => {
                let mut node = ALWAYS;
                for one in all {
                    let one = self.node(one)?;
                    node = self.diagram.and(node, one)?;
                }
                node
            }
            Term::Or(all) => {
                let mut node = NEVER;
                for one in all {
                    let one = self.node(one)?;
                    node = self.diagram.or(node, one)?;
                }
                node
            }
            Term::Next(a) => self.later(a)?,
            Term::Globally(a) => {
                let (now, later) = (self.again(a)?, self.later(id)?);
                self.diagram.and(now, later)?
            }
            Term::Finally(a) => {
                let (now, later, promise) = (self.node(a)?, self.later(id)?, self.promised(a)?);
                let put_off = self.diagram.and(later, promise)?;
                self.diagram.or(now, put_off)?
            }
            Term::Until(a, b) => {
                let (first, now) = (self.node(a)?, self.node(b)?);
                let (later, promise) = (self.later(id)?, self.promised(b)?);
                let put_off = self.diagram.and(later, promise)?;
                let put_off = self.diagram.and(first, put_off)?;
                self.diagram.or(now, put_off)?
            }
            Term::Weak(a, b) => {
                let (first, now, later) = (self.node(a)?, self.node(b)?, self.later(id)?);
                let put_off = self.diagram.and(first, later)?;
                self.diagram.or(now, put_off)?
            }
            Term::Release(a, b) => {
                let (end, now, later) = (self.node(a)?, self.node(b)?, self.later(id)?);
                let either = self.diagram.or(end, later)?;
                self.diagram.and(now, either)?
            }
            Term::Strong(a, b) => {
                let (end, now) = (self.node(a)?, self.node(b)?);
                let (later, promise) = (self.later(id)?, self.promised(a)?);
                let put_off = self.diagram.and(later, promise)?;
                let either = self.diagram.or(end, put_off)?;
                self.diagram.and(now, either)?
            }
            Term::False => NEVER,
            Term::True => ALWAYS,
            Term::Literal(atom, positive) => self.literal(atom, positive)?,
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
                    node = self.diagram.and(node, one)?;
                }
                Ok(node)
            }
            Term::Globally(a) => self.again(a),
            Term::Finally(a) => {
                let (now, promise) = (self.node(a)?, self.promised(a)?);
                self.diagram.or(now, promise)
            }
            Term::Until(a, b) => {
                let (first, now, promise) = (self.node(a)?, self.node(b)?, self.promised(b)?);
                let put_off = self.diagram.and(first, promise)?;
                self.diagram.or(now, put_off)
            }
            Term::Weak(a, b) => {
                let (first, now) = (self.node(a)?, self.node(b)?);
                self.diagram.or(first, now)
            }
            Term::Release(_, b) => self.node(b),
            Term::Strong(a, b) => {
                let (end, now, promise) = (self.node(a)?, self.node(b)?, self.promised(a)?);
                let either = self.diagram.or(end, promise)?;
                self.diagram.and(now, either)
            }
            _ => self.node(id),
        }
    }
}
