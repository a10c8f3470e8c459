//! A model that several look at.

use scrimp_system::{Batch, Change, Describe, EventCode, EventText, FaultRecord, Model};
use scrimp_typed::{Encoded, TypedModel};
use std::sync::Arc;

/// The same model for one who wants it as his own.
pub struct Shared<M: TypedModel>(pub Arc<Encoded<M>>);

impl<M: TypedModel> Model for Shared<M> {
    fn state_bytes(&self) -> usize {
        self.0.state_bytes()
    }

    fn initial(&self, out: &mut Batch) {
        self.0.initial(out);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        self.0.expand(state, out);
    }

    fn progress(&self, state: &[u8]) -> Option<u128> {
        self.0.progress(state)
    }

    fn heuristic(&self, state: &[u8]) -> Option<u128> {
        self.0.heuristic(state)
    }
}

impl<M: TypedModel> Describe for Shared<M> {
    fn event(&self, code: EventCode) -> EventText {
        self.0.event(code)
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        self.0.values(state)
    }

    fn changes(&self, before: &[u8], after: &[u8]) -> Vec<Change> {
        self.0.changes(before, after)
    }

    fn fault(&self, record: FaultRecord) -> String {
        self.0.fault(record)
    }
}
