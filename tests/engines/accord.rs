//! Dependence against what models really do: in every reachable state, events that accord must accord, guards say where an
//! event is enabled, and nothing becomes true, false or different that was said not to.

use crate::common;
use crate::common::shared::{self, Mixture};
use crate::common::{faulty, files};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use scrimp::{Batch, Fault, Mode, Model, NativeModel, System};
use scrimp_system::{Condition, Dependence, EventId, Expr, Guard, Random};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// What an event leads to.
#[derive(Default, Clone, PartialEq, Eq)]
struct Outcome {
    states: BTreeSet<Vec<u8>>,
    /// Violated assertions, and faults of any other kind.
    faults: BTreeSet<bool>,
}

/// How often each statement was put to the test.
#[derive(Debug, Default)]
struct Seen {
    states: usize,
    accords: usize,
    conflicts: usize,
    enabled: usize,
    spared: usize,
    falsified: usize,
    changed: usize,
    faults: usize,
}

struct Check<'a> {
    model: &'a NativeModel,
    system: &'a System,
    dependence: Dependence,
    /// Single steps, so that a fault is that of the event that is called by it.
    single: bool,
    known: HashMap<Vec<u8>, BTreeMap<u32, Outcome>>,
}

impl Check<'_> {
    /// The events of a state, each with what it leads to.
    fn outcomes(&mut self, state: &[u8]) -> BTreeMap<u32, Outcome> {
        if let Some(known) = self.known.get(state) {
            return known.clone();
        }
        let mut batch = Batch::new(self.model.state_bytes());
        let mut source = Batch::new(self.model.state_bytes());
        source.push(state, 0);
        self.model.expand(source.state(0), &mut batch);
        let mut outcomes: BTreeMap<u32, Outcome> = BTreeMap::new();
        for i in 0..batch.len() {
            let event = self.model.parts(batch.event(i)).0.unwrap();
            outcomes.entry(event).or_default().states.insert(batch.state(i).to_vec());
        }
        for record in batch.faults().iter().filter(|_| self.single) {
            outcomes.entry(record.event).or_default().faults.insert(record.fault == Fault::Assertion);
        }
        self.known.insert(state.to_vec(), outcomes.clone());
        outcomes
    }

    fn label(&self, event: u32) -> String {
        format!("{event} {}", self.system.events[event as usize].label)
    }

    /// The events whose guards hold.
    fn enabled(&self, state: &[u8]) -> Vec<u32> {
        let all_hold = |e: &u32| self.dependence.guards(EventId(*e)).iter().all(|g| self.dependence.holds(*g, state));
        (0..self.dependence.events() as u32).filter(all_hold).collect()
    }

    fn pair(&mut self, s: &[u8], a: u32, b: u32) {
        let here = self.outcomes(s);
        let of = |outcomes: &BTreeMap<u32, Outcome>, e: u32| outcomes.get(&e).cloned().unwrap_or_default();
        let mut ends = [BTreeSet::new(), BTreeSet::new()];
        for (number, (one, other)) in [(a, b), (b, a)].into_iter().enumerate() {
            let before = of(&here, other);
            for t in of(&here, one).states {
                let name = format!("{}: {} and {}", self.system.source.name, self.label(one), self.label(other));
                assert!(self.enabled(&t).contains(&other), "{name}: the first disables the second");
                let after = of(&self.outcomes(&t), other);
                assert_eq!(before.faults, after.faults, "{name}");
                assert_eq!(before.states.is_empty(), after.states.is_empty(), "{name}");
                ends[number].extend(after.states);
            }
        }
        let both = !of(&here, a).states.is_empty() && !of(&here, b).states.is_empty();
        if both {
            assert_eq!(ends[0], ends[1], "{}: {} and {}", self.system.source.name, self.label(a), self.label(b));
        }
    }

    fn run(&mut self, conditions: &[(Expr, bool)], most: usize, seen: &mut Seen) {
        let compiled: Vec<Condition> =
            conditions.iter().map(|(e, fault)| self.dependence.condition(e, *fault)).collect();
        let visible: Vec<Vec<bool>> = conditions.iter().map(|(e, _)| self.dependence.visible(e)).collect();
        let falsifying: Vec<Vec<bool>> = compiled.iter().map(|c| self.dependence.falsifying(c)).collect();
        let guards = self.dependence.guard_count() as Guard;
        let mut initial = Batch::new(self.model.state_bytes());
        self.model.initial(&mut initial);
        let mut queue: VecDeque<Vec<u8>> = (0..initial.len()).map(|i| initial.state(i).to_vec()).collect();
        let mut visited: BTreeSet<Vec<u8>> = queue.iter().cloned().collect();
        while let Some(s) = queue.pop_front() {
            seen.states += 1;
            let here = self.outcomes(&s);
            let enabled = self.enabled(&s);
            let late = here.keys().any(|e| self.system.events[*e as usize].late);
            let name = self.system.source.name.clone();
            for e in here.keys().filter(|_| !late) {
                assert!(enabled.contains(e), "{name}: {} is enabled", self.label(*e));
            }
            for e in enabled.iter().filter(|_| self.single && !late) {
                assert!(here.contains_key(e), "{name}: {} is not enabled", self.label(*e));
            }
            let faults = common::successors(self.model, &s).faults().to_vec();
            seen.faults += faults.len();
            for record in faults {
                // Where steps run as one, the fault may be that of a later one; a late event that ends so is not among the
                // enabled ones.
                let is_late = |e: &u32| self.system.events[*e as usize].late;
                let lates = (0..self.system.events.len() as u32).filter(is_late);
                let told = match self.single || is_late(&record.event) {
                    true => self.dependence.may_fault(EventId(record.event)),
                    false => enabled.iter().copied().chain(lates).any(|e| self.dependence.may_fault(EventId(e))),
                };
                assert!(told, "{name}: {} ends in {:?}", self.label(record.event), record.fault);
            }
            for (i, &a) in enabled.iter().enumerate().filter(|_| !late) {
                for &b in &enabled[i + 1..] {
                    let conflicts = self.dependence.conflicts(EventId(a)).contains(&b);
                    assert_eq!(conflicts, self.dependence.conflicts(EventId(b)).contains(&a));
                    if conflicts {
                        seen.conflicts += 1;
                    } else {
                        self.pair(&s, a, b);
                        seen.accords += 1;
                    }
                }
            }
            let layout = self.model.layout();
            let held: Vec<bool> = (0..guards).map(|g| self.dependence.holds(g, &s)).collect();
            for (k, (e, fault)) in conditions.iter().enumerate() {
                let holds = compiled[k].holds(&mut |g| held[g as usize]);
                assert_eq!(holds, layout.holds(e, &s).unwrap_or(*fault), "{name}: {e:?}");
            }
            for (&e, outcome) in &here {
                for t in &outcome.states {
                    for g in (0..guards).filter(|g| !held[*g as usize]) {
                        let allowed = self.dependence.enabling(g).binary_search(&e).is_ok();
                        seen.spared += !allowed as usize;
                        if self.dependence.holds(g, t) {
                            assert!(allowed, "{name}: {} makes guard {g} true", self.label(e));
                            seen.enabled += 1;
                        }
                    }
                    for (k, (condition, _)) in conditions.iter().enumerate() {
                        let before = compiled[k].holds(&mut |g| held[g as usize]);
                        let after = compiled[k].holds(&mut |g| self.dependence.holds(g, t));
                        if before && !after {
                            assert!(falsifying[k][e as usize], "{name}: {} falsifies {condition:?}", self.label(e));
                            seen.falsified += 1;
                        }
                        if layout.eval(condition, &s) != layout.eval(condition, t) {
                            assert!(visible[k][e as usize], "{name}: {} changes {condition:?}", self.label(e));
                            seen.changed += 1;
                        }
                    }
                    if visited.len() < most && visited.insert(t.clone()) {
                        queue.push_back(t.clone());
                    }
                }
            }
        }
    }
}

