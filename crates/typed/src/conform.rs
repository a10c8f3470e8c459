//! Is what was recorded a run of the model?
//!
//! A log is a sequence of observations, each of which says whether an action, or the state that it leads to, may be what was seen.
//! Not every action is seen. All states are followed in which the model may be, one observation after the other: by the
//! [`Follower`], as for logs of model files.

use crate::code::tree;
use crate::model::TypedModel;
use crate::panics::caught;
use scrimp_core::follow::{Follower, Ground, Next, Place, Way};
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;

/// Something that was seen.
pub trait Observation<M: TypedModel> {
    /// May it be this action, which has led from one state to another?
    fn fits(&self, model: &M, before: &M::State, action: &M::Action, after: &M::State) -> bool;

    /// What it is called where nothing fits.
    fn text(&self) -> String;
}

/// A function is an observation of what it is true of.
impl<M: TypedModel, F: Fn(&M, &M::State, &M::Action, &M::State) -> bool> Observation<M> for F {
    fn fits(&self, model: &M, before: &M::State, action: &M::Action, after: &M::State) -> bool {
        self(model, before, action, after)
    }

    fn text(&self) -> String {
        "an observation".into()
    }
}

/// An action that was seen as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen<A>(pub A);

impl<M: TypedModel> Observation<M> for Seen<M::Action> {
    fn fits(&self, _: &M, _: &M::State, action: &M::Action, _: &M::State) -> bool {
        self.0 == *action
    }

    fn text(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// How a log is held against a model.
#[derive(Debug, Clone, Copy)]
pub struct Unseen {
    /// So many actions may have happened between two observations without being seen.
    pub between: usize,
    /// So many states are followed at once; where there are more, the answer is not known.
    pub states: usize,
}

impl Default for Unseen {
    /// Every action was seen.
    fn default() -> Unseen {
        Unseen { between: 0, states: 1 << 20 }
    }
}

/// What became of a log.
#[derive(Debug, Clone, PartialEq)]
pub enum Conformance<A, S> {
    /// It is a run of the model: this one, with unseen actions among the others.
    Conforms(Vec<(A, S)>),
    /// No run of the model looks so. The longest beginning that does, and why it does not go on.
    Differs {
        /// So many observations fit.
        matched: usize,
        /// One run that looks so.
        run: Vec<(A, S)>,
        /// The observation that does not fit.
        seen: String,
        /// States that the model may be in by then, each with what could happen there instead.
        possible: Vec<(S, Vec<A>)>,
    },
    /// There are too many states to follow, after so many observations.
    Unknown {
        /// So many observations fit.
        matched: usize,
    },
}

/// States shown where a log differs.
const SHOWN: usize = 8;

/// Holds a log in which every action was seen against a model. Fails where code of the model panics.
pub fn conform<M: TypedModel>(
    model: &M,
    log: impl IntoIterator<Item = impl Observation<M>>,
) -> Result<Conformance<M::Action, M::State>, String> {
    conform_unseen(model, log, Unseen::default())
}

/// The same, where actions may have happened that were not seen.
pub fn conform_unseen<M: TypedModel>(
    model: &M,
    log: impl IntoIterator<Item = impl Observation<M>>,
    unseen: Unseen,
) -> Result<Conformance<M::Action, M::State>, String> {
    caught(|| follow(model, log, unseen))
}

fn follow<M: TypedModel>(
    model: &M,
    log: impl IntoIterator<Item = impl Observation<M>>,
    unseen: Unseen,
) -> Conformance<M::Action, M::State> {
    let mut met = Met { model, states: Vec::new(), numbers: HashMap::new(), actions: Vec::new() };
    let starts: Vec<Place> = model.initial().into_iter().map(|state| met.number(state)).collect();
    let between = u32::try_from(unseen.between).ok();
    let mut follower = Follower::new(starts, between, unseen.states);
    for seen in log {
        let mut ground = Observed { met: &mut met, seen: &seen, alone: unseen.between == 0 };
        let Ok(next) = follower.follow(&mut ground);
        let matched = follower.matched() as usize;
        match next {
            Next::Matched => {}
            Next::TooMany => return Conformance::Unknown { matched },
            Next::Stuck => {
                let here = follower.places().filter(|(_, unseen)| *unseen == 0).take(SHOWN);
                let possible = here.map(|(place, _)| met.could(place)).collect();
                return Conformance::Differs { matched, run: met.way(&follower), seen: seen.text(), possible };
            }
        }
    }
    Conformance::Conforms(met.way(&follower))
}

/// The states that were met, by numbers.
struct Met<'m, M: TypedModel> {
    model: &'m M,
    states: Vec<M::State>,
    numbers: HashMap<M::State, Place>,
    actions: Vec<M::Action>,
}

impl<M: TypedModel> Met<'_, M> {
    fn number(&mut self, state: M::State) -> Place {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = self.states.len() as Place;
        self.states.push(state.clone());
        self.numbers.insert(state, number);
        number
    }

