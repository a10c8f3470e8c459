//! Fewer points that look the same: of many that share a place, the first, the last and the extremes.

/// So many points of a series are drawn at most.
pub const MOST: usize = 1000;

/// The points in pieces between gaps, thinned. Where they are too many, gaps are too small to be seen.
pub fn pieces(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let finite = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
    if points.len() <= MOST {
        let pieces = points.split(|point| !finite(point)).filter(|piece| !piece.is_empty());
        return pieces.map(<[_]>::to_vec).collect();
    }
    let all: Vec<_> = points.iter().copied().filter(finite).collect();
    if all.is_empty() { Vec::new() } else { vec![thinned(&all)] }
}

/// At most [`MOST`] of the points, in their order.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST {
        return points.to_vec();
    }
    let mut out = Vec::with_capacity(MOST);
    for chunk in points.chunks(points.len().div_ceil(MOST / 4)) {
        let by_value = |a: &usize, b: &usize| chunk[*a].1.total_cmp(&chunk[*b].1);
        let low = (0..chunk.len()).min_by(by_value).unwrap_or(0);
        let high = (0..chunk.len()).max_by(by_value).unwrap_or(0);
        let mut kept = [0, low, high, chunk.len() - 1];
        kept.sort_unstable();
        let mut last = None;
        for place in kept {
            if last.replace(place) != Some(place) {
                out.push(chunk[place]);
            }
        }
    }
    out
}

/// A bar: from where to where it stands, and its height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    pub left: f64,
    pub right: f64,
    pub height: f64,
}

/// The points as bars from left to right, as wide as the closest two are apart. Of bars that share a place the one that
/// is furthest from zero is seen.
pub fn bars(points: &[(f64, f64)]) -> Vec<Bar> {
    let mut points: Vec<_> = points.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let gaps = points.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|gap| *gap > 0.0);
    let half = gaps.min_by(f64::total_cmp).unwrap_or(1.0) / 2.0;
    let chunk = points.len().div_ceil(MOST).max(1);
    let bar = |chunk: &[(f64, f64)]| {
        let tallest = chunk.iter().map(|point| point.1).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        Bar { left: chunk[0].0 - half, right: chunk[chunk.len() - 1].0 + half, height: tallest.unwrap_or(0.0) }
    };
    points.chunks(chunk).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_stay() {
        let mut points: Vec<_> = (0..100_000).map(|i| (i as f64, 10.0)).collect();
        points[70_123].1 = 99.0;
        points[30_456].1 = -99.0;
        let kept = pieces(&points).concat();
        assert!(kept.len() <= MOST && kept.contains(&points[70_123]) && kept.contains(&points[30_456]));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0), "the order is kept");
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[99_999]));
        let bars = bars(&points);
        assert!(bars.len() <= MOST && bars.iter().any(|bar| bar.height == -99.0));
    }

    #[test]
    fn gaps_stay() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, 4.0)];
        assert_eq!(pieces(&points), [vec![(0.0, 1.0)], vec![(2.0, 3.0), (3.0, 4.0)]]);
        assert!(pieces(&[]).is_empty() && pieces(&vec![(f64::NAN, 0.0); 5000]).is_empty());
    }

    #[test]
    fn bars_are_as_wide_as_there_is_room() {
        let two = bars(&[(5.0, 1.0), (3.0, 2.0)]);
        assert_eq!(two, [Bar { left: 2.0, right: 4.0, height: 2.0 }, Bar { left: 4.0, right: 6.0, height: 1.0 }]);
        assert_eq!(bars(&[(5.0, 1.0)]), [Bar { left: 4.5, right: 5.5, height: 1.0 }]);
        assert!(bars(&[]).is_empty());
    }
}
