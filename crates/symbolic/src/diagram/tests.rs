//! Every operation against the same done with plain sets of vectors.

use super::{Diagrams, Halt, Kept, Relation, Set};
use num_bigint::BigUint;
use proptest::prelude::*;
use scrimp_core::{Budget, Control, Limit};
use scrimp_system::Stop;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

type Vectors = BTreeSet<Vec<u32>>;

/// A relation as levels and pairs.
type Change = (Vec<usize>, Vec<(Vec<u32>, Vec<u32>)>);

const LENGTH: usize = 5;
const VALUES: u32 = 3;

fn diagrams() -> Diagrams {
    Diagrams::new(&Arc::new(Budget::new(4 << 30)), &Stop::never()).unwrap()
}

fn some_vectors(most: usize) -> impl Strategy<Value = Vectors> {
    proptest::collection::btree_set(proptest::collection::vec(0..VALUES, LENGTH), 0..most)
}

fn change() -> impl Strategy<Value = Change> {
    proptest::sample::subsequence((0..LENGTH).collect::<Vec<_>>(), 0..4).prop_flat_map(|levels| {
        let entries = || proptest::collection::vec(0..VALUES, levels.len());
        let pairs = proptest::collection::vec((entries(), entries()), 0..5);
        (Just(levels.clone()), pairs)
    })
}

fn make(d: &mut Diagrams, vectors: &Vectors) -> Set {
    let set = d.of_vectors(&mut vectors.iter().cloned().collect()).unwrap();
    assert_eq!(&read(d, set), vectors);
    set
}

fn read(d: &Diagrams, set: Set) -> Vectors {
    let mut all = Vectors::new();
    d.vectors(set, &mut |vector| all.insert(vector.to_vec()));
    all
}

fn relation(d: &mut Diagrams, change: &Change) -> Relation {
    d.relation(&change.0, &change.1).unwrap()
}

fn successors(vector: &[u32], (levels, pairs): &Change) -> Vectors {
    let matching = pairs.iter().filter(|(from, _)| levels.iter().zip(from).all(|(&level, &v)| vector[level] == v));
    let apply = |to: &Vec<u32>| {
        let mut next = vector.to_vec();
        levels.iter().zip(to).for_each(|(&level, &v)| next[level] = v);
        next
    };
    matching.map(|(_, to)| apply(to)).collect()
}

fn image(vectors: &Vectors, change: &Change) -> Vectors {
    vectors.iter().flat_map(|vector| successors(vector, change)).collect()
}

fn closure(vectors: &Vectors, changes: &[Change]) -> Vectors {
    let mut all = vectors.clone();
    loop {
        let more: Vectors = changes.iter().flat_map(|change| image(&all, change)).collect();
        let before = all.len();
        all.extend(more);
        if all.len() == before {
            return all;
        }
    }
}

fn projection(vector: &[u32], levels: &[usize]) -> Vec<u32> {
    levels.iter().map(|&level| vector[level]).collect()
}

impl Diagrams {
    /// Words that the nodes of these sets take.
    fn store_words(&mut self, sets: &[Set]) -> usize {
        self.collect(sets, &[]);
        self.store.used()
    }
}

