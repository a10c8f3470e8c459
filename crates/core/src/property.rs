//! What is asked of a model.

use scrimp_system::{BinaryOp, Expr, Fault};
use scrimp_temporal::{Automaton, Formula, propositions};
use std::fmt;

/// Says of a state whether something holds there.
pub type Predicate<'a> = Box<dyn Fn(&[u8]) -> Result<bool, Fault> + Sync + Send + 'a>;

/// A condition on states, for engines that visit them.
pub struct Condition<'a> {
    pub holds: Predicate<'a>,
    /// The same as an expression, for what must look into it.
    pub expression: Option<Expr>,
}

impl<'a> Condition<'a> {
    pub fn new(holds: impl Fn(&[u8]) -> bool + Sync + Send + 'a) -> Condition<'a> {
        Condition { holds: Box::new(move |state| Ok(holds(state))), expression: None }
    }
}

impl fmt::Debug for Condition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.expression {
            Some(expression) => write!(f, "{expression:?}"),
            None => f.write_str("a function of the state"),
        }
    }
}

/// What may be written as an expression.
pub trait AsExpression {
    fn as_expression(&self) -> Option<&Expr>;
}

impl AsExpression for Expr {
    fn as_expression(&self) -> Option<&Expr> {
        Some(self)
    }
}

impl AsExpression for Condition<'_> {
    fn as_expression(&self) -> Option<&Expr> {
        self.expression.as_ref()
    }
}

/// A property with its name. Its conditions are expressions, or whatever an engine evaluates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property<C> {
    pub name: String,
    pub kind: PropertyKind<C>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyKind<C> {
    /// Every state has a successor, or is a valid end.
    Deadlock,
    /// No event ends in a run-time error. Assertions that events make are no matter of this.
    Faults,
    /// No event violates the assertion that it makes.
    Assertions,
    /// The condition holds in every state. Where evaluating it is a run-time error, it does not hold.
    Invariant(C),
    /// The condition holds in some state.
    Reach(C),
    /// The formula holds on every run. A run that cannot go on repeats its last state.
    Ltl(Formula<C>),
    /// The formula holds in every initial state. A run that cannot go on ends.
    Ctl(Formula<C>),
    /// No run is infinitely often where this holds: there is no acceptance cycle.
    Accepting(C),
    /// No run stays for ever where this holds: there is no non-progress cycle.
    Progress(C),
    /// The automaton accepts no run.
    Never(Box<Never<C>>),
}

/// The runs that a model must not have, as an automaton that accepts them: a never claim, or the negation of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Never<C> {
    pub automaton: Automaton,
    /// What its atoms stand for.
    pub atoms: Vec<C>,
    /// Is it stutter-invariant?
    pub stutters: bool,
    /// Does a run that comes to an end stay there for ever? Otherwise it is none.
    pub repeats: bool,
}

impl<C> PropertyKind<C> {
    /// What kind it is, in a word.
    pub fn name(&self) -> &'static str {
        match self {
            PropertyKind::Deadlock => "deadlock",
            PropertyKind::Faults => "faults",
            PropertyKind::Assertions => "assertions",
            PropertyKind::Invariant(_) => "invariant",
            PropertyKind::Reach(_) => "reach",
            PropertyKind::Ltl(_) => "ltl",
            PropertyKind::Ctl(_) => "ctl",
            PropertyKind::Accepting(_) => "accepting",
            PropertyKind::Progress(_) => "progress",
            PropertyKind::Never(_) => "never",
        }
    }

    /// Is it about runs, so that no single state decides it?
    pub fn is_about_runs(&self) -> bool {
        use PropertyKind::{Accepting, Ctl, Ltl, Never, Progress};
        matches!(self, Ltl(_) | Ctl(_) | Accepting(_) | Progress(_) | Never(_))
    }
}

impl<C> Property<C> {
    pub fn new(name: impl Into<String>, kind: PropertyKind<C>) -> Property<C> {
        Property { name: name.into(), kind }
    }

    pub fn deadlock() -> Property<C> {
        Property::new("deadlock", PropertyKind::Deadlock)
    }

    pub fn faults() -> Property<C> {
        Property::new("faults", PropertyKind::Faults)
    }

    /// The assertions that events make.
    pub fn assertions() -> Property<C> {
        Property::new("assertions", PropertyKind::Assertions)
    }

    /// Does finding a state for this property mean that it is violated? (For `reach` it means that it holds.)
    pub fn finding_violates(&self) -> bool {
        !matches!(self.kind, PropertyKind::Reach(_))
    }

