//! Runs, lookups and whole searches with so little memory that everything spills and merges.

use super::buffer::Buffer;
use super::filter::Filter;
use super::merge::{Merge, Source};
use super::ranges::Samples;
use super::run::{Help, Reader, To, Writer};
use super::*;
use crate::breadth_first;
use crate::check::{self, Audit};
use crate::outcome::Position;
use crate::store::{Store, Table};
use crate::words::hash;
use scrimp_system::{Batch, Random};
use std::collections::BTreeSet;

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(8 << 30))
}

fn scratch() -> Arc<Scratch> {
    Scratch::new(&std::env::temp_dir(), u64::MAX).unwrap()
}

/// Ascending random states, near each other.
fn states(n: usize, count: usize, random: &mut Random) -> BTreeSet<Vec<u8>> {
    (0..count).map(|_| (0..n).map(|i| random.below(if i % 4 == 0 { 3 } else { 6 }) as u8).collect()).collect()
}

#[test]
fn a_run_is_read_as_it_was_written() {
    let (budget, scratch, mut random) = (budget(), scratch(), Random(3));
    for n in [1, 2, 15, 16, 17, 20, 255, 256, 257, 300, 70_000] {
        let expected = states(n, if n > 1000 { 20 } else { 5000 }, &mut random);
        let pool = Pool::new(1 << 20, &budget);
        for help in [Help::None, Help::Cuts(&pool), Help::Lookup(None, &pool), Help::Lookup(Some(500), &pool)] {
            let mut writer = Writer::new(n, To::Own(&scratch), help);
            expected.iter().for_each(|state| writer.push(state).unwrap());
            let (run, aids) = writer.finish().unwrap();
            assert_eq!(run.count, expected.len() as u64);
            let mut reader = Reader::new(&run, aids.as_ref().map(|aids| &aids.index));
            for state in &expected {
                assert!(reader.next().unwrap());
                assert_eq!(reader.state(), state, "{n} bytes");
            }
            assert!(!reader.next().unwrap());
        }
    }
}

/// With much memory for the index, with little, and with none.
#[test]
fn a_run_knows_what_it_holds() {
    let (budget, scratch, mut random) = (budget(), scratch(), Random(5));
    for n in [1, 3, 16, 20, 300] {
        for (memory, many) in [(1 << 20, 20_000), (1 << 10, 20_000), (0, 5_000), (1 << 20, 3)] {
            let pool = Pool::new(memory, &budget);
            let all: Vec<Vec<u8>> = states(n, many, &mut random).into_iter().collect();
            let mut writer = Writer::new(n, To::Own(&scratch), Help::Lookup(Filter::words(many as u64, &pool), &pool));
            let held = |i: usize| i % 3 == 1 || i % 7 == 2;
            all.iter().enumerate().filter(|(i, _)| held(*i)).for_each(|(_, state)| writer.push(state).unwrap());
            let (run, aids) = writer.finish().unwrap();
            let Aids { index, filter } = aids.unwrap();
            for stride in [1, 2, 50, 1001] {
                let mut reader = Reader::new(&run, Some(&index));
                for (i, state) in all.iter().enumerate().step_by(stride) {
                    assert_eq!(reader.holds(state).unwrap(), held(i), "{n} bytes, memory {memory}, {i} of {many}");
                    let may = filter.as_ref().is_none_or(|filter| filter.may_hold(hash(state)));
                    assert!(may || !held(i));
                }
            }
        }
    }
}

#[test]
fn memory_for_aids_is_not_exceeded() {
    let (budget, scratch, mut random) = (budget(), scratch(), Random(5));
    let pool = Pool::new(2000, &budget);
    let mut writer = Writer::new(20, To::Own(&scratch), Help::Lookup(Filter::words(1_000_000, &pool), &pool));
    states(20, 100_000, &mut random).iter().for_each(|state| writer.push(state).unwrap());
    assert!(pool.left() > 0);
    let before = pool.left();
    drop(writer);
    assert!(pool.left() > before);
    assert_eq!(pool.left(), 2000);
}

