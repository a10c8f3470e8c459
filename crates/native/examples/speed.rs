//! How fast states are expanded: Peterson's algorithm, by interpreter and by machine code.
//!
//! `cargo run --release -p scrimp-native --example speed -- [processes]`

#[path = "../tests/common/mod.rs"]
#[allow(dead_code)]
mod common;

use scrimp_native::{Limits, Mode, NativeModel};
use scrimp_system::{Batch, Model, System};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

/// All reachable states, one after the other in a batch.
fn reachable(model: &NativeModel, most: usize) -> Batch {
    let mut seen: HashSet<Box<[u8]>> = HashSet::new();
    let mut states = Batch::new(model.state_bytes());
    let mut out = Batch::new(model.state_bytes());
    model.initial(&mut out);
    let mut next = 0;
    loop {
        for i in 0..out.len() {
            if seen.len() < most && seen.insert(out.state(i).into()) {
                states.push(out.state(i), 0);
            }
        }
        if next == states.len() {
            return states;
        }
        out.clear();
        model.expand(states.state(next), &mut out);
        next += 1;
    }
}

/// Expands every state `rounds` times; prints the rate.
fn measure(what: &str, model: &NativeModel, states: &Batch, rounds: usize) {
    let mut out = Batch::new(model.state_bytes());
    let mut transitions = 0u64;
    let start = Instant::now();
    for _ in 0..rounds {
        for i in 0..states.len() {
            out.clear();
            model.expand(states.state(i), &mut out);
            transitions += out.len() as u64;
        }
    }
    let time = start.elapsed().as_secs_f64();
    let rate = transitions as f64 / time / 1e6;
    println!("{what}: {transitions} transitions in {time:.2} s, {rate:.1} million per second");
}

/// As `measure`, with every successor read once: what a search does next, and what stalls on bytes just written.
fn hashed(model: &NativeModel, states: &Batch, rounds: usize) {
    let mut out = Batch::new(model.state_bytes());
    let (mut transitions, mut sum) = (0u64, 0u64);
    let start = Instant::now();
    for _ in 0..rounds {
        for i in 0..states.len() {
            out.clear();
            model.expand(states.state(i), &mut out);
            transitions += out.len() as u64;
            for j in 0..out.len() {
                let mut hash = 1u64;
                for word in out.state(j).chunks_exact(4) {
                    let word = u32::from_le_bytes(word.try_into().unwrap());
                    hash = (hash ^ word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
                }
                sum = sum.wrapping_add(hash);
            }
        }
    }
    let time = start.elapsed().as_secs_f64();
    println!("and hashed: {:.1} million per second ({:x})", transitions as f64 / time / 1e6, sum);
}

/// Many processes without much to do, for the compiler's sake.
fn large(copies: usize) -> System {
    let mut system = common::peterson(5);
    let events = system.events.clone();
    for _ in 1..copies {
        system.events.extend(events.iter().cloned());
    }
    system
}

fn main() {
    let processes = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(4);
    let system = Arc::new(common::peterson(processes));
    for _ in 0..3 {
        let start = Instant::now();
        let model = NativeModel::new(system.clone(), Mode::Compiled).unwrap();
        let time = start.elapsed().as_secs_f64() * 1e3;
        println!("compiled {} events in {time:.2} ms, {} bytes", system.events.len(), model.code_bytes());
    }
    let compiled = NativeModel::new(system.clone(), Mode::Compiled).unwrap();
    let interpreted = NativeModel::new(system, Mode::Interpreted).unwrap();
    let states = reachable(&compiled, 2_000_000);
    println!("{} states of {} bytes", states.len(), compiled.state_bytes());
    let rounds = 4_000_000 / states.len() + 1;
    measure("interpreter", &interpreted, &states, rounds / 10 + 1);
    measure("machine code", &compiled, &states, rounds);
    for part in [7, 2] {
        let limits = Limits { whole: 0, part, ..Limits::default() };
        let cut = NativeModel::with_limits(compiled.system().clone(), Mode::Compiled, limits).unwrap();
        measure(&format!("machine code, {part} events to a function"), &cut, &states, rounds);
    }
    hashed(&compiled, &states, rounds);
    for copies in [11, 285] {
        let system = Arc::new(large(copies));
        let start = Instant::now();
        let model = NativeModel::new(system.clone(), Mode::Auto).unwrap();
        let first = start.elapsed().as_secs_f64() * 1e3;
        while !model.is_compiled() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let time = start.elapsed().as_secs_f64() * 1e3;
        let bytes = model.code_bytes();
        println!(
            "{} events: usable after {first:.1} ms, compiled after {time:.0} ms, {bytes} bytes",
            system.events.len()
        );
    }
}
