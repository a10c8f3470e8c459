//! A typed model as searches see it: states are bytes of one length.

use crate::code::{Encoder, Pieces, Shape, decode, tree};
use crate::model::TypedModel;
use crate::packed::Packing;
use crate::panics::caught;
use crate::recent::Recent;
use crate::taken::{Counts, Taken};
use scrimp_core::Predicate;
use scrimp_system::{Batch, Change, Describe, EventCode, EventText, Fault, FaultRecord, Model, Spend};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// From here on codes are numbers of names. Those below are places among the actions of a state, with the process that acts.
const NAMED: EventCode = 1 << 31;
pub(crate) const PLACES: EventCode = 1 << 23;
pub(crate) const PROCESSES: usize = (NAMED / PLACES) as usize;

/// The code of what happens before there is any action: listing them.
const LISTING: EventCode = NAMED - 1;

/// The process that acts in an event of a search, by its number; from 255 on they are not told apart.
pub fn actor(code: EventCode) -> usize {
    (code / PLACES) as usize
}

/// How many states are looked at closely: are they read as they were written?
const LOOKED_AT: usize = 1000;

/// A condition on states.
pub type Holds<M> = Arc<dyn Fn(&M, &<M as TypedModel>::State) -> bool + Send + Sync>;

/// A typed model as a search sees it.
pub struct Encoded<M: TypedModel> {
    pub model: Arc<M>,
    pieces: Pieces,
    shape: Shape,
    /// How states are packed, where they are not kept in pieces.
    packing: Option<Packing<M::State>>,
    initial: Vec<Vec<u8>>,
    recent: Recent<M::State>,
    /// States are replaced by those that stand for them.
    pub(crate) symmetric: bool,
    /// What is wrong with the model itself, so that no answer would be one.
    wrong: OnceLock<String>,
    looked_at: AtomicUsize,
    /// One more than the greatest number of a process that was met.
    pub(crate) processes: AtomicUsize,
    /// How often actions are taken, once somebody wants to know.
    counts: OnceLock<Counts<M::Action>>,
    counting: AtomicBool,
    /// Events get codes by which they can be named without their states.
    naming: AtomicBool,
    names: Mutex<Names>,
}

/// Actions that were named: what they are called, and who acts.
#[derive(Default)]
struct Names {
    codes: HashMap<(String, usize), EventCode>,
    all: Vec<(String, usize)>,
}

impl<M: TypedModel> Encoded<M> {
    /// States are packed where it is said how, and else kept in pieces. Fails where the initial states cannot be written or read.
    pub fn new(model: Arc<M>, symmetric: bool, packing: Option<Packing<M::State>>) -> Result<Encoded<M>, String> {
        let begin = || model.initial().iter().map(|state| standing(&*model, state, symmetric)).collect::<Vec<_>>();
        let states = caught(begin).map_err(|message| format!("`initial` panicked: {message}"))?;
        let pieces = Pieces::default();
        let mut shape = None;
        let mut initial = Vec::new();
        let mut encoder = Encoder::new(&pieces);
        for state in &states {
            if let Some(packing) = &packing {
                shape = Some(Shape::Whole);
                initial.push(packing.packed(state)?);
                continue;
            }
            let (own, numbers) =
                encoder.encode(state).map_err(|wrong| format!("a state cannot be written: {wrong}"))?;
            if *shape.get_or_insert(own) != own {
                return Err("states are written with different fields".into());
            }
            initial.push(numbers.iter().flat_map(|number| number.to_le_bytes()).collect());
        }
        let Some(shape) = shape else { return Err("there are no initial states".into()) };
        let encoded = Encoded {
            model,
            pieces,
            shape,
            packing,
            initial,
            recent: Recent::new(),
            symmetric,
            wrong: OnceLock::new(),
            looked_at: AtomicUsize::new(0),
            processes: AtomicUsize::new(0),
            counts: OnceLock::new(),
            counting: AtomicBool::new(false),
            naming: AtomicBool::new(false),
            names: Mutex::default(),
        };
        for (bytes, state) in encoded.initial.iter().zip(&states) {
            encoded.look_at(bytes, state);
        }
        match encoded.wrong() {
            Some(wrong) => Err(wrong.into()),
            None => Ok(encoded),
        }
    }

