//! From an expression with temporal operators to a formula: what joins conditions is taken apart, down to the atoms.
//!
//! Atoms are what has no connective outermost, so that equal ones can be seen to be equal. Where path quantifiers must or must
//! not stand is checked here, because here it is known where they were written.

use crate::diagnostic::{Place, Problem};
use crate::expression::parser::Parser;
use crate::expression::syntax::{ExprId, Expressions, Node, Operator};
use crate::expression::temporal::{TemporalOperator, Vocabulary};
use crate::lexer::Token;
use scrimp_system::{BinaryOp, Expr, UnaryOp};
use scrimp_temporal::Formula;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logic {
    /// About single runs: without path quantifiers, except one for all paths before everything.
    Linear,
    /// Every temporal operator right behind a path quantifier.
    Branching,
}

/// What conditions become.
pub(crate) trait Atoms<A> {
    /// A condition without connectives, as an atom or a constant.
    fn atom(&mut self, p: &Parser<'_>, id: ExprId) -> Result<Formula<A>, Problem>;

    /// May evaluating this be a fault? Then what stands before a connective in it may be there to prevent that, and it must
    /// stay one condition.
    fn is_risky(&mut self, _: &Parser<'_>, _: ExprId) -> Result<bool, Problem> {
        Ok(false)
    }
}

/// The formula that a condition is.
pub(crate) fn constant_or_atom(condition: Expr) -> Formula<Expr> {
    match condition {
        Expr::Const(0) => Formula::False,
        Expr::Const(_) => Formula::True,
        condition => Formula::Atom(condition),
    }
}

/// Reads the formula behind a colon, up to the end of the text.
pub(crate) fn formula<'t, A>(
    p: &mut Parser<'t>,
    logic: Logic,
    vocabulary: &'t dyn Vocabulary,
    atoms: &mut dyn Atoms<A>,
) -> Result<Formula<A>, Problem> {
    p.expect(Token::Colon, "`:` and a formula")?;
    p.temporal = Some(vocabulary);
    let id = p.expression();
    p.temporal = None;
    let id = id?;
    if !p.at(Token::End) {
        return Err(p.unexpected("an operator or the end of the property"));
    }
    let (base, begins) = (p.expressions.first(id), p.expressions.beginnings(id));
    let mut count = 0;
    let counted = |(node, _): &(Node, Place)| {
        count += matches!(node, Node::Temporal(_)) as u32;
        count
    };
    let temporal = p.expressions.nodes(id).iter().map(counted).collect();
    let mut split = Split { p, logic, base, begins, temporal, atoms };
    match (logic, p.expressions.root(id)) {
        // All runs are what a formula of linear time is about anyway.
        (Logic::Linear, Node::Temporal(number)) if p.expressions.temporal(number).0 == TemporalOperator::AllPaths => {
            let last = p.expressions.last(id) - 1;
            split.formula(last, Around::Nothing, 1)
        }
        _ => split.formula(p.expressions.last(id), Around::Nothing, 1),
    }
}

/// What stands around a part of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    /// A path quantifier, right before it.
    Quantifier,
    /// A condition that may be taken apart.
    Condition,
}

/// Two operands.
type Pair<A> = (Box<Formula<A>>, Box<Formula<A>>);

struct Split<'p, 't, 'a, A> {
    p: &'p Parser<'t>,
    logic: Logic,
    /// The first node of all, and where the part that ends with each node begins.
    base: u32,
    begins: Vec<u32>,
    /// How many temporal operators there are up to each node.
    temporal: Vec<u32>,
    atoms: &'a mut dyn Atoms<A>,
}

