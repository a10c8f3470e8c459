//! Curves about many runs: how many were solved within a cost, and two costs of each run against each other.

use crate::figures::capital;
use crate::measure::{MEMORY, TIME, at_least, label, unit};
use scrimp_report::plot::{Axis, Kind, Plot, Series, Unit};

/// The axis of a cost, with more about what is on it.
pub fn of_cost(field: &str, more: &str) -> Axis {
    Axis::log(format!("{}{more}", label(field)), unit(field))
}

/// A cactus plot: a line for each configuration, which says of each number of runs the cost within which that many were
/// solved. `None` where there are too few to draw a line.
pub fn cactus(field: &str, configurations: &[(String, Vec<f64>)]) -> Option<Plot> {
    let series = |(name, costs): &(String, Vec<f64>)| {
        let mut sorted: Vec<f64> =
            costs.iter().copied().filter(|c| c.is_finite()).map(|c| at_least(field, c)).collect();
        sorted.sort_by(f64::total_cmp);
        let points = sorted.into_iter().enumerate().map(|(i, cost)| ((i + 1) as f64, cost)).collect();
        Series { name: name.clone(), kind: Kind::Marked, points }
    };
    let series: Vec<Series> = configurations.iter().map(series).filter(|s| !s.points.is_empty()).collect();
    let enough = series.iter().any(|s| s.points.len() > 1);
    let title = match field {
        TIME => "Solved within a time".to_string(),
        MEMORY => "Solved within so much memory".into(),
        other => format!("Solved within so many {}", label(other)),
    };
    let x = Axis::linear("runs solved", Unit::Count);
    enough.then(|| Plot { title, x, y: of_cost(field, " of each"), series })
}

/// Costs of the same runs under a base and under other configurations, with a line where both are equal: below it, the other
/// costs less.
pub fn scatter(
    field: &str,
    axis: &dyn Fn(&str) -> Axis,
    base: &str,
    others: &[(String, Vec<(f64, f64)>)],
) -> Option<Plot> {
    let dots = |(name, pairs): &(String, Vec<(f64, f64)>)| Series {
        name: name.clone(),
        kind: Kind::Dots,
        points: pairs.iter().map(|(a, b)| (at_least(field, *a), at_least(field, *b))).collect(),
    };
    let mut series: Vec<Series> = others.iter().map(dots).filter(|series| !series.points.is_empty()).collect();
    let all = series.iter().flat_map(|s| &s.points).flat_map(|(a, b)| [*a, *b]).filter(|c| c.is_finite());
    let (least, most) = all.fold((f64::INFINITY, 0.0f64), |(least, most), c| (least.min(c), most.max(c)));
    let enough = series.iter().any(|series| series.points.len() > 1);
    series.push(Series { name: "equal".into(), kind: Kind::Line, points: vec![(least, least), (most, most)] });
    let (title, y) = match others {
        [(name, _)] => (format!("{}: {base} against {name}", capital(&label(field))), axis(&format!(", {name}"))),
        _ => (format!("{} against {base}", capital(&label(field))), axis("")),
    };
    enough.then(|| Plot { title, x: axis(&format!(", {base}")), y, series })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cactus_is_sorted() {
        let of = |costs: &[f64]| ("a".to_string(), costs.to_vec());
        let plot = cactus(TIME, &[of(&[3.0, 0.0, 1.0]), of(&[])]).expect("three runs are enough");
        assert_eq!(plot.series.len(), 1);
        assert_eq!(plot.series[0].points, [(1.0, 1e-3), (2.0, 1.0), (3.0, 3.0)]);
        assert_eq!(cactus(MEMORY, &[of(&[5.0])]), None);
        assert_eq!(cactus(MEMORY, &[]), None);
    }

    #[test]
    fn the_diagonal_spans_all() {
        let of = |pairs: &[(f64, f64)]| {
            scatter(TIME, &|more| of_cost(TIME, more), "a", &[("b".to_string(), pairs.to_vec())])
        };
        let plot = of(&[(1.0, 2.0), (8.0, 4.0)]).expect("two are enough");
        assert_eq!((plot.title.as_str(), plot.x.label.as_str()), ("Time: a against b", "time, a"));
        assert_eq!(plot.series[1].points, [(1.0, 1.0), (8.0, 8.0)]);
        assert_eq!(of(&[]), None);
    }
}