proptest! {
    #[test]
    fn sets(a in some_vectors(40), b in some_vectors(40), c in some_vectors(40)) {
        let d = &mut diagrams();
        let (x, y, z) = (make(d, &a), make(d, &b), make(d, &c));
        let union = d.union(x, y).unwrap();
        prop_assert_eq!(read(d, union), a.union(&b).cloned().collect::<Vectors>());
        prop_assert_eq!(union, d.union(y, x).unwrap());
        let all = d.union_all(vec![x, y, z, x]).unwrap();
        prop_assert_eq!(read(d, all), a.iter().chain(&b).chain(&c).cloned().collect::<Vectors>());
        let both = d.intersect(x, y).unwrap();
        prop_assert_eq!(read(d, both), a.intersection(&b).cloned().collect::<Vectors>());
        let minus = d.minus(x, y).unwrap();
        prop_assert_eq!(read(d, minus), a.difference(&b).cloned().collect::<Vectors>());
        prop_assert_eq!(d.union(minus, both).unwrap(), x);
        prop_assert_eq!(d.count(union), BigUint::from(a.union(&b).count()));
        prop_assert_eq!(d.first(x), a.first().cloned());
        for vector in &b {
            prop_assert_eq!(d.contains(x, vector), a.contains(vector));
        }
    }

    #[test]
    fn questions(a in some_vectors(30), level in 0..LENGTH, weights in proptest::collection::vec(0..9u64, LENGTH)) {
        let d = &mut diagrams();
        let x = make(d, &a);
        let values: BTreeSet<u32> = a.iter().map(|vector| vector[level]).collect();
        prop_assert_eq!(d.values(x, level), values.into_iter().collect::<Vec<_>>());
        let weight = |level: usize, value: u32| weights[level] * u64::from(value);
        let sum = |vector: &Vec<u32>| vector.iter().enumerate().map(|(level, &value)| weight(level, value)).sum::<u64>();
        prop_assert_eq!(d.most_sum(x, &weight), a.iter().map(sum).max().unwrap_or(0));
        // A node is what may follow a beginning.
        let ends = |n: usize| {
            let begin: BTreeSet<_> = a.iter().map(|vector| vector[..n].to_vec()).collect();
            let end = |b: &Vec<u32>| a.iter().filter(|v| v.starts_with(b)).map(|v| v[n..].to_vec()).collect::<Vectors>();
            begin.iter().map(end).collect::<BTreeSet<_>>().len()
        };
        prop_assert_eq!(d.nodes(&[x, x]), (0..LENGTH).map(ends).sum::<usize>());
    }

    #[test]
    fn parts(a in some_vectors(40), b in some_vectors(10),
             levels in proptest::sample::subsequence((0..LENGTH).collect::<Vec<_>>(), 0..=LENGTH)) {
        let d = &mut diagrams();
        let x = make(d, &a);
        let seen = d.project(x, &levels).unwrap();
        prop_assert_eq!(read(d, seen), a.iter().map(|vector| projection(vector, &levels)).collect::<Vectors>());
        let part: Vectors = b.iter().map(|vector| projection(vector, &levels)).collect();
        let y = make(d, &part);
        let met = d.meet(x, y, &levels).unwrap();
        let expected = a.iter().filter(|vector| part.contains(&projection(vector, &levels))).cloned().collect::<Vectors>();
        prop_assert_eq!(read(d, met), expected);
    }

    #[test]
    fn relations(a in some_vectors(40), b in some_vectors(40), c in change()) {
        let d = &mut diagrams();
        let (x, y, r) = (make(d, &a), make(d, &b), relation(d, &c));
        let after = d.image(x, r).unwrap();
        prop_assert_eq!(read(d, after), image(&a, &c));
        let before = d.preimage(y, r, x).unwrap();
        let leads = |v: &&Vec<u32>| successors(v, &c).iter().any(|next| b.contains(next));
        prop_assert_eq!(read(d, before), a.iter().filter(leads).cloned().collect::<Vectors>());
        let domain = d.domain(x, r).unwrap();
        let moves = |v: &&Vec<u32>| !successors(v, &c).is_empty();
        prop_assert_eq!(read(d, domain), a.iter().filter(moves).cloned().collect::<Vectors>());
        if !r.is_empty() {
            prop_assert_eq!(d.support(r), c.0);
        }
    }

    #[test]
    fn lengths_do_not_mix(a in some_vectors(20), c in change()) {
        // The same nodes one level deeper, with the same relation.
        let d = &mut diagrams();
        let longer: Vectors = a.iter().map(|vector| [&[1], vector.as_slice()].concat()).collect();
        let r = relation(d, &c);
        for vectors in [&a, &longer, &a] {
            let x = make(d, vectors);
            let (after, before, domain) = (d.image(x, r).unwrap(), d.preimage(x, r, x).unwrap(), d.domain(x, r).unwrap());
            prop_assert_eq!(read(d, after), image(vectors, &c));
            let leads = |v: &&Vec<u32>| successors(v, &c).iter().any(|next| vectors.contains(next));
            prop_assert_eq!(read(d, before), vectors.iter().filter(leads).cloned().collect::<Vectors>());
            let moves = |v: &&Vec<u32>| !successors(v, &c).is_empty();
            prop_assert_eq!(read(d, domain), vectors.iter().filter(moves).cloned().collect::<Vectors>());
            let all = d.saturate(x, &[r], Kept::default(), &Control::new(None)).unwrap();
            prop_assert_eq!(read(d, all), closure(vectors, std::slice::from_ref(&c)));
        }
    }

    #[test]
    fn composed(a in some_vectors(40), b in change(), c in change(), e in change()) {
        let d = &mut diagrams();
        let x = make(d, &a);
        let (q, r) = (relation(d, &b), relation(d, &c));
        if b.0.iter().all(|level| !c.0.contains(level)) {
            let joined = d.join(q, r).unwrap();
            let after = d.image(x, joined).unwrap();
            prop_assert_eq!(read(d, after), image(&image(&a, &b), &c));
        }
        // The same levels, other pairs.
        let fit = |v: &Vec<u32>| (0..c.0.len()).map(|i| v.get(i).copied().unwrap_or(1)).collect::<Vec<_>>();
        let same: Change = (c.0.clone(), e.1.iter().map(|(from, to)| (fit(from), fit(to))).collect());
        let s = relation(d, &same);
        let either = d.unite(r, s).unwrap();
        let after = d.image(x, either).unwrap();
        prop_assert_eq!(read(d, after), image(&a, &c).union(&image(&a, &same)).cloned().collect::<Vectors>());
        let gathered = d.gather(&[q, r, s]).unwrap();
        let mut found = Vectors::new();
        for relation in gathered {
            let after = d.image(x, relation).unwrap();
            found.extend(read(d, after));
        }
        prop_assert_eq!(found, [b, c, same].iter().flat_map(|change| image(&a, change)).collect::<Vectors>());
    }

    #[test]
    fn saturation(a in some_vectors(4), first in proptest::collection::vec(change(), 1..8),
                  second in proptest::collection::vec(change(), 1..4)) {
        let d = &mut diagrams();
        let x = make(d, &a);
        let control = Control::new(None);
        // One after the other in the same diagrams: what was found for some relations must not serve others.
        for changes in [&first, &second, &first] {
            let relations: Vec<Relation> = changes.iter().map(|change| relation(d, change)).collect();
            let all = d.saturate(x, &relations, Kept::default(), &control).unwrap();
            prop_assert_eq!(read(d, all), closure(&a, changes));
            prop_assert_eq!(all, d.saturate(all, &relations, Kept::default(), &control).unwrap());
        }
    }

    #[test]
    fn saturation_within(a in some_vectors(10), rooms in [some_vectors(120), some_vectors(60)],
                         changes in proptest::collection::vec(change(), 1..8)) {
        let d = &mut diagrams();
        let x = make(d, &a);
        let control = Control::new(None);
        let turned: Vec<Change> = changes.iter().map(|(levels, pairs)| {
            (levels.clone(), pairs.iter().map(|(from, to)| (to.clone(), from.clone())).collect())
        }).collect();
        let forwards: Vec<Relation> = changes.iter().map(|change| relation(d, change)).collect();
        let backwards: Vec<Relation> = forwards.iter().map(|r| d.inverse(*r).unwrap()).collect();
        prop_assert_eq!(&backwards, &turned.iter().map(|change| relation(d, change)).collect::<Vec<_>>());
        for (relations, changes) in [(&forwards, &changes), (&backwards, &turned)] {
            for room in &rooms {
                let within = make(d, room);
                let all = d.saturate_within(x, relations, within, Kept::default(), &control).unwrap();
                let mut expected: Vectors = a.intersection(room).cloned().collect();
                let mut open: Vec<Vec<u32>> = expected.iter().cloned().collect();
                while let Some(vector) = open.pop() {
                    for next in changes.iter().flat_map(|change| successors(&vector, change)) {
                        if room.contains(&next) && expected.insert(next.clone()) {
                            open.push(next);
                        }
                    }
                }
                prop_assert_eq!(read(d, all), expected);
            }
        }
    }

    #[test]
    fn between(a in some_vectors(40), b in some_vectors(40)) {
        let d = &mut diagrams();
        let all: Vectors = a.union(&b).cloned().collect();
        let (low, high) = (make(d, &a), make(d, &all));
        let found = d.least_between(low, high).unwrap();
        let vectors = read(d, found);
        prop_assert!(a.is_subset(&vectors) && vectors.is_subset(&all));
        prop_assert!(d.nodes(&[found]) <= d.nodes(&[low]).min(d.nodes(&[high])));
    }

    #[test]
    fn exchanged_levels(a in some_vectors(40), b in some_vectors(40), level in 0..LENGTH) {
        let d = &mut diagrams();
        let mut roots = [make(d, &a), make(d, &b), Set::EMPTY];
        d.swap(level, &mut roots).unwrap();
        let exchanged = |vectors: &Vectors| -> Vectors {
            let exchange = |vector: &Vec<u32>| {
                let mut vector = vector.clone();
                if level + 1 < LENGTH {
                    vector.swap(level, level + 1);
                }
                vector
            };
            vectors.iter().map(exchange).collect()
        };
        let (x, y) = (exchanged(&a), exchanged(&b));
        prop_assert_eq!(read(d, roots[0]), x.clone());
        prop_assert_eq!(read(d, roots[1]), y.clone());
        prop_assert_eq!(roots[2], Set::EMPTY);
        // Nothing else is there, and the same is found again.
        prop_assert_eq!(d.live(), d.nodes(&roots));
        prop_assert_eq!(make(d, &x), roots[0]);
        prop_assert_eq!(make(d, &y), roots[1]);
    }

    #[test]
    fn sifted(a in some_vectors(40), b in some_vectors(40)) {
        let d = &mut diagrams();
        let mut roots = [make(d, &a), make(d, &b)];
        let before = d.store_words(&roots);
        let order = d.sift(&mut roots, Duration::from_secs(1), &Control::new(None)).unwrap();
        if !(a.is_empty() && b.is_empty()) {
            prop_assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), (0..LENGTH).collect::<BTreeSet<_>>());
        }
        prop_assert!(d.store_words(&roots) <= before);
        for (root, vectors) in roots.into_iter().zip([a, b]) {
            let moved: Vectors = vectors.iter().map(|vector| projection(vector, &order)).collect();
            prop_assert_eq!(read(d, root), moved);
        }
    }

    #[test]
    fn collection(a in some_vectors(40), b in some_vectors(40), c in change(), e in change()) {
        let d = &mut diagrams();
        let (x, r) = (make(d, &a), relation(d, &c));
        for _ in 0..3 {
            let (y, s) = (make(d, &b), relation(d, &e));
            d.image(y, s).unwrap();
            d.union(x, y).unwrap();
            let after = d.image(x, r).unwrap();
            d.collect(&[x, after], &[r]);
            prop_assert_eq!(read(d, x), a.clone());
            prop_assert_eq!(read(d, after), image(&a, &c));
            prop_assert_eq!(d.image(x, r).unwrap(), after);
            prop_assert_eq!(make(d, &a), x);
        }
    }
}

