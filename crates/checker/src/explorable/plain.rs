//! A model in Rust as one looks at it. Its processes are those that it names, or else those that take part in its events, in
//! the order in which they are met.

use super::Explorable;
use scrimp_core::{Condition, Property, PropertyKind};
use scrimp_system::{
    Batch, Change, Describe, DescribedModel, EventCode, EventText, FaultRecord, Model, Passed, Standing,
};
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// States that are looked at to find the processes, their bytes, and for how long.
const SAMPLE: usize = 2000;
const SAMPLE_BYTES: usize = 16 << 20;
const PATIENCE: Duration = Duration::from_millis(200);

/// A model with a name and with properties.
pub struct Plain {
    model: Arc<dyn DescribedModel + Send>,
    name: String,
    properties: Arc<[Property<Condition<'static>>]>,
    /// Processes that are met later come behind those known before.
    lanes: Mutex<Vec<String>>,
}

impl Plain {
    /// Looks at some states for the processes of the model, unless it names them.
    pub fn new(
        model: Arc<dyn DescribedModel + Send>,
        name: String,
        properties: Arc<[Property<Condition<'static>>]>,
    ) -> Plain {
        let lanes = Mutex::new(model.processes());
        let plain = Plain { model, name, properties, lanes };
        if plain.lanes().is_empty() {
            plain.meet_processes();
        }
        plain
    }

    fn meet_processes(&self) {
        let (begun, mut batch) = (Instant::now(), Batch::new(self.state_bytes()));
        self.initial(&mut batch);
        let (mut met, mut open) = (HashSet::new(), VecDeque::new());
        let (mut events, most) = (HashSet::new(), SAMPLE.min(SAMPLE_BYTES / self.state_bytes().max(1)));
        let mut take = |batch: &Batch, open: &mut VecDeque<Vec<u8>>| {
            for state in (0..batch.len()).map(|i| batch.state(i)) {
                if met.len() < most && met.insert(state.to_vec()) {
                    open.push_back(state.to_vec());
                }
            }
        };
        take(&batch, &mut open);
        while let Some(state) = open.pop_front().filter(|_| begun.elapsed() < PATIENCE) {
            batch.clear();
            self.expand(&state, &mut batch);
            for code in (0..batch.len()).map(|i| batch.event(i)) {
                if events.insert(code) {
                    self.lanes_of(code);
                }
            }
            take(&batch, &mut open);
        }
    }

    /// The number of the process with this name.
    fn lane(&self, name: &str) -> usize {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.iter().position(|lane| lane == name).unwrap_or_else(|| {
            lanes.push(name.to_string());
            lanes.len() - 1
        })
    }
}

impl Explorable for Plain {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn asks(&self) -> Vec<String> {
        self.properties.iter().map(|property| property.name.clone()).collect()
    }

    fn violations(&self, state: &[u8]) -> Vec<String> {
        let broken = self.properties.iter().filter(|property| match &property.kind {
            PropertyKind::Invariant(condition) => (condition.holds)(state) != Ok(true),
            _ => false,
        });
        broken.map(|property| property.name.clone()).collect()
    }

    fn lanes(&self) -> Vec<String> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lanes_of(&self, code: EventCode) -> Vec<usize> {
        let text = self.event(code);
        match text.steps.is_empty() {
            true => text.processes.iter().map(|name| self.lane(name)).collect(),
            false => text.steps.iter().map(|step| step.process as usize).collect(),
        }
    }
}

/// What is asked where a model is looked at, but for what two processes do together: that is a message from the first to
/// the second, unless the model itself says what passes.
impl Model for Plain {
    fn state_bytes(&self) -> usize {
        self.model.state_bytes()
    }

    fn initial(&self, out: &mut Batch) {
        self.model.initial(out);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        self.model.expand(state, out);
    }
}

impl Describe for Plain {
    fn passed(&self, state: &[u8], code: EventCode) -> Option<Passed> {
        self.model.passed(state, code).or_else(|| match self.lanes_of(code)[..] {
            [from, to] => Some(Passed { from: Some(from), to: Some(to), ..Passed::default() }),
            _ => None,
        })
    }

    fn event(&self, code: EventCode) -> EventText {
        self.model.event(code)
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        self.model.values(state)
    }

    fn changes(&self, before: &[u8], after: &[u8]) -> Vec<Change> {
        self.model.changes(before, after)
    }

    fn steps(&self, state: &[u8], code: EventCode, successor: &[u8]) -> Vec<(EventCode, Vec<u8>)> {
        self.model.steps(state, code, successor)
    }

    fn steps_to_fault(&self, state: &[u8], record: FaultRecord) -> Vec<(EventCode, Vec<u8>)> {
        self.model.steps_to_fault(state, record)
    }

    fn fault(&self, record: FaultRecord) -> String {
        self.model.fault(record)
    }

    fn standing(&self, state: &[u8]) -> Vec<Standing> {
        self.model.standing(state)
    }

    fn is_place(&self, entry: usize) -> bool {
        self.model.is_place(entry)
    }

    fn leaves_out_zeros(&self) -> bool {
        self.model.leaves_out_zeros()
    }

    fn printed(&self, state: &[u8], code: EventCode) -> Option<(u32, String)> {
        self.model.printed(state, code)
    }

    fn processes(&self) -> Vec<String> {
        self.model.processes()
    }
}
