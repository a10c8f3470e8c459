//! The sorts of a coloured net: finite sets whose elements are numbered from zero.

use super::super::counted::At;
use super::super::element::Element;
use super::super::wrong::Wrong;
use std::collections::HashMap;

pub(in super::super) type SortId = usize;

/// Elements that a sort may have: a sum of several of them still fits a number.
const MOST: u64 = 1 << 48;
/// Parts that an element of a sort may have, all products in it opened.
const WIDEST: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sort {
    Dot,
    Bool,
    /// Sets of named constants are different wherever they are declared; this is the number of the declaration.
    Enumeration {
        declared: usize,
        names: Vec<String>,
        cyclic: bool,
    },
    Range {
        first: i64,
        last: i64,
    },
    Product(Vec<SortId>),
    /// The parts of a partition of another sort.
    Parts {
        declared: usize,
        names: Vec<String>,
    },
}

/// All sorts by number, and what the names of the declarations stand for.
#[derive(Debug, Default)]
pub(super) struct Sorts {
    sorts: Vec<Sort>,
    /// How many elements each sort has, and how many parts that are no products.
    measures: Vec<(u64, usize)>,
    named: HashMap<String, SortId>,
    pub constants: HashMap<String, (SortId, u64)>,
    pub partitions: HashMap<String, Partition>,
    pub variables: Vec<Variable>,
    pub variable_numbers: HashMap<String, usize>,
}

#[derive(Debug)]
pub(super) struct Variable {
    pub name: String,
    pub sort: SortId,
}

#[derive(Debug, Clone)]
pub(super) struct Partition {
    pub of: SortId,
    pub parts: SortId,
    /// The part that each element is in.
    pub part_of: Vec<u64>,
}

impl Sorts {
    /// Resolves the declarations, which can come in any order.
    pub fn of(declarations: &[Element]) -> Result<Sorts, Wrong> {
        let mut sorts = Sorts::default();
        let mut waiting: HashMap<&str, &Element> = HashMap::new();
        for declaration in declarations.iter().filter(|d| &*d.name == "namedsort") {
            let id = declaration.need("id")?;
            if waiting.insert(id, declaration).is_some() {
                return Err(declaration.wrong(format!("a second sort with the id \"{id}\"")));
            }
        }
        for declaration in declarations.iter().filter(|d| &*d.name == "namedsort") {
            sorts.named(declaration.need("id")?, declaration.at, &waiting, 0)?;
        }
        for declaration in declarations {
            match &*declaration.name {
                "namedsort" => {}
                "partition" => sorts.partition(declaration)?,
                "variabledecl" => sorts.variable(declaration)?,
                other => return Err(declaration.wrong(format!("a declaration <{other}> is not supported"))),
            }
        }
        Ok(sorts)
    }

    pub fn get(&self, sort: SortId) -> &Sort {
        &self.sorts[sort]
    }

    /// The number of a sort that is the same wherever it is written.
    pub fn intern(&mut self, sort: Sort) -> SortId {
        if let Some(found) = self.sorts.iter().position(|s| *s == sort) {
            return found;
        }
        self.add(sort)
    }

    fn add(&mut self, sort: Sort) -> SortId {
        let measure = match &sort {
            Sort::Dot => (1, 1),
            Sort::Bool => (2, 1),
            Sort::Enumeration { names, .. } | Sort::Parts { names, .. } => (names.len() as u64, 1),
            Sort::Range { first, last } => ((last - first + 1) as u64, 1),
            Sort::Product(parts) => {
                let size = parts.iter().map(|part| self.size(*part)).product();
                (size, parts.iter().map(|part| self.measures[*part].1).sum())
            }
        };
        self.measures.push(measure);
        self.sorts.push(sort);
        self.sorts.len() - 1
    }

    /// How many elements a sort has.
    pub fn size(&self, sort: SortId) -> u64 {
        self.measures[sort].0
    }

    /// The product of sorts, if it is not too large.
    pub fn product(&mut self, e: &Element, parts: Vec<SortId>) -> Result<SortId, Wrong> {
        if parts.is_empty() {
            return Err(e.wrong("a product of no sorts"));
        }
        let size = parts.iter().try_fold(1u64, |n, part| n.checked_mul(self.size(*part)));
        if size.is_none_or(|size| size > MOST) {
            return Err(e.wrong(format!("a product with more than {MOST} elements")));
        }
        if parts.iter().map(|part| self.measures[*part].1).sum::<usize>() > WIDEST {
            return Err(e.wrong(format!("a product with more than {WIDEST} parts")));
        }
        Ok(self.intern(Sort::Product(parts)))
    }