    /// What is wrong with the model.
    pub fn wrong(&self) -> Option<&str> {
        self.wrong.get().map(String::as_str)
    }

    pub(crate) fn go_wrong(&self, why: impl FnOnce() -> String) {
        self.wrong.get_or_init(why);
    }

    /// From now on events have names, as people who walk through a model want them.
    pub fn name_events(&self) {
        self.naming.store(true, Ordering::Relaxed);
    }

    /// Actions are counted from now on, or no longer.
    pub fn count_actions(&self, counting: bool) {
        self.counting.store(counting, Ordering::Relaxed);
    }

    /// How often each kind of action was taken; `None` where nobody has counted.
    pub fn taken(&self) -> Option<Vec<Taken>> {
        self.counts.get().map(Counts::all)
    }

    /// Counts the actions of a state, of which those at these places were taken.
    #[inline]
    pub(crate) fn count(&self, actions: &[M::Action], taken: impl Iterator<Item = usize>) {
        if self.counting.load(Ordering::Relaxed) {
            self.counts.get_or_init(Counts::new).add(actions, taken);
        }
    }

    /// One more than the greatest number of a process that was met so far.
    pub fn processes(&self) -> usize {
        self.processes.load(Ordering::Relaxed)
    }

    /// The state that these bytes stand for. Where they stand for none, that is noted.
    pub fn state(&self, bytes: &[u8]) -> Option<M::State> {
        if let Some(packing) = &self.packing {
            return self.unpacked(packing, bytes);
        }
        if let Some(state) = self.recent.take(bytes) {
            return Some(state);
        }
        let read = decode(&self.pieces, self.shape, &numbers(bytes));
        read.map_err(|wrong| self.go_wrong(|| format!("a state that was written cannot be read again: {wrong}"))).ok()
    }

    /// Is a state read as it was written, and written as it was read? Looked at in the first states only.
    pub(crate) fn look_at(&self, bytes: &[u8], state: &M::State) {
        if self.looked_at.load(Ordering::Relaxed) >= LOOKED_AT {
            return;
        }
        self.looked_at.fetch_add(1, Ordering::Relaxed);
        if let Some(packing) = &self.packing {
            if let Err(wrong) = packing.comes_back(bytes, state) {
                self.go_wrong(|| wrong);
            }
            return;
        }
        let read: M::State = match decode(&self.pieces, self.shape, &numbers(bytes)) {
            Ok(read) => read,
            Err(wrong) => {
                return self
                    .go_wrong(|| format!("a state that was written cannot be read again: {wrong}\n  {}", tree(state)));
            }
        };
        if read != *state {
            let (was, is) = (tree(state), tree(&read));
            return self.go_wrong(|| {
                format!("a state is not read as it was written: does serde skip a part of it?\n  written {was}\n  read    {is}")
            });
        }
        if Encoder::new(&self.pieces).encode(&read).map(|(_, again)| again != numbers(bytes)).unwrap_or(true) {
            self.go_wrong(|| {
                let help = "use ordered collections, such as BTreeSet instead of HashSet";
                format!("equal states are written in different ways: {help}\n  {}", tree(state))
            });
        }
    }

    /// The actions of a state, or what the program said when it panicked.
    pub fn actions(&self, state: &M::State) -> Result<Vec<M::Action>, String> {
        let mut actions = Vec::new();
        caught(|| self.model.actions(state, &mut actions))?;
        Ok(actions)
    }

    /// Where an action leads.
    pub fn next(&self, state: &M::State, action: &M::Action) -> Result<Option<M::State>, String> {
        caught(|| self.model.next(state, action))
    }

