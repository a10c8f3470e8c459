//! The operators of formulas: from their operands to a value that is as simple as can be.

use scrimp_net::{Condition, Formula, PlaceId, Sum, all_of, any_of, negation};

/// What an element of a formula stands for.
pub(super) enum Value {
    /// With how deep it is nested, at most.
    Formula(Formula, usize),
    Sum(Sum),
    Bound(Vec<PlaceId>),
    Before(Formula, usize),
    Reach(Formula, usize),
    /// Something that older formulas say about their operator: its name and the text.
    Setting(String, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Formula,
    AllPaths,
    ExistsPath,
    Finally,
    Globally,
    Next,
    Until,
    Before,
    Reach,
    Invariant,
    Possibility,
    Impossibility,
    Negation,
    Conjunction,
    Disjunction,
    ExclusiveDisjunction,
    Implication,
    Equivalence,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Sum,
    Difference,
    Product,
}

type Result<T> = std::result::Result<T, String>;

impl Operator {
    pub fn of(name: &str) -> Option<Operator> {
        Some(match name {
            "all-paths" => Operator::AllPaths,
            "exists-path" => Operator::ExistsPath,
            "finally" => Operator::Finally,
            "globally" => Operator::Globally,
            "next" => Operator::Next,
            "until" => Operator::Until,
            "before" => Operator::Before,
            "reach" => Operator::Reach,
            "invariant" => Operator::Invariant,
            "possibility" => Operator::Possibility,
            "impossibility" => Operator::Impossibility,
            "negation" => Operator::Negation,
            "conjunction" => Operator::Conjunction,
            "disjunction" => Operator::Disjunction,
            "exclusive-disjunction" => Operator::ExclusiveDisjunction,
            "implication" => Operator::Implication,
            "equivalence" => Operator::Equivalence,
            "integer-eq" => Operator::Equal,
            "integer-ne" => Operator::Unequal,
            "integer-lt" => Operator::Less,
            "integer-le" => Operator::AtMost,
            "integer-gt" => Operator::Greater,
            "integer-ge" => Operator::AtLeast,
            "integer-sum" => Operator::Sum,
            "integer-difference" => Operator::Difference,
            "integer-product" => Operator::Product,
            _ => return None,
        })
    }

    /// Whether operands appear more than once in the result.
    pub fn doubles(self) -> bool {
        matches!(self, Operator::ExclusiveDisjunction | Operator::Equivalence)
    }

    /// The operator applied; `around` is the one that this is an operand of.
    pub fn apply(self, operands: Vec<Value>, around: Option<Operator>) -> Result<Value> {
        use Operator as O;
        match self {
            O::Equal | O::Unequal | O::Less | O::AtMost | O::Greater | O::AtLeast => self.compare(operands),
            O::Sum | O::Difference | O::Product => self.calculate(operands),
            O::Until => until(operands),
            O::Next => next(operands, around),
            O::Before => one(operands).map(|(formula, depth)| Value::Before(formula, depth)),
            O::Reach => one(operands).map(|(formula, depth)| Value::Reach(formula, depth)),
            O::Conjunction | O::Disjunction => {
                let (formulas, depth) = formulas(operands)?;
                let formula = if self == O::Conjunction { all_of(formulas) } else { any_of(formulas) };
                Ok(Value::Formula(formula, depth + 1))
            }
            O::Implication | O::Equivalence | O::ExclusiveDisjunction => {
                let (formulas, depth) = formulas(operands)?;
                let [a, b] = <[Formula; 2]>::try_from(formulas).map_err(|_| "this must have two operands")?;
                let formula = match self {
                    O::Implication => Formula::Implies(Box::new(a), Box::new(b)),
                    O::Equivalence => {
                        let neither = all_of([negation(a.clone()), negation(b.clone())]);
                        any_of([all_of([a, b]), neither])
                    }
                    _ => {
                        let first = all_of([a.clone(), negation(b.clone())]);
                        any_of([first, all_of([negation(a), b])])
                    }
                };
                // A negation may be added below, beside the operators themselves.
                Ok(Value::Formula(formula, depth + 3))
            }
            _ => {
                let (formula, depth) = one(operands)?;
                let (formula, more) = match self {
                    O::AllPaths => (Formula::AllPaths(Box::new(formula)), 1),
                    O::ExistsPath => (Formula::ExistsPath(Box::new(formula)), 1),
                    O::Finally => (Formula::Finally(Box::new(formula)), 1),
                    O::Globally => (Formula::Globally(Box::new(formula)), 1),
                    O::Invariant => (Formula::AllPaths(Box::new(Formula::Globally(Box::new(formula)))), 2),
                    O::Possibility => (Formula::ExistsPath(Box::new(Formula::Finally(Box::new(formula)))), 2),
                    O::Impossibility => {
                        (Formula::AllPaths(Box::new(Formula::Globally(Box::new(negation(formula))))), 3)
                    }
                    _ => (negation(formula), 1),
                };
                Ok(Value::Formula(formula, depth + more))
            }
        }
    }

