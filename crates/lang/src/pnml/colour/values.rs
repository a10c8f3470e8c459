//! Terms that stand for one element of a sort, and conditions over them, with variables by number.

use super::super::element::Element;
use super::super::wrong::Wrong;
use super::sorts::{Sort, SortId, Sorts, range, whole};
use std::rc::Rc;

/// A term for one element. Elements are numbers; those of a product count through the last part first.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Constant(u64),
    Variable(usize),
    /// The element so many places further on, of so many; in a cycle, or with nothing beyond the ends.
    Shift {
        of: Box<Value>,
        by: i64,
        size: u64,
        cyclic: bool,
    },
    Part {
        of: Box<Value>,
        part_of: Rc<[u64]>,
    },
    /// The sum of each number times its weight.
    Tuple(Vec<(u64, Value)>),
    /// The truth of a condition.
    Truth(Box<Guard>),
}

#[derive(Debug, Clone)]
pub(super) enum Guard {
    Constant(bool),
    Not(Box<Guard>),
    All(Vec<Guard>),
    Any(Vec<Guard>),
    Equal(Value, Value),
    Less(Value, Value),
    AtMost(Value, Value),
    /// A term that is an element of bool.
    Is(Value),
}

impl Value {
    /// The element under a binding; `None` beyond the end of an order.
    pub fn of(&self, binding: &[u64]) -> Option<u64> {
        match self {
            Value::Constant(value) => Some(*value),
            Value::Variable(variable) => Some(binding[*variable]),
            Value::Shift { of, by, size, cyclic } => {
                let place = of.of(binding)? as i128 + *by as i128;
                match cyclic {
                    true => Some(place.rem_euclid(*size as i128) as u64),
                    false => (0..*size as i128).contains(&place).then_some(place as u64),
                }
            }
            Value::Part { of, part_of } => part_of.get(of.of(binding)? as usize).copied(),
            Value::Tuple(parts) => {
                parts.iter().try_fold(0, |sum, (weight, part)| Some(sum + weight * part.of(binding)?))
            }
            Value::Truth(guard) => Some(guard.holds(binding)? as u64),
        }
    }

    /// Binds the variables in the term so that it stands for this element, as far as the element tells them; those that get
    /// a value are noted. `false` where it cannot stand for it. What a part or a truth is of, no element tells: that is only
    /// looked at where it is known.
    pub fn bind(&self, element: u64, binding: &mut [u64], bound: &mut [bool], noted: &mut Vec<usize>) -> bool {
        match self {
            Value::Constant(value) => *value == element,
            Value::Variable(variable) if bound[*variable] => binding[*variable] == element,
            Value::Variable(variable) => {
                (binding[*variable], bound[*variable]) = (element, true);
                noted.push(*variable);
                true
            }
            Value::Shift { of, by, size, cyclic } => {
                let place = element as i128 - *by as i128;
                let place = if *cyclic { place.rem_euclid(*size as i128) } else { place };
                (0..*size as i128).contains(&place) && of.bind(place as u64, binding, bound, noted)
            }
            Value::Tuple(parts) => bind_parts(parts, element, binding, bound, noted),
            Value::Part { .. } | Value::Truth(_) => {
                let mut known = true;
                self.variables(&mut |variable| known &= bound[variable]);
                !known || self.of(binding) == Some(element)
            }
        }
    }

    /// Calls for each variable that an element tells.
    pub fn told(&self, found: &mut impl FnMut(usize)) {
        match self {
            Value::Variable(variable) => found(*variable),
            Value::Shift { of, .. } => of.told(found),
            Value::Tuple(parts) => parts.iter().for_each(|(_, part)| part.told(found)),
            Value::Constant(_) | Value::Part { .. } | Value::Truth(_) => {}
        }
    }

    /// Calls for each variable in the term.
    pub fn variables(&self, found: &mut impl FnMut(usize)) {
        match self {
            Value::Constant(_) => {}
            Value::Variable(variable) => found(*variable),
            Value::Shift { of, .. } | Value::Part { of, .. } => of.variables(found),
            Value::Tuple(parts) => parts.iter().for_each(|(_, part)| part.variables(found)),
            Value::Truth(guard) => guard.variables(found),
        }
    }
}

/// [`Value::bind`] for an element that is the sum of these parts times their weights, which get smaller: every part but the
/// first is below the weight before its own, divided by its own.
pub(super) fn bind_parts(
    parts: &[(u64, Value)],
    mut element: u64,
    binding: &mut [u64],
    bound: &mut [bool],
    noted: &mut Vec<usize>,
) -> bool {
    parts.iter().all(|(weight, part)| {
        let value = element / weight;
        element %= weight;
        part.bind(value, binding, bound, noted)
    }) && element == 0
}

