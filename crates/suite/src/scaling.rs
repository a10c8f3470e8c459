//! The same search with more and more threads: how long it takes, and how many times faster that is than with the fewest.

use crate::case::Case;
use crate::record::Outcome;
use crate::runner::Row;
use crate::table::Table;
use crate::template::command_line;
use scrimp_report::number::grouped;
use scrimp_report::plot::{Axis, Kind, Plot, Series, Unit};
use std::path::Path;

/// The setting that says with how many threads.
const THREADS: &str = "threads";

type NameOf = fn(&Curve) -> &str;

/// One way of searching one model, from few threads to many.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub model: String,
    pub way: String,
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub threads: f64,
    pub seconds: f64,
    pub states: f64,
    pub bytes_per_state: Option<f64>,
    pub command: String,
}

impl Curve {
    /// The speedup of each point over the one with the fewest threads. Where these are several, they are taken to be as many
    /// times as fast as one.
    pub fn speedups(&self) -> Vec<(f64, f64)> {
        let Some(first) = self.points.first() else { return Vec::new() };
        self.points.iter().map(|point| (point.threads, first.threads * first.seconds / point.seconds)).collect()
    }
}

/// The text of a suite that counts the states of a model in each store with each number of threads.
pub fn suite_of(model: &Path, threads: &[usize], stores: &[String], flags: Option<&str>) -> String {
    let quoted = |text: &str| format!("'''{text}'''");
    let list = |texts: Vec<String>| texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
    let flags = list(
        [Some("--store ${store} --threads ${threads}"), flags].into_iter().flatten().map(str::to_string).collect(),
    );
    let threads: Vec<String> = threads.iter().map(usize::to_string).collect();
    format!(
        "title = {}\n[[task]]\nname = 'threads'\nmodels = [{}]\nflags = [{flags}]\nsweep = {{ store = [{}], {THREADS} = [{}] }}\n",
        quoted(&format!("Threads: {}", model.display())),
        quoted(&model.to_string_lossy()),
        list(stores.to_vec()),
        list(threads),
    )
}

/// The curves of all rows that came to their end and say with how many threads.
pub fn curves(rows: &[(&Case, &Row)]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for (case, row) in rows.iter().filter(|(_, row)| row.record.outcome == Outcome::Done && row.search.is_none()) {
        let Some(threads) = row.record.number(THREADS) else { continue };
        let others = case.settings.iter().filter(|(name, value)| name != THREADS && !value.is_empty());
        let way = others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ");
        let seconds = row.record.number("seconds").unwrap_or(row.record.wall_seconds);
        let point = Point {
            threads,
            // What is too little to be measured is taken for just that.
            seconds: seconds.max(1e-3),
            states: row.record.number("states").unwrap_or(f64::NAN),
            bytes_per_state: row.record.number("bytes_per_state"),
            command: format!("scrimp {}", command_line(&row.record.command)),
        };
        match curves.iter_mut().find(|curve| curve.model == case.model.name && curve.way == way) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { model: case.model.name.clone(), way, points: vec![point] }),
        }
    }
    curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.threads.total_cmp(&b.threads)));
    curves
}

/// Whether all curves of a model have found as many states, where they know.
pub fn agree(curves: &[Curve]) -> bool {
    let states = |curve: &Curve| curve.points.iter().map(|point| point.states).collect::<Vec<_>>();
    let of_model = |model: &str| curves.iter().filter(|c| c.model == model).flat_map(states).collect::<Vec<_>>();
    curves.iter().all(|curve| {
        let all: Vec<f64> = of_model(&curve.model).into_iter().filter(|states| states.is_finite()).collect();
        all.windows(2).all(|pair| pair[0] == pair[1])
    })
}

/// Times, states a second and speedups.
pub fn table(curves: &[Curve]) -> Table {
    let heads = ["model", "store", THREADS, "states", "time", "states/s", "speedup", "bytes a state"];
    let columns = heads.into_iter().enumerate().map(|(i, head)| (head.to_string(), i > 1)).collect();
    let mut table = Table { columns, rows: Vec::new(), commands: Vec::new() };
    let whole = |number: f64| if number.is_finite() { grouped(number as u64) } else { String::new() };
    for curve in curves {
        for (point, (_, speedup)) in curve.points.iter().zip(curve.speedups()) {
            table.rows.push(vec![
                curve.model.clone(),
                curve.way.clone(),
                point.threads.to_string(),
                whole(point.states),
                format!("{:.2} s", point.seconds),
                whole(point.states / point.seconds),
                format!("{speedup:.2}x"),
                point.bytes_per_state.map_or(String::new(), |bytes| format!("{bytes:.1}")),
            ]);
            table.commands.push(point.command.clone());
        }
    }
    table
}