    fn compare(self, operands: Vec<Value>) -> Result<Value> {
        let sums = sums(operands)?;
        let [a, b] = &sums[..] else { return Err("a comparison must have two operands".into()) };
        let condition = match self {
            Operator::Equal => Condition::equal(a, b),
            Operator::Unequal => Condition::equal(a, b).map(Condition::negated),
            Operator::Less => Condition::less(a, b),
            Operator::AtMost => Condition::at_most(a, b),
            Operator::Greater => Condition::less(b, a),
            _ => Condition::at_most(b, a),
        };
        Ok(Value::Formula(Formula::Atom(condition.ok_or(TOO_LARGE)?), 2))
    }

    fn calculate(self, operands: Vec<Value>) -> Result<Value> {
        let mut sums = sums(operands)?.into_iter();
        let first = sums.next().ok_or("a calculation without operands")?;
        let result = match self {
            Operator::Sum => sums.try_fold(first, |a, b| a.plus(1, &b)),
            Operator::Difference => sums.try_fold(first, |a, b| a.plus(-1, &b)),
            _ => {
                let mut product = first;
                for factor in sums {
                    let (number, sum) = match (product.terms.is_empty(), factor.terms.is_empty()) {
                        (true, _) => (product.constant, factor),
                        (_, true) => (factor.constant, product),
                        _ => return Err("a product of numbers of tokens; one of the factors must be constant".into()),
                    };
                    product = Sum::default().plus(number, &sum).ok_or(TOO_LARGE)?;
                }
                Some(product)
            }
        };
        Ok(Value::Sum(result.ok_or(TOO_LARGE)?))
    }
}

const TOO_LARGE: &str = "a number above 2^63 - 1";

fn until(operands: Vec<Value>) -> Result<Value> {
    let (mut before, mut reach) = (None, None);
    for operand in operands {
        match operand {
            Value::Before(formula, depth) if before.is_none() => before = Some((formula, depth)),
            Value::Reach(formula, depth) if reach.is_none() => reach = Some((formula, depth)),
            Value::Setting(name, text) if name == "strength" && text == "strong" => {}
            Value::Setting(..) => return Err("an until of this strength is not supported".into()),
            _ => return Err("an until must have one <before> and one <reach>".into()),
        }
    }
    let (Some((before, a)), Some((reach, b))) = (before, reach) else {
        return Err("an until must have one <before> and one <reach>".into());
    };
    Ok(Value::Formula(Formula::Until(Box::new(before), Box::new(reach)), a.max(b) + 1))
}

/// The next state. Older formulas say for how many steps, and what holds where there is no next state: along all paths it
/// is true there, along some path it is false, and nothing else is supported.
fn next(operands: Vec<Value>, around: Option<Operator>) -> Result<Value> {
    let mut formulas = Vec::new();
    for operand in operands {
        match operand {
            Value::Setting(name, text) if name == "steps" && text == "1" => {}
            Value::Setting(name, text) if name == "if-no-successor" => {
                let usual = matches!(
                    (around, &*text),
                    (Some(Operator::AllPaths), "true") | (Some(Operator::ExistsPath), "false")
                );
                if !usual {
                    return Err(format!("a <next> that is {text} at the end of a run is not supported"));
                }
            }
            Value::Setting(..) => return Err("a next of several steps is not supported".into()),
            other => formulas.push(other),
        }
    }
    let (formula, depth) = one(formulas)?;
    Ok(Value::Formula(Formula::Next(Box::new(formula)), depth + 1))
}

fn one(operands: Vec<Value>) -> Result<(Formula, usize)> {
    let (mut formulas, depth) = formulas(operands)?;
    match (formulas.pop(), formulas.is_empty()) {
        (Some(formula), true) => Ok((formula, depth)),
        _ => Err("this must have one operand".into()),
    }
}

fn formulas(operands: Vec<Value>) -> Result<(Vec<Formula>, usize)> {
    let mut deepest = 0;
    let formulas = operands.into_iter().map(|operand| match operand {
        Value::Formula(formula, depth) => {
            deepest = depth.max(deepest);
            Ok(formula)
        }
        Value::Sum(_) => Err("a number where a formula is expected".to_string()),
        _ => Err("this cannot be an operand here".to_string()),
    });
    let formulas = formulas.collect::<Result<Vec<Formula>>>()?;
    match formulas.is_empty() {
        true => Err("an operator without operands".into()),
        false => Ok((formulas, deepest)),
    }
}

fn sums(operands: Vec<Value>) -> Result<Vec<Sum>> {
    let sums = operands.into_iter().map(|operand| match operand {
        Value::Sum(sum) => Ok(sum),
        _ => Err("a formula where a number is expected".to_string()),
    });
    sums.collect()
}

/// How many parts a formula has.
pub(super) fn size(formula: &Formula) -> usize {
    match formula {
        Formula::Atom(condition) => condition_size(condition),
        other => 1 + other.operands().into_iter().map(size).sum::<usize>(),
    }
}

fn condition_size(condition: &Condition) -> usize {
    match condition {
        Condition::Not(inner) => 1 + condition_size(inner),
        Condition::All(parts) | Condition::Any(parts) => 1 + parts.iter().map(condition_size).sum::<usize>(),
        Condition::AtMostZero(sum) => 1 + sum.terms.len(),
        Condition::Fireable(transitions) => 1 + transitions.len(),
        Condition::True | Condition::False | Condition::Deadlock => 1,
    }
}