#[test]
fn sifting_brings_together_what_belongs_together() {
    let d = &mut diagrams();
    // Ten pairs of equal values, the second ones far from the first.
    let vectors = (0..1u32 << 10).map(|bits| (0..20).map(|level| bits >> (level % 10) & 1).collect::<Vec<_>>());
    let set = d.of_vectors(&mut vectors.collect()).unwrap();
    assert!(d.nodes(&[set]) > 2000);
    let mut roots = [set];
    d.sift(&mut roots, Duration::from_secs(20), &Control::new(None)).unwrap();
    assert_eq!(d.nodes(&roots), 30);
    assert_eq!(d.count(roots[0]), BigUint::from(1024u32));
}

#[test]
fn sets_are_whole_when_sifting_is_ended() {
    let stop = Stop::never();
    let d = &mut Diagrams::new(&Arc::new(Budget::new(4 << 30)), &stop).unwrap();
    let vectors = (0..1u32 << 12).map(|bits| (0..24).map(|level| bits >> (level % 12) & 1).collect::<Vec<_>>());
    let mut roots = [d.of_vectors(&mut vectors.collect()).unwrap()];
    stop.ask();
    d.sift(&mut roots, Duration::ZERO, &Control::new(None)).unwrap();
    assert_eq!(d.count(roots[0]), BigUint::from(1u32 << 12));
}

