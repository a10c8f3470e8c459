//! The line of a terminal that says how far a search has come: what it does, what it has found, how fast, how much of the whole
//! that is, and what it takes. Where the terminal is narrow, what matters least is left out.

use scrimp::report::number::{bytes, grouped, rate};
use scrimp::report::record::Sample;
use std::time::Duration;

/// All that a line is made from.
pub struct Moment<'a> {
    pub sample: &'a Sample,
    /// What is done on the way, where it is not the search itself.
    pub phase: Option<String>,
    /// What the search does, in a word or two.
    pub what: &'a str,
    /// States expanded a second, lately.
    pub rate: f64,
    /// Between which numbers of states there may be in all.
    pub expected: Option<(u64, u64)>,
    pub by_level: bool,
    /// The memory budget.
    pub memory: usize,
    /// How long the whole run takes already, and how long it may.
    pub clock: Option<(Duration, Duration)>,
    pub curve: Option<String>,
}

/// A part of the line: the larger the number, the sooner it is left out.
type Part = (u8, String);

/// The line, of so many columns at most.
pub fn line(moment: &Moment, width: usize) -> String {
    let mut parts = parts(moment);
    let length = |parts: &[Part]| parts.iter().map(|(_, text)| text.chars().count() + 2).sum::<usize>();
    while length(&parts) > width.saturating_add(2) && parts.len() > 1 {
        let least = parts.iter().map(|(rank, _)| *rank).max();
        parts.retain(|(rank, _)| Some(*rank) != least);
    }
    let line = parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("  ");
    line.chars().take(width).collect()
}

fn parts(moment: &Moment) -> Vec<Part> {
    let figures = &moment.sample.figures;
    let mut parts = vec![(0, moment.phase.clone().unwrap_or_else(|| moment.what.to_string()))];
    match (figures.visits, figures.nodes, figures.clauses) {
        (0, nodes @ 1.., _) => parts.push((1, format!("sets of states in {} nodes", grouped(nodes)))),
        (0, 0, clauses @ 1..) => {
            parts.push((1, format!("runs of {} steps", grouped(figures.depth))));
            parts.push((3, format!("{} clauses", grouped(clauses))));
        }
        _ => {
            parts.push((1, format!("{} states", grouped(figures.states))));
            // Where the search is over and its run is looked for, nothing is expanded.
            let searches = moment.rate > 0.0;
            if searches {
                parts.push((4, rate(moment.rate as u64, Duration::from_secs(1))));
            }
            parts.push((6, format!("open {}", grouped(figures.open))));
            parts.push((7, format!("depth {}", grouped(figures.depth))));
            if let (true, Some(left)) = (searches, left(moment)) {
                parts.push((2, left));
            }
        }
    }
    let used = bytes(usize::try_from(moment.sample.memory).unwrap_or(usize::MAX));
    parts.push((5, format!("{used} of {}", bytes(moment.memory))));
    parts.push((
        3,
        match moment.clock {
            Some((taken, most)) => format!("{} of {}", spell(taken.as_secs_f64()), spell(most.as_secs_f64())),
            None => spell(moment.sample.seconds),
        },
    ));
    parts.extend(moment.curve.clone().map(|curve| (8, curve)));
    parts
}

/// How much is done, and how long the rest may take. It is a guess from the shape of the levels; while they grow there is none.
fn left(moment: &Moment) -> Option<String> {
    let Some((least, most)) = moment.expected else {
        return moment.by_level.then(|| "time left unknown".to_string());
    };
    let done = moment.sample.figures.visits;
    let percent = |all: u64| (done as f64 * 100.0 / all.max(1) as f64).min(99.0) as u64;
    let left = |all: u64| all.saturating_sub(done) as f64 / moment.rate;
    let share = match (percent(most), percent(least)) {
        (low, high) if low == high => format!("{low} %"),
        (low, high) => format!("{low}-{high} %"),
    };
    let time = match (spell(left(least)), spell(left(most))) {
        (low, high) if low == high => high,
        (low, high) => match (low.rsplit_once(' '), high.rsplit_once(' ')) {
            (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}-{high}"),
            _ => format!("{low} to {high}"),
        },
    };
    Some(format!("{share}, {time} left"))
}

/// A time as people say it.
fn spell(seconds: f64) -> String {
    match seconds {
        s if s < 119.5 => format!("{s:.0} s"),
        s if s < 119.5 * 60.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.0} days", (s / 86400.0).min(1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_core::Figures;

    fn moment(sample: &Sample) -> Moment<'_> {
        Moment {
            sample,
            phase: None,
            what: "searching",
            rate: 1000.0,
            expected: None,
            by_level: true,
            memory: 1 << 30,
            clock: None,
            curve: None,
        }
    }

    #[test]
    fn a_line_says_how_far() {
        let figures = Figures { states: 7000, visits: 6000, open: 1000, depth: 12, ..Figures::default() };
        let sample = Sample { seconds: 6.0, figures, memory: 10 << 20 };
        let grows = moment(&sample);
        assert_eq!(
            line(&grows, 200),
            "searching  7,000 states  1 k/s  open 1,000  depth 12  time left unknown  \
             10.0 MiB of 1.0 GiB  6 s"
        );
        assert!(!line(&Moment { by_level: false, ..moment(&sample) }, 200).contains("left"));
        let shrinks = Moment { expected: Some((8000, 12000)), ..moment(&sample) };
        assert!(line(&shrinks, 200).contains("  50-75 %, 2-6 s left  "), "{}", line(&shrinks, 200));
        let limited = Moment { clock: Some((Duration::from_secs(61), Duration::from_secs(600))), ..moment(&sample) };
        assert!(line(&limited, 200).ends_with("  61 s of 10 min"));
        let over = Moment { rate: 0.0, phase: Some("finding the run again".into()), ..shrinks };
        assert_eq!(line(&over, 62), "finding the run again  7,000 states  10.0 MiB of 1.0 GiB  6 s");
    }

    #[test]
    fn a_narrow_line_keeps_what_matters() {
        let figures = Figures { states: 7000, visits: 6000, open: 1000, depth: 12, ..Figures::default() };
        let sample = Sample { seconds: 6.0, figures, memory: 10 << 20 };
        for width in 0..150 {
            let moment = Moment { expected: Some((8000, 12000)), curve: Some("▁▂▃".into()), ..moment(&sample) };
            let text = line(&moment, width);
            assert!(text.chars().count() <= width, "{text}");
            assert!(width < 45 || text.contains("7,000 states") && text.contains("50-75 %"), "{width}: {text}");
        }
    }

    #[test]
    fn times_are_spelt() {
        let spelt: Vec<String> = [0.2, 90.0, 200.0, 9000.0, 1e6, f64::INFINITY].map(spell).into();
        assert_eq!(spelt, ["0 s", "90 s", "3 min", "2.5 h", "12 days", "1000000 days"]);
    }
}
