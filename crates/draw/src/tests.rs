//! No box touches another, no line meets a box that is not its own, whatever the graph.

use super::*;
use proptest::prelude::*;
use std::time::Instant;

fn sizes(n: usize) -> Vec<Size> {
    let size = |i: usize| Size { left: 15.0, right: 15.0 + (i * 37 % 90) as f64, height: 16.0 + (i * 17 % 50) as f64 };
    (0..n).map(size).collect()
}

fn random(vertices: usize, edges: usize, seed: u64) -> Vec<(usize, usize)> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % below
    };
    (0..edges).map(|_| (next(vertices), next(vertices))).collect()
}

/// Does a straight line meet the inside of a box?
fn meets(a: (f64, f64), b: (f64, f64), centre: (f64, f64), size: Size) -> bool {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    let centre = (centre.0 + (size.right - size.left) / 2.0, centre.1);
    let half = [(size.left + size.right) / 2.0 - 0.01, size.height / 2.0 - 0.01];
    for (start, end, middle, half) in [(a.0, b.0, centre.0, half[0]), (a.1, b.1, centre.1, half[1])] {
        let way = end - start;
        if way.abs() < 1e-9 {
            if (start - middle).abs() >= half {
                return false;
            }
            continue;
        }
        let (one, other) = ((middle - half - start) / way, (middle + half - start) / way);
        from = from.max(one.min(other));
        to = to.min(one.max(other));
    }
    from < to
}

fn check(sizes: &[Size], edges: &[(usize, usize)], first: &[usize]) -> Drawing {
    let drawing = layered(sizes, edges, first);
    assert_eq!((drawing.places.len(), drawing.lines.len()), (sizes.len(), edges.len()));
    for (i, (&(x, y), size)) in drawing.places.iter().zip(sizes).enumerate() {
        assert!(x - size.left > -0.01 && x + size.right < drawing.width + 0.01);
        assert!(y - size.height / 2.0 > -0.01 && y + size.height / 2.0 < drawing.height + 0.01);
        for (&(u, v), other) in drawing.places[..i].iter().zip(sizes) {
            let apart = x - u > size.left + other.right + 1.0
                || u - x > size.right + other.left + 1.0
                || (y - v).abs() > (size.height + other.height) / 2.0 + 1.0;
            assert!(apart, "boxes touch");
        }
    }
    for (line, &(from, to)) in drawing.lines.iter().zip(edges) {
        assert!(line.len() >= 2);
        let on_border = |(x, y): (f64, f64), v: usize| {
            let (dx, dy) = (x - drawing.places[v].0, (y - drawing.places[v].1).abs());
            let (w, h) = (sizes[v].right, sizes[v].height / 2.0);
            dx > -sizes[v].left && dx < w + 0.01 && dy < h + 0.01 && (dx > w - 0.01 || dy > h - 0.01)
        };
        assert!(on_border(line[0], from) && on_border(line[line.len() - 1], to));
        for pair in line.windows(2) {
            for (&centre, &size) in drawing.places.iter().zip(sizes) {
                assert!(!meets(pair[0], pair[1], centre, size), "a line through a box");
            }
        }
    }
    drawing
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn nothing_touches(n in 1usize..60, density in 0usize..4, seed: u64, first in 0usize..60) {
        check(&sizes(n), &random(n, n * density, seed), &[first % n, 99]);
    }
}

#[test]
fn a_chain_is_straight_and_goes_down() {
    let edges: Vec<_> = (0..9).map(|i| (i, i + 1)).chain([(9, 0)]).collect();
    let drawing = check(&[Size::new(40.0, 20.0); 10], &edges, &[0]);
    assert!(drawing.places.windows(2).all(|pair| pair[0].1 < pair[1].1));
    // Both ends stand between what they are connected with.
    assert!(drawing.places[1..9].windows(2).all(|pair| (pair[0].0 - pair[1].0).abs() < 0.01));
    let back = drawing.lines.last().unwrap();
    assert!(back[0].1 > back[back.len() - 1].1, "the way back leads up");
}

#[test]
fn few_edges_lead_up() {
    // A longer and a shorter way to the same vertex: no cycle, so nothing leads up, although the shorter way is found first.
    let edges = [(0, 4), (0, 1), (1, 2), (2, 3), (3, 4)];
    let drawing = check(&sizes(5), &edges, &[0]);
    assert!(edges.iter().all(|&(from, to)| drawing.places[from].1 < drawing.places[to].1));
}

#[test]
fn a_binary_tree_has_no_crossings_and_centred_parents() {
    let edges: Vec<_> = (1..31).map(|i| ((i - 1) / 2, i)).collect();
    let drawing = check(&[Size::new(20.0, 20.0); 31], &edges, &[0]);
    for i in 0..15 {
        let middle = (drawing.places[2 * i + 1].0 + drawing.places[2 * i + 2].0) / 2.0;
        assert!((drawing.places[i].0 - middle).abs() < 25.0);
    }
}

#[test]
fn parallel_edges_and_loops_are_apart() {
    let edges = [(0, 1), (0, 1), (1, 0), (0, 0), (0, 0), (1, 1)];
    let drawing = check(&sizes(2), &edges, &[]);
    for (i, line) in drawing.lines.iter().enumerate() {
        assert!(!drawing.lines[..i].contains(line));
    }
}

#[test]
fn strange_input_is_drawn() {
    let odd = Size::new(f64::NAN, -3.0);
    let drawing = layered(&[odd, odd], &[(0, 7), (0, 1)], &[9]);
    assert!(drawing.lines[0].is_empty() && drawing.places.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
    assert_eq!(layered(&[], &[], &[]), Drawing::default());
}

#[test]
fn large_graphs_take_milliseconds() {
    let mut chain: Vec<_> = (0..299).map(|i| (i, i + 1)).collect();
    chain.extend(random(300, 701, 5));
    for edges in [random(300, 1000, 7), chain, random(300, 20_000, 3)] {
        let begun = Instant::now();
        let drawing = layered(&sizes(300), &edges, &[0]);
        let took = begun.elapsed();
        println!("{} edges: {took:?}, {:.0} x {:.0}", edges.len(), drawing.width, drawing.height);
        assert!(took.as_secs() < 2);
        assert_eq!(drawing, layered(&sizes(300), &edges, &[0]), "the same again");
    }
}