#[test]
fn nodes_of_all_sizes_find_room_between_others() {
    let d = &mut diagrams();
    let mut kept: Vec<(Set, Vectors)> = Vec::new();
    for round in 0..60u32 {
        for size in [1, 20, 400, 700, 1500, 9000] {
            let vectors: Vectors = (0..size).map(|value| vec![round, value * (round + 1), size]).collect();
            let set = make(d, &vectors);
            let relation = d.relation(&[round as usize], &[(vec![size], vec![round])]).unwrap();
            assert_eq!(d.support(relation), [round as usize]);
            if (round + size) % 3 == 0 {
                kept.push((set, vectors));
            }
        }
        let sets: Vec<Set> = kept.iter().map(|(set, _)| *set).collect();
        d.collect(&sets, &[]);
        if round % 7 == 6 {
            kept.drain(..kept.len() / 2);
        }
        assert!(kept.iter().all(|(set, vectors)| &read(d, *set) == vectors));
    }
    assert!(d.bytes() < 32 << 20);
}

#[test]
fn counts_are_exact_beyond_machine_integers() {
    let d = &mut diagrams();
    // Ten values at each of 60 levels.
    let mut node = Set::UNIT;
    for _ in 0..60 {
        let sets: Vec<Set> = (0..10)
            .map(|value| {
                d.enter(|d| {
                    d.push(value, node.0);
                    d.make(0)
                })
                .map(Set)
                .unwrap()
            })
            .collect();
        node = d.union_all(sets).unwrap();
    }
    assert_eq!(d.count(node), BigUint::from(10u8).pow(60));
    assert_eq!(d.length(node), 60);
    assert_eq!(d.count(Set::EMPTY), BigUint::ZERO);
    assert_eq!(d.count(Set::UNIT), BigUint::from(1u8));
}

