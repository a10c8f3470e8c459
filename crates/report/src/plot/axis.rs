//! From the numbers along an axis to its range and the few round numbers that are written beside it.

use super::{Axis, Scale, Unit};

/// Numbers further from zero, or closer to it, cannot be told apart in a picture.
const LARGE: f64 = 1e300;
/// More numbers than this never stand at an axis, whatever rounding does.
const MOST: usize = 50;

/// An axis as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    low: f64,
    high: f64,
    scale: Scale,
    pub ticks: Vec<Tick>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

impl Span {
    /// The axis that shows all of `values`, with about `most` numbers at most. A linear one begins at zero where `whole` is
    /// set, and ends at a round number.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, most: usize, whole: bool) -> Span {
        let most = most.max(1);
        let values = values.filter(|v| v.is_finite()).map(|v| v.clamp(-LARGE, LARGE));
        match axis.scale {
            Scale::Linear => linear(axis.unit, ends(values), most, whole),
            Scale::Log => {
                let ends = ends(values.filter(|v| *v > 0.0).map(|v| v.max(1.0 / LARGE)));
                let ends = ends.unwrap_or((1.0, 1.0));
                if matches!(axis.unit, Unit::Bytes | Unit::Doublings) {
                    doublings(axis.unit, ends, most)
                } else {
                    decades(axis.unit, ends, most)
                }
            }
        }
    }

    /// Where a value is: 0 at the beginning of the axis, 1 at its end.
    pub fn position(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value.clamp(-LARGE, LARGE) - self.low) / (self.high - self.low),
            Scale::Log if value <= self.low => 0.0,
            Scale::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }

    /// Where bars stand: at zero, or at the end that is closest to it.
    pub fn base(&self) -> f64 {
        if self.scale == Scale::Log { 0.0 } else { self.position(0.0) }
    }
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, v| Some(ends.map_or((v, v), |(low, high): (f64, f64)| (low.min(v), high.max(v)))))
}