impl Guard {
    /// The truth under a binding; `None` when a term in it stands for nothing.
    pub fn holds(&self, binding: &[u64]) -> Option<bool> {
        // Every part is looked at, so that what stands for nothing does not depend on the order.
        let each = |parts: &[Guard], start: bool, with: fn(bool, bool) -> bool| {
            parts.iter().try_fold(start, |truth, part| Some(with(truth, part.holds(binding)?)))
        };
        match self {
            Guard::Constant(truth) => Some(*truth),
            Guard::Not(inner) => Some(!inner.holds(binding)?),
            Guard::All(parts) => each(parts, true, |a, b| a && b),
            Guard::Any(parts) => each(parts, false, |a, b| a || b),
            Guard::Equal(a, b) => Some(a.of(binding)? == b.of(binding)?),
            Guard::Less(a, b) => Some(a.of(binding)? < b.of(binding)?),
            Guard::AtMost(a, b) => Some(a.of(binding)? <= b.of(binding)?),
            Guard::Is(value) => Some(value.of(binding)? != 0),
        }
    }

    pub fn variables(&self, found: &mut impl FnMut(usize)) {
        match self {
            Guard::Constant(_) => {}
            Guard::Not(inner) => inner.variables(found),
            Guard::All(parts) | Guard::Any(parts) => parts.iter().for_each(|part| part.variables(found)),
            Guard::Equal(a, b) | Guard::Less(a, b) | Guard::AtMost(a, b) => {
                a.variables(found);
                b.variables(found);
            }
            Guard::Is(value) => value.variables(found),
        }
    }
}

impl Sorts {
    /// A term for one element, with its sort. `wanted` is the sort that the surroundings ask for, if they do.
    pub fn value(&mut self, e: &Element, wanted: Option<SortId>) -> Result<(Value, SortId), Wrong> {
        match &*e.name {
            "variable" => {
                let id = e.need("refvariable")?;
                let unknown = || e.wrong(format!("the variable \"{id}\" is not declared"));
                let number = *self.variable_numbers.get(id).ok_or_else(unknown)?;
                Ok((Value::Variable(number), self.variables[number].sort))
            }
            "useroperator" => {
                let id = e.need("declaration")?;
                let unknown = || e.wrong(format!("the constant \"{id}\" is not declared"));
                let &(sort, index) = self.constants.get(id).ok_or_else(unknown)?;
                Ok((Value::Constant(index), sort))
            }
            "dotconstant" => Ok((Value::Constant(0), self.intern(Sort::Dot))),
            "finiteintrangeconstant" => self.range_constant(e, wanted),
            "successor" | "predecessor" => {
                let (of, sort) = self.value(e.only()?, wanted)?;
                let cyclic = match self.get(sort) {
                    Sort::Enumeration { cyclic, .. } => *cyclic,
                    Sort::Range { .. } | Sort::Parts { .. } => false,
                    _ => {
                        let sort = self.describe(sort);
                        return Err(e.wrong(format!("<{}> of an element of {sort}, which has no order", e.name)));
                    }
                };
                let by = if &*e.name == "successor" { 1 } else { -1 };
                Ok((Value::Shift { of: Box::new(of), by, size: self.size(sort), cyclic }, sort))
            }
            "partitionelementof" => {
                let id = e.need("refpartition")?;
                let unknown = || e.wrong(format!("the partition \"{id}\" is not declared"));
                let partition = self.partitions.get(id).ok_or_else(unknown)?.clone();
                let (of, sort) = self.value(e.only()?, Some(partition.of))?;
                self.same(e, sort, partition.of)?;
                Ok((Value::Part { of: Box::new(of), part_of: partition.part_of.into() }, partition.parts))
            }
            // A tuple of one is what is in it.
            "tuple"
                if e.children.len() == 1 && !wanted.is_some_and(|sort| matches!(self.get(sort), Sort::Product(_))) =>
            {
                self.value(&e.children[0], wanted)
            }
            "tuple" => {
                let wanted = match wanted.map(|sort| self.get(sort)) {
                    Some(Sort::Product(parts)) if parts.len() == e.children.len() => parts.clone(),
                    _ => Vec::new(),
                };
                let mut parts = Vec::with_capacity(e.children.len());
                for (i, child) in e.children.iter().enumerate() {
                    parts.push(self.value(child, wanted.get(i).copied())?);
                }
                let product = self.product(e, parts.iter().map(|part| part.1).collect())?;
                let mut weight = self.size(product);
                let parts = parts.into_iter().map(|(value, sort)| {
                    weight /= self.size(sort);
                    (weight, value)
                });
                Ok((Value::Tuple(parts.collect()), product))
            }
            "booleanconstant" | "and" | "or" | "not" | "imply" | "equality" | "inequality" | "lessthan"
            | "lessthanorequal" | "greaterthan" | "greaterthanorequal" | "lt" | "leq" | "gt" | "geq" | "ltp"
            | "gtp" => {
                let guard = self.guard(e)?;
                Ok((Value::Truth(Box::new(guard)), self.intern(Sort::Bool)))
            }
            "all" | "numberof" | "add" | "subtract" | "scalarproduct" | "empty" => {
                Err(e.wrong(format!("<{}> stands for several elements, where one is expected", e.name)))
            }
            other => Err(e.wrong(format!("a term <{other}> is not supported"))),
        }
    }

