//! Times the way from a file to a valid system: `cargo run --release --example time_load -- MODEL [ROUNDS]`.

use scrimp_system::Layout;
use std::path::Path;
use std::time::Duration;

/// Processor time of this thread so far, so that a busy machine does little harm.
fn now() -> Duration {
    // The count is brought up to date when the thread gives way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).expect("a number"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let path = Path::new(arguments.get(1).expect("the path of a model"));
    let rounds: usize = arguments.get(2).and_then(|n| n.parse().ok()).unwrap_or(15);
    let mut best = [Duration::MAX; 4];
    for _ in 0..rounds {
        let start = now();
        let system = scrimp_lang::load(path).unwrap_or_else(|e| panic!("{e}"));
        let loaded = now() - start;
        system.validate().expect("a front end must produce valid systems");
        let validated = now() - start;
        let layout = Layout::new(&system);
        let laid_out = now() - start;
        drop((system, layout));
        let times = [loaded, validated - loaded, laid_out - validated, now() - start - laid_out];
        for (best, time) in best.iter_mut().zip(times) {
            *best = time.min(*best);
        }
    }
    let [load, validate, layout, drop] = best.map(|time| time.as_secs_f64() * 1e3);
    println!(
        "best of {rounds}: load {load:.2} ms, validate {validate:.2} ms, layout {layout:.2} ms, drop {drop:.2} ms"
    );
}
