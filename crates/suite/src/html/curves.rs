//! Curves about many runs: how many were solved within a cost, and two costs of each run against each other.

use scrimp_report::plot::{Axis, Kind, Plot, Series, Unit};

/// What a run costs that can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    Time,
    Memory,
}

impl Cost {
    fn axis(self, more: &str) -> Axis {
        let (label, unit) = match self {
            Cost::Time => ("time", Unit::Seconds),
            Cost::Memory => ("memory", Unit::Bytes),
        };
        Axis::log(format!("{label}{more}"), unit)
    }

    fn title(self) -> &'static str {
        match self {
            Cost::Time => "Solved within a time",
            Cost::Memory => "Solved within so much memory",
        }
    }
}

/// A cactus plot: a line for each configuration, which says of each number of runs the cost within which that many were
/// solved. `None` where there are too few to draw a line.
pub fn cactus(cost: Cost, configurations: &[(String, Vec<f64>)]) -> Option<Plot> {
    let series = |(name, costs): &(String, Vec<f64>)| {
        let mut sorted: Vec<f64> = costs.iter().copied().filter(|c| c.is_finite()).map(|c| at_least(cost, c)).collect();
        sorted.sort_by(f64::total_cmp);
        let points = sorted.into_iter().enumerate().map(|(i, cost)| ((i + 1) as f64, cost)).collect();
        Series { name: name.clone(), kind: Kind::Line, points }
    };
    let series: Vec<Series> = configurations.iter().map(series).filter(|s| !s.points.is_empty()).collect();
    let enough = series.iter().any(|s| s.points.len() > 1);
    let x = Axis::linear("runs solved", Unit::Count);
    enough.then(|| Plot { title: cost.title().into(), x, y: cost.axis(" of each"), series })
}

/// Costs of the same runs under two configurations, with a line where both are equal: below it, the second costs less.
pub fn scatter(cost: Cost, names: [&str; 2], pairs: &[(f64, f64)]) -> Option<Plot> {
    let points: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (at_least(cost, *a), at_least(cost, *b))).collect();
    let all = points.iter().flat_map(|(a, b)| [*a, *b]).filter(|c| c.is_finite());
    let (least, most) = all.fold((f64::INFINITY, 0.0f64), |(least, most), c| (least.min(c), most.max(c)));
    let dots = Series { name: "a run".into(), kind: Kind::Dots, points };
    let diagonal = Series { name: "equal".into(), kind: Kind::Line, points: vec![(least, least), (most, most)] };
    let [x, y] = names.map(|name| cost.axis(&format!(", {name}")));
    let title = format!("{} against {}", names[0], names[1]);
    (pairs.len() > 1).then(|| Plot { title, x, y, series: vec![dots, diagonal] })
}

/// What is too little to be measured is drawn as if it were just that.
fn at_least(cost: Cost, value: f64) -> f64 {
    value.max(if cost == Cost::Time { 1e-3 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cactus_is_sorted() {
        let of = |costs: &[f64]| ("a".to_string(), costs.to_vec());
        let plot = cactus(Cost::Time, &[of(&[3.0, 0.0, 1.0]), of(&[])]).expect("three runs are enough");
        assert_eq!(plot.series.len(), 1);
        assert_eq!(plot.series[0].points, [(1.0, 1e-3), (2.0, 1.0), (3.0, 3.0)]);
        assert_eq!(cactus(Cost::Memory, &[of(&[5.0])]), None);
        assert_eq!(cactus(Cost::Memory, &[]), None);
    }

    #[test]
    fn the_diagonal_spans_all() {
        let plot = scatter(Cost::Time, ["a", "b"], &[(1.0, 2.0), (8.0, 4.0)]).expect("two are enough");
        assert_eq!(plot.series[1].points, [(1.0, 1.0), (8.0, 8.0)]);
        assert_eq!(scatter(Cost::Time, ["a", "b"], &[]), None);
    }
}
