//! Plots: how numbers go over time or along anything else, as vector graphics for papers and as characters for a terminal.
//!
//! A plot knows nothing of searches: whoever has numbers fills in the points.

mod axis;
mod path;
pub mod print;
mod svg;
mod text;
mod thin;

pub use svg::svg;
pub use text::{sparkline, text};

/// One panel: some series over the same two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

/// What an axis measures and how it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub label: String,
    pub unit: Unit,
    pub scale: Scale,
}

impl Axis {
    /// An axis on which the same distance is always the same difference.
    pub fn linear(label: impl Into<String>, unit: Unit) -> Axis {
        Axis { label: label.into(), unit, scale: Scale::Linear }
    }

    /// An axis on which the same distance is always the same factor.
    pub fn log(label: impl Into<String>, unit: Unit) -> Axis {
        Axis { label: label.into(), unit, scale: Scale::Log }
    }
}

/// How the numbers of an axis are written: 1.5 M, 512 MiB, 90 s, 2 M/s, 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Bytes,
    Seconds,
    Rate,
    /// A count of what comes in powers of two, as threads do.
    Doublings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// What is not above zero is drawn at the bottom.
    Log,
}

/// Points that belong together. A point with a number that is not finite is not drawn and leaves a gap.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub name: String,
    pub kind: Kind,
    pub points: Vec<(f64, f64)>,
}

/// How the points of a series are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Line,
    /// A line, with a mark at each point.
    Marked,
    /// Each value lasts until the next point.
    Steps,
    Bars,
    Dots,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plots that are hard to draw, and one that is not.
    pub(super) fn plots() -> Vec<Plot> {
        let lists: [&[(f64, f64)]; 8] = [
            &[],
            &[(3.0, 7.0)],
            &[(0.0, 0.0)],
            &[(f64::NAN, 1.0), (1.0, f64::INFINITY), (f64::NEG_INFINITY, f64::NAN)],
            &[(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0)],
            &[(-1.0, -5.0), (f64::MAX, f64::MIN), (5e-324, f64::MAX)],
            &[(1e16, 1e16), (1e16 + 2.0, 1e16 + 2.0)],
            &[(0.0, 0.0), (1.0, 1500.0), (2.0, 2e6), (3.0, 40.0)],
        ];
        let mut plots = Vec::new();
        for points in lists {
            for unit in [Unit::Count, Unit::Bytes, Unit::Seconds, Unit::Rate, Unit::Doublings] {
                for scale in [Scale::Linear, Scale::Log] {
                    let series = [Kind::Line, Kind::Marked, Kind::Steps, Kind::Bars, Kind::Dots].map(|kind| Series {
                        name: format!("<{kind:?}>"),
                        kind,
                        points: points.to_vec(),
                    });
                    plots.push(Plot {
                        title: "a & b".into(),
                        x: Axis { label: "x".into(), unit, scale },
                        y: Axis { label: "y \"quoted\"".into(), unit, scale },
                        series: series.to_vec(),
                    });
                }
            }
        }
        plots
    }
}
