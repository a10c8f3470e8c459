//! Measures found from the model alone, level by level.
//!
//! A level bounds the share of edges that may lead back: the higher, the more components can be used, and the more states
//! must be kept for good or visited again. Each level starts from what the one before has found.

use crate::measure::Measure;
use crate::sample::{Sample, SampleLimits};
use crate::search::{Found, Search};
use crate::sweep::Sweep;
use scrimp_native::NativeModel;
use scrimp_system::Stop;

/// The largest share of regress edges at each level.
pub const SHARES: [f64; 6] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2];

/// How to look for a measure.
#[derive(Debug, Clone, Copy)]
pub struct AutoOptions {
    /// 0 to 5; by itself the search takes the level that it expects most of.
    pub level: Option<u8>,
    /// The search will also forget states of the current class (a cache): they count less then.
    pub caching: bool,
    /// States that may be looked at.
    pub states: usize,
    /// Memory that may be used.
    pub bytes: usize,
    /// Time to spend, in steps of about a nanosecond; the result depends on it but not on the clock.
    pub effort: u64,
    pub seed: u64,
}

impl Default for AutoOptions {
    fn default() -> AutoOptions {
        AutoOptions { level: None, caching: false, states: 300_000, bytes: 200 << 20, effort: 4_000_000_000, seed: 1 }
    }
}

/// A measure that was found, with what is expected of it.
#[derive(Debug, Clone)]
pub struct Auto {
    pub measure: Measure,
    pub level: u8,
    /// The sweep over the sampled states.
    pub sweep: Sweep,
    /// How many those are, and whether they are all there are.
    pub sampled: usize,
    pub complete: bool,
}

impl Measure {
    /// Finds a measure by looking at a part of the state space.
    pub fn auto(model: &NativeModel, options: AutoOptions) -> Auto {
        Measure::auto_until(model, options, &Stop::never())
    }

    /// The same, as long as there is time: the best measure that was found by then.
    pub fn auto_until(model: &NativeModel, options: AutoOptions, stop: &Stop) -> Auto {
        let limits = SampleLimits { states: options.states, bytes: options.bytes / 4 * 3 };
        let sample = Sample::until(model, limits, options.seed, stop);
        let mut levels = Measure::levels_until(model, &sample, options, stop);
        let best = match options.level {
            Some(_) => levels.len() - 1,
            // Visiting twice as often is worth a quarter less memory.
            None => (0..levels.len()).min_by(|&a, &b| cost(&levels[a]).total_cmp(&cost(&levels[b]))).unwrap_or(0),
        };
        levels.swap_remove(best)
    }

    /// The measures of all levels up to the one that is asked for.
    pub fn levels(model: &NativeModel, sample: &Sample, options: AutoOptions) -> Vec<Auto> {
        Measure::levels_until(model, sample, options, &Stop::never())
    }

    fn levels_until(model: &NativeModel, sample: &Sample, options: AutoOptions, stop: &Stop) -> Vec<Auto> {
        let system = model.system();
        let highest = options.level.unwrap_or(5).min(5);
        let mut search = Search::new(system, model.layout(), sample, options, stop);
        let mut best: Found = search.judge(vec![], 1.0, f64::INFINITY);
        let mut found = Vec::new();
        for level in 0..=highest {
            let tried = level.checked_sub(1).map(|level| SHARES[level as usize]);
            let before = best.vector.clone();
            best = search.climb(best, SHARES[level as usize], tried);
            if best.vector != before {
                best = search.simplify(best);
            }
            found.push(Auto {
                measure: Measure::new(system, search.components(&best.vector)),
                level,
                sweep: best.sweep,
                sampled: sample.len(),
                complete: sample.is_complete(),
            });
        }
        found
    }
}

fn cost(found: &Auto) -> f64 {
    let n = found.sampled.max(1) as f64;
    found.sweep.peak as f64 / n * (found.sweep.visits as f64 / n).max(1.0).powf(0.4)
}
