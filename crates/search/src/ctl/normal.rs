//! A CTL formula as a table of distinct parts over few operators.
//!
//! Everything becomes boolean operators, EX, EU and AU: least fixpoints and their negations. No part depends on a later one,
//! so negation is stratified by itself. Beside this stands the formula as it was written, for those who explain it.

use scrimp_temporal::Formula;
use std::collections::HashMap;

/// One part of the formula. Operands are numbers of parts that come before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    Constant(bool),
    /// The atom with this number.
    Atom(u32),
    Not(usize),
    And(Vec<usize>),
    Or(Vec<usize>),
    /// In some successor.
    ExistsNext(usize),
    /// On some run, the first until the second, which comes.
    ExistsUntil(usize, usize),
    /// On every run, the first until the second, which comes.
    AllUntil(usize, usize),
}

/// The temporal operators as they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Next,
    Finally,
    Globally,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
}

/// What a subformula is, as it was written. Operands are numbers of subformulas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// True, false, or an atom.
    Leaf,
    Not(usize),
    And(Vec<usize>),
    Or(Vec<usize>),
    Implies(usize, usize),
    Equivalent(usize, usize),
    /// On some run or on all; one operand or two.
    Path {
        exists: bool,
        operator: Operator,
        operands: Vec<usize>,
    },
}

/// A subformula as it was written, and the part of the table that says the same.
#[derive(Debug, Clone)]
pub struct Subformula<'f> {
    pub formula: &'f Formula<u32>,
    pub kind: Kind,
    pub node: usize,
}

/// A formula, part by part.
#[derive(Debug)]
pub struct Table<'f> {
    nodes: Vec<Node>,
    numbers: HashMap<Node, usize>,
    /// How many temporal operators lie within each other.
    depths: Vec<u32>,
    subformulas: Vec<Subformula<'f>>,
    /// Are only some runs looked at? Then there may be none from a state, and little can be simplified.
    fair: bool,
}

impl<'f> Table<'f> {
    /// The parts of a formula, for all runs or only for those that are fair; or why there are none.
    pub fn new(formula: &'f Formula<u32>, fair: bool) -> Result<Table<'f>, String> {
        if !formula.is_ctl() {
            return Err("this is not a CTL formula: every temporal operator needs A or E right before it".into());
        }
        let mut table =
            Table { nodes: Vec::new(), numbers: HashMap::new(), depths: Vec::new(), subformulas: Vec::new(), fair };
        table.enter(formula);
        Ok(table)
    }

    /// All parts, operands before what is made of them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All subformulas, operands before what is made of them; the last one is the whole.
    pub fn subformulas(&self) -> &[Subformula<'f>] {
        &self.subformulas
    }

    /// The part that says what the whole formula says.
    pub fn root(&self) -> usize {
        self.subformulas.last().map_or(0, |whole| whole.node)
    }

    /// Is a part about one state only?
    pub fn is_state(&self, node: usize) -> bool {
        self.depths[node] == 0
    }

    /// The parts about one state only that the others are made of, or the whole if it is one.
    pub fn labels(&self) -> Vec<usize> {
        let mut wanted = vec![false; self.nodes.len()];
        wanted[self.root()] = true;
        for node in (0..self.nodes.len()).filter(|&node| !self.is_state(node)) {
            self.operands(node).into_iter().for_each(|operand| wanted[operand] = true);
        }
        let is_label =
            |&node: &usize| wanted[node] && self.is_state(node) && !matches!(self.nodes[node], Node::Constant(_));
        (0..self.nodes.len()).filter(is_label).collect()
    }

    /// The parts that a part is made of.
    pub fn operands(&self, node: usize) -> Vec<usize> {
        match &self.nodes[node] {
            Node::Constant(_) | Node::Atom(_) => Vec::new(),
            Node::Not(a) | Node::ExistsNext(a) => vec![*a],
            Node::And(all) | Node::Or(all) => all.clone(),
            Node::ExistsUntil(a, b) | Node::AllUntil(a, b) => vec![*a, *b],
        }
    }

    /// Does a part that is about one state hold, given its atoms?
    pub fn holds_in(&self, node: usize, atom: &dyn Fn(u32) -> bool) -> bool {
        match &self.nodes[node] {
            Node::Constant(value) => *value,
            Node::Atom(number) => atom(*number),
            Node::Not(a) => !self.holds_in(*a, atom),
            Node::And(all) => all.iter().all(|&a| self.holds_in(a, atom)),
            Node::Or(all) => all.iter().any(|&a| self.holds_in(a, atom)),
            Node::ExistsNext(_) | Node::ExistsUntil(..) | Node::AllUntil(..) => false,
        }
    }

    /// Enters a formula with all its subformulas; its number among them.
    fn enter(&mut self, formula: &'f Formula<u32>) -> usize {
        let (kind, node) = match formula {
            Formula::True => (Kind::Leaf, self.constant(true)),
            Formula::False => (Kind::Leaf, self.constant(false)),
            Formula::Atom(number) => (Kind::Leaf, self.add(Node::Atom(*number))),
            Formula::AllPaths(path) => self.path(false, path),
            Formula::ExistsPath(path) => self.path(true, path),
            _ => {
                let operands: Vec<usize> = formula.operands().into_iter().map(|operand| self.enter(operand)).collect();
                let nodes: Vec<usize> = operands.iter().map(|&operand| self.subformulas[operand].node).collect();
                match formula {
                    Formula::Not(_) => (Kind::Not(operands[0]), self.not(nodes[0])),
                    Formula::And(_) => (Kind::And(operands), self.join(true, nodes)),
                    Formula::Or(_) => (Kind::Or(operands), self.join(false, nodes)),
                    Formula::Implies(..) => {
                        let no = self.not(nodes[0]);
                        (Kind::Implies(operands[0], operands[1]), self.join(false, vec![no, nodes[1]]))
                    }
                    // An equivalence: temporal operators by themselves do not occur.
                    _ => {
                        let both = self.join(true, nodes.clone());
                        let neither = self.neither(nodes[0], nodes[1]);
                        (Kind::Equivalent(operands[0], operands[1]), self.join(false, vec![both, neither]))
                    }
                }
            }
        };
        self.subformulas.push(Subformula { formula, kind, node });
        self.subformulas.len() - 1
    }

    fn path(&mut self, exists: bool, path: &'f Formula<u32>) -> (Kind, usize) {
        let operands: Vec<usize> = path.operands().into_iter().map(|operand| self.enter(operand)).collect();
        let a = self.subformulas[operands[0]].node;
        let b = self.subformulas[operands[operands.len() - 1]].node;
        let (operator, node) = match path {
            Formula::Next(_) => (Operator::Next, self.next(exists, a)),
            Formula::Finally(_) => {
                let anything = self.constant(true);
                (Operator::Finally, self.until(exists, anything, a))
            }
            Formula::Globally(_) => {
                let (anything, no) = (self.constant(true), self.not(a));
                let otherwise = self.until(!exists, anything, no);
                (Operator::Globally, self.not(otherwise))
            }
            Formula::WeakUntil(..) => {
                let (no, neither) = (self.not(b), self.neither(a, b));
                let otherwise = self.until(!exists, no, neither);
                (Operator::WeakUntil, self.not(otherwise))
            }
            Formula::Release(..) => {
                let (no, nor) = (self.not(a), self.not(b));
                let otherwise = self.until(!exists, no, nor);
                (Operator::Release, self.not(otherwise))
            }
            Formula::StrongRelease(..) => {
                let both = self.join(true, vec![a, b]);
                (Operator::StrongRelease, self.until(exists, b, both))
            }
            _ => (Operator::Until, self.until(exists, a, b)),
        };
        (Kind::Path { exists, operator, operands }, node)
    }

    fn add(&mut self, node: Node) -> usize {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = self.nodes.len();
        self.nodes.push(node.clone());
        let temporal = matches!(node, Node::ExistsNext(_) | Node::ExistsUntil(..) | Node::AllUntil(..)) as u32;
        let deepest = self.operands(number).into_iter().map(|operand| self.depths[operand]).max();
        self.depths.push(deepest.unwrap_or(0) + temporal);
        self.numbers.insert(node, number);
        number
    }

    fn constant(&mut self, value: bool) -> usize {
        self.add(Node::Constant(value))
    }

    fn not(&mut self, a: usize) -> usize {
        match self.nodes[a] {
            Node::Constant(value) => self.constant(!value),
            Node::Not(inner) => inner,
            _ => self.add(Node::Not(a)),
        }
    }

    fn neither(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.not(a), self.not(b));
        self.join(true, vec![a, b])
    }

