//! Nets that mean the same as others.

use super::tree::*;
use crate::language::Twin;
use scrimp_system::Random;

pub fn twin(model: &Model, random: &mut Random) -> Option<Twin<Model>> {
    let mut twin = model.clone();
    let how = match random.below(5) {
        0 => {
            twin.style ^= 0x5555_5555_5555;
            twin.nested = !twin.nested;
            "written otherwise"
        }
        1 => {
            twin.pages += 1;
            let page = twin.pages - 1;
            for arc in twin.transitions.iter_mut().flat_map(|t| &mut t.arcs) {
                arc.page = page;
            }
            "with arcs on another page"
        }
        2 => {
            twin.transitions.iter_mut().for_each(|transition| transition.arcs.reverse());
            "with arcs in another order"
        }
        3 if model.coloured => {
            for guard in twin.transitions.iter_mut().filter_map(|t| t.guard.as_mut()) {
                *guard = de_morgan(guard);
            }
            "by De Morgan"
        }
        4 => {
            // A test of what is taken anyway asks for nothing more.
            for transition in &mut twin.transitions {
                let taken = transition.arcs.iter().find(|arc| arc.kind == Kind::Taking).cloned();
                transition.arcs.extend(taken.map(|arc| Arc { kind: Kind::Test, ..arc }));
            }
            "with tests of what is taken"
        }
        _ => return None,
    };
    Some(Twin { model: twin, how, same_counts: true, property: |_, text| Some(text.to_string()) })
}

fn de_morgan(guard: &Guard) -> Guard {
    let not = |guard: &Guard| Guard::Not(Box::new(de_morgan(guard)));
    match guard {
        Guard::And(list) => Guard::Not(Box::new(Guard::Or(list.iter().map(not).collect()))),
        Guard::Or(list) => Guard::Not(Box::new(Guard::And(list.iter().map(not).collect()))),
        Guard::Imply(a, b) => Guard::Or(vec![not(a), de_morgan(b)]),
        Guard::Not(inner) => not(inner),
        other => other.clone(),
    }
}
