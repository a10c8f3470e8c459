//! A typed model as searches see it: states are bytes of one length.

use crate::code::{Buffers, hash, tree};
use crate::coding::Coding;
use crate::expand::{OfThread, undroppable};
use crate::local::Claims;
use crate::model::TypedModel;
use crate::packed::Packing;
use crate::panics::caught;
use crate::per_thread::PerThread;
use crate::taken::{Counts, Taken};
use crate::watch::{Call, Watch};
use scrimp_core::Predicate;
use scrimp_system::{Batch, Change, Describe, EventCode, EventText, Fault, FaultRecord, Model, Spend};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// From here on codes are numbers of names. Those below are places among the actions of a state, with the process that acts.
pub(crate) const NAMED: EventCode = 1 << 31;
pub(crate) const PLACES: EventCode = 1 << 23;

/// Added to the place of an action that concerns its process alone.
pub(crate) const LOCAL: EventCode = PLACES;
pub(crate) const PROCESSES: usize = (NAMED / (2 * PLACES)) as usize;

/// The code of what happens before there is any action: listing them.
pub(crate) const LISTING: EventCode = NAMED - 1;

/// The process that acts in an event of a search, by its number; from 127 on they are not told apart.
pub fn actor(code: EventCode) -> usize {
    (code / (2 * PLACES)) as usize
}

/// How many states are looked at closely: are they read as they were written?
const LOOKED_AT: usize = 1000;

/// A condition on states.
pub type Holds<M> = Arc<dyn Fn(&M, &<M as TypedModel>::State) -> bool + Send + Sync>;

/// A number for each state.
pub type Measure<M> = Arc<dyn Fn(&M, &<M as TypedModel>::State) -> u64 + Send + Sync>;

/// What searches may go by: how far a state is, and how promising; low values come first.
pub struct Guides<M: TypedModel> {
    /// How far.
    pub progress: Option<Measure<M>>,
    /// How promising.
    pub heuristic: Option<Measure<M>>,
}

impl<M: TypedModel> Default for Guides<M> {
    fn default() -> Guides<M> {
        Guides { progress: None, heuristic: None }
    }
}

/// A typed model as a search sees it.
pub struct Encoded<M: TypedModel> {
    /// The model itself.
    pub model: Arc<M>,
    /// Who watches over the model's own code.
    pub watch: Arc<Watch>,
    pub(crate) coding: Coding<M::State>,
    initial: Vec<Vec<u8>>,
    threads: PerThread<OfThread<M>>,
    /// States are replaced by those that stand for them.
    pub(crate) symmetric: bool,
    /// What searches go by.
    pub guides: Guides<M>,
    /// What is local is said with each event, and tried out.
    pub(crate) local: Option<Claims<M>>,
    /// What is wrong with the model itself, so that no answer would be one.
    wrong: OnceLock<String>,
    looked_at: AtomicUsize,
    /// One more than the greatest number of a process that was met.
    processes: AtomicUsize,
    /// How often actions are taken, once somebody wants to know.
    counts: OnceLock<Counts<M::Action>>,
    counting: AtomicBool,
    /// Events get codes by which they can be named without their states.
    pub(crate) naming: AtomicBool,
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
    pub fn new(
        model: Arc<M>,
        symmetric: bool,
        packing: Option<Packing<M::State>>,
        watch: Arc<Watch>,
    ) -> Result<Encoded<M>, String> {
        let stands = |state| watch.running(Call::Canonical, || standing(&*model, &state, symmetric));
        let begin = || model.initial().into_iter().map(stands).collect::<Vec<_>>();
        let states = watch.running(Call::Initial, || caught(begin));
        let states = states.map_err(|message| format!("`initial` panicked: {message}"))?;
        let mut written = 0;
        let (coding, initial) = Coding::of(&states, packing, |more| {
            written += more;
            watch.cuts(&mut written)
        })?;
        let encoded = Encoded {
            model,
            watch,
            coding,
            initial,
            threads: PerThread::default(),
            symmetric,
            guides: Guides::default(),
            local: None,
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
        if let Err(said) = caught(|| drop(states)) {
            encoded.go_wrong(|| undroppable(&said));
        }
        match encoded.wrong() {
            Some(wrong) => Err(wrong.into()),
            None => Ok(encoded),
        }
    }

    /// From now on it is said of events whether they concern one process alone, which must not change these conditions.
    pub fn say_local(&mut self, conditions: Vec<(String, Holds<M>)>) {
        self.local = Some(Claims::new(conditions));
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

    /// Counts the actions of a state, of which those at these places, in order, were taken.
    pub(crate) fn count(&self, actions: &[M::Action], taken: &[usize]) {
        self.counts.get_or_init(Counts::new).add(actions, taken.iter().copied());
    }

    /// Are actions counted?
    pub(crate) fn is_counting(&self) -> bool {
        self.counting.load(Ordering::Relaxed)
    }

    /// One more than the greatest number of a process that was met so far.
    pub fn processes(&self) -> usize {
        self.processes.load(Ordering::Relaxed)
    }

    /// The state that these bytes stand for. Where they stand for none, that is noted.
    pub fn state(&self, bytes: &[u8]) -> Option<M::State> {
        match caught(|| self.coding.read(bytes, &mut Buffers::default())) {
            Ok(Ok(state)) => Some(state),
            Ok(Err(wrong)) => self.unread(Ok(wrong)),
            Err(said) => self.unread(Err(said)),
        }
    }

    /// Is a state read as it was written, and written as it was read? Looked at in the first states only.
    #[inline]
    pub(crate) fn look_at(&self, bytes: &[u8], state: &M::State) {
        if self.looked_at.load(Ordering::Relaxed) < LOOKED_AT {
            self.look_closely(bytes, state);
        }
    }

    #[cold]
    fn look_closely(&self, bytes: &[u8], state: &M::State) {
        self.looked_at.fetch_add(1, Ordering::Relaxed);
        let back = self.watch.running(Call::Reading, || caught(|| self.coding.comes_back(bytes, state)));
        let panics = |said| Err(format!("reading a state or comparing it panics: {said}\n  {}", tree(state)));
        if let Err(wrong) = back.unwrap_or_else(panics) {
            self.go_wrong(|| wrong);
        }
    }

    /// The bytes of a state.
    pub fn bytes(&self, state: &M::State) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; self.state_bytes()];
        self.coding.write(state, &mut Buffers::default(), &mut bytes)?;
        Ok(bytes)
    }

