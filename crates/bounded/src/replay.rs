//! A run that the solver found, made again by the model itself.
//!
//! Nothing is reported that the model does not do: each state must be among the successors of the one before, and the last
//! one must decide the property.

use scrimp_core::{Property, PropertyKind, Trace};
use scrimp_system::{Batch, EventCode, Expr, Fault, Layout, Model};

/// A run that the model makes.
pub struct Replayed {
    /// The run.
    pub trace: Trace,
    /// The event that ends in a fault in its last state.
    pub fault: Option<(EventCode, Fault)>,
    /// The fault met when the property itself was evaluated there.
    pub condition_fault: Option<Fault>,
}

/// What came of the replay.
pub enum Replay {
    /// The model does the same.
    Agrees(Box<Replayed>),
    /// The system was made too small for its model.
    Outgrown,
    /// The model does not do this, for this reason: an error of this program.
    Differs(String),
}

/// Makes a run through these states, each given by the values of its cells.
pub fn replay(model: &dyn Model, layout: &Layout, states: &[Vec<i64>], goal: &Property<Expr>) -> Replay {
    let differs = |what: String| Replay::Differs(what);
    let encode = |values: &Vec<i64>| {
        let mut state = vec![0; layout.bytes()];
        layout.encode(values, &mut state);
        state
    };
    if layout.bytes() != model.state_bytes() {
        return differs("the states of the model have another length".into());
    }
    let mut states = states.iter().map(encode);
    let Some(initial) = states.next() else { return differs("a run without a state".into()) };
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    if !(0..batch.len()).any(|i| batch.state(i) == initial) {
        return differs("its first state is not initial".into());
    }
    let mut trace = Trace { initial, steps: Vec::new() };
    for (number, state) in states.enumerate() {
        batch.clear();
        model.expand(trace.last(), &mut batch);
        if model.is_outgrown() {
            return Replay::Outgrown;
        }
        let Some(edge) = (0..batch.len()).find(|i| batch.state(*i) == state) else {
            return differs(format!("step {} leads elsewhere", number + 1));
        };
        trace.steps.push((batch.event(edge), state));
    }
    batch.clear();
    model.expand(trace.last(), &mut batch);
    if model.is_outgrown() {
        return Replay::Outgrown;
    }
    let successors = batch.len();
    let deadlock = batch.take_deadlock(successors);
    let record = |asserted: bool| {
        let mut records = batch.faults().iter();
        records.find(|r| (r.fault == Fault::Assertion) == asserted).map(|r| (r.event, r.fault))
    };
    let mut replayed = Replayed { trace, fault: None, condition_fault: None };
    let decided = match &goal.kind {
        PropertyKind::Deadlock => deadlock,
        PropertyKind::Faults | PropertyKind::Assertions => {
            replayed.fault = record(goal.kind == PropertyKind::Assertions);
            replayed.fault.is_some()
        }
        PropertyKind::Invariant(condition) | PropertyKind::Reach(condition) => {
            let value = layout.holds(condition, replayed.trace.last());
            replayed.condition_fault = value.err();
            value.unwrap_or(false) != goal.finding_violates()
        }
        _ => false,
    };
    match decided {
        true => Replay::Agrees(Box::new(replayed)),
        false => differs("its last state does not decide the property".into()),
    }
}
