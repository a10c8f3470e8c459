//! Random Promela programs, against SPIN: the same number of states and transitions, the same verdicts.
//!
//! Needs `spin` and `gcc`, and is faster with `tcc`. `SCRIMP_TEST_PROGRAMS=10000` takes more programs than usual,
//! `SCRIMP_TEST_SEED=7` begins at another seed, `SCRIMP_TEST_WITHOUT=Goto,Unless` leaves features out.

mod promela_random;

use promela_random::features::{Feature, Features};
use promela_random::generate;
use promela_random::spin::{Answer, Spin};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn allowed() -> Features {
    let without = std::env::var("SCRIMP_TEST_WITHOUT").unwrap_or_default();
    let named = |feature: &Feature| without.split(',').any(|name| name == format!("{feature:?}"));
    Feature::ALL.iter().filter(|feature| named(feature)).fold(Features::ALL, |set, &feature| set.without(feature))
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("promela_spin").join(name)
}

#[test]
fn statistics() {
    let spin = Spin::find().unwrap();
    let (first, programs) = (number("SCRIMP_TEST_SEED", 0), number("SCRIMP_TEST_PROGRAMS", 500));
    let next = AtomicU64::new(first);
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + programs {
                        return;
                    }
                    let generated = generate(seed, allowed());
                    let text = generated.program.to_string();
                    let answer = spin.text(&text, &scratch(&seed.to_string()));
                    if !matches!(answer, Answer::Found(_)) {
                        println!("seed {seed}: {answer:?}\n{text}");
                    }
                    all.lock().unwrap().push((seed, generated.used, answer));
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    let mut states: Vec<u64> = Vec::new();
    let (mut ends, mut asserts, mut atomic) = (0, 0, 0);
    for (seed, _, answer) in &all {
        if let Answer::Found(f) = answer {
            states.push(f.states);
            ends += f.invalid_end_state as u64;
            asserts += f.assertion_violated as u64;
            atomic += (f.atomic_steps > 0) as u64;
            if f.states > 50000 {
                println!("seed {seed}: {} states", f.states);
            }
        }
    }
    states.sort();
    println!("{} found of {}; ends {ends}, asserts {asserts}, atomic {atomic}", states.len(), all.len());
    for p in [0, 5, 10, 25, 50, 75, 90, 95, 98, 99] {
        println!("  {p}%: {}", states[states.len() * p / 100]);
    }
    println!("  max: {:?}", states.last());
    for &feature in Feature::ALL {
        println!("{feature:?}: {}", all.iter().filter(|(_, used, _)| used.has(feature)).count());
    }
}
