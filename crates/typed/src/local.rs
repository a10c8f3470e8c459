//! Is it true what a model says of actions that concern one process alone? Tried out where it is used.

use crate::code::tree;
use crate::encoded::{Encoded, Holds};
use crate::model::TypedModel;
use crate::panics::caught;
use scrimp_system::Random;
use std::sync::atomic::{AtomicUsize, Ordering};

/// In how many states it is tried out without a gap, and in which of those that come after.
const ALL: usize = 10_000;
const THEN_EVERY: usize = 64;

/// What a model says, and what it must be true of.
pub struct Claims<M: TypedModel> {
    /// The conditions that are asked for, with their names.
    pub conditions: Vec<(String, Holds<M>)>,
    states: AtomicUsize,
}

/// Where an action leads, if it can happen.
type Led<M> = Option<<M as TypedModel>::State>;

impl<M: TypedModel> Claims<M> {
    pub fn new(conditions: Vec<(String, Holds<M>)>) -> Claims<M> {
        Claims { conditions, states: AtomicUsize::new(0) }
    }

    /// Tries out what is said of these actions of a state; fails with what is not true.
    pub fn try_out(&self, encoded: &Encoded<M>, state: &M::State, actions: &[M::Action]) -> Result<(), String> {
        let number = self.states.fetch_add(1, Ordering::Relaxed);
        if number >= ALL && !number.is_multiple_of(THEN_EVERY) {
            return Ok(());
        }
        // A panic is an error of its own.
        caught(|| self.look_at(&encoded.model, state, actions).and_then(|()| walk(&*encoded.model, state, number)))
            .unwrap_or(Ok(()))
    }

    fn look_at(&self, model: &M, state: &M::State, actions: &[M::Action]) -> Result<(), String> {
        let led: Vec<(&M::Action, M::State)> =
            actions.iter().filter_map(|action| Some((action, model.next(state, action)?))).collect();
        for (one, after) in &led {
            let local = model.local(state, one);
            if local && let Some((name, _)) = self.conditions.iter().find(|(_, c)| c(model, state) != c(model, after)) {
                return Err(format!("`local` is said of {one:?}, but it changes `{name}`\n  {}", tree(state)));
            }
            for (other, instead) in &led {
                let apart = local && model.process(one) != model.process(other);
                if !apart && !model.independent(one, other) {
                    continue;
                }
                let said = if apart {
                    format!("`local` is said of {one:?}")
                } else {
                    format!("{one:?} is said to be independent")
                };
                let (first, second) = (follow(model, after, other), follow(model, instead, one));
                if first.is_none() || first != second {
                    return Err(format!("{said}, but together with {other:?} the order matters\n  {}", tree(state)));
                }
                if apart && let Some(more) = changed(model, (state, instead), model.process(one)) {
                    return Err(format!(
                        "{said}, but {other:?} changes whether {more:?} can happen\n  {}",
                        tree(state)
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Lets the others act for a while, by chance: does a process that says its actions are local keep all of them, and get no others?
fn walk<M: TypedModel>(model: &M, state: &M::State, seed: usize) -> Result<(), String> {
    const STEPS: usize = 16;
    let mut actions = Vec::new();
    model.actions(state, &mut actions);
    actions.retain(|action| model.next(state, action).is_some());
    let mut random = Random(seed as u64);
    for action in actions.iter().filter(|action| model.local(state, action)) {
        let (process, mut now) = (model.process(action), state.clone());
        for _ in 0..STEPS {
            let mut open = Vec::new();
            model.actions(&now, &mut open);
            open.retain(|other| model.process(other) != process);
            let mut led: Vec<M::State> = open.iter().filter_map(|other| model.next(&now, other)).collect();
            if led.is_empty() {
                break;
            }
            now = led.swap_remove(random.below(led.len()));
            if let Some(more) = changed(model, (state, &now), process) {
                let why = format!("`local` is said of {action:?}, but the others change whether {more:?} can happen");
                return Err(format!("{why}\n  {}\n  {}", tree(state), tree(&now)));
            }
        }
    }
    Ok(())
}

/// Where an action leads that is one of this state's.
fn follow<M: TypedModel>(model: &M, state: &M::State, action: &M::Action) -> Led<M> {
    let mut actions = Vec::new();
    model.actions(state, &mut actions);
    if actions.contains(action) { model.next(state, action) } else { None }
}

/// An action of a process that can happen in one of two states and not in the other.
fn changed<M: TypedModel>(model: &M, (one, other): (&M::State, &M::State), process: usize) -> Option<M::Action> {
    let own = |state: &M::State| {
        let mut actions = Vec::new();
        model.actions(state, &mut actions);
        actions.retain(|action| model.process(action) == process && model.next(state, action).is_some());
        actions
    };
    let (before, after) = (own(one), own(other));
    let missing = |here: &[M::Action], there: &[M::Action]| here.iter().find(|a| !there.contains(a)).cloned();
    missing(&before, &after).or_else(|| missing(&after, &before))
}