    /// A condition.
    pub fn guard(&mut self, e: &Element) -> Result<Guard, Wrong> {
        let many = |sorts: &mut Sorts| e.children.iter().map(|child| sorts.guard(child)).collect::<Result<Vec<_>, _>>();
        match &*e.name {
            "and" => Ok(Guard::All(many(self)?)),
            "or" => Ok(Guard::Any(many(self)?)),
            "not" => Ok(Guard::Not(Box::new(self.guard(e.only()?)?))),
            "imply" => {
                let (a, b) = e.pair()?;
                Ok(Guard::Any(vec![Guard::Not(Box::new(self.guard(a)?)), self.guard(b)?]))
            }
            "equality" | "inequality" => {
                let (a, b, _) = self.two(e)?;
                let equal = Guard::Equal(a, b);
                Ok(if &*e.name == "equality" { equal } else { Guard::Not(Box::new(equal)) })
            }
            "lessthan" | "lt" | "ltp" => self.ordered(e).map(|(a, b)| Guard::Less(a, b)),
            "lessthanorequal" | "leq" => self.ordered(e).map(|(a, b)| Guard::AtMost(a, b)),
            "greaterthan" | "gt" | "gtp" => self.ordered(e).map(|(a, b)| Guard::Less(b, a)),
            "greaterthanorequal" | "geq" => self.ordered(e).map(|(a, b)| Guard::AtMost(b, a)),
            "booleanconstant" => match e.need("value")? {
                "true" => Ok(Guard::Constant(true)),
                "false" => Ok(Guard::Constant(false)),
                other => Err(e.wrong(format!("\"{other}\" is neither true nor false"))),
            },
            _ => {
                let (value, sort) = self.value(e, None)?;
                match self.get(sort) {
                    Sort::Bool => Ok(Guard::Is(value)),
                    _ => Err(e.wrong(format!("an element of {} where a condition is expected", self.describe(sort)))),
                }
            }
        }
    }

    fn ordered(&mut self, e: &Element) -> Result<(Value, Value), Wrong> {
        let (a, b, sort) = self.two(e)?;
        match self.get(sort) {
            Sort::Product(_) => Err(e.wrong(format!("elements of {} have no order", self.describe(sort)))),
            _ => Ok((a, b)),
        }
    }

    /// Both operands of a comparison, of the same sort. What sort a number is of may be told by the other operand.
    fn two(&mut self, e: &Element) -> Result<(Value, Value, SortId), Wrong> {
        let (a, b) = e.pair()?;
        if &*a.name == "finiteintrangeconstant" {
            let (second, sort) = self.value(b, None)?;
            let (first, other) = self.value(a, Some(sort))?;
            self.same(a, other, sort)?;
            return Ok((first, second, sort));
        }
        let (first, sort) = self.value(a, None)?;
        let (second, other) = self.value(b, Some(sort))?;
        self.same(b, other, sort)?;
        Ok((first, second, sort))
    }

    fn range_constant(&mut self, e: &Element, wanted: Option<SortId>) -> Result<(Value, SortId), Wrong> {
        let value = whole(e, "value")?;
        let own = e.children.iter().find(|child| matches!(&*child.name, "finiteintrange" | "usersort"));
        let sort = match own {
            Some(own) if &*own.name == "finiteintrange" => {
                let range = range(own)?;
                self.intern(range)
            }
            Some(own) => self.sort(own)?,
            None => wanted.ok_or_else(|| e.wrong("a number that does not say of which range it is"))?,
        };
        match self.get(sort) {
            Sort::Range { first, last } if (*first..=*last).contains(&value) => {
                Ok((Value::Constant((value - first) as u64), sort))
            }
            _ => Err(e.wrong(format!("{value} is not an element of {}", self.describe(sort)))),
        }
    }

    pub fn same(&self, e: &Element, found: SortId, wanted: SortId) -> Result<(), Wrong> {
        match found == wanted {
            true => Ok(()),
            false => {
                let (found, wanted) = (self.describe(found), self.describe(wanted));
                Err(e.wrong(format!("this is of the sort {found}, where {wanted} is expected")))
            }
        }
    }
}
