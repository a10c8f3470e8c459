//! Symmetry: of the states that symmetries of the model turn into each other, an orbit, one is visited.
//!
//! The search sees a model whose successors are representatives of their orbits; everything else stays as it is. Symmetries map
//! runs to runs, so a representative is bisimilar to all states of its orbit, and distances stay as they are. A condition on
//! states that symmetries change is looked for in all its forms: where one of them holds in a representative, the condition
//! itself holds in another state of the orbit. A property of runs is another matter: symmetries must keep each of its conditions.

use crate::plan::{Plan, ReduceChoice};
use crate::task::invalid;
use scrimp_core::{Condition, Property, PropertyKind};
use scrimp_system::{Batch, EventCode, Expr, Fault, Model, Symmetry};
use std::io;
use std::ops::Range;

/// Why runs are not looked for where an orbit may have several representatives: they could not be followed.
const INEXACT: &str = "the model has too many symmetries";

/// A model's orbits as a model.
pub struct Orbits<'m> {
    pub(super) model: &'m dyn Model,
    pub(super) symmetry: Symmetry,
}

impl<'m> Orbits<'m> {
    /// For properties of states, where a plan asks for it.
    pub fn of_states(
        model: &'m dyn Model,
        properties: &[Property<Condition>],
        plan: &Plan,
    ) -> io::Result<Option<Orbits<'m>>> {
        if !asks(plan) {
            return Ok(None);
        }
        let conditions = changeable(properties).map_err(invalid)?;
        Orbits::new(model, &[], &conditions).map(Some)
    }

    /// For a property of runs with these conditions, where a plan asks for it.
    pub fn of_runs(model: &'m dyn Model, conditions: &[Expr], plan: &Plan) -> io::Result<Option<Orbits<'m>>> {
        if !asks(plan) {
            return Ok(None);
        }
        let orbits = Orbits::new(model, &conditions.iter().collect::<Vec<_>>(), &[])?;
        match orbits.symmetry.is_exact() {
            true => Ok(Some(orbits)),
            false => Err(invalid(format!("symmetry cannot be used: {INEXACT}"))),
        }
    }

    fn new(model: &'m dyn Model, kept: &[&Expr], others: &[&Expr]) -> io::Result<Orbits<'m>> {
        let symmetry = model.symmetry(kept, others);
        let symmetry = symmetry.map_err(|reason| invalid(format!("symmetry cannot be used: {reason}")))?;
        Ok(Orbits { model, symmetry })
    }

    pub fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// The properties with conditions that hold of a representative if they hold of a state of its orbit.
    pub fn closed<'a>(&'a self, properties: &'a [Property<Condition<'a>>]) -> Vec<Property<Condition<'a>>> {
        let mut number = 0;
        let mut all = Vec::with_capacity(properties.len());
        for property in properties {
            let every = matches!(property.kind, PropertyKind::Invariant(_));
            all.push(property.map(&mut |condition| {
                let own = number;
                number += 1;
                let expression = condition.expression.clone().filter(|_| self.symmetry.images(own) == 1);
                Condition { holds: Box::new(move |state| self.holds(own, condition, every, state)), expression }
            }));
        }
        all
    }

    /// Does the condition hold in every state of the orbit, or in some?
    fn holds(&self, number: usize, condition: &Condition, every: bool, state: &[u8]) -> Result<bool, Fault> {
        let mut unknown = None;
        for image in 0..self.symmetry.images(number) {
            let value = match image {
                0 => (condition.holds)(state),
                _ => (condition.holds)(&self.symmetry.seen_from(number, image, state)),
            };
            match value {
                Ok(holds) if holds != every => return Ok(holds),
                Ok(_) => {}
                Err(fault) if every => return Err(fault),
                Err(fault) => unknown = unknown.or(Some(fault)),
            }
        }
        unknown.map_or(Ok(every), Err)
    }

    pub(super) fn represented(&self, state: &[u8]) -> Vec<u8> {
        let mut state = state.to_vec();
        self.symmetry.represent(&mut state);
        state
    }
}

/// Does the plan ask for symmetry?
fn asks(plan: &Plan) -> bool {
    matches!(plan.options().reduce, ReduceChoice::Symmetry { .. })
}

/// The conditions of properties of states.
pub(crate) fn changeable<C: scrimp_core::AsExpression>(properties: &[Property<C>]) -> Result<Vec<&Expr>, String> {
    let mut conditions = Vec::new();
    for property in properties {
        if let Some(condition) = property.condition() {
            let unknown = || format!("the condition of property {} is a function, not an expression", property.name);
            conditions.push(condition.as_expression().ok_or_else(unknown)?);
        }
    }
    Ok(conditions)
}

impl Model for Orbits<'_> {
    fn state_bytes(&self) -> usize {
        self.model.state_bytes()
    }

    fn initial(&self, out: &mut Batch) {
        let first = out.len();
        self.model.initial(out);
        for i in first..out.len() {
            self.symmetry.represent(out.state_mut(i));
        }
        out.distinct_from(first);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let first = out.len();
        self.model.expand(state, out);
        for i in first..out.len() {
            self.symmetry.represent(out.state_mut(i));
        }
    }

    fn first_event(&self, code: EventCode) -> u32 {
        self.model.first_event(code)
    }

    fn digest(&self) -> Option<u64> {
        self.model.digest().map(|digest| !digest)
    }

    fn making(&self) -> &[u64] {
        self.model.making()
    }

    fn components(&self) -> Vec<Vec<Range<usize>>> {
        self.model.components()
    }

    fn is_outgrown(&self) -> bool {
        self.model.is_outgrown()
    }
}