    /// The sort of an expression where all that is named is declared.
    pub fn sort(&mut self, element: &Element) -> Result<SortId, Wrong> {
        self.read(element, &HashMap::new(), 0)
    }

    fn named(&mut self, id: &str, at: At, waiting: &HashMap<&str, &Element>, depth: usize) -> Result<SortId, Wrong> {
        if let Some(&sort) = self.named.get(id) {
            return Ok(sort);
        }
        let Some(declaration) = waiting.get(id) else {
            return match self.partitions.get(id) {
                Some(partition) => Ok(partition.parts),
                // Known without a declaration too.
                None if id == "dot" => Ok(self.intern(Sort::Dot)),
                None => Err(Wrong::new(at, format!("the sort \"{id}\" is not declared"))),
            };
        };
        if depth > 100 {
            return Err(Wrong::new(at, "sorts refer to each other in a cycle, or more than 100 deep"));
        }
        let sort = self.read(declaration.only()?, waiting, depth + 1)?;
        self.named.insert(id.to_string(), sort);
        Ok(sort)
    }

    fn read(&mut self, e: &Element, waiting: &HashMap<&str, &Element>, depth: usize) -> Result<SortId, Wrong> {
        if depth > 100 {
            return Err(e.wrong("sorts refer to each other in a cycle, or more than 100 deep"));
        }
        let sort = match &*e.name {
            "usersort" => return self.named(e.need("declaration")?, e.at, waiting, depth),
            "dot" => Sort::Dot,
            "bool" => Sort::Bool,
            "finiteintrange" => range(e)?,
            "finiteenumeration" | "cyclicenumeration" => return self.enumeration(e),
            "productsort" => {
                let parts = e.children.iter().map(|part| self.read(part, waiting, depth + 1));
                let parts = parts.collect::<Result<Vec<SortId>, Wrong>>()?;
                return self.product(e, parts);
            }
            "multisetsort" => return self.read(e.only()?, waiting, depth + 1),
            other => return Err(e.wrong(format!("a sort <{other}> is not supported"))),
        };
        Ok(self.intern(sort))
    }

    fn enumeration(&mut self, e: &Element) -> Result<SortId, Wrong> {
        let sort = self.sorts.len();
        let mut names = Vec::with_capacity(e.children.len());
        for (number, constant) in e.children.iter().enumerate() {
            if &*constant.name != "feconstant" {
                return Err(constant.wrong(format!("<{}> where a <feconstant> is expected", constant.name)));
            }
            let id = constant.need("id")?;
            if self.constants.insert(id.to_string(), (sort, number as u64)).is_some() {
                return Err(constant.wrong(format!("a second constant with the id \"{id}\"")));
            }
            names.push((constant.attribute("name").unwrap_or(id).to_string(), id));
        }
        if names.is_empty() {
            return Err(e.wrong("an enumeration without constants"));
        }
        let cyclic = &*e.name == "cyclicenumeration";
        Ok(self.add(Sort::Enumeration { declared: sort, names: distinct(names), cyclic }))
    }

    fn partition(&mut self, e: &Element) -> Result<(), Wrong> {
        let id = e.need("id")?;
        let Some((base, elements)) = e.children.split_first() else {
            return Err(e.wrong("a partition without a sort"));
        };
        let of = self.sort(base)?;
        let parts = self.sorts.len();
        let mut part_of: Vec<Option<u64>> = vec![None; self.size(of).min(1 << 24) as usize];
        let mut names = Vec::new();
        for (number, part) in elements.iter().enumerate() {
            let part_id = part.need("id")?;
            if self.constants.insert(part_id.to_string(), (parts, number as u64)).is_some() {
                return Err(part.wrong(format!("a second constant with the id \"{part_id}\"")));
            }
            names.push((part.attribute("name").unwrap_or(part_id).to_string(), part_id));
            for element in &part.children {
                let index = match &*element.name {
                    "useroperator" | "feconstant" => {
                        let id = element.need("declaration").or_else(|_| element.need("id"))?;
                        self.constants.get(id).filter(|constant| constant.0 == of).map(|constant| constant.1)
                    }
                    "finiteintrangeconstant" => match self.get(of) {
                        Sort::Range { first, last } => {
                            let value = whole(element, "value")?;
                            (*first..=*last).contains(&value).then(|| (value - first) as u64)
                        }
                        _ => None,
                    },
                    _ => None,
                };
                match index.and_then(|index| part_of.get_mut(index as usize)) {
                    Some(part @ None) => *part = Some(number as u64),
                    Some(_) => return Err(element.wrong("this element is in a part already")),
                    None => return Err(element.wrong("this is not an element of the partitioned sort")),
                }
            }
        }
        let Some(part_of) = part_of.into_iter().collect::<Option<Vec<u64>>>() else {
            return Err(e.wrong("some elements of the sort are in no part of this partition"));
        };
        self.add(Sort::Parts { declared: parts, names: distinct(names) });
        if self.partitions.insert(id.to_string(), Partition { of, parts, part_of }).is_some() {
            return Err(e.wrong(format!("a second partition with the id \"{id}\"")));
        }
        Ok(())
    }

