//! For each model given: what the measures of all levels cost, in per cent of the whole state space.
//!
//! `levels [--states N] [--effort N] [--most N] [--caching] [--text] MODEL...`: with `--states` the measures are found in a sample of
//! that size; with `--most` the space is cut off at so many states.

use scrimp_native::{Mode, NativeModel};
use scrimp_progress::{AutoOptions, Measure, Patience, Sample, SampleLimits, Sweeper, classes};
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let (mut options, mut show, mut most) = (AutoOptions { level: Some(5), ..AutoOptions::default() }, false, 1 << 28);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--states" => options.states = arguments.next().and_then(|n| n.parse().ok()).expect("a number"),
            "--effort" => options.effort = arguments.next().and_then(|n| n.parse().ok()).expect("a number"),
            "--most" => most = arguments.next().and_then(|n| n.parse().ok()).expect("a number"),
            "--caching" => options.caching = true,
            "--text" => show = true,
            path => levels(path, options, show, most),
        }
    }
}

fn levels(path: &str, options: AutoOptions, show: bool, most: usize) {
    let system = Arc::new(scrimp_lang::load(path.as_ref()).unwrap_or_else(|e| panic!("{e}")));
    let model = NativeModel::new(system.clone(), Mode::Compiled).unwrap_or_else(|e| panic!("{e}"));
    let everything = SampleLimits { states: most, bytes: 8 << 30 };
    let space = Sample::new(&model, everything, 1);
    let begin = Instant::now();
    let sample = Sample::new(&model, SampleLimits { states: options.states, bytes: options.bytes }, options.seed);
    let found = Measure::levels(&model, &sample, options);
    let time = begin.elapsed().as_secs_f64();
    println!("{path}: {} states, {} sampled, {time:.1} s", space.len(), sample.len());
    println!("  level   peak visits persist  class  floor sweeps regress  ns a value");
    let mut sweeper = Sweeper::default();
    for auto in found {
        let text = auto.measure.text();
        let again = Measure::parse(&system, &text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.text(), text);
        let begin = Instant::now();
        let sum = (0..space.len()).fold(0, |sum, state| sum ^ again.value(space.state(state)));
        let each = begin.elapsed().as_nanos() as f64 / space.len() as f64 + (sum == 1) as u8 as f64;
        let (class, count) = classes(&space, &again);
        let sweep = sweeper.run(&space, &class, count, Patience { visits: 20 * space.len(), ..Patience::ENDLESS });
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole as f64;
        let share = |part: usize| percent(part, space.len());
        println!(
            "  {:5} {:6.2} {:6.0} {:7.2} {:6.2} {:6.2} {:6} {:7.2} {each:11.1}{}",
            auto.level,
            share(sweep.peak),
            share(sweep.visits),
            share(sweep.persistent),
            share(sweep.largest_class),
            share(sweep.floor),
            sweep.sweeps,
            percent(sweep.regress, space.edges()),
            if sweep.aborted { " given up" } else { "" },
        );
        if show {
            println!("        {text}");
        }
    }
}
