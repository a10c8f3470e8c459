//! Terms that stand for several elements of a sort: sums of elements and of whole sorts, with counts.

use super::super::counted::At;
use super::super::element::Element;
use super::super::wrong::Wrong;
use super::sorts::{Sort, SortId, Sorts};
use super::values::Value;

/// Summands that one term may have; tuples of sums are multiplied out.
const MOST: usize = 1 << 20;

/// A term as a sum.
#[derive(Debug, Clone, Default)]
pub(super) struct Multiset(Vec<Summand>);

/// So many times the element that is the sum of these values times their weights; for `each`, once for every number below
/// the size, with the weight.
#[derive(Debug, Clone, Default)]
struct Summand {
    count: i64,
    values: Vec<(u64, Value)>,
    each: Vec<(u64, u64)>,
}

impl Multiset {
    /// The elements and how often each is there, sorted; `None` when a term in it stands for nothing. There must not be
    /// more of them than `most`.
    pub fn of(&self, binding: &[u64], most: u64, at: At) -> Result<Option<Vec<(u64, u64)>>, Wrong> {
        let mut elements: Vec<(u64, i64)> = Vec::new();
        for summand in &self.0 {
            let mut values = summand.values.iter();
            let base = values.try_fold(0, |sum, (weight, value)| Some(sum + weight * value.of(binding)?));
            let Some(base) = base else { return Ok(None) };
            let size: u64 = summand.each.iter().map(|(_, size)| size).product();
            if elements.len() as u64 + size > most {
                return Err(Wrong::large(at, "this unfolds to more elements than are supported"));
            }
            for mut number in 0..size {
                let mut element = base;
                for (weight, size) in &summand.each {
                    element += weight * (number % size);
                    number /= size;
                }
                elements.push((element, summand.count));
            }
        }
        elements.sort_unstable_by_key(|element| element.0);
        let mut merged = Vec::with_capacity(elements.len());
        for same in elements.chunk_by(|a, b| a.0 == b.0) {
            let count: i128 = same.iter().map(|element| element.1 as i128).sum();
            match count {
                0 => {}
                1.. if count <= i64::MAX as i128 => merged.push((same[0].0, count as u64)),
                1.. => return Err(Wrong::new(at, "a number of tokens above 2^63 - 1")),
                _ => return Err(Wrong::new(at, "more tokens of a colour are subtracted than there are")),
            }
        }
        Ok(Some(merged))
    }

    /// The elements one by one, each with its parts and their weights, where it is a sum of single elements.
    pub fn elements(&self) -> Option<Vec<&[(u64, Value)]>> {
        let single = |summand: &Summand| summand.count > 0 && summand.each.is_empty();
        self.0.iter().all(single).then(|| self.0.iter().map(|summand| &summand.values[..]).collect())
    }

    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().flat_map(|summand| summand.values.iter().map(|(_, value)| value))
    }
}

impl Sorts {
    /// A term for elements of this sort.
    pub fn multiset(&mut self, e: &Element, sort: SortId) -> Result<Multiset, Wrong> {
        Ok(Multiset(self.summands(e, sort)?))
    }

    fn summands(&mut self, e: &Element, sort: SortId) -> Result<Vec<Summand>, Wrong> {
        let summands = match &*e.name {
            "add" => {
                let mut all = Vec::new();
                for child in &e.children {
                    all.extend(self.summands(child, sort)?);
                }
                all
            }
            "subtract" => {
                let Some((first, others)) = e.children.split_first() else {
                    return Err(e.wrong("<subtract> without operands"));
                };
                let mut all = self.summands(first, sort)?;
                for child in others {
                    all.extend(times(self.summands(child, sort)?, -1, child)?);
                }
                all
            }
            "numberof" | "scalarproduct" => {
                let (count, child) = match &e.children[..] {
                    [child] => (1, child),
                    [count, child] => (number(count)?, child),
                    _ => return Err(e.wrong(format!("<{}> must have a number and a term", e.name))),
                };
                times(self.summands(child, sort)?, count, e)?
            }
            "all" => {
                let of = self.sort(e.only()?)?;
                self.same(e, of, sort)?;
                vec![Summand { count: 1, values: Vec::new(), each: vec![(1, self.size(sort))] }]
            }
            "empty" => Vec::new(),
            "tuple" => return self.tuple(e, sort),
            _ => {
                let (value, of) = self.value(e, Some(sort))?;
                self.same(e, of, sort)?;
                vec![Summand { count: 1, values: vec![(1, value)], each: Vec::new() }]
            }
        };
        match summands.len() <= MOST {
            true => Ok(summands),
            false => Err(e.wrong(format!("a term with more than {MOST} summands"))),
        }
    }

    /// A tuple of terms: every combination of their elements.
    fn tuple(&mut self, e: &Element, sort: SortId) -> Result<Vec<Summand>, Wrong> {
        let parts = match self.get(sort) {
            Sort::Product(parts) => parts.clone(),
            // A tuple of one is what is in it.
            _ => vec![sort],
        };
        if parts.len() != e.children.len() {
            let (found, sort) = (e.children.len(), self.describe(sort));
            return Err(e.wrong(format!("a tuple of {found}, where an element of {sort} has {} parts", parts.len())));
        }
        let mut weight = self.size(sort);
        let mut all = vec![Summand { count: 1, ..Summand::default() }];
        for (child, part) in e.children.iter().zip(parts) {
            weight /= self.size(part);
            let factors = self.summands(child, part)?;
            if all.len().saturating_mul(factors.len()) > MOST {
                return Err(e.wrong(format!("a term with more than {MOST} summands")));
            }
            let mut products = Vec::with_capacity(all.len() * factors.len());
            for first in &all {
                for factor in &factors {
                    let count = first.count.checked_mul(factor.count).ok_or_else(|| too_many(e))?;
                    let mut product = Summand { count, ..first.clone() };
                    product.values.extend(factor.values.iter().map(|(w, value)| (w * weight, value.clone())));
                    product.each.extend(factor.each.iter().map(|(w, size)| (w * weight, *size)));
                    products.push(product);
                }
            }
            all = products;
        }
        Ok(all)
    }
}

fn times(mut summands: Vec<Summand>, factor: i64, e: &Element) -> Result<Vec<Summand>, Wrong> {
    for summand in &mut summands {
        summand.count = summand.count.checked_mul(factor).ok_or_else(|| too_many(e))?;
    }
    summands.retain(|summand| summand.count != 0);
    Ok(summands)
}

fn number(e: &Element) -> Result<i64, Wrong> {
    match &*e.name {
        "numberconstant" => {
            let text = e.need("value")?;
            Ok(super::super::number::tokens(text, e.at, "the number of tokens")? as i64)
        }
        other => Err(e.wrong(format!("<{other}> where a <numberconstant> is expected"))),
    }
}

fn too_many(e: &Element) -> Wrong {
    e.wrong("a number of tokens above 2^63 - 1")
}
