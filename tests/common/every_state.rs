//! All states of a typed model, by a set of them and nothing else.

use scrimp::TypedModel;
use std::collections::HashSet;

/// How many states and transitions there are.
pub fn counted<M: TypedModel>(model: &M) -> (u64, u64) {
    let mut known: HashSet<M::State> = model.initial().into_iter().collect();
    let (mut open, mut transitions): (Vec<M::State>, u64) = (known.iter().cloned().collect(), 0);
    while let Some(state) = open.pop() {
        let mut actions = Vec::new();
        model.actions(&state, &mut actions);
        for next in actions.iter().filter_map(|action| model.next(&state, action)) {
            transitions += 1;
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    (known.len() as u64, transitions)
}
