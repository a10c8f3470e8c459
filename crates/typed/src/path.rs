//! A run of a typed model.

use crate::code::tree;
use crate::encoded::Encoded;
use crate::model::TypedModel;
use crate::panics::caught;
use scrimp_core::Trace;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::{fmt, io};

/// A run: where it begins, and each action with the state that it leads to. It may go on for ever, round and round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path<A, S> {
    initial: S,
    steps: Vec<(A, S)>,
    cycle: Option<usize>,
}

impl<A, S> Path<A, S> {
    /// A run that begins there, and one action after the other with where it leads.
    pub fn new(initial: S, steps: Vec<(A, S)>) -> Path<A, S> {
        Path { initial, steps, cycle: None }
    }

    /// How many actions it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Does nothing happen on it?
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The state that it begins in.
    pub fn initial(&self) -> &S {
        &self.initial
    }

    /// The state that it ends in.
    pub fn last(&self) -> &S {
        self.steps.last().map_or(&self.initial, |(_, state)| state)
    }

    /// What happens, in order.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = &A> + DoubleEndedIterator {
        self.steps.iter().map(|(action, _)| action)
    }

    /// The states, one more than there are actions.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = &S> {
        std::iter::once(&self.initial).chain(self.steps.iter().map(|(_, state)| state))
    }

    /// Each action with the state that it leads to.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = (&A, &S)> {
        self.steps.iter().map(|(action, state)| (action, state))
    }

    /// Where the run goes on for ever: after so many actions it is where it is after all of them, and goes on as it did from
    /// there. With as many as there are, it stays in its last state.
    pub fn lasso(&self) -> Option<usize> {
        self.cycle
    }
}

impl<A: PartialEq + fmt::Debug, S: PartialEq + serde::Serialize> Path<A, S> {
    /// Is this a run of the model? Fails at the first step that is none, and says why.
    pub fn replay<M: TypedModel<Action = A, State = S>>(&self, model: &M) -> Result<(), String> {
        if !model.initial().contains(&self.initial) {
            return Err(format!("the run does not begin in an initial state: {}", tree(&self.initial)));
        }
        let mut state = &self.initial;
        let mut actions = Vec::new();
        for (number, (action, next)) in self.steps.iter().enumerate() {
            let number = number + 1;
            actions.clear();
            model.actions(state, &mut actions);
            if !actions.contains(action) {
                let state = tree(state);
                return Err(format!("step {number}: {action:?} is no action of this state: {state}"));
            }
            match model.next(state, action) {
                None => return Err(format!("step {number}: {action:?} cannot happen in {}", tree(state))),
                Some(other) if other != *next => {
                    let (other, next) = (tree(&other), tree(next));
                    return Err(format!("step {number}: {action:?} leads to {other}, not to {next}"));
                }
                Some(_) => state = next,
            }
        }
        match self.cycle {
            Some(start) if start < self.len() && self.states().nth(start) != Some(state) => {
                Err(format!("after its last step the run is not where it was after {start} steps"))
            }
            _ => Ok(()),
        }
    }
}

/// A run of this model.
pub type PathOf<M> = Path<<M as TypedModel>::Action, <M as TypedModel>::State>;

/// What a saved run is called in its file.
const SAVED: &str = "scrimp run of a model in Rust";

impl<A: fmt::Debug, S: serde::Serialize> Path<A, S> {
    /// Writes the run to a file, as JSON: its actions and states as they are shown.
    pub fn save(&self, file: impl AsRef<std::path::Path>) -> io::Result<()> {
        let step =
            |(action, state): &(A, S)| json!({"action": format!("{action:?}"), "state": tree(state).to_string()});
        let steps: Vec<Value> = self.steps.iter().map(step).collect();
        let value =
            json!({"format": SAVED, "initial": tree(&self.initial).to_string(), "steps": steps, "cycle": self.cycle});
        std::fs::write(file, serde_json::to_string_pretty(&value)? + "\n")
    }
}

impl<A: Clone + fmt::Debug, S: Clone + serde::Serialize> Path<A, S> {
    /// Reads a run that was saved, and follows it in the model: this is the run, if it still is one. Fails at the first step that
    /// is none.
    pub fn load<M: TypedModel<Action = A, State = S>>(
        model: &M,
        file: impl AsRef<std::path::Path>,
    ) -> Result<Path<A, S>, String> {
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.as_ref().display()))?;
        let saved: Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.as_ref().display()))?;
        if saved["format"] != SAVED {
            return Err(format!("{} is not a run of a model in Rust", file.as_ref().display()));
        }
        let is = |state: &S, saved: &Value| saved.as_str() == Some(&tree(state).to_string());
        let begins = model.initial().into_iter().find(|state| is(state, &saved["initial"]));
        let initial = begins.ok_or("the model has no such initial state")?;
        let (mut state, mut steps, mut actions) = (initial.clone(), Vec::new(), Vec::new());
        for (number, step) in saved["steps"].as_array().into_iter().flatten().enumerate() {
            let wanted = step["action"].as_str().unwrap_or_default();
            actions.clear();
            model.actions(&state, &mut actions);
            let fitting = actions.iter().filter(|action| format!("{action:?}") == wanted);
            let mut led: Vec<(A, S)> =
                fitting.filter_map(|action| Some((action.clone(), model.next(&state, action)?))).collect();
            let place = led.iter().position(|(_, next)| is(next, &step["state"])).ok_or_else(|| {
                let to = step["state"].as_str().unwrap_or_default();
                format!("step {}: no {wanted} leads from {} to {to}", number + 1, tree(&state))
            })?;
            let (action, next) = led.swap_remove(place);
            state = next.clone();
            steps.push((action, next));
        }
        let cycle = saved["cycle"].as_u64().map(|cycle| cycle as usize).filter(|cycle| *cycle <= steps.len());
        Ok(Path { initial, steps, cycle })
    }
}

