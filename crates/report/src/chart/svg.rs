//! A chart as a picture that stands alone: no scripts, no fonts of its own, readable on light and dark backgrounds.

use super::{Chart, Message, Part};
use crate::markup::escape;
use std::fmt::Write;

/// Distances, in the units of the picture.
const LANE: usize = 180;
const ROW: usize = 28;
const TOP: usize = 56;
const MARGIN: usize = 60;
/// What a title takes above its part.
const TITLE: usize = 24;
/// Characters of a label and of a name that are shown; the whole text is in the tooltip.
const LABEL: usize = 22;

const STYLE: &str = "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328}\
.name{font-weight:bold;text-anchor:middle}.title{font-style:italic}.number{fill:#6e7781;text-anchor:end}\
.lane{stroke:#8c959f;stroke-dasharray:3 3}.box{fill:#f6f8fa;stroke:#8c959f}\
.arrow{stroke:#0969da;stroke-width:1.5;fill:none}.head{fill:#0969da}.dot{fill:#57606a}\
.sheet{fill:#ffffff}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.number{fill:#8d96a0}.lane,.box{stroke:#6e7681}.box{fill:#161b22}\
.arrow{stroke:#58a6ff}.head{fill:#58a6ff}.dot{fill:#8d96a0}.sheet{fill:#0d1117}}";

/// The chart as the text of an SVG file.
pub fn svg(chart: &Chart) -> String {
    let sheet = Sheet::new(chart);
    let (width, height) = (2 * MARGIN + LANE * chart.lanes.len().max(1), sheet.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">\n<title>Message sequence chart</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect class=\"sheet\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    for (top, part) in &sheet.parts {
        heads(chart, *top, part, &mut out);
    }
    for arrow in chart.arrows() {
        let ((x, y), (to_x, to_y)) = (sheet.point(arrow.from), sheet.point(arrow.to));
        let path = match arrow.from.0 == arrow.to.0 {
            // To itself: out to the right and back.
            true => format!("M{x} {y}C{} {y} {} {to_y} {to_x} {to_y}", x + LANE / 3, x + LANE / 3),
            false => format!("M{x} {y}L{to_x} {to_y}"),
        };
        let _ = writeln!(out, "<path class=\"arrow\" d=\"{path}\" marker-end=\"url(#head)\"/>");
    }
    for (i, row) in chart.rows.iter().enumerate().filter(|(_, row)| chart.shown(row)) {
        let (x, y) = sheet.point((row.lane, i));
        let _ = writeln!(out, "<text class=\"number\" x=\"{}\" y=\"{}\">{}</text>", MARGIN - 12, y + 4, i + 1);
        let _ = writeln!(out, "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>");
        // Above an arrow to the left the label would stand on the wrong side of it.
        let left = matches!(row.message, Some(Message::Rendezvous { receiver }) if receiver < row.lane);
        let (anchor, text_x) = if left { ("end", x - 8) } else { ("start", x + 8) };
        let label = escape(&shortened(&row.label));
        let whole = escape(&row.label);
        let _ = writeln!(
            out,
            "<text x=\"{text_x}\" y=\"{}\" text-anchor=\"{anchor}\">{label}<title>{whole}</title></text>",
            y - 5
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The parts of a chart, one below the other, each with where its lanes begin.
struct Sheet {
    parts: Vec<(usize, Part)>,
    height: usize,
}

impl Sheet {
    fn new(chart: &Chart) -> Sheet {
        let mut sheet = Sheet { parts: Vec::new(), height: 0 };
        for part in chart.parts() {
            let top = sheet.height + if part.title.is_some() { TITLE } else { 0 };
            sheet.height = top + length(&part);
            sheet.parts.push((top, part));
        }
        sheet
    }

    /// Where a step of a lane is.
    fn point(&self, (lane, row): (usize, usize)) -> (usize, usize) {
        let part = self.parts.iter().find(|(_, part)| part.rows.contains(&row));
        let (top, place) = part.map_or((0, row), |(top, part)| (*top, row - part.rows.start));
        (middle(lane), top + TOP + ROW + place * ROW)
    }
}

/// How far a part reaches down from the top of its lanes.
fn length(part: &Part) -> usize {
    TOP + ROW * (part.rows.len() + 2)
}

fn middle(lane: usize) -> usize {
    MARGIN + LANE / 2 + lane * LANE
}

/// What stands above a part, the names of its lanes, and the lanes.
fn heads(chart: &Chart, top: usize, part: &Part, out: &mut String) {
    if let Some(title) = part.title {
        let _ = writeln!(out, "<text class=\"title\" x=\"12\" y=\"{}\">{title}</text>", top - 4);
    }
    let bottom = top + length(part) - ROW / 2;
    for (lane, name) in chart.lanes.iter().enumerate() {
        let x = middle(lane);
        let (left, wide) = (x - LANE / 2 + 6, LANE - 12);
        let (short, whole) = (escape(&shortened(name)), escape(name));
        let (box_top, box_bottom, text_y) = (top + 12, top + 40, top + 30);
        let _ = writeln!(out, "<line class=\"lane\" x1=\"{x}\" y1=\"{box_bottom}\" x2=\"{x}\" y2=\"{bottom}\"/>");
        let _ =
            writeln!(out, "<rect class=\"box\" x=\"{left}\" y=\"{box_top}\" width=\"{wide}\" height=\"28\" rx=\"4\"/>");
        let _ = writeln!(out, "<text class=\"name\" x=\"{x}\" y=\"{text_y}\">{short}<title>{whole}</title></text>");
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LABEL) {
        None => text.to_string(),
        Some(_) => text.chars().take(LABEL - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn everything_is_drawn_once() {
        let picture = svg(&example());
        assert_eq!(picture.matches("class=\"lane\"").count(), 3);
        assert_eq!(picture.matches("class=\"arrow\"").count(), 3);
        assert_eq!(picture.matches("<circle").count(), 6);
    }

    #[test]
    fn text_is_escaped_and_cut() {
        let mut chart = example();
        chart.rows[0].label = "\u{1}x".repeat(100);
        let picture = svg(&chart);
        assert!(picture.contains("Receiver &lt;1&gt;") && !picture.contains("Receiver <"));
        assert!(picture.contains("1 &amp; more") && picture.contains('…') && !picture.contains('\u{1}'));
    }

    #[test]
    fn a_long_run_is_a_long_picture() {
        let mut chart = example();
        for i in 0..20_000 {
            chart.rows.push(super::super::Row::step(i % 3, "tick"));
        }
        assert!(svg(&chart).lines().count() > 60_000);
        assert!(svg(&Chart::default()).ends_with("</svg>\n"));
    }
}
