//! Plots for papers: one panel a sheet, as wide as a column of text (84 mm), as SVG and as PDF from the same shapes.
//!
//! What is drawn can be told apart without colours: lines by their dashes, points by their marks. No text is smaller than 7 pt.
//! Distances are in points (1/72 inch), and y runs downwards, as in SVG.

mod helvetica;
mod layout;
mod pdf;
mod svg;

pub use pdf::pdf;
pub use svg::svg;

use super::Plot;

/// The column of a paper that is set in two of them: 84 mm.
const WIDTH: f64 = 84.0 / 25.4 * 72.0;
/// The smallest text.
const SMALL: f64 = 7.0;
const LARGE: f64 = 8.0;

/// A drawing that fits into a column.
#[derive(Debug)]
pub struct Sheet {
    title: String,
    height: f64,
    shapes: Vec<Shape>,
}

impl Sheet {
    /// A sheet with one plot. Its title is drawn where the sheet has no caption to go with it.
    pub fn new(plot: &Plot, titled: bool) -> Sheet {
        layout::sheet(plot, titled)
    }
}

#[derive(Debug)]
enum Shape {
    Line {
        points: Vec<(f64, f64)>,
        width: f64,
        ink: Ink,
        dash: &'static [f64],
    },
    /// A closed outline, filled.
    Area {
        points: Vec<(f64, f64)>,
        ink: Ink,
    },
    Text {
        at: (f64, f64),
        anchor: Anchor,
        size: f64,
        bold: bool,
        upwards: bool,
        text: String,
    },
}

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ink(u8, u8, u8);

const BLACK: Ink = Ink(0, 0, 0);
const GRID: Ink = Ink(0xd9, 0xd9, 0xd9);

/// Which part of a text is where it is put.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Anchor {
    Start,
    Middle,
    End,
}

#[cfg(test)]
mod tests {
    use super::super::tests::plots;
    use super::*;

    fn texts(sheet: &Sheet) -> Vec<(f64, f64, f64, &str)> {
        let text = |shape: &'_ Shape| match shape {
            Shape::Text { at, anchor, size, bold, upwards, text } => {
                let wide = helvetica::width(text, *size, *bold);
                let left = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => wide / 2.0,
                    Anchor::End => wide,
                };
                assert!(*size >= 7.0, "{text} is too small to be read");
                (!upwards).then_some((at.0 - left, at.0 - left + wide, at.1))
            }
            _ => None,
        };
        let all = sheet.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { text: words, .. } => text(shape).map(|(left, right, y)| (left, right, y, words.as_str())),
            _ => None,
        });
        all.collect()
    }

    #[test]
    fn texts_stay_on_the_sheet_and_apart() {
        for plot in plots() {
            let sheet = Sheet::new(&plot, true);
            let texts = texts(&sheet);
            assert!(texts.len() > 5 && texts.len() < 60);
            for (i, (left, right, y, text)) in texts.iter().enumerate() {
                assert!(*left >= -0.01 && *right <= WIDTH + 0.01, "{text} leaves the sheet: {left} to {right}");
                assert!(*y > 0.0 && *y < sheet.height, "{text}");
                for (other_left, other_right, other_y, other) in &texts[i + 1..] {
                    let apart = right <= other_left || other_right <= left || (y - other_y).abs() >= 6.9;
                    assert!(apart, "`{text}` is over `{other}` in {}", plot.y.label);
                }
            }
        }
    }
}