impl<A: fmt::Debug, S: serde::Serialize> fmt::Display for Path<A, S> {
    /// Each action, with what it changes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = tree(&self.initial).entries();
        writeln!(f, "begins with {}", shown(&before))?;
        for (number, (action, state)) in self.steps.iter().enumerate() {
            if self.cycle == Some(number) {
                writeln!(f, "-- from here on, again and again:")?;
            }
            let after = tree(state).entries();
            writeln!(f, "{:>4}  {action:?}", number + 1)?;
            for (name, value) in &after {
                let was = before.iter().find(|(known, _)| known == name).map(|(_, was)| was);
                if was != Some(value) {
                    writeln!(f, "        {name}: {} -> {value}", was.map_or("-", |was| was))?;
                }
            }
            for (name, was) in before.iter().filter(|(name, _)| !after.iter().any(|(known, _)| known == name)) {
                writeln!(f, "        {name}: {was} -> -")?;
            }
            before = after;
        }
        match self.cycle {
            Some(start) if start == self.len() => writeln!(f, "-- nothing more happens"),
            _ => Ok(()),
        }
    }
}

fn shown(entries: &[(String, String)]) -> String {
    entries.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Why a run that a search has found is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unshown {
    /// There is no such run: the model is no function, or what it calls symmetric is not.
    Wrong(String),
    /// There is no memory left for its states.
    Memory,
}

impl From<String> for Unshown {
    fn from(why: String) -> Unshown {
        Unshown::Wrong(why)
    }
}

/// A cycle of states that stand for others is followed in the model itself for at most so many steps.
const UNROLLED: usize = 1 << 16;

impl<M: TypedModel> Encoded<M> {
    /// A run that a search has found, with its actions and states; and the same with codes that have names. Where states stand
    /// for others, it is a run of the model all the same: there a cycle goes round until it is back in the very state that it
    /// began with, which may take several rounds. Where that takes too many, the run has no cycle.
    pub fn path(&self, trace: &Trace, cycle: Option<usize>) -> Result<(PathOf<M>, Trace), Unshown> {
        // Comparing states may panic, and so may dropping them.
        caught(|| self.followed(trace, cycle))
            .unwrap_or_else(|said| Err(format!("following a run panics: {said}").into()))
    }

    fn followed(&self, trace: &Trace, cycle: Option<usize>) -> Result<(PathOf<M>, Trace), Unshown> {
        let initial = self.begins(&self.wanted(&trace.initial)?)?;
        let mut named = Trace { initial: self.bytes(&initial)?, steps: Vec::new() };
        let mut path = Path { initial, steps: Vec::new(), cycle };
        for step in &trace.steps {
            self.follow(step, &mut path, &mut named)?;
        }
        let Some(start) = cycle.filter(|start| self.is_symmetric() && *start < trace.steps.len()) else {
            return Ok((path, named));
        };
        let begins = path.states().nth(start).unwrap_or(&path.initial).clone();
        // Where every round began.
        let mut rounds = HashMap::from([(begins, start)]);
        path.cycle = loop {
            let closed = rounds.get(path.last()).copied();
            if closed.is_some() || path.len() > trace.steps.len() + UNROLLED {
                break closed;
            }
            rounds.insert(path.last().clone(), path.len());
            for step in &trace.steps[start..] {
                self.follow(step, &mut path, &mut named)?;
            }
        };
        if path.cycle.is_none() {
            path.steps.truncate(trace.steps.len());
            named.steps.truncate(trace.steps.len());
        }
        Ok((path, named))
    }

    fn wanted(&self, bytes: &[u8]) -> Result<M::State, String> {
        self.state(bytes).ok_or_else(|| "a state of the run cannot be read".into())
    }

    /// The initial state that this one stands for.
    fn begins(&self, wanted: &M::State) -> Result<M::State, String> {
        if !self.is_symmetric() {
            return Ok(wanted.clone());
        }
        let begins = self.initial_states()?.into_iter().find(|state| self.standing(state).as_ref() == Ok(wanted));
        begins.ok_or_else(|| "no initial state stands for the one that the run begins with".into())
    }

    /// One more step of a run.
    fn follow(&self, (code, bytes): &(u32, Vec<u8>), path: &mut PathOf<M>, named: &mut Trace) -> Result<(), Unshown> {
        if self.watch.look_at_memory() {
            return Err(Unshown::Memory);
        }
        let (action, next) = self.step(path.last(), &self.wanted(bytes)?, *code)?;
        let bytes = if self.is_symmetric() { self.bytes(&next)? } else { bytes.clone() };
        named.steps.push((self.name(&action), bytes));
        path.steps.push((action, next));
        Ok(())
    }

    /// The action that leads from a state to one that this stands for.
    fn step(&self, state: &M::State, wanted: &M::State, code: u32) -> Result<(M::Action, M::State), String> {
        let actions = self.actions(state)?;
        // Where states are themselves, the code is the place of the action.
        let likely = actions.get(self.place(code)).into_iter().filter(|_| !self.is_symmetric());
        for action in likely.chain(&actions) {
            // What panics leads nowhere.
            let Ok(Some(next)) = self.next(state, action) else { continue };
            if self.standing(&next).as_ref() == Ok(wanted) {
                return Ok((action.clone(), next));
            }
        }
        let why = if self.is_symmetric() { "is `canonical` a symmetry?" } else { "is the model a function?" };
        Err(format!("no action leads from {} to {}: {why}", tree(state), tree(wanted)))
    }
}
