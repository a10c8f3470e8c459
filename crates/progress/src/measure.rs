//! A progress measure: a vector of components, compared from the first on, packed into one number.

use crate::component::Component;
use crate::given::{NAME, with_name};
use crate::packed::Packed;
use crate::text::component;
use scrimp_lang::{Diagnostic, parse_measure, refuse_part};
use scrimp_system::{Expr, Layout, System};
use std::sync::Arc;

/// Bits that a value may take.
pub const BITS: u32 = u128::BITS;

/// Maps states to values of a total order; open states with low values come first in a sweep.
///
/// Any measure is sound. A good one rarely decreases from a state to its successor and has many values.
#[derive(Debug, Clone)]
pub struct Measure {
    parts: Arc<[Part]>,
    packed: Arc<Packed>,
}

#[derive(Debug, Clone)]
struct Part {
    component: Component,
    /// Where its bits are.
    shift: u32,
    bits: u32,
    text: String,
}

impl Measure {
    /// Reads a measure: expressions as in properties and rankings such as `P{idle < try < critical}`, separated by
    /// commas, the one that weighs most first. `linear` is the measure that a net brings along.
    pub fn parse(system: &System, text: &str) -> Result<Measure, Diagnostic> {
        let layout = Arc::new(Layout::new(system));
        let given = if text.contains(NAME) { with_name(system, &layout) } else { None };
        let (named, given) = given.map_or((None, None), |(named, given)| (Some(named), Some(given)));
        let written = parse_measure(named.as_ref().unwrap_or(system), text)?;
        let mut left = BITS;
        let mut components = Vec::new();
        for part in &written {
            let component = match &given {
                Some(given) if part.text.trim() == NAME => given.clone(),
                _ => component(system, &layout, &part.value, &part.text),
            };
            left = left.checked_sub(bits(&component)).ok_or_else(|| {
                let message = format!("the components up to this one take more than {BITS} bits");
                refuse_part(text, part, &message, "leave some out, or limit their range, as in `x % 256`")
            })?;
            components.push(component);
        }
        Ok(Measure::new(system, components))
    }

    /// The measure of these components, without the last ones if they do not fit.
    pub fn new(system: &System, components: Vec<Component>) -> Measure {
        let mut used = 0;
        let fits = |component: &Component| {
            used += bits(component);
            used <= BITS
        };
        let components: Vec<Component> = components.into_iter().take_while(fits).collect();
        let mut shift: u32 = components.iter().map(bits).sum();
        let mut packed = Packed::default();
        let parts = components.into_iter().map(|component| {
            let bits = bits(&component);
            shift -= bits;
            // A component without bits in front of 128 others: any shift will do.
            packed.add(&component, shift % BITS);
            let text = component.text(system);
            Part { component, shift: shift % BITS, bits, text }
        });
        Measure { parts: parts.collect(), packed: Arc::new(packed) }
    }

    /// The progress of a state. Values compare as the vectors of components do.
    #[inline]
    pub fn value(&self, state: &[u8]) -> u128 {
        self.packed.value(state)
    }

    /// The components of a value, for people.
    pub fn show(&self, value: u128) -> String {
        let numbers = self.parts.iter().map(|part| {
            let mask = if part.bits == 0 { 0 } else { u128::MAX >> (BITS - part.bits) };
            let distance = (value >> part.shift) & mask;
            part.component.low.wrapping_add(distance as u64 as i64).to_string()
        });
        format!("({})", numbers.collect::<Vec<_>>().join(", "))
    }

    /// The measure as it is written: [`parse`](Measure::parse) reads it back.
    pub fn text(&self) -> String {
        match self.parts.is_empty() {
            true => "0".into(),
            false => self.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(", "),
        }
    }

    /// The components as expressions, from which [`of`](Measure::of) makes the measure again.
    pub fn expressions(&self) -> Vec<Expr> {
        self.parts.iter().map(|part| part.component.expression()).collect()
    }

    /// The measure of these expressions, the one that weighs most first.
    pub fn of(system: &System, expressions: &[Expr]) -> Measure {
        let layout = Arc::new(Layout::new(system));
        let components = expressions.iter().map(|value| component(system, &layout, value, ""));
        Measure::new(system, components.collect())
    }

    /// The values of the components one by one.
    pub fn components(&self, state: &[u8]) -> Vec<i64> {
        self.parts.iter().map(|part| part.component.value(state)).collect()
    }
}

/// Bits that a component's values take.
pub fn bits(component: &Component) -> u32 {
    u128::BITS - (component.width() - 1).leading_zeros()
}