    /// The initial states as they are, or what the program said when it panicked.
    pub fn initial_states(&self) -> Result<Vec<M::State>, String> {
        self.watch.running(Call::Initial, || caught(|| self.model.initial()))
    }

    /// The actions of a state, or what the program said when it panicked.
    pub fn actions(&self, state: &M::State) -> Result<Vec<M::Action>, String> {
        let mut actions = Vec::new();
        self.watch.running(Call::Actions, || caught(|| self.model.actions(state, &mut actions)))?;
        Ok(actions)
    }

    /// Where an action leads.
    pub fn next(&self, state: &M::State, action: &M::Action) -> Result<Option<M::State>, String> {
        self.watch.running(Call::Next, || caught(|| self.model.next(state, action)))
    }

    /// The state that stands for this one.
    pub fn standing(&self, state: &M::State) -> Result<M::State, String> {
        self.watch.running(Call::Canonical, || caught(|| standing(&*self.model, state, self.symmetric)))
    }

    /// The place among the actions of a state that a code of a search says.
    pub fn place(&self, code: EventCode) -> usize {
        (code % PLACES) as usize
    }

    /// Are states replaced by those that stand for them?
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Does a condition hold in a state?
    pub fn holds(&self, holds: &Holds<M>, state: &M::State) -> Result<bool, String> {
        self.watch.running(Call::Condition, || caught(|| holds(&self.model, state)))
    }

