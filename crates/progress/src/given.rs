//! The measure that a model brings along: for a net, the weighted sum of tokens that most transitions let grow. In a measure
//! that is written it is called `linear`.

use crate::component::{Cell, Component, Ranks, Term};
use scrimp_system::{BinaryOp, Expr, Layout, System, Terms, ViewOf, Weight};

/// What it is called.
pub const NAME: &str = "linear";

/// The measure as a component, if there is one.
pub fn given(system: &System, layout: &Layout) -> Option<Component> {
    component(system, layout, &system.growing.of(system))
}

/// The system with the measure as something that expressions can name, and the component.
pub fn with_name(system: &System, layout: &Layout) -> Option<(System, Component)> {
    let terms = system.growing.of(system);
    let component = component(system, layout, &terms)?;
    let mut named = system.clone();
    named.also_named.push(ViewOf { name: NAME.into(), value: expression(&terms) });
    Some((named, component))
}

fn component(system: &System, layout: &Layout, sum: &Terms) -> Option<Component> {
    let (mut terms, mut constant) = (Vec::new(), 0i64);
    for (variable, weight) in sum {
        let cell = Cell { variable: *variable, index: 0 };
        terms.push(match weight {
            Weight::Times(weight) => Term::new(system, layout, cell, *weight, None),
            Weight::Of(weights) => {
                let least = weights.iter().copied().min()?;
                constant = constant.checked_add(least)?;
                let rank = |weight: &i64| u32::try_from(weight.checked_sub(least)?).ok();
                let table = weights.iter().map(rank).collect::<Option<_>>()?;
                Term::new(system, layout, cell, 1, Some(Ranks { low: 0, table }))
            }
        });
    }
    let component = Component::sum(terms, constant)?;
    (!sum.is_empty()).then_some(Component { name: Some(NAME), ..component })
}

/// As a tree that is not deep.
fn expression(terms: &Terms) -> Expr {
    let mut parts: Vec<Expr> = terms
        .iter()
        .map(|(variable, weight)| match weight {
            Weight::Times(weight) => Expr::binary(BinaryOp::Multiply, Expr::Const(*weight), Expr::Var(*variable)),
            Weight::Of(weights) => Expr::Table(weights.clone().into(), Box::new(Expr::Var(*variable))),
        })
        .collect();
    while parts.len() > 1 {
        let mut rest = std::mem::take(&mut parts).into_iter();
        while let Some(a) = rest.next() {
            parts.push(match rest.next() {
                Some(b) => Expr::binary(BinaryOp::Add, a, b),
                None => a,
            });
        }
    }
    parts.pop().unwrap_or(Expr::Const(0))
}