fn linear(unit: Unit, ends: Option<(f64, f64)>, most: usize, whole: bool) -> Span {
    let (mut low, mut high) = ends.unwrap_or((0.0, 0.0));
    if whole || (low > 0.0 && low <= high / 4.0) {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    if high - low <= low.abs().max(high.abs()) * 1e-12 || high - low < 1.0 / LARGE {
        // One value: it is shown against zero.
        (low, high) = (low.min(0.0), high.max(0.0));
        if high - low < 1.0 / LARGE {
            high = 1.0;
        }
    }
    let whole_numbers = matches!(unit, Unit::Count | Unit::Doublings);
    if whole_numbers && high - low < 1.0 {
        high = low + 1.0;
    }
    let prefix = Prefix::of(unit, low.abs().max(high.abs()));
    let raw = (high / prefix.factor - low / prefix.factor) / most as f64;
    let mut step = if prefix.binary { 2f64.powf(raw.log2().ceil()) } else { rounded_up(raw) };
    if whole_numbers {
        step = step.max(1.0 / prefix.factor);
    }
    let decimals = decimals(step);
    let wide = step * prefix.factor;
    if whole {
        (low, high) = ((low / wide + 1e-9).floor() * wide, (high / wide - 1e-9).ceil() * wide);
    }
    let (first, last) = ((low / wide - 1e-9).ceil(), (high / wide + 1e-9).floor());
    let ticks = (0..MOST).map(|i| first + i as f64).take_while(|at| *at <= last);
    let ticks = ticks.map(|at| Tick { value: at * wide, label: prefix.write(at * step, decimals) });
    Span { low, high, scale: Scale::Linear, ticks: ticks.collect() }
}

/// The next of 1, 2, 5, 10, 20, 50, …
fn rounded_up(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= raw * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

/// How many digits after the point tell multiples of `step` apart.
fn decimals(step: f64) -> usize {
    let exact = |digits: &usize| {
        let scaled = step * 10f64.powi(*digits as i32);
        scaled >= 0.5 && (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    (0..=6).find(exact).unwrap_or(6)
}

fn decades(unit: Unit, (low, high): (f64, f64), most: usize) -> Span {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let last = last.max(first + 1);
    let mut values: Vec<f64> = Vec::new();
    if last - first <= 2 {
        // Few decades are divided further; what is outside is cut away.
        let all = (first..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(e))).collect::<Vec<_>>();
        let near = 1e-9;
        let begin = all.iter().rposition(|v| *v <= low * (1.0 + near)).unwrap_or(0);
        let end = all.iter().position(|v| *v >= high * (1.0 - near)).unwrap_or(all.len() - 1);
        values.extend(&all[begin..=end.max(begin + 1).min(all.len() - 1)]);
    } else {
        let stride = (last - first).div_euclid(most as i32) + i32::from((last - first) % most as i32 != 0);
        values.extend((first..=last).step_by(stride.max(1) as usize).map(|e| 10f64.powi(e)));
    }
    let (low, high) = (low.min(values[0]), high.max(values[values.len() - 1]));
    Span { low, high, scale: Scale::Log, ticks: alone(unit, &values) }
}

fn doublings(unit: Unit, (low, high): (f64, f64), most: usize) -> Span {
    let (first, last) = (low.log2().floor() as i32, high.log2().ceil() as i32);
    let last = last.max(first + 1);
    let stride = ((last - first) as usize).div_ceil(most).max(1);
    let values: Vec<f64> = (first..=last).step_by(stride).map(|e| 2f64.powi(e)).collect();
    Span {
        low: low.min(values[0]),
        high: high.max(values[values.len() - 1]),
        scale: Scale::Log,
        ticks: alone(unit, &values),
    }
}

/// Each number with a prefix of its own.
fn alone(unit: Unit, values: &[f64]) -> Vec<Tick> {
    let write = |value: f64| {
        let mut prefix = Prefix::of(unit, value * (1.0 + 1e-9));
        if unit == Unit::Seconds && value > 0.5 {
            prefix = Prefix { factor: 1.0, suffix: " s", binary: false };
        } else if matches!(unit, Unit::Count | Unit::Rate) && (999.0..20_000.0).contains(&value) {
            prefix = Prefix::thousands(unit);
        }
        let scaled = value / prefix.factor;
        prefix.write(scaled, decimals(scaled))
    };
    values.iter().map(|&value| Tick { value, label: write(value) }).collect()
}

/// What numbers are divided by, and what is written after them.
struct Prefix {
    factor: f64,
    suffix: &'static str,
    /// Steps are powers of two.
    binary: bool,
}

impl Prefix {
    /// The prefix for numbers up to `most`.
    fn of(unit: Unit, most: f64) -> Prefix {
        const COUNTS: [(f64, &str); 4] = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")];
        const RATES: [(f64, &str); 5] = [(1e12, " T/s"), (1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s"), (0.0, " /s")];
        const BYTES: [(f64, &str); 7] = [
            ((1u64 << 60) as f64, " EiB"),
            ((1u64 << 50) as f64, " PiB"),
            ((1u64 << 40) as f64, " TiB"),
            ((1u64 << 30) as f64, " GiB"),
            ((1u64 << 20) as f64, " MiB"),
            ((1u64 << 10) as f64, " KiB"),
            (0.0, " B"),
        ];
        const TIMES: [(f64, &str); 5] = [(7200.0, " h"), (180.0, " min"), (1.0, " s"), (1e-3, " ms"), (1e-6, " µs")];
        let table: &[(f64, &'static str)] = match unit {
            Unit::Count | Unit::Doublings => &COUNTS,
            Unit::Rate => &RATES,
            Unit::Bytes => &BYTES,
            Unit::Seconds => &TIMES,
        };
        let found = table.iter().find(|(from, _)| most >= *from);
        let (factor, suffix) = match (unit, found) {
            (Unit::Count | Unit::Doublings, Some((_, " k"))) => (1e3, " k"),
            (Unit::Seconds, Some((_, " h"))) => (3600.0, " h"),
            (Unit::Seconds, Some((_, " min"))) => (60.0, " min"),
            (Unit::Seconds, None) => (1e-6, " µs"),
            (_, Some((factor, suffix))) if *factor > 0.0 => (*factor, *suffix),
            (_, Some((_, suffix))) => (1.0, *suffix),
            (_, None) => (1.0, ""),
        };
        Prefix { factor, suffix, binary: matches!(unit, Unit::Bytes | Unit::Doublings) }
    }

    fn thousands(unit: Unit) -> Prefix {
        let suffix = if unit == Unit::Rate { " k/s" } else { " k" };
        Prefix { factor: 1e3, suffix, binary: false }
    }

    /// A number that was divided already.
    fn write(&self, scaled: f64, decimals: usize) -> String {
        if scaled == 0.0 {
            return "0".into();
        }
        if scaled.abs() >= 1e6 || scaled.abs() < 5e-7 {
            return format!("{scaled:.0e}{}", self.suffix);
        }
        format!("{scaled:.decimals$}{}", self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(unit: Unit, scale: Scale, values: &[f64], whole: bool) -> Vec<String> {
        let axis = Axis { label: String::new(), unit, scale };
        let span = Span::new(&axis, values.iter().copied(), 6, whole);
        span.ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn numbers_are_round() {
        let linear = |unit, high| labels(unit, Scale::Linear, &[0.0, high], true).join(", ");
        assert_eq!(linear(Unit::Count, 5.0), "0, 1, 2, 3, 4, 5");
        assert_eq!(linear(Unit::Count, 1234.0), "0, 500, 1000, 1500");
        assert_eq!(linear(Unit::Count, 2.6e6), "0, 0.5 M, 1.0 M, 1.5 M, 2.0 M, 2.5 M, 3.0 M");
        assert_eq!(linear(Unit::Count, 43_000.0), "0, 10 k, 20 k, 30 k, 40 k, 50 k");
        assert_eq!(linear(Unit::Bytes, 500e6), "0, 128 MiB, 256 MiB, 384 MiB, 512 MiB");
        assert_eq!(linear(Unit::Bytes, 1.5e9), "0, 0.25 GiB, 0.50 GiB, 0.75 GiB, 1.00 GiB, 1.25 GiB, 1.50 GiB");
        assert_eq!(linear(Unit::Seconds, 90.0), "0, 20 s, 40 s, 60 s, 80 s, 100 s");
        assert_eq!(linear(Unit::Seconds, 0.02), "0, 5 ms, 10 ms, 15 ms, 20 ms");
        assert_eq!(linear(Unit::Seconds, 1000.0), "0, 5 min, 10 min, 15 min, 20 min");
        assert_eq!(linear(Unit::Seconds, 10_000.0), "0, 0.5 h, 1.0 h, 1.5 h, 2.0 h, 2.5 h, 3.0 h");
        assert_eq!(linear(Unit::Doublings, 16.0), "0, 4, 8, 12, 16");
        assert_eq!(linear(Unit::Doublings, 2.0), "0, 1, 2");
        assert_eq!(linear(Unit::Rate, 8e6), "0, 2 M/s, 4 M/s, 6 M/s, 8 M/s");
        assert_eq!(linear(Unit::Rate, 300.0), "0, 50 /s, 100 /s, 150 /s, 200 /s, 250 /s, 300 /s");
    }

    #[test]
    fn factors_are_round() {
        let log = |unit, low, high| labels(unit, Scale::Log, &[low, high], true).join(", ");
        assert_eq!(log(Unit::Count, 1.0, 1e6), "1, 10, 100, 1 k, 10 k, 100 k, 1 M");
        assert_eq!(log(Unit::Count, 3.0, 40.0), "2, 5, 10, 20, 50");
        assert_eq!(log(Unit::Count, 150.0, 1800.0), "100, 200, 500, 1 k, 2 k");
        assert_eq!(log(Unit::Seconds, 0.001, 1000.0), "1 ms, 10 ms, 100 ms, 1 s, 10 s, 100 s, 1000 s");
        assert_eq!(log(Unit::Bytes, 1e6, 30e6), "512 KiB, 1 MiB, 2 MiB, 4 MiB, 8 MiB, 16 MiB, 32 MiB");
        assert_eq!(log(Unit::Doublings, 1.0, 16.0), "1, 2, 4, 8, 16");
        assert_eq!(log(Unit::Count, 0.0, 0.0), "1, 2");
    }

    #[test]
    fn places_are_on_the_axis() {
        let axis = Axis::log("", Unit::Count);
        let span = Span::new(&axis, [0.0, 10.0, 1000.0].into_iter(), 6, true);
        assert_eq!((span.position(0.0), span.position(10.0), span.position(1000.0)), (0.0, 0.0, 1.0));
        assert!((span.position(100.0) - 0.5).abs() < 1e-9);
        let span = Span::new(&Axis::linear("", Unit::Count), [-10.0, 10.0].into_iter(), 6, true);
        assert!((span.position(0.0) - span.base()).abs() < 1e-9 && span.position(f64::INFINITY) == 1.0);
    }
}
