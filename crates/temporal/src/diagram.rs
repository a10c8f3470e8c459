//! Binary decision diagrams: conditions on letters, each with one representation, so that equal conditions are the same
//! number.
//!
//! Variables of conditions on letters are the atoms; who uses others says what they stand for. Depth of recursion is the
//! number of variables, which is bounded.

use crate::automaton::{Cube, Guard, Letter};
use crate::limits::{Meter, TooLarge};
use std::collections::HashMap;

/// A node of the diagram: a condition.
pub(crate) type Node = u32;
pub(crate) const NEVER: Node = 0;
pub(crate) const ALWAYS: Node = 1;

/// The most nodes: some 40 MB with the table that finds them.
const MOST_NODES: usize = 1 << 20;
/// The most variables: what the depth of recursion may be.
pub(crate) const MOST_VARIABLES: u32 = 1500;
/// The variable of the two leaves, behind all others.
const LEAF: u32 = u32::MAX;
/// How many results of operations are remembered at first, and at most.
const REMEMBERED: (usize, usize) = (1 << 10, 1 << 18);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    And = 1,
    Or = 2,
    Minus = 3,
}

#[derive(Debug, Clone, Copy)]
struct Branch {
    variable: u32,
    low: Node,
    high: Node,
}

pub(crate) struct Diagram {
    nodes: Vec<Branch>,
    unique: HashMap<(u32, Node, Node), Node>,
    /// Results, the newest of those that fall on the same place: operation, operands, result.
    remembered: Vec<(u32, Node, Node, Node)>,
    pub meter: Meter,
}

impl Diagram {
    pub fn new(meter: Meter) -> Diagram {
        let leaf = |node| Branch { variable: LEAF, low: node, high: node };
        Diagram {
            nodes: vec![leaf(NEVER), leaf(ALWAYS)],
            unique: HashMap::new(),
            remembered: vec![(0, 0, 0, 0); REMEMBERED.0],
            meter,
        }
    }

    /// The variable that is looked at first; more than any other at a leaf.
    pub fn variable(&self, node: Node) -> u32 {
        self.nodes[node as usize].variable
    }

    pub fn low(&self, node: Node) -> Node {
        self.nodes[node as usize].low
    }

    pub fn high(&self, node: Node) -> Node {
        self.nodes[node as usize].high
    }

    /// What holds without the variable, and with it, of a node that looks at none before.
    pub fn split(&self, node: Node, variable: u32) -> (Node, Node) {
        if self.variable(node) == variable { (self.low(node), self.high(node)) } else { (node, node) }
    }

    /// Looks at the variable, which stands before all that the two look at.
    pub fn branch(&mut self, variable: u32, low: Node, high: Node) -> Result<Node, TooLarge> {
        if low == high {
            return Ok(low);
        }
        if let Some(&node) = self.unique.get(&(variable, low, high)) {
            return Ok(node);
        }
        if self.nodes.len() >= MOST_NODES || variable >= MOST_VARIABLES {
            return Err(TooLarge::Steps);
        }
        if self.nodes.len() > self.remembered.len() && self.remembered.len() < REMEMBERED.1 {
            self.remembered = vec![(0, 0, 0, 0); 2 * self.remembered.len()];
        }
        let node = self.nodes.len() as Node;
        self.nodes.push(Branch { variable, low, high });
        self.unique.insert((variable, low, high), node);
        Ok(node)
    }

    /// The variable holds, or does not.
    pub fn literal(&mut self, variable: u32, positive: bool) -> Result<Node, TooLarge> {
        if positive { self.branch(variable, NEVER, ALWAYS) } else { self.branch(variable, ALWAYS, NEVER) }
    }

    pub fn and(&mut self, a: Node, b: Node) -> Result<Node, TooLarge> {
        self.apply(Operation::And, a.min(b), a.max(b))
    }

    pub fn or(&mut self, a: Node, b: Node) -> Result<Node, TooLarge> {
        self.apply(Operation::Or, a.min(b), a.max(b))
    }

    /// The first without the second.
    pub fn minus(&mut self, a: Node, b: Node) -> Result<Node, TooLarge> {
        self.apply(Operation::Minus, a, b)
    }

    /// Does the second hold wherever the first does?
    pub fn implies(&mut self, a: Node, b: Node) -> Result<bool, TooLarge> {
        Ok(self.minus(a, b)? == NEVER)
    }