impl<A> Split<'_, '_, '_, A> {
    /// The formula whose outermost operator is the node `last`.
    fn formula(&mut self, last: u32, around: Around, depth: usize) -> Result<Formula<A>, Problem> {
        let id = self.part(last);
        let expressions = &self.p.expressions;
        let node = expressions.root(id);
        if depth > Formula::<A>::DEPTH {
            let message = format!("this formula is nested more than {} deep", Formula::<A>::DEPTH);
            return Err(Problem::new(expressions.place(id), message));
        }
        if let Node::Temporal(number) = node {
            let (operator, place) = expressions.temporal(number);
            self.check(operator, place, around == Around::Quantifier)?;
            return self.temporal(operator, last, depth + 1);
        }
        if around == Around::Quantifier {
            return Err(Problem::new(expressions.place(id), "a path quantifier needs a temporal operator behind it")
                .help("such as `AG p`, `E F p` or `A[p U q]`"));
        }
        let within = match around {
            Around::Condition => Around::Condition,
            _ if self.is_temporal(last) => Around::Nothing,
            _ if self.atoms.is_risky(self.p, id)? => return self.atoms.atom(self.p, id),
            _ => Around::Condition,
        };
        match node {
            Node::Unary(UnaryOp::Not) => Ok(Formula::Not(Box::new(self.formula(last - 1, within, depth + 1)?))),
            Node::Binary(Operator::Imply) => {
                let (left, right) = self.both(last, within, depth + 1)?;
                Ok(Formula::Implies(left, right))
            }
            Node::Binary(Operator::Plain(op @ (BinaryOp::And | BinaryOp::Or))) => {
                let parts = self.chain(op, last).into_iter().map(|part| self.formula(part, within, depth + 1));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                Ok(if op == BinaryOp::And { Formula::And(parts) } else { Formula::Or(parts) })
            }
            _ => self.atoms.atom(self.p, id),
        }
    }

    fn temporal(&mut self, operator: TemporalOperator, last: u32, depth: usize) -> Result<Formula<A>, Problem> {
        if operator.operands() == 1 {
            let around = if operator.is_quantifier() { Around::Quantifier } else { Around::Nothing };
            let inner = Box::new(self.formula(last - 1, around, depth)?);
            return Ok(match operator {
                TemporalOperator::Next => Formula::Next(inner),
                TemporalOperator::Finally => Formula::Finally(inner),
                TemporalOperator::Globally => Formula::Globally(inner),
                TemporalOperator::AllPaths => Formula::AllPaths(inner),
                _ => Formula::ExistsPath(inner),
            });
        }
        let (left, right) = self.both(last, Around::Nothing, depth)?;
        Ok(match operator {
            TemporalOperator::Until => Formula::Until(left, right),
            TemporalOperator::WeakUntil => Formula::WeakUntil(left, right),
            TemporalOperator::Release => Formula::Release(left, right),
            TemporalOperator::StrongRelease => Formula::StrongRelease(left, right),
            _ => Formula::Equivalent(left, right),
        })
    }

    /// Both operands of the operator `last`.
    fn both(&mut self, last: u32, around: Around, depth: usize) -> Result<Pair<A>, Problem> {
        let left = self.formula(self.left_of(last), around, depth)?;
        let right = self.formula(last - 1, around, depth)?;
        Ok((Box::new(left), Box::new(right)))
    }

    /// The operands of a chain of equal operators, which may be long, from left to right.
    fn chain(&self, op: BinaryOp, last: u32) -> Vec<u32> {
        let (mut parts, mut at) = (Vec::new(), last);
        while matches!(self.p.expressions.root(self.part(at)), Node::Binary(Operator::Plain(own)) if own == op) {
            parts.push(at - 1);
            at = self.left_of(at);
        }
        parts.push(at);
        parts.reverse();
        parts
    }

    /// The left operand of the operator `last`: what ends before the right one begins.
    fn left_of(&self, last: u32) -> u32 {
        let before = self.begins[(last - 1 - self.base) as usize] - 1;
        match self.p.expressions.root(Expressions::part(before, before)) {
            Node::Left(..) => before - 1,
            _ => before,
        }
    }

    /// Is there a temporal operator in what ends with the node `last`?
    fn is_temporal(&self, last: u32) -> bool {
        let (first, last) =
            ((self.begins[(last - self.base) as usize] - self.base) as usize, (last - self.base) as usize);
        let before = first.checked_sub(1).map_or(0, |before| self.temporal[before]);
        self.temporal[last] > before
    }

    fn part(&self, last: u32) -> ExprId {
        Expressions::part(self.begins[(last - self.base) as usize], last)
    }

    /// Where path quantifiers must stand, and where they must not.
    fn check(&self, operator: TemporalOperator, place: Place, quantified: bool) -> Result<(), Problem> {
        let plain = operator == TemporalOperator::Equivalent;
        match self.logic {
            Logic::Linear if operator.is_quantifier() => {
                Err(Problem::new(place, "an LTL formula has no path quantifiers inside")
                    .help("for formulas about some paths and all paths, use `ctl:`"))
            }
            Logic::Branching if quantified && (plain || operator.is_quantifier()) => {
                Err(Problem::new(place, "a path quantifier needs a temporal operator right behind it")
                    .help("such as `AG p`, `E F p` or `A[p U q]`"))
            }
            Logic::Branching if !quantified && !plain && !operator.is_quantifier() => {
                let help = match operator.operands() {
                    1 => "write `A` (on all paths) or `E` (on some path) before it; for single runs, use `ltl:`",
                    _ => "write `A[p U q]` (on all paths) or `E[p U q]` (on some path); for single runs, use `ltl:`",
                };
                Err(Problem::new(place, "a temporal operator of CTL needs a path quantifier").help(help))
            }
            _ => Ok(()),
        }
    }
}
