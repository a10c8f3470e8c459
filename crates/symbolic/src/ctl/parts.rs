//! CTL formulas as distinct parts over few operators: what is said twice is worked out once.

use scrimp_system::Expr;
use scrimp_temporal::Formula;
use std::collections::HashMap;

/// The number of a part.
pub type Part = usize;

/// One part. Operands come before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    Constant(bool),
    /// The condition with this number.
    Atom(usize),
    Not(Part),
    And(Vec<Part>),
    Or(Vec<Part>),
    /// In some successor.
    Next(Part),
    /// On some run, the first until the second, which comes.
    Until(Part, Part),
    /// On some run, always.
    Always(Part),
}

/// The parts of all formulas that are asked for.
#[derive(Debug, Default)]
pub struct Parts {
    nodes: Vec<Node>,
    numbers: HashMap<Node, Part>,
    atoms: Vec<Expr>,
}

impl Parts {
    /// What a part is.
    pub fn node(&self, part: Part) -> &Node {
        &self.nodes[part]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The condition with this number.
    pub fn atom(&self, number: usize) -> &Expr {
        &self.atoms[number]
    }

    /// The part that says what a formula of CTL says.
    pub fn enter(&mut self, formula: &Formula<Expr>) -> Part {
        match formula {
            Formula::True => self.add(Node::Constant(true)),
            Formula::False => self.add(Node::Constant(false)),
            Formula::Atom(condition) => self.condition(condition),
            Formula::Not(a) => {
                let a = self.enter(a);
                self.not(a)
            }
            Formula::And(all) => {
                let all = all.iter().map(|a| self.enter(a)).collect();
                self.join(true, all)
            }
            Formula::Or(all) => {
                let all = all.iter().map(|a| self.enter(a)).collect();
                self.join(false, all)
            }
            Formula::Implies(a, b) => {
                let (a, b) = (self.enter(a), self.enter(b));
                let no = self.not(a);
                self.join(false, vec![no, b])
            }
            Formula::Equivalent(a, b) => {
                let (a, b) = (self.enter(a), self.enter(b));
                let (both, neither) = (self.join(true, vec![a, b]), self.neither(a, b));
                self.join(false, vec![both, neither])
            }
            Formula::ExistsPath(path) => self.path(path, true),
            Formula::AllPaths(path) => self.path(path, false),
            // A formula of CTL has no temporal operator outside a quantifier.
            _ => self.add(Node::Constant(false)),
        }
    }

    /// The part that says that a condition holds.
    fn condition(&mut self, condition: &Expr) -> Part {
        if let Some(value) = condition.as_const() {
            return self.add(Node::Constant(value != 0));
        }
        let known = self.atoms.iter().position(|atom| atom == condition);
        let number = known.unwrap_or_else(|| {
            self.atoms.push(condition.clone());
            self.atoms.len() - 1
        });
        self.add(Node::Atom(number))
    }

    /// A temporal operator on some run or on all.
    fn path(&mut self, path: &Formula<Expr>, exists: bool) -> Part {
        let operands: Vec<Part> = path.operands().into_iter().map(|operand| self.enter(operand)).collect();
        let (Some(&a), Some(&b)) = (operands.first(), operands.last()) else {
            return self.add(Node::Constant(false));
        };
        let anything = self.add(Node::Constant(true));
        match (path, exists) {
            (Formula::Next(_), true) => self.next(a),
            (Formula::Next(_), false) => {
                let no = self.not(a);
                let otherwise = self.next(no);
                self.not(otherwise)
            }
            (Formula::Finally(_), true) => self.until(anything, a),
            (Formula::Finally(_), false) => self.all_until(anything, a),
            (Formula::Globally(_), true) => self.always(a),
            (Formula::Globally(_), false) => {
                let no = self.not(a);
                let otherwise = self.until(anything, no);
                self.not(otherwise)
            }
            (Formula::Until(..), true) => self.until(a, b),
            (Formula::Until(..), false) => self.all_until(a, b),
            (Formula::WeakUntil(..), _) => self.weak_until(a, b, exists),
            (Formula::Release(..), _) => {
                let both = self.join(true, vec![a, b]);
                self.weak_until(b, both, exists)
            }
            (Formula::StrongRelease(..), _) => {
                let both = self.join(true, vec![a, b]);
                if exists { self.until(b, both) } else { self.all_until(b, both) }
            }
            _ => self.add(Node::Constant(false)),
        }
    }

    fn add(&mut self, node: Node) -> Part {
        if let Some(&known) = self.numbers.get(&node) {
            return known;
        }
        self.nodes.push(node.clone());
        self.numbers.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn not(&mut self, a: Part) -> Part {
        match self.nodes[a] {
            Node::Constant(value) => self.add(Node::Constant(!value)),
            Node::Not(inner) => inner,
            _ => self.add(Node::Not(a)),
        }
    }

    fn neither(&mut self, a: Part, b: Part) -> Part {
        let (a, b) = (self.not(a), self.not(b));
        self.join(true, vec![a, b])
    }

    /// All of these, or one of them.
    fn join(&mut self, all: bool, parts: Vec<Part>) -> Part {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match &self.nodes[part] {
                Node::Constant(value) if *value == all => {}
                Node::Constant(value) => {
                    let value = *value;
                    return self.add(Node::Constant(value));
                }
                Node::And(inner) if all => flat.extend_from_slice(inner),
                Node::Or(inner) if !all => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        // Parts that come first are small: what is about one state is known before what is about runs.
        flat.sort_unstable();
        flat.dedup();
        match (flat.len(), all) {
            (0, _) => self.add(Node::Constant(all)),
            (1, _) => flat[0],
            (_, true) => self.add(Node::And(flat)),
            (_, false) => self.add(Node::Or(flat)),
        }
    }

    fn next(&mut self, a: Part) -> Part {
        match self.nodes[a] {
            Node::Constant(false) => a,
            _ => self.add(Node::Next(a)),
        }
    }

    fn until(&mut self, a: Part, b: Part) -> Part {
        match (&self.nodes[a], &self.nodes[b]) {
            (_, Node::Constant(false)) => b,
            (_, Node::Until(inner, _)) if *inner == a => b,
            _ => self.add(Node::Until(a, b)),
        }
    }

    fn always(&mut self, a: Part) -> Part {
        match self.nodes[a] {
            Node::Constant(false) | Node::Always(_) => a,
            _ => self.add(Node::Always(a)),
        }
    }

    /// There is no run on which the second never comes, or the first ends before it.
    fn all_until(&mut self, a: Part, b: Part) -> Part {
        let no = self.not(b);
        let never = self.always(no);
        let neither = self.neither(a, b);
        let early = self.until(no, neither);
        let either = self.join(false, vec![never, early]);
        self.not(either)
    }

    fn weak_until(&mut self, a: Part, b: Part, exists: bool) -> Part {
        if exists {
            let (until, always) = (self.until(a, b), self.always(a));
            return self.join(false, vec![until, always]);
        }
        let (no, neither) = (self.not(b), self.neither(a, b));
        let otherwise = self.until(no, neither);
        self.not(otherwise)
    }
}