    fn apply(&mut self, operation: Operation, a: Node, b: Node) -> Result<Node, TooLarge> {
        let known = match operation {
            Operation::And if a == NEVER || b == NEVER => Some(NEVER),
            Operation::And if a == ALWAYS || a == b => Some(b),
            Operation::And if b == ALWAYS => Some(a),
            Operation::Or if a == ALWAYS || b == ALWAYS => Some(ALWAYS),
            Operation::Or if a == NEVER || a == b => Some(b),
            Operation::Or if b == NEVER => Some(a),
            Operation::Minus if a == NEVER || b == ALWAYS || a == b => Some(NEVER),
            Operation::Minus if b == NEVER => Some(a),
            _ => None,
        };
        if let Some(node) = known {
            return Ok(node);
        }
        self.meter.tick()?;
        let key = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ operation as u64;
        let place = (key.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 40) as usize & (self.remembered.len() - 1);
        let found = self.remembered[place];
        if (found.0, found.1, found.2) == (operation as u32, a, b) {
            return Ok(found.3);
        }
        let (first, second) = (self.nodes[a as usize], self.nodes[b as usize]);
        let variable = first.variable.min(second.variable);
        let (a0, a1) = if first.variable == variable { (first.low, first.high) } else { (a, a) };
        let (b0, b1) = if second.variable == variable { (second.low, second.high) } else { (b, b) };
        let low = self.apply(operation, a0, b0)?;
        let high = self.apply(operation, a1, b1)?;
        let node = self.branch(variable, low, high)?;
        // There may be more places by now: this one is as good, and only found less often.
        self.remembered[place] = (operation as u32, a, b, node);
        Ok(node)
    }

    /// A condition on atoms as a node.
    pub fn of_guard(&mut self, guard: &Guard) -> Result<Node, TooLarge> {
        let mut all = NEVER;
        for &cube in &guard.cubes {
            let one = self.of_cube(cube)?;
            all = self.or(all, one)?;
        }
        Ok(all)
    }

    pub fn of_cube(&mut self, cube: Cube) -> Result<Node, TooLarge> {
        if cube.positive & cube.negative != 0 {
            return Ok(NEVER);
        }
        let mut node = ALWAYS;
        for atom in (0..Letter::BITS).rev() {
            let bit = 1 << atom;
            if cube.positive & bit != 0 {
                node = self.branch(atom, NEVER, node)?;
            } else if cube.negative & bit != 0 {
                node = self.branch(atom, node, NEVER)?;
            }
        }
        Ok(node)
    }

    /// A node about atoms only as a condition of few cubes, none of which can be left out.
    pub fn guard(&mut self, node: Node) -> Result<Guard, TooLarge> {
        let mut cubes = Vec::new();
        self.cover(node, node, Cube::default(), &mut cubes)?;
        cubes.sort_unstable();
        Ok(Guard { cubes })
    }

    /// Finds cubes that cover what must be covered, and nothing but what may be; gives what they cover.
    fn cover(&mut self, must: Node, may: Node, path: Cube, cubes: &mut Vec<Cube>) -> Result<Node, TooLarge> {
        self.meter.tick()?;
        if must == NEVER {
            return Ok(NEVER);
        }
        if may == ALWAYS {
            cubes.push(path);
            return Ok(ALWAYS);
        }
        let variable = self.variable(must).min(self.variable(may));
        let ((must0, must1), (may0, may1)) = (self.split(must, variable), self.split(may, variable));
        let bit = 1 << variable;
        let only0 = self.minus(must0, may1)?;
        let low = self.cover(only0, may0, Cube { negative: path.negative | bit, ..path }, cubes)?;
        let only1 = self.minus(must1, may0)?;
        let high = self.cover(only1, may1, Cube { positive: path.positive | bit, ..path }, cubes)?;
        let (rest0, rest1) = (self.minus(must0, low)?, self.minus(must1, high)?);
        let (rest, both) = (self.or(rest0, rest1)?, self.and(may0, may1)?);
        let middle = self.cover(rest, both, path, cubes)?;
        let (low, high) = (self.or(low, middle)?, self.or(high, middle)?);
        self.branch(variable, low, high)
    }

    /// Some letter for which a node about atoms holds, if there is one.
    pub fn letter(&self, mut node: Node) -> Option<Letter> {
        let mut letter = 0;
        while node != ALWAYS {
            let branch = self.nodes[node as usize];
            node = match (branch.low, branch.high) {
                _ if node == NEVER => return None,
                (NEVER, high) => {
                    letter |= 1 << branch.variable;
                    high
                }
                (low, _) => low,
            };
        }
        Some(letter)
    }

    /// Does a node about atoms hold for the letter?
    pub fn holds(&self, mut node: Node, letter: Letter) -> bool {
        while node > ALWAYS {
            let branch = self.nodes[node as usize];
            node = if letter >> branch.variable & 1 == 1 { branch.high } else { branch.low };
        }
        node == ALWAYS
    }
}