    /// All of these, or one of them: without what does not matter, and what is cheap to know first.
    fn join(&mut self, all: bool, nodes: Vec<usize>) -> usize {
        let mut flat = Vec::with_capacity(nodes.len());
        for node in nodes {
            match &self.nodes[node] {
                Node::Constant(value) if *value == all => {}
                Node::Constant(_) => return self.constant(!all),
                Node::And(inner) if all => flat.extend_from_slice(inner),
                Node::Or(inner) if !all => flat.extend_from_slice(inner),
                _ => flat.push(node),
            }
        }
        flat.sort_by_key(|&node| (self.depths[node], node));
        flat.dedup();
        let key = |node: usize| (self.depths[node], node);
        let opposite = |&node: &usize| match self.nodes[node] {
            Node::Not(inner) => flat.binary_search_by_key(&key(inner), |&other| key(other)).is_ok(),
            _ => false,
        };
        if flat.iter().any(opposite) {
            return self.constant(!all);
        }
        match (flat.len(), all) {
            (0, _) => self.constant(all),
            (1, _) => flat[0],
            (_, true) => self.add(Node::And(flat)),
            (_, false) => self.add(Node::Or(flat)),
        }
    }

    fn next(&mut self, exists: bool, a: usize) -> usize {
        if !exists {
            let no = self.not(a);
            let otherwise = self.next(true, no);
            return self.not(otherwise);
        }
        match self.nodes[a] {
            Node::Constant(false) => a,
            _ => self.add(Node::ExistsNext(a)),
        }
    }

    fn until(&mut self, exists: bool, hold: usize, goal: usize) -> usize {
        if !self.fair {
            match (&self.nodes[hold], &self.nodes[goal]) {
                (_, Node::Constant(_)) | (Node::Constant(false), _) => return goal,
                (_, Node::ExistsUntil(inner, _)) if exists && *inner == hold => return goal,
                (_, Node::AllUntil(inner, _)) if !exists && *inner == hold => return goal,
                _ if hold == goal => return goal,
                _ => {}
            }
        }
        self.add(if exists { Node::ExistsUntil(hold, goal) } else { Node::AllUntil(hold, goal) })
    }
}