    /// The same about other conditions.
    pub fn map<'c, D>(&'c self, f: &mut dyn FnMut(&'c C) -> D) -> Property<D> {
        let kind = match &self.kind {
            PropertyKind::Deadlock => PropertyKind::Deadlock,
            PropertyKind::Faults => PropertyKind::Faults,
            PropertyKind::Assertions => PropertyKind::Assertions,
            PropertyKind::Invariant(condition) => PropertyKind::Invariant(f(condition)),
            PropertyKind::Reach(condition) => PropertyKind::Reach(f(condition)),
            PropertyKind::Ltl(formula) => PropertyKind::Ltl(formula.map(f)),
            PropertyKind::Ctl(formula) => PropertyKind::Ctl(formula.map(f)),
            PropertyKind::Accepting(condition) => PropertyKind::Accepting(f(condition)),
            PropertyKind::Progress(condition) => PropertyKind::Progress(f(condition)),
            PropertyKind::Never(never) => PropertyKind::Never(Box::new(Never {
                automaton: never.automaton.clone(),
                atoms: never.atoms.iter().map(f).collect(),
                stutters: never.stutters,
                repeats: never.repeats,
            })),
        };
        Property { name: self.name.clone(), kind }
    }

    /// The condition of an invariant, or of what is to be reached.
    pub fn condition(&self) -> Option<&C> {
        match &self.kind {
            PropertyKind::Invariant(condition) | PropertyKind::Reach(condition) => Some(condition),
            _ => None,
        }
    }
}

impl PropertyKind<Expr> {
    /// What a property of runs looks at in each state: conditions that it may be told by alone.
    pub fn moments(&self) -> Vec<Expr> {
        match self {
            PropertyKind::Ltl(formula) => {
                let (_, parts) = propositions(&Formula::Not(Box::new(formula.clone())));
                parts.iter().map(of_one_moment).collect()
            }
            PropertyKind::Ctl(formula) => moments_of(formula),
            PropertyKind::Accepting(e) | PropertyKind::Progress(e) => vec![e.clone()],
            PropertyKind::Never(never) => never.atoms.clone(),
            _ => Vec::new(),
        }
    }
}

/// The largest parts of a formula that are about one moment.
pub fn moments_of(formula: &Formula<Expr>) -> Vec<Expr> {
    match formula.is_state() {
        true => vec![of_one_moment(formula)],
        false => formula.operands().into_iter().flat_map(moments_of).collect(),
    }
}

/// A formula about one moment as an expression.
pub fn of_one_moment(formula: &Formula<Expr>) -> Expr {
    let both = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
    let joined = |op, all: &[Formula<Expr>], empty: Expr| {
        all.iter().map(of_one_moment).reduce(|a, b| both(op, a, b)).unwrap_or(empty)
    };
    match formula {
        Formula::True => Expr::TRUE,
        Formula::False => Expr::Const(0),
        Formula::Atom(e) => e.clone(),
        Formula::Not(a) => Expr::not(of_one_moment(a)),
        Formula::And(all) => joined(BinaryOp::And, all, Expr::TRUE),
        Formula::Or(all) => joined(BinaryOp::Or, all, Expr::Const(0)),
        Formula::Implies(a, b) => both(BinaryOp::Or, Expr::not(of_one_moment(a)), of_one_moment(b)),
        Formula::Equivalent(a, b) => both(BinaryOp::Equal, Expr::not(of_one_moment(a)), Expr::not(of_one_moment(b))),
        // Propositions are about one moment.
        _ => Expr::TRUE,
    }
}

impl<'a> Property<Condition<'a>> {
    pub fn invariant(name: impl Into<String>, holds: impl Fn(&[u8]) -> bool + Sync + Send + 'a) -> Self {
        Property::new(name, PropertyKind::Invariant(Condition::new(holds)))
    }

    pub fn reach(name: impl Into<String>, holds: impl Fn(&[u8]) -> bool + Sync + Send + 'a) -> Self {
        Property::new(name, PropertyKind::Reach(Condition::new(holds)))
    }

    /// The same property for another search.
    pub fn lent(&self) -> Property<Condition<'_>> {
        self.map(&mut |condition| Condition {
            holds: Box::new(|state| (condition.holds)(state)),
            expression: condition.expression.clone(),
        })
    }

    /// The same about expressions; `None` where a condition is none.
    pub fn over_expressions(&self) -> Option<Property<Expr>> {
        let mut all = true;
        let property = self.map(&mut |condition| {
            all &= condition.expression.is_some();
            condition.expression.clone().unwrap_or(Expr::FALSE)
        });
        all.then_some(property)
    }

    /// Its condition as an expression, where it is one.
    pub fn expression(&self) -> Option<&Expr> {
        self.condition().and_then(|condition| condition.expression.as_ref())
    }
}
