//! Predecessors, held against successors.

use scrimp::{Batch, Describe, Fault, Model, NativeModel};
use std::collections::{HashMap, HashSet};

/// All reachable states, in the order of discovery, unless there are more than `most` or a process goes on for ever.
pub fn states(model: &dyn Model, most: usize) -> Option<Vec<Vec<u8>>> {
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    let mut all: Vec<Vec<u8>> = (0..initial.len()).map(|i| initial.state(i).to_vec()).collect();
    let mut seen: HashSet<Vec<u8>> = all.iter().cloned().collect();
    let mut at = 0;
    let mut batch = Batch::new(model.state_bytes());
    while at < all.len() {
        batch.clear();
        model.expand(&all[at], &mut batch);
        for i in 0..batch.len() {
            if !seen.contains(batch.state(i)) {
                seen.insert(batch.state(i).to_vec());
                all.push(batch.state(i).to_vec());
            }
        }
        if all.len() > most || batch.faults().iter().any(|record| record.fault == Fault::Endless) {
            return None;
        }
        at += 1;
    }
    Some(all)
}

/// Are the predecessors of all these states, which are all that can be reached, as they must be?
pub fn check(model: &NativeModel, oracle: &NativeModel, all: &[Vec<u8>]) -> Result<(), String> {
    let mut wanted: HashMap<&[u8], HashSet<&[u8]>> = all.iter().map(|s| (s.as_slice(), HashSet::new())).collect();
    let mut batch = Batch::new(model.state_bytes());
    for s in all {
        batch.clear();
        oracle.expand(s, &mut batch);
        for i in 0..batch.len() {
            wanted.get_mut(batch.state(i)).expect("a successor is reachable").insert(s);
        }
    }
    let mut before = Batch::new(model.state_bytes());
    for t in all {
        before.clear();
        match model.predecessors(t, &mut before) {
            Ok(()) => {}
            // Of this state it cannot be told.
            Err(why) if why.reason.contains("too many ways back") => continue,
            Err(why) => return Err(why.to_string()),
        }
        let found: HashSet<&[u8]> = (0..before.len()).map(|i| before.state(i)).collect();
        let show = |state: &[u8]| format!("{:?}", oracle.values(state));
        if found.len() < before.len() {
            return Err(format!("{} has a predecessor twice", show(t)));
        }
        if let Some(missing) = wanted[t.as_slice()].iter().find(|s| !found.contains(*s)) {
            return Err(format!("{} is not among the predecessors of {}", show(missing), show(t)));
        }
        for i in 0..before.len() {
            let p = before.state(i);
            batch.clear();
            oracle.expand(p, &mut batch);
            let event = |j: usize| oracle.first_event(batch.event(j));
            if !(0..batch.len()).any(|j| batch.state(j) == t.as_slice() && event(j) == before.event(i)) {
                let event = oracle.event(before.event(i)).label;
                return Err(format!("{} does not lead to {} by {event}", show(p), show(t)));
            }
        }
    }
    Ok(())
}