/// Speedups over threads, with a line where twice as many are twice as fast. A panel for each model with a line for each way,
/// or, where that makes fewer of them, for each way with a line for each model.
pub fn plots(curves: &[Curve]) -> Vec<Plot> {
    let curves: Vec<&Curve> = curves.iter().filter(|curve| curve.points.len() > 1).collect();
    let names = |of: NameOf| {
        let mut names: Vec<&str> = Vec::new();
        curves.iter().map(|curve| of(curve)).for_each(|name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
        names
    };
    let (model, way): (NameOf, NameOf) = (|curve| &curve.model, |curve| &curve.way);
    let (panel, line) = if names(model).len() <= names(way).len() { (model, way) } else { (way, model) };
    let plot = |name: &str| {
        let lines = curves.iter().filter(|curve| panel(curve) == name);
        let marked = |curve: &&Curve| Series { name: line(curve).into(), kind: Kind::Marked, points: curve.speedups() };
        let mut series: Vec<Series> = lines.map(marked).collect();
        let most = series.iter().flat_map(|s| &s.points).map(|point| point.0).fold(1.0, f64::max);
        // First, so that it looks the same in every panel.
        series.insert(0, Series { name: "ideal".into(), kind: Kind::Line, points: vec![(1.0, 1.0), (most, most)] });
        Plot {
            title: format!("Speedup: {name}"),
            x: Axis::linear(THREADS, Unit::Doublings),
            y: Axis::linear("times as fast", Unit::Doublings),
            series,
        }
    };
    names(panel).into_iter().map(plot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Given, of_text};

    fn curve(model: &str, way: &str, seconds: &[(f64, f64)]) -> Curve {
        let point = |&(threads, seconds): &(f64, f64)| Point {
            threads,
            seconds,
            states: 6.0,
            bytes_per_state: None,
            command: String::new(),
        };
        Curve { model: model.into(), way: way.into(), points: seconds.iter().map(point).collect() }
    }

    #[test]
    fn speedups_are_over_the_fewest_threads() {
        let of = |seconds: &[(f64, f64)]| curve("a", "table", seconds).speedups();
        assert_eq!(of(&[(1.0, 8.0), (2.0, 4.0), (4.0, 4.0)]), [(1.0, 1.0), (2.0, 2.0), (4.0, 2.0)]);
        assert_eq!(of(&[(2.0, 3.0), (4.0, 2.0)]), [(2.0, 2.0), (4.0, 3.0)]);
        assert_eq!(of(&[]), []);
    }

    #[test]
    fn there_are_as_few_panels_as_can_be() {
        let seconds = [(1.0, 8.0), (4.0, 2.0)];
        let both = |models: &[&str], ways: &[&str]| {
            let pairs = models.iter().flat_map(|model| ways.iter().map(|way| curve(model, way, &seconds)));
            let panel = |plot: Plot| format!("{} {}", plot.title, plot.series.len());
            plots(&pairs.collect::<Vec<_>>()).into_iter().map(panel).collect::<Vec<_>>()
        };
        assert_eq!(both(&["a"], &["x", "y"]), ["Speedup: a 3"]);
        assert_eq!(both(&["a", "b", "c"], &["x"]), ["Speedup: x 4"]);
        assert_eq!(plots(&[curve("a", "x", &[(1.0, 2.0)])]), [], "one point is no line");
    }

    #[test]
    fn other_numbers_of_states_are_seen() {
        let (a, mut b) = (curve("a", "x", &[(1.0, 1.0)]), curve("a", "y", &[(1.0, 1.0)]));
        assert!(agree(&[a.clone(), b.clone()]));
        b.points[0].states = 7.0;
        assert!(!agree(&[a.clone(), b.clone()]));
        b.model = "b".into();
        assert!(agree(&[a, b]), "of another model");
    }

    #[test]
    fn the_suite_can_be_read() {
        let text = suite_of(Path::new("no 'such'.dve"), &[1, 2], &["table".into(), "tree".into()], Some("--memory 1G"));
        let suite = of_text(&text, &Given { skip_missing: true, ..Given::default() }).expect(&text);
        assert_eq!(suite.tasks[0].cases.len(), 4);
    }
}