    /// A state with what could happen there.
    fn could(&self, place: Place) -> (M::State, Vec<M::Action>) {
        let state = self.states[place as usize].clone();
        let mut all = Vec::new();
        self.model.actions(&state, &mut all);
        all.retain(|action| self.model.next(&state, action).is_some());
        (state, all)
    }

    /// What led to the first of the places where the model may be.
    fn way(&self, follower: &Follower) -> Vec<(M::Action, M::State)> {
        let (Some(run), mut all) = (follower.run(0), Vec::new()) else { return Vec::new() };
        let Some(mut state) = self.model.initial().into_iter().nth(run.start as usize) else { return Vec::new() };
        let mut steps = Vec::with_capacity(run.steps.len());
        for (choice, _) in run.steps {
            all.clear();
            self.model.actions(&state, &mut all);
            let Some(action) = all.get(choice as usize) else { break };
            let Some(next) = self.model.next(&state, action) else { break };
            steps.push((action.clone(), next.clone()));
            state = next;
        }
        steps
    }
}

/// The states, with what is observed next.
struct Observed<'a, 'm, M: TypedModel, O> {
    met: &'a mut Met<'m, M>,
    seen: &'a O,
    /// Every action was seen.
    alone: bool,
}

impl<M: TypedModel, O: Observation<M>> Ground for Observed<'_, '_, M, O> {
    type Error = Infallible;

    fn ways(&mut self, place: Place, _: u64, out: &mut Vec<Way>) -> Result<(), Infallible> {
        let Observed { met, seen, alone } = self;
        let (model, state) = (met.model, met.states[place as usize].clone());
        let mut actions = std::mem::take(&mut met.actions);
        actions.clear();
        model.actions(&state, &mut actions);
        for (choice, action) in actions.iter().enumerate() {
            let Some(to) = model.next(&state, action) else { continue };
            let fits = seen.fits(model, &state, action, &to);
            if fits || !*alone {
                let unseen = Way { to: met.number(to), seen: 0, choice: choice as u32, how: 0 };
                out.extend(fits.then_some(Way { seen: 1, ..unseen }));
                out.extend((!*alone).then_some(unseen));
            }
        }
        met.actions = actions;
        Ok(())
    }
}

impl<A, S> Conformance<A, S> {
    /// Is the log a run of the model?
    pub fn conforms(&self) -> bool {
        matches!(self, Conformance::Conforms(_))
    }
}

impl<A: fmt::Debug, S: serde::Serialize> fmt::Display for Conformance<A, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conformance::Conforms(run) => write!(f, "the log is a run of the model, of {} actions", run.len()),
            Conformance::Unknown { matched } => {
                write!(f, "after {matched} observations there are too many states that the model may be in")
            }
            Conformance::Differs { matched, seen, possible, .. } => {
                writeln!(f, "no run of the model looks so: after {matched} observations there is no {seen}")?;
                for (state, actions) in possible {
                    writeln!(f, "  in {}", tree(state))?;
                    let could: Vec<String> = actions.iter().map(|action| format!("{action:?}")).collect();
                    match could.is_empty() {
                        true => writeln!(f, "    nothing can happen")?,
                        false => writeln!(f, "    what can happen: {}", could.join(", "))?,
                    }
                }
                Ok(())
            }
        }
    }
}