    /// A condition as searches evaluate it.
    pub fn predicate<'a>(&'a self, holds: &Holds<M>) -> Predicate<'a> {
        let holds = holds.clone();
        Box::new(move |bytes| match self.ask(bytes, |state| holds(&self.model, state)) {
            Some(Ok(holds)) => Ok(holds),
            _ => Err(Fault::Model),
        })
    }

    /// What is measured of a state. A measure that panics is none.
    fn measured(&self, measure: Option<&Measure<M>>, bytes: &[u8]) -> Option<u128> {
        let measure = measure?;
        let value = self.ask(bytes, |state| measure(&self.model, state))?;
        value
            .map(u128::from)
            .map_err(|said| self.go_wrong(|| format!("a measure panics: {said}\n  {}", self.shown(bytes))))
            .ok()
    }

    /// What a function of the user's says of the state with these bytes, if there is one, or what it says when it panics.
    fn ask<T>(&self, bytes: &[u8], ask: impl FnOnce(&M::State) -> T) -> Option<Result<T, String>> {
        self.watch.noting(Call::Reading, |noted| {
            let ask = |state: &M::State| {
                noted.begin(Call::Condition);
                ask(state)
            };
            let said = caught(|| {
                if let Coding::Packed(packing) = &self.coding {
                    return packing.unpacked(bytes).map(|state| ask(&state));
                }
                let OfThread { recent, buffers, .. } = &mut *self.threads.own();
                let state = recent.take(bytes).map_or_else(|| self.coding.read(bytes, buffers), Ok)?;
                let said = ask(&state);
                recent.put(bytes, state);
                Ok(said)
            });
            match said {
                Err(said) if noted.call() == Call::Reading => self.unread(Err(said)),
                Err(said) => Some(Err(said)),
                Ok(Err(wrong)) => self.unread(Ok(wrong)),
                Ok(Ok(said)) => Some(Ok(said)),
            }
        })
    }

    /// Notes that a state cannot be read: what is wrong, or what the program said when it panicked.
    #[cold]
    pub(crate) fn unread<T>(&self, why: Result<String, String>) -> Option<T> {
        self.go_wrong(|| why.unwrap_or_else(|said| format!("reading a state panics: {said}")));
        None
    }

    /// What the program said when it panicked at this event.
    pub fn panic_at(&self, state: &M::State, code: EventCode) -> Option<String> {
        let actions = match self.actions(state) {
            Ok(actions) => actions,
            Err(message) => return Some(format!("`actions` panicked: {message}")),
        };
        let step = |action: &M::Action| {
            let next = self.model.next(state, action).map(|next| standing(&*self.model, &next, self.symmetric));
            (next.map(|next| self.bytes(&next)), self.model.process(action), self.model.local(state, action))
        };
        let said = |action: &M::Action| {
            let message = caught(|| step(action)).err()?;
            Some(format!("{} panicked: {message}", caught(|| format!("{action:?}")).unwrap_or_default()))
        };
        // Where states stand for others, places are those of another state.
        let likely = actions.get(self.place(code)).filter(|_| !self.symmetric);
        likely.and_then(said).or_else(|| actions.iter().find_map(said))
    }

    /// A state as people read it.
    pub fn shown(&self, bytes: &[u8]) -> String {
        self.state(bytes).map_or_else(|| "a state that cannot be shown".into(), |state| tree(&state).to_string())
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
        let process = self.watch.running(Call::Process, || caught(|| self.model.process(action))).unwrap_or(0);
        self.meet(process);
        process
    }

    /// A process was met.
    pub(crate) fn meet(&self, process: usize) {
        if process >= self.processes.load(Ordering::Relaxed) {
            self.processes.fetch_max(process + 1, Ordering::Relaxed);
        }
    }
}

/// The state that stands for this one.
fn standing<M: TypedModel>(model: &M, state: &M::State, symmetric: bool) -> M::State {
    if symmetric { model.canonical(state) } else { state.clone() }
}

impl<M: TypedModel> Model for Encoded<M> {
    fn state_bytes(&self) -> usize {
        self.coding.state_bytes()
    }

    fn initial(&self, out: &mut Batch) {
        self.initial.iter().for_each(|state| out.push(state, 0));
    }

    fn expand(&self, bytes: &[u8], out: &mut Batch) {
        // Nothing that comes of a wrong model is an answer.
        if self.wrong.get().is_some() {
            return;
        }
        self.expand_with(bytes, &mut self.threads.own(), out);
    }

    fn progress(&self, state: &[u8]) -> Option<u128> {
        self.measured(self.guides.progress.as_ref(), state)
    }

    fn heuristic(&self, state: &[u8]) -> Option<u128> {
        self.measured(self.guides.heuristic.as_ref(), state)
    }

    fn knows_local(&self) -> bool {
        self.local.is_some()
    }

    fn actor(&self, code: EventCode) -> (u32, bool) {
        (actor(code) as u32, code & LOCAL != 0)
    }

    fn components(&self) -> Vec<Vec<Range<usize>>> {
        self.coding.components()
    }

    /// How states are written, and whether some stand for others.
    fn digest(&self) -> Option<u64> {
        let how = format!("{} {} {}", std::any::type_name::<M::State>(), self.symmetric, self.coding.is_dear());
        Some(hash(how.as_bytes()))
    }

    /// What is expanded from now on is not counted twice.
    fn searched(&self) {
        self.count_actions(false);
    }

    fn spend_from(&self, budget: Arc<dyn Spend>) {
        self.coding.spend_from(budget);
    }

    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.coding.save(out)
    }

    fn restore(&self, from: &mut dyn Read) -> io::Result<()> {
        self.coding.restore(from)
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