/// Ranges hold each state once, in order, whatever they are cut from.
#[test]
fn ranges_hold_all_states() {
    let (budget, scratch, mut random) = (budget(), scratch(), Random(11));
    for n in [1, 3, 20] {
        for most in [1, 2, 7, 100] {
            let pool = Pool::new(1 << 20, &budget);
            let (mut all, mut runs, mut samples) = (BTreeSet::new(), Vec::new(), Samples::default());
            for many in [0, 1, 300, 4000] {
                let some = states(n, many, &mut random);
                let mut writer = Writer::new(n, To::Own(&scratch), Help::Cuts(&pool));
                some.iter().for_each(|state| writer.push(state).unwrap());
                let (run, aids) = writer.finish().unwrap();
                let index = aids.unwrap().index;
                samples.of_run(run.count, &index);
                runs.push((run, index));
                all.extend(some);
            }
            let mut buffer = Buffer::new(n, 1 << 20, &pool);
            let some = states(n, 500, &mut random);
            some.iter().for_each(|state| buffer.push(state));
            buffer.sort();
            samples.of_buffer(&buffer);
            all.extend(some);
            let ranges = samples.cut(most);
            assert!(ranges.len() <= most && (n == 1 || most == 1 || ranges.len() > 1));
            let mut found = Vec::new();
            for range in &ranges {
                let mut sources = vec![Source::Buffer(&buffer, 0)];
                for (run, index) in &runs {
                    sources.push(Source::Run(Reader::new(run, None).at(index.start(&range.low))));
                }
                let mut merge = Merge::new(n, sources, Some(range)).unwrap();
                while let Some(state) = merge.next().unwrap() {
                    found.push(state.to_vec());
                }
            }
            assert!(all.iter().eq(&found), "{n} bytes in {} ranges", ranges.len());
        }
    }
}

/// A panic of the model on one of several threads ends the search as it would on one.
#[test]
#[should_panic(expected = "state 700")]
fn a_panic_is_passed_on() {
    struct Failing(Graph);
    impl Model for Failing {
        fn state_bytes(&self) -> usize {
            self.0.state_bytes()
        }

        fn initial(&self, out: &mut Batch) {
            self.0.initial(out);
        }

        fn expand(&self, state: &[u8], out: &mut Batch) {
            assert!(state[..] != [2, 188], "state 700");
            self.0.expand(state, out);
        }
    }
    let model = Failing(Graph { bytes: 2, states: 2000, seed: 1 });
    let mut external = External::new(&model, &std::env::temp_dir(), false, &budget(), Some(TINY)).unwrap();
    external.use_threads(4);
    external.search(&check::Nothing, &Control::new(None), ALL_EVENTS);
}

/// A random graph over numbers, as states of some length.
struct Graph {
    bytes: usize,
    states: u64,
    seed: u64,
}

impl Graph {
    fn write(&self, number: u64, out: &mut [u8]) {
        out.fill(7);
        for (byte, value) in out.iter_mut().rev().zip(number.to_le_bytes()) {
            *byte = value;
        }
    }
}

impl Model for Graph {
    fn state_bytes(&self) -> usize {
        self.bytes
    }

    fn initial(&self, out: &mut Batch) {
        for number in [0, 1 % self.states, 0] {
            self.write(number, out.push_with(0));
        }
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let number = state.iter().rev().take(2).rev().fold(0, |number, &byte| number << 8 | byte as u64);
        let mut random = Random(self.seed ^ number);
        for event in 0..random.below(4) as u32 {
            // Mostly near, seldom far.
            let far = if random.below(20) == 0 { self.states } else { 12 };
            self.write((number + random.next() % far) % self.states, out.push_with(event));
        }
        if number.is_multiple_of(50) {
            self.write((number + 50) % self.states, out.push_with(9));
        }
    }
}

const TINY: Sizes = Sizes { buffer: 600, recent: 300, aids: 900, fan: 3, read: 100, share: 5, disk: u64::MAX };

const ALL_EVENTS: &ReductionFactory = &|_| None;

fn plain(model: &dyn Model) -> GraphFacts {
    let budget = budget();
    let mut table = Table::new(model.state_bytes(), budget.clone()).unwrap();
    let mut in_degrees = crate::graph::InDegrees::new(false, budget);
    let mut position = Position::default();
    let control = Control::new(None);
    let worker = breadth_first::Worker::new(model, &check::Nothing);
    breadth_first::search(worker, &mut table, &control, &mut in_degrees, &mut position, None);
    let widths = position.widths();
    let mut facts = position.facts;
    facts.set_level_sizes(widths);
    GraphFacts { max_in_degree: None, back_level_edges: None, longest_back_level_edge: None, ..facts }
}

#[test]
fn finds_what_the_plain_search_finds() {
    let budget = budget();
    for seed in 0..30 {
        let model = Graph { bytes: [2, 3, 17, 40, 300][seed as usize % 5], states: 2000, seed };
        let expected = plain(&model);
        for (levels, sizes) in [(false, TINY), (true, TINY), (true, Sizes { buffer: 40_000, recent: 9000, ..TINY })] {
            for threads in [1, 2, 4] {
                let mut external = External::new(&model, &std::env::temp_dir(), levels, &budget, Some(sizes)).unwrap();
                external.use_threads(threads);
                let audit = Audit::new(&check::Nothing);
                let outcome = external.search(&audit, &Control::new(None), ALL_EVENTS);
                assert_eq!(outcome.ended, Ended::Complete);
                assert_eq!(outcome.facts, expected, "seed {seed}, {threads} threads");
                assert_eq!(audit.distinct(), expected.states);
                let parts = external.levels.iter().flat_map(|(levels, _)| levels).map(Vec::len).max();
                assert!(parts.is_none_or(|parts| (parts > 1) == (threads > 1)), "{parts:?} with {threads} threads");
            }
        }
    }
}