    fn variable(&mut self, e: &Element) -> Result<(), Wrong> {
        let id = e.need("id")?;
        let sort = self.sort(e.only()?)?;
        let name = e.attribute("name").filter(|name| !name.is_empty()).unwrap_or(id);
        // Names that are there already say nothing; the id does.
        let taken = self.variables.iter().any(|variable| variable.name == name);
        let name = if taken { id } else { name }.to_string();
        if self.variable_numbers.insert(id.to_string(), self.variables.len()).is_some() {
            return Err(e.wrong(format!("a second variable with the id \"{id}\"")));
        }
        self.variables.push(Variable { name, sort });
        Ok(())
    }

    /// What a sort is called in messages.
    pub fn describe(&self, sort: SortId) -> String {
        match self.named.iter().filter(|(_, s)| **s == sort).map(|(name, _)| name).min() {
            Some(name) => name.clone(),
            None => match self.get(sort) {
                Sort::Dot => "dot".into(),
                Sort::Bool => "bool".into(),
                Sort::Range { first, last } => format!("{first}..{last}"),
                Sort::Product(parts) => {
                    let parts: Vec<String> = parts.iter().map(|part| self.describe(*part)).collect();
                    format!("({})", parts.join(","))
                }
                Sort::Enumeration { .. } => "an enumeration".into(),
                Sort::Parts { .. } => "a partition".into(),
            },
        }
    }

    /// Writes the name of an element; nothing for dots.
    pub fn show(&self, sort: SortId, value: u64, out: &mut String) {
        match self.get(sort) {
            Sort::Dot => {}
            Sort::Bool => out.push_str(if value == 0 { "false" } else { "true" }),
            Sort::Range { first, .. } => out.push_str(&(first + value as i64).to_string()),
            Sort::Enumeration { names, .. } | Sort::Parts { names, .. } => out.push_str(&names[value as usize]),
            Sort::Product(parts) => {
                let mut stride = self.size(sort);
                let mut rest = value;
                let start = out.len();
                for &part in parts {
                    stride /= self.size(part);
                    let (index, mut name) = (rest / stride, String::new());
                    rest %= stride;
                    self.show(part, index, &mut name);
                    if !name.is_empty() {
                        if out.len() > start {
                            out.push(',');
                        }
                        out.push_str(&name);
                    }
                }
            }
        }
    }
}

/// The names, or the ids where two names are the same.
fn distinct(names: Vec<(String, &str)>) -> Vec<String> {
    let mut users: HashMap<&str, u32> = HashMap::new();
    for (name, id) in &names {
        *users.entry(name).or_default() += 1;
        if name != id {
            *users.entry(id).or_default() += 1;
        }
    }
    let alone: Vec<bool> = names.iter().map(|(name, _)| users[&**name] == 1 && !name.is_empty()).collect();
    names.into_iter().zip(alone).map(|((name, id), alone)| if alone { name } else { id.to_string() }).collect()
}

/// An attribute that is a whole number.
pub(super) fn whole(e: &Element, name: &str) -> Result<i64, Wrong> {
    let text = e.need(name)?.trim();
    text.parse().map_err(|_| e.wrong(format!("\"{text}\" is not a whole number of at most 63 bits")))
}

/// A sort of consecutive numbers.
pub(super) fn range(e: &Element) -> Result<Sort, Wrong> {
    let (first, last) = (whole(e, "start")?, whole(e, "end")?);
    match last.checked_sub(first) {
        Some(n) if n < 0 => Err(e.wrong("a range that ends before it starts")),
        Some(n) if (n as u64) < MOST => Ok(Sort::Range { first, last }),
        _ => Err(e.wrong(format!("a range with more than {MOST} elements"))),
    }
}
