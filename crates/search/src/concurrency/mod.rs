//! Tests of concurrency: searches of a few states on two or three threads, under very many schedules.
//!
//! `cargo test --release -p scrimp-search --features shuttle --lib concurrency` runs these and those of the stores and of the
//! search for cycles, which lie beside what they test. Each operation on what threads share is a point at which another
//! thread may go on; see [`sync`](crate::sync), which also makes blocks, batches and tables so small that a few states fill
//! them. `SCHEDULES=100000` in the environment draws so many schedules for each case, `SHUTTLE_RANDOM_SEED` others than
//! usual. Memory orders are not explored: what a thread writes is seen by all others at once.

mod graph;
mod levels;
mod preemptions;
mod queues;
mod shares;

pub use graph::Graph;

use preemptions::Preemptions;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

/// Schedules of each kind that are drawn for a case, unless the environment says otherwise.
const SCHEDULES: usize = 500;
const SEED: u64 = 20261116;
/// Who takes more steps than this waits for something that does not come.
const MOST_STEPS: usize = 100_000;

/// Draws schedules: each step by chance, or such that threads change seldom, at moments drawn by chance.
pub fn explore(case: impl Fn() + Send + Sync + Copy + 'static) {
    let schedules = std::env::var("SCHEDULES").ok().and_then(|text| text.parse().ok()).unwrap_or(SCHEDULES);
    run(RandomScheduler::new_from_seed(SEED, schedules), case);
    run(PctScheduler::new_from_seed(SEED, 4, schedules), case);
}

/// Takes all schedules with at most so many preemptions; `usize::MAX` for all there are.
pub fn explore_all(preemptions: usize, case: impl Fn() + Send + Sync + 'static) {
    let schedules = run(Preemptions::at_most(preemptions), case);
    println!("{schedules} schedules");
}

fn run(scheduler: impl Scheduler + 'static, case: impl Fn() + Send + Sync + 'static) -> usize {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(MOST_STEPS);
    config.stack_size = 1 << 18;
    Runner::new(scheduler, config).run(case)
}