/// A search with a table, stopped anywhere, goes on from there.
#[test]
fn takes_over() {
    let budget = budget();
    for seed in 0..20 {
        let model = Graph { bytes: [2, 20][seed as usize % 2], states: 2000, seed };
        let expected = plain(&model);
        for stop in [1, 3, expected.states / 3, expected.states / 2, expected.states - 1] {
            let mut table = Table::new(model.bytes, budget.clone()).unwrap();
            let mut facts = GraphFacts::default();
            let (mut found, mut batch, mut source) = (Vec::new(), Batch::new(model.bytes), Batch::new(model.bytes));
            model.initial(&mut batch);
            table.offer(&batch, 0..batch.len(), &mut found).unwrap();
            facts.initial_states = table.len() as u64;
            (facts.widest, facts.depth) = (table.len() as u64, 1);
            let (mut depth, mut next, mut level_end) = (0, 0u32, table.len() as u32);
            let mut widths = vec![table.len() as u64];
            while (next as u64) < stop {
                if next == level_end {
                    (depth, level_end) = (depth + 1, table.len() as u32);
                    facts.widest = facts.widest.max((level_end - next) as u64);
                    facts.depth += 1;
                    widths.push((level_end - next) as u64);
                }
                source.clear();
                batch.clear();
                table.load(next, source.push_with(0));
                model.expand(source.state(0), &mut batch);
                facts.transitions += batch.len() as u64;
                facts.deadlocks += batch.is_empty() as u64;
                facts.max_out_degree = facts.max_out_degree.max(batch.len() as u64);
                table.offer(&batch, 0..batch.len(), &mut found).unwrap();
                next += 1;
            }
            let each = |range: std::ops::Range<u32>| {
                let (table, bytes) = (&table, model.bytes);
                move |show: &mut dyn FnMut(&[u8]) -> bool| {
                    let mut state = vec![0; bytes];
                    range.clone().all(|id| {
                        table.load(id, &mut state);
                        show(&state)
                    })
                }
            };
            let all = table.len() as u32;
            let mut external = External::new(&model, &std::env::temp_dir(), true, &budget, Some(TINY)).unwrap();
            external.use_threads(1 + seed as usize % 3);
            external
                .resume(Resume {
                    visited: &mut each(0..all),
                    now: &mut each(next..level_end),
                    next: &mut each(level_end.max(next)..all),
                    depth,
                    facts,
                    widths,
                })
                .unwrap();
            let outcome = external.search(&check::Nothing, &Control::new(None), ALL_EVENTS);
            assert_eq!(outcome.ended, Ended::Complete);
            assert_eq!(outcome.facts, expected, "seed {seed}, stopped after {stop}");
            assert!(external.trace(&[0; 2], 3).is_none());
        }
    }
}

#[test]
fn a_full_disk_ends_the_search() {
    let budget = budget();
    let model = Graph { bytes: 300, states: 60_000, seed: 1 };
    let sizes = Sizes { buffer: 100_000, disk: 50_000, ..TINY };
    for threads in [1, 3] {
        let mut external = External::new(&model, &std::env::temp_dir(), false, &budget, Some(sizes)).unwrap();
        external.use_threads(threads);
        let outcome = external.search(&check::Nothing, &Control::new(None), ALL_EVENTS);
        assert_eq!(outcome.ended, Ended::Limit(Limit::Disk));
        assert!(external.disk_facts().failure.is_some_and(|why| why.contains("cannot write")));
        assert!(outcome.facts.states > 1000 && outcome.facts.open > 0);
    }
    let missing = std::env::temp_dir().join("no such directory");
    assert!(External::new(&model, &missing, false, &budget, None).is_err());
}

#[test]
fn nothing_is_left_behind() {
    let parent = std::env::temp_dir().join(format!("scrimp-left-{}", std::process::id()));
    std::fs::create_dir(&parent).unwrap();
    let model = Graph { bytes: 40, states: 3000, seed: 4 };
    for time in [None, Some(std::time::Duration::ZERO)] {
        let budget = budget();
        let mut external = External::new(&model, &parent, true, &budget, Some(TINY)).unwrap();
        let outcome = external.search(&check::Nothing, &Control::new(time), ALL_EVENTS);
        assert_eq!(outcome.ended == Ended::Complete, time.is_none());
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 1);
        drop(external);
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0);
    }
    std::fs::remove_dir(&parent).unwrap();
}
