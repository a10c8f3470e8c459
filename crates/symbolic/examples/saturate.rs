//! Measures saturation on families of nets: `saturate philosophers 100` or `saturate ring 40 30`.

use scrimp_core::{Budget, Control};
use scrimp_symbolic::diagram::{Diagrams, Halt, Kept, Relation, STACK_PER_LEVEL};
use scrimp_system::Stop;
use std::sync::Arc;
use std::time::Instant;

/// A net: tokens at the start, the most that a place can hold, and what each transition takes and gives.
struct Net {
    start: Vec<u32>,
    most: u32,
    transitions: Vec<Vec<(usize, u32, u32)>>,
}

/// Each takes the left fork, then the right one, and gives both back.
fn philosophers(count: usize) -> Net {
    // Thinking, has left, has right, eating, fork.
    let (mut start, mut transitions) = (Vec::new(), Vec::new());
    for i in 0..count {
        let (p, right) = (5 * i, 5 * ((i + 1) % count) + 4);
        start.extend([1, 0, 0, 0, 1]);
        transitions.push(vec![(p, 1, 0), (p + 4, 1, 0), (p + 1, 0, 1)]);
        transitions.push(vec![(p, 1, 0), (right, 1, 0), (p + 2, 0, 1)]);
        transitions.push(vec![(p + 1, 1, 0), (right, 1, 0), (p + 3, 0, 1)]);
        transitions.push(vec![(p + 2, 1, 0), (p + 4, 1, 0), (p + 3, 0, 1)]);
        transitions.push(vec![(p + 3, 1, 0), (p, 0, 1), (p + 4, 0, 1), (right, 0, 1)]);
    }
    Net { start, most: 1, transitions }
}

/// Cells pass tokens on around a ring.
fn ring(cells: usize, tokens: u32) -> Net {
    let mut start = vec![0; cells];
    start[0] = tokens;
    let transitions = (0..cells).map(|cell| vec![(cell, 1, 0), ((cell + 1) % cells, 0, 1)]).collect();
    Net { start, most: tokens, transitions }
}

fn relations(d: &mut Diagrams, net: &Net) -> Result<Vec<Relation>, Halt> {
    let mut relations = Vec::new();
    for transition in &net.transitions {
        let mut all = Relation::IDENTITY;
        for &(place, takes, gives) in transition {
            let change =
                |v: u32| (v >= takes && v - takes + gives <= net.most).then(|| (vec![v], vec![v - takes + gives]));
            let one = d.relation(&[place], &(0..=net.most).filter_map(change).collect::<Vec<_>>())?;
            all = d.join(all, one)?;
        }
        relations.push(all);
    }
    d.gather(&relations)
}

fn run(net: &Net) {
    let began = Instant::now();
    let mut d = Diagrams::new(&Arc::new(Budget::new(4 << 30)), &Stop::never()).expect("memory");
    let relations = relations(&mut d, net).expect("room for the relations");
    let start = d.single(&net.start).expect("room for a vector");
    let made = began.elapsed();
    match d.saturate(start, &relations, Kept::default(), &Control::new(None)) {
        Ok(all) => println!("{} states, {} nodes", d.count(all), d.nodes(&[all])),
        Err(halt) => println!("{halt:?}"),
    }
    println!(
        "{:.2} s for relations, {:.2} s in all; {} nodes at the peak, {} MB, {} collections",
        made.as_secs_f64(),
        began.elapsed().as_secs_f64(),
        d.peak_nodes(),
        d.bytes() >> 20,
        d.collections()
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(20);
    let net = match arguments.get(1).map(String::as_str) {
        Some("ring") => ring(number(2), number(3) as u32),
        _ => philosophers(number(2)),
    };
    let work = std::thread::Builder::new().stack_size(net.start.len() * STACK_PER_LEVEL + (8 << 20));
    work.spawn(move || run(&net)).expect("a thread").join().expect("the run");
}
