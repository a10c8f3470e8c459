//! The points of a series as the lines that are drawn, in positions from 0 to 1 along both axes.

use super::axis::Span;
use super::thin::{bars, pieces};
use super::{Kind, Plot, Series};

/// Where a point is: 0 at the beginning of both axes.
pub type Place = (f64, f64);

/// A plot with its axes measured.
pub struct Frame {
    pub x: Span,
    pub y: Span,
}

impl Frame {
    /// Axes for everything in the plot, with about so many numbers at each.
    pub fn new(plot: &Plot, across: usize, up: usize) -> Frame {
        let drawn = |series: &&Series| series.kind != Kind::Bars;
        let finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
        let points = plot.series.iter().filter(drawn).flat_map(|series| &series.points).filter(finite);
        let stand = plot.series.iter().filter(|series| !drawn(series)).flat_map(|series| bars(&series.points));
        let stand: Vec<_> = stand.collect();
        let xs = points.clone().map(|point| point.0).chain(stand.iter().flat_map(|bar| [bar.left, bar.right]));
        let ys = points.map(|point| point.1).chain(stand.iter().map(|bar| bar.height));
        Frame { x: Span::new(&plot.x, xs, across, false), y: Span::new(&plot.y, ys, up, true) }
    }

    fn place(&self, (x, y): (f64, f64)) -> Place {
        (self.x.position(x), self.y.position(y))
    }

    /// The lines of a series that is drawn as a line, from gap to gap; the corners of steps included.
    pub fn lines(&self, series: &Series) -> Vec<Vec<Place>> {
        let line = |piece: Vec<(f64, f64)>| {
            let mut line = Vec::with_capacity(piece.len());
            for point in piece {
                let place = self.place(point);
                if series.kind == Kind::Steps
                    && let Some(&(_, before)) = line.last()
                {
                    line.push((place.0, before));
                }
                line.push(place);
            }
            line
        };
        pieces(&series.points).into_iter().map(line).collect()
    }

    /// The bars of a series: left, right, height.
    pub fn bars(&self, series: &Series) -> Vec<(f64, f64, f64)> {
        let place = |bar: super::thin::Bar| {
            (self.x.position(bar.left), self.x.position(bar.right), self.y.position(bar.height))
        };
        bars(&series.points).into_iter().map(place).collect()
    }
}
