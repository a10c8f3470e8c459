//! Reads a net, and says how long that took and how much memory: `cargo run --release --example time_net -- NET`.

use std::path::Path;
use std::time::Instant;

fn main() {
    let path = std::env::args().nth(1).expect("the path of a net");
    let begun = Instant::now();
    let net = scrimp_lang::read_net(Path::new(&path)).unwrap_or_else(|e| panic!("{e}"));
    let time = begun.elapsed();
    let arcs: usize = net.transitions.iter().map(|t| t.inputs.len() + t.outputs.len()).sum();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let (places, transitions) = (net.places.len(), net.transitions.len());
    println!("{places} places, {transitions} transitions, {arcs} arcs in {time:.2?}; {peak}");
}
