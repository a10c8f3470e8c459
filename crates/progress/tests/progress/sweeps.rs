//! Sweeps over graphs, and measures that are found.

use scrimp_native::{Mode, NativeModel};
use scrimp_progress::{AutoOptions, Measure, Patience, Sample, SampleLimits, Sweeper, classes, regress};
use scrimp_system::{Batch, Model};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A random graph; a state is its number.
struct Graph {
    successors: Vec<Vec<u16>>,
}

impl Model for Graph {
    fn state_bytes(&self) -> usize {
        2
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&0u16.to_le_bytes(), 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        for next in &self.successors[u16::from_le_bytes([state[0], state[1]]) as usize] {
            out.push(&next.to_le_bytes(), 0);
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

/// The sweep-line as it is defined, on sets: the states that it expanded, the peak, and the visits.
fn obvious(graph: &Sample, class: &[u32]) -> (BTreeSet<u32>, usize, usize) {
    let mut stored: BTreeSet<u32> = (0..graph.initial() as u32).collect();
    let (mut persistent, mut expanded) = (BTreeSet::new(), BTreeSet::new());
    let mut roots: Vec<u32> = stored.iter().copied().collect();
    let (mut peak, mut visits) = (stored.len(), 0);
    while !roots.is_empty() {
        let mut open: Vec<u32> = std::mem::take(&mut roots);
        let mut closed: BTreeSet<u32> = BTreeSet::new();
        while let Some(lowest) = open.iter().map(|&s| class[s as usize]).min() {
            let gone: Vec<u32> = closed.iter().copied().filter(|&s| class[s as usize] < lowest).collect();
            for s in gone {
                closed.remove(&s);
                if !persistent.contains(&s) {
                    stored.remove(&s);
                }
            }
            let at = open.iter().position(|&s| class[s as usize] == lowest).unwrap_or(0);
            let s = open.remove(at);
            closed.insert(s);
            expanded.insert(s);
            visits += 1;
            for &t in graph.successors(s as usize) {
                if stored.insert(t) {
                    if class[t as usize] < class[s as usize] {
                        persistent.insert(t);
                        roots.push(t);
                    } else {
                        open.push(t);
                    }
                }
            }
            peak = peak.max(stored.len());
        }
        stored.retain(|s| persistent.contains(s) || !closed.contains(s));
    }
    (expanded, peak, visits)
}

#[test]
fn a_sweep_visits_every_state() {
    let mut random = Random(7);
    let mut sweeper = Sweeper::default();
    for round in 0..300 {
        let n = 1 + random.below(60);
        let degree = 1 + random.below(3);
        let successors =
            (0..n).map(|_| (0..random.below(degree + 1)).map(|_| random.below(n) as u16).collect()).collect();
        let graph = Graph { successors };
        let sample = Sample::new(&graph, SampleLimits { states: 1000, bytes: 1 << 24 }, 1);
        assert!(sample.is_complete());
        let count = 1 + random.below(8);
        let class: Vec<u32> = (0..sample.len()).map(|_| random.below(count) as u32).collect();
        let sweep = sweeper.run(&sample, &class, count, Patience::ENDLESS);
        let (expanded, peak, visits) = obvious(&sample, &class);
        assert_eq!(expanded.len(), sample.len(), "round {round}");
        assert_eq!((sweep.peak, sweep.visits, sweep.aborted), (peak, visits, false), "round {round}");
        assert!(sweep.visits >= sample.len() && sweep.peak <= sample.len());
        assert!(sweep.floor <= sweep.peak && sweep.persistent <= sweep.peak);
    }
}

fn models() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{folder}: {e}"));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "dve" || e == "pml"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

#[test]
fn found_measures_keep_their_promises() {
    let options = AutoOptions { level: Some(5), states: 3000, effort: 100_000_000, ..AutoOptions::default() };
    for path in models() {
        let system = Arc::new(scrimp_lang::load(&path).unwrap_or_else(|e| panic!("{e}")));
        let model = NativeModel::new(system.clone(), Mode::Interpreted).unwrap_or_else(|e| panic!("{e}"));
        let sample = Sample::new(&model, SampleLimits { states: options.states, bytes: options.bytes }, options.seed);
        let levels = Measure::levels(&model, &sample, options);
        let again = Measure::levels(&model, &sample, options);
        for (found, again) in levels.iter().zip(&again) {
            let text = found.measure.text();
            assert_eq!(text, again.measure.text(), "the same every time");
            let sent = Measure::of(&system, &found.measure.expressions());
            let read = Measure::parse(&system, &text).unwrap_or_else(|e| {
                // Fields of structures have no names that are read.
                let (field, named) = (e.to_string().contains("has no location or variable"), text.contains(".w."));
                assert!(field && named, "{}: {e}", path.display());
                sent.clone()
            });
            assert_eq!(read.text(), text);
            for state in (0..sample.len()).map(|number| sample.state(number)) {
                let value = found.measure.value(state);
                assert_eq!((read.value(state), sent.value(state)), (value, value), "{}: {text}", path.display());
            }
            let (class, count) = classes(&sample, &read);
            let share = scrimp_progress::SHARES[found.level as usize];
            let back = regress(&sample, &class);
            assert!(back as f64 <= share * sample.edges() as f64, "{}: {text}", path.display());
            let sweep = Sweeper::default().run(&sample, &class, count, Patience::ENDLESS);
            assert_eq!(sweep, found.sweep, "{}: {text}", path.display());
            assert!(sweep.visits <= 5 * sample.len());
        }
        assert_eq!(levels.len(), 6);
    }
}

#[test]
fn without_a_level_the_best_is_taken() {
    let path = models().into_iter().find(|path| path.ends_with("alternating_bit.dve")).unwrap_or_default();
    let system = Arc::new(scrimp_lang::load(&path).unwrap_or_else(|e| panic!("{e}")));
    let model = NativeModel::new(system, Mode::Interpreted).unwrap_or_else(|e| panic!("{e}"));
    let options = AutoOptions { effort: 100_000_000, ..AutoOptions::default() };
    let best = Measure::auto(&model, options);
    let none = Measure::auto(&model, AutoOptions { level: Some(0), ..options });
    assert!(best.complete && best.sampled == 468);
    assert_eq!((none.level, none.sweep.regress, none.sweep.visits), (0, 0, 468));
    assert!(best.sweep.peak < none.sweep.peak / 2, "{best:?}");
}

#[test]
fn samples_stay_within_their_limits() {
    let path = models().into_iter().find(|path| path.ends_with("phils8.dve")).unwrap_or_default();
    let system = Arc::new(scrimp_lang::load(&path).unwrap_or_else(|e| panic!("{e}")));
    let model = NativeModel::new(system, Mode::Interpreted).unwrap_or_else(|e| panic!("{e}"));
    let small = Sample::new(&model, SampleLimits { states: 500, bytes: 1 << 24 }, 1);
    assert!(!small.is_complete() && small.len() < 800, "{}", small.len());
    let narrow = Sample::new(&model, SampleLimits { states: usize::MAX, bytes: 100_000 }, 1);
    assert!(!narrow.is_complete() && narrow.len() * 88 < 110_000);
}