    /// The state that stands for this one.
    pub fn standing(&self, state: &M::State) -> Result<M::State, String> {
        caught(|| standing(&*self.model, state, self.symmetric))
    }

    /// The place among the actions of a state that a code of a search says.
    pub fn place(&self, code: EventCode) -> usize {
        (code % PLACES) as usize
    }

    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// A condition as searches evaluate it.
    pub fn predicate<'a>(&'a self, holds: &Holds<M>) -> Predicate<'a> {
        let holds = holds.clone();
        Box::new(move |bytes| {
            let Some(state) = self.state(bytes) else { return Err(Fault::Model) };
            let answer = caught(|| holds(&self.model, &state)).map_err(|_| Fault::Model);
            if self.packing.is_none() {
                self.recent.put(bytes, state);
            }
            answer
        })
    }

    /// What the program said when it panicked at this event.
    pub fn panic_at(&self, state: &M::State, code: EventCode) -> Option<String> {
        let actions = match self.actions(state) {
            Ok(actions) => actions,
            Err(message) => return Some(format!("`actions` panicked: {message}")),
        };
        let action = actions.get((code % PLACES) as usize)?;
        let step = || self.model.next(state, action).map(|next| standing(&*self.model, &next, self.symmetric));
        caught(step).err().map(|message| format!("{action:?} panicked: {message}"))
    }

    /// A code by which an action has its name everywhere.
    pub fn name(&self, action: &M::Action) -> EventCode {
        let named = caught(|| (format!("{action:?}"), self.model.process(action)));
        let (name, process) = named.unwrap_or_else(|_| ("an action that cannot be shown".into(), 0));
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let next = NAMED + names.all.len() as EventCode;
        let code = *names.codes.entry((name.clone(), process)).or_insert(next);
        if code == next {
            names.all.push((name, process));
        }
        code
    }

    /// The process of an action, by its number.
    pub fn process(&self, action: &M::Action) -> usize {
        let process = caught(|| self.model.process(action)).unwrap_or(0);
        self.processes.fetch_max(process + 1, Ordering::Relaxed);
        process
    }

    pub(crate) fn too_many(&self, actions: usize, state: &M::State) -> String {
        format!("{actions} actions in one state are too many\n  {}", tree(state))
    }

    fn expand_state(&self, state: &M::State, out: &mut Batch) {
        let actions = match self.actions(state) {
            Ok(actions) => actions,
            Err(_) => {
                out.push_fault(LISTING, Fault::Model);
                return out.declare_deadlock(false);
            }
        };
        let naming = self.naming.load(Ordering::Relaxed);
        let mut encoder = Encoder::new(&self.pieces);
        let mut bytes = vec![0; self.state_bytes()];
        let mut happened = Vec::new();
        if actions.len() >= PLACES as usize - 1 {
            return self.go_wrong(|| self.too_many(actions.len(), state));
        }
        for (place, action) in actions.iter().enumerate() {
            let process = self.process(action).min(PROCESSES - 1) as EventCode;
            let code = if naming { self.name(action) } else { process * PLACES + place as EventCode };
            let next = caught(|| {
                let next = self.model.next(state, action)?;
                Some(if self.symmetric { self.model.canonical(&next) } else { next })
            });
            let next = match next {
                Ok(Some(next)) => next,
                Ok(None) => continue,
                Err(_) => {
                    happened.push(place);
                    out.push_fault(code, Fault::Model);
                    continue;
                }
            };
            happened.push(place);
            if let Some(packing) = &self.packing {
                if let Err(wrong) = packing.push(&next, code, out) {
                    return self.go_wrong(|| wrong);
                }
                self.look_at(out.state(out.len() - 1), &next);
                continue;
            }
            match encoder.encode(&next) {
                Ok((shape, numbers)) if shape == self.shape => {
                    for (bytes, number) in bytes.chunks_exact_mut(4).zip(numbers) {
                        bytes.copy_from_slice(&number.to_le_bytes());
                    }
                }
                Ok(_) => {
                    return self.go_wrong(|| format!("states are written with different fields\n  {}", tree(&next)));
                }
                Err(wrong) => {
                    return self.go_wrong(|| format!("a state cannot be written: {wrong}\n  {}", tree(&next)));
                }
            }
            out.push(&bytes, code);
            self.look_at(&bytes, &next);
            self.recent.written(encoder.written);
            self.recent.put(&bytes, next);
        }
        // What panics is an error of its own.
        out.declare_deadlock(happened.is_empty());
        self.count(&actions, happened.into_iter());
    }
}

