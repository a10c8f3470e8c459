//! Walks by chance through a typed model.

use super::checker::{Asked, CheckerError, Kind};
use scrimp_search::Options;
use scrimp_system::Random;
use scrimp_typed::{Encoded, Path, PathOf, TypedModel};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// What walks have shown. That they find nothing verifies nothing.
pub struct Simulated<M: TypedModel> {
    name: String,
    /// How many walks were made.
    pub walks: usize,
    /// How many steps were made in all walks together.
    pub steps: usize,
    /// The property that a walk has violated, and the walk.
    pub violated: Option<(String, PathOf<M>)>,
    /// What was to be reached, and was.
    pub reached: Vec<String>,
}

/// Walks so many times, so far.
pub(super) fn simulate<M: TypedModel>(
    encoded: Arc<Encoded<M>>,
    name: String,
    asked: &[Asked<M>],
    (walks, steps): (usize, usize),
    options: &Options,
) -> Result<Simulated<M>, CheckerError> {
    let end = options.time.map(|time| Instant::now() + time);
    let mut random = Random(options.seed);
    let mut simulated = Simulated { name, walks: 0, steps: 0, violated: None, reached: Vec::new() };
    let first = encoded.initial_states().map_err(CheckerError::Model)?;
    for _ in 0..walks {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        simulated.walks += 1;
        let initial = first[random.below(first.len())].clone();
        let (mut state, mut way) = (initial.clone(), Vec::new());
        let found = loop {
            if let Some(found) = violated(&encoded, asked, &state, &mut simulated.reached) {
                break Some(found);
            }
            if way.len() == steps || end.is_some_and(|end| Instant::now() >= end) {
                break None;
            }
            let mut open = match encoded.actions(&state) {
                Ok(actions) => actions,
                Err(said) => break Some(format!("no panic: `actions`: {said}")),
            };
            // An action that cannot happen after all is none.
            let step = loop {
                if open.is_empty() {
                    break Ok(None);
                }
                let action = open.swap_remove(random.below(open.len()));
                match encoded.next(&state, &action) {
                    Ok(Some(next)) => break Ok(Some((action, next))),
                    Ok(None) => {}
                    Err(said) => break Err(format!("no panic: {action:?}: {said}")),
                }
            };
            match step {
                Ok(Some((action, next))) => {
                    simulated.steps += 1;
                    way.push((action, next.clone()));
                    state = next;
                }
                Ok(None) => {
                    let deadlock = asked.iter().find(|asked| matches!(asked.kind, Kind::Deadlock));
                    break deadlock.map(|asked| asked.name.clone());
                }
                Err(said) => break Some(said),
            }
        };
        if let Some(property) = found {
            simulated.violated = Some((property, Path::new(initial, way)));
            break;
        }
    }
    Ok(simulated)
}

/// The invariant that a state violates; what it reaches is noted.
fn violated<M: TypedModel>(
    encoded: &Encoded<M>,
    asked: &[Asked<M>],
    state: &M::State,
    reached: &mut Vec<String>,
) -> Option<String> {
    for asked in asked {
        match &asked.kind {
            Kind::Invariant(holds) if encoded.holds(holds, state) != Ok(true) => {
                return Some(asked.name.clone());
            }
            Kind::Reach(holds) if !reached.contains(&asked.name) && encoded.holds(holds, state) == Ok(true) => {
                reached.push(asked.name.clone());
            }
            _ => {}
        }
    }
    None
}

impl<M: TypedModel> Simulated<M> {
    /// For tests: goes on where no walk has violated anything.
    ///
    /// # Panics
    /// Where one has; the message shows it.
    pub fn assert_nothing_violated(&self) {
        assert!(self.violated.is_none(), "{self}");
    }
}

impl<M: TypedModel> fmt::Display for Simulated<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Simulated { name, walks, steps, violated, .. } = self;
        match violated {
            Some((property, path)) => write!(f, "{name}: violated: {property}\nafter {walks} walks:\n{path}"),
            None => write!(f, "{name}: no error found in {walks} walks of {steps} steps in all"),
        }
    }
}