fn check(system: Arc<System>, seed: u64, most: usize, seen: &mut Seen) {
    if Dependence::refused(&system).is_some() {
        return;
    }
    let model = NativeModel::new(system.clone(), Mode::Interpreted).unwrap();
    let mut random = Random(seed);
    let conditions: Vec<(Expr, bool)> = (0..8)
        .map(|k| match k {
            0..6 => (shared::condition(&mut random, &system), k % 2 == 0),
            _ => (faulty::expression(&mut random, &system, 2), k % 2 == 0),
        })
        .collect();
    let single = system.events.iter().all(|event| event.then.exclusive().is_none());
    let dependence = Dependence::new(&system);
    let mut check = Check { model: &model, system: &system, dependence, single, known: HashMap::new() };
    check.run(&conditions, most, seen);
}

/// How many random systems of each kind.
fn many(usual: u64) -> u64 {
    std::env::var("SCRIMP_MANY").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn models_do_only_what_is_allowed() {
    let mut seen = Seen::default();
    for file in files() {
        let most = if file.name.ends_with(".pml") { 600 } else { 400 };
        check(file.system.clone(), 1, most * many(1) as usize, &mut seen);
    }
    assert!(seen.accords > 10_000 && seen.conflicts > 10_000 && seen.enabled > 10_000, "{seen:?}");
}

#[test]
fn systems_that_share_do_only_what_is_allowed() {
    let mut seen = Seen::default();
    for seed in 0..many(400) {
        let mixture = Mixture { processes: 2 + (seed % 3) as usize, special: seed % 4 == 3 };
        check(Arc::new(shared::system(seed, mixture)), seed, 400, &mut seen);
    }
    assert!(seen.accords > 50_000 && seen.conflicts > 20_000 && seen.enabled > 50_000, "{seen:?}");
    assert!(seen.spared > 5 * seen.enabled && seen.falsified > 5_000 && seen.changed > 5_000, "{seen:?}");
}

#[test]
fn systems_with_faults_do_only_what_is_allowed() {
    let mut seen = Seen::default();
    for seed in 0..many(600) {
        check(Arc::new(faulty::system(seed, seed % 3 == 2)), seed, 150, &mut seen);
    }
    assert!(seen.faults > 20_000 && seen.accords > 10_000 && seen.conflicts > 10_000, "{seen:?}");
    assert!(seen.spared > seen.enabled && seen.falsified > 1_000 && seen.changed > 5_000, "{seen:?}");
}

#[test]
fn random_texts_do_only_what_is_allowed() {
    let seen = std::cell::RefCell::new(Seen::default());
    let config = Config { cases: many(300) as u32, failure_persistence: None, ..Config::default() };
    let shape = common::random::Shape { processes: (2, 3), independent: 2 };
    let result = TestRunner::new(config).run(&(common::random::text(shape), any::<u64>()), |(text, seed)| {
        check(Arc::new(text.system().unwrap()), seed, 300, &mut seen.borrow_mut());
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    assert!(seen.borrow().accords > 1_000, "{seen:?}");
}