/// The state that stands for this one.
fn standing<M: TypedModel>(model: &M, state: &M::State, symmetric: bool) -> M::State {
    if symmetric { model.canonical(state) } else { state.clone() }
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|number| u32::from_le_bytes(number.try_into().unwrap_or_default())).collect()
}

impl<M: TypedModel> Model for Encoded<M> {
    fn state_bytes(&self) -> usize {
        self.packing.map_or(4 * self.shape.numbers(), |packing| packing.bytes)
    }

    fn initial(&self, out: &mut Batch) {
        self.initial.iter().for_each(|state| out.push(state, 0));
    }

    fn expand(&self, bytes: &[u8], out: &mut Batch) {
        // Nothing that comes of a wrong model is an answer.
        if self.wrong.get().is_some() {
            return;
        }
        let state = &self.state(bytes);
        let Some(state) = state else { return };
        if let Some(packing) = self.packing.as_ref().filter(|_| !self.naming.load(Ordering::Relaxed))
            && self.expand_packed(packing, state, out)
        {
            return;
        }
        self.expand_state(state, out);
    }

    fn components(&self) -> Vec<Vec<Range<usize>>> {
        if let Some(packing) = &self.packing {
            return packing.components();
        }
        (0..self.shape.numbers()).map(|field| std::iter::once(4 * field..4 * field + 4).collect()).collect()
    }

    fn spend_from(&self, budget: Arc<dyn Spend>) {
        self.pieces.spend_from(budget);
    }
}

impl<M: TypedModel> Describe for Encoded<M> {
    fn event(&self, code: EventCode) -> EventText {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let named = code.checked_sub(NAMED).and_then(|number| names.all.get(number as usize));
        match named {
            Some((label, process)) => {
                let processes = if self.processes() > 1 { vec![format!("process {process}")] } else { Vec::new() };
                EventText { label: label.clone(), processes, ..EventText::default() }
            }
            None if code == LISTING => EventText { label: "`actions`".into(), ..EventText::default() },
            None => EventText { label: format!("action {}", code % PLACES), ..EventText::default() },
        }
    }

    fn values(&self, bytes: &[u8]) -> Vec<(String, String)> {
        match self.state(bytes) {
            Some(state) => tree(&state).entries(),
            None => vec![("state".into(), "?".into())],
        }
    }

    /// By names: what a vector or a map holds may come and go.
    fn changes(&self, before: &[u8], after: &[u8]) -> Vec<Change> {
        let (old, new) = (self.values(before), self.values(after));
        let find = |all: &[(String, String)], name: &str| all.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
        let mut changes = Vec::new();
        for (entry, (name, is)) in new.iter().enumerate() {
            let was = find(&old, name).unwrap_or_else(|| "-".into());
            if was != *is {
                changes.push(Change { entry, name: name.clone(), before: was, after: is.clone() });
            }
        }
        for (entry, (name, was)) in old.iter().enumerate().filter(|(_, (name, _))| find(&new, name).is_none()) {
            changes.push(Change { entry, name: name.clone(), before: was.clone(), after: "-".into() });
        }
        changes
    }

    fn fault(&self, record: FaultRecord) -> String {
        match record.fault {
            Fault::Model => "the model panicked".into(),
            fault => fault.to_string(),
        }
    }
}
