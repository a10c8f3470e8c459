//! The dependency facts against what models really do: on every transition of every small model, an event that becomes
//! enabled or disabled must be one that the facts allow, and events said to commute must commute.

use crate::common::{faulty, manifest, successors};
use scrimp::{Mode, Model, NativeModel};
use scrimp_system::{EventId, Facts};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

const MOST_STATES: usize = 2_000;

/// What one model showed: how often each fact was put to the test.
#[derive(Default)]
struct Seen {
    enabled: usize,
    disabled: usize,
    commuted: usize,
    independent: usize,
}

fn hold_against_runs(model: &NativeModel, seen: &mut Seen) {
    let system = model.system();
    let facts = Facts::new(system);
    let name = &system.source.name;
    let label = |e: u32| &system.events[e as usize].label;
    let enabled = |state: &[u8]| -> HashMap<u32, Vec<u8>> {
        let batch = successors(model, state);
        (0..batch.len()).map(|i| (batch.event(i), batch.state(i).to_vec())).collect()
    };
    let mut initial = scrimp::Batch::new(model.state_bytes());
    model.initial(&mut initial);
    let mut queue: VecDeque<Vec<u8>> = (0..initial.len()).map(|i| initial.state(i).to_vec()).collect();
    let mut visited: HashSet<Vec<u8>> = queue.iter().cloned().collect();
    while let Some(state) = queue.pop_front() {
        let before = enabled(&state);
        for (&a, next) in &before {
            let after = enabled(next);
            for &b in after.keys().filter(|b| !before.contains_key(b)) {
                assert!(facts.may_enable(EventId(a), EventId(b)), "{name}: {} enables {}", label(a), label(b));
                seen.enabled += 1;
            }
            for &b in before.keys().filter(|b| !after.contains_key(b)) {
                assert!(facts.may_disable(EventId(a), EventId(b)), "{name}: {} disables {}", label(a), label(b));
                seen.disabled += 1;
            }
            for (&b, other) in &before {
                assert!(facts.may_be_coenabled(EventId(a), EventId(b)), "{name}: {} beside {}", label(a), label(b));
                if a < b && facts.commute(EventId(a), EventId(b)) {
                    let one = after.get(&b);
                    let two = enabled(other);
                    assert!(one.is_some() && one == two.get(&a), "{name}: {} and {}", label(a), label(b));
                    seen.commuted += 1;
                }
            }
            if visited.len() < MOST_STATES && visited.insert(next.clone()) {
                queue.push_back(next.clone());
            }
        }
    }
    let pairs =
        (0..system.events.len() as u32).flat_map(|a| (0..a).map(move |b| (EventId(a), EventId(b)))).take(10_000);
    seen.independent += pairs.filter(|&(a, b)| facts.commute(a, b) && !facts.may_enable(a, b)).count();
}

#[test]
fn facts_allow_what_happens() {
    let mut seen = Seen::default();
    for entry in std::fs::read_dir(manifest().join("models")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "dve") {
            continue;
        }
        let system = Arc::new(scrimp::load(&path).unwrap());
        if system.claim.is_none() {
            hold_against_runs(&NativeModel::new(system, Mode::Interpreted).unwrap(), &mut seen);
        }
    }
    // The test means something only if all of these happened, often.
    let Seen { enabled, disabled, commuted, independent } = seen;
    assert!(enabled > 10_000 && disabled > 10_000 && commuted > 10_000 && independent > 1_000);
}

#[test]
fn facts_allow_what_happens_where_much_goes_wrong() {
    let mut seen = Seen::default();
    for seed in 0..600 {
        let system = Arc::new(faulty::system(seed, false));
        hold_against_runs(&NativeModel::new(system, Mode::Interpreted).unwrap(), &mut seen);
    }
    let Seen { enabled, disabled, commuted, independent } = seen;
    assert!(enabled > 10_000 && disabled > 10_000 && commuted > 5_000 && independent > 1_000);
}