/// Cells that pass tokens on to the next one, all of them counted from 0 to `most`.
fn ring(d: &mut Diagrams, cells: usize, most: u32) -> Result<(Set, Vec<Relation>), Halt> {
    let mut start = vec![0; cells];
    start[0] = most;
    let mut relations = Vec::new();
    for cell in 0..cells {
        let next = (cell + 1) % cells;
        let mut pairs = Vec::new();
        for x in 1..=most {
            for y in 0..most {
                let (from, to) = ([x, y], [x - 1, y + 1]);
                let order = |v: [u32; 2]| if cell < next { v.to_vec() } else { vec![v[1], v[0]] };
                pairs.push((order(from), order(to)));
            }
        }
        relations.push(d.relation(&[cell.min(next), cell.max(next)], &pairs)?);
    }
    Ok((d.single(&start)?, relations))
}

/// How many ways there are to lay so many tokens into so many cells.
fn layings(cells: u64, tokens: u64) -> BigUint {
    (1..cells).fold(BigUint::from(1u8), |all, i| all * (tokens + i) / i)
}

#[test]
fn a_small_budget_is_kept_and_nothing_breaks() {
    let budget = Arc::new(Budget::apart(48 << 20));
    let d = &mut Diagrams::new(&budget, &Stop::never()).unwrap();
    let control = Control::new(None);
    let (small, few) = ring(d, 6, 4).unwrap();
    let all = d.saturate(small, &few, Kept::default(), &control).unwrap();
    // Vectors without order: sets of them are large.
    let mut state = 1u64;
    let mut random = || {
        let next = |state: &mut u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) as u32
        };
        (0..2000).map(|_| (0..8).map(|_| next(&mut state) % 1000).collect()).collect::<Vec<Vec<u32>>>()
    };
    let mut large = Set::EMPTY;
    let mut rounds = 0;
    loop {
        let more = d.of_vectors(&mut random());
        match more.and_then(|more| d.union(large, more)) {
            Ok(union) => large = union,
            Err(_) => break,
        }
        rounds += 1;
        assert!(rounds < 5000, "the budget was never full");
    }
    assert!(d.bytes() < 48 << 20);
    let count = d.count(large);
    d.collect(&[small, all, large], &few);
    assert_eq!(d.count(all), layings(6, 4));
    assert_eq!(d.count(large), count);
    assert_eq!(d.saturate(small, &few, Kept { sets: &[small, all, large], relations: &[] }, &control), Ok(all));
    d.collect(&[small], &few);
    assert_eq!(d.saturate(small, &few, Kept::default(), &control).map(|set| d.count(set)), Ok(layings(6, 4)));
}

/// Different things on a row of places, where neighbours are exchanged.
fn shuffle(d: &mut Diagrams, places: usize) -> Result<(Set, Vec<Relation>), Halt> {
    let things = 0..places as u32;
    let different = || things.clone().flat_map(|x| things.clone().map(move |y| (x, y))).filter(|(x, y)| x != y);
    let pairs: Vec<_> = different().map(|(x, y)| (vec![x, y], vec![y, x])).collect();
    let relations = (1..places).map(|place| d.relation(&[place - 1, place], &pairs)).collect::<Result<_, Halt>>()?;
    Ok((d.single(&things.clone().collect::<Vec<_>>())?, relations))
}

#[test]
fn saturation_collects_by_itself_and_answers_full_when_that_does_not_help() {
    let (mut done, mut full) = (0, 0);
    for kilobytes in [350, 400, 450, 500, 550, 600, 700, 80_000] {
        let budget = Arc::new(Budget::apart((kilobytes << 10) + (8 << 20)));
        budget.hold(8 << 20);
        let Ok(mut d) = Diagrams::new(&budget, &Stop::never()) else { continue };
        // With hardly any cache it may take very long.
        let control = Control::new(Some(Duration::from_secs(if kilobytes > 1000 { 600 } else { 1 })));
        let made = shuffle(&mut d, 10);
        match made.and_then(|(start, relations)| d.saturate(start, &relations, Kept::default(), &control)) {
            Ok(all) => {
                assert_eq!(d.count(all), (1..=10u32).map(BigUint::from).product());
                assert_eq!(d.nodes(&[all]), (1 << 10) - 1);
                assert!(d.collections() > 0);
                done += 1;
            }
            Err(halt) => {
                assert!(matches!(halt, Halt::Full | Halt::Limit(Limit::Time)));
                full += 1;
            }
        }
    }
    assert!(done > 0, "{done} done, {full} full");
}

#[test]
fn saturation_ends_when_it_is_told() {
    let d = &mut diagrams();
    let (start, relations) = shuffle(d, 10).unwrap();
    let control = Control::new(None);
    control.interrupt();
    assert_eq!(d.saturate(start, &relations, Kept::default(), &control), Err(Halt::Limit(Limit::Interrupt)));
    let all = d.saturate(start, &relations, Kept::default(), &Control::new(None)).unwrap();
    assert_eq!(d.count(all), (1..=10u32).map(BigUint::from).product());
}
