//! A chart as a picture that stands alone: no scripts, no fonts of its own, readable on light and dark backgrounds.

use super::labels::{Label, Labels};
use super::{Chart, Message, Part, Row};
use crate::markup::escape;
use std::fmt::Write;

/// Distances, in the units of the picture.
pub(super) const ROW: usize = 28;
const TOP: usize = 56;
pub(super) const MARGIN: usize = 60;
/// From one lane to the next: as far as the labels of messages need, within limits.
const LANE: std::ops::RangeInclusive<usize> = 180..=360;
/// How far the label of a statement may reach beyond the last lane.
const STATEMENT: usize = 720;
/// What a title takes above its part.
const TITLE: usize = 24;
/// From a lane to a label beside it, and from there to what comes next, which may be the head of an arrow.
pub(super) const GAP: usize = 8;
pub(super) const HEAD: usize = 12;

const STYLE: &str = "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328}\
.label{paint-order:stroke;stroke:#ffffff;stroke-width:3px;stroke-linejoin:round}\
.name{font-weight:bold;text-anchor:middle}.title{font-style:italic}.number{fill:#6e7781;text-anchor:end}\
.lane{stroke:#8c959f;stroke-dasharray:3 3}.box{fill:#f6f8fa;stroke:#8c959f}\
.arrow{stroke:#0969da;stroke-width:1.5;fill:none}.head{fill:#0969da}.dot{fill:#57606a}\
.sheet{fill:#ffffff}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.number{fill:#8d96a0}.lane,.box{stroke:#6e7681}.box{fill:#161b22}\
.arrow{stroke:#58a6ff}.head{fill:#58a6ff}.dot{fill:#8d96a0}.sheet{fill:#0d1117}.label{stroke:#0d1117}}";

/// The chart as the text of an SVG file.
pub fn svg(chart: &Chart) -> String {
    let sheet = Sheet::new(chart);
    let Sheet { lane: lane_width, width, height, .. } = sheet;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">\n<title>Message sequence chart</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect class=\"sheet\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    for (top, part) in &sheet.parts {
        heads(chart, &sheet, *top, part, &mut out);
    }
    let arrows = chart.arrows();
    for arrow in &arrows {
        let ((x, y), (to_x, to_y)) = (sheet.point(arrow.from), sheet.point(arrow.to));
        let path = match arrow.from.0 == arrow.to.0 {
            // To itself: out to the right and back.
            true => format!("M{x} {y}C{} {y} {} {to_y} {to_x} {to_y}", x + lane_width / 3, x + lane_width / 3),
            false => format!("M{x} {y}L{to_x} {to_y}"),
        };
        let _ = writeln!(out, "<path class=\"arrow\" d=\"{path}\" marker-end=\"url(#head)\"/>");
    }
    let mut labels = Labels::beside(&sheet, &arrows, chart.rows.len());
    for (i, row) in chart.rows.iter().enumerate().filter(|(_, row)| chart.shown(row)) {
        let (x, y) = sheet.point((row.lane, i));
        if let Some(number) = chart.number(i) {
            let _ = writeln!(out, "<text class=\"number\" x=\"{}\" y=\"{}\">{number}</text>", MARGIN - 12, y + 4);
        }
        let _ = writeln!(out, "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>");
        let Label { text, x, y, to_left } = labels.place(&sheet, row, (row.lane, i));
        let (label, whole) = (escape(&text), escape(&row.label));
        let anchor = if to_left { "end" } else { "start" };
        let _ = writeln!(
            out,
            "<text class=\"label\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{label}<title>{whole}</title></text>"
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The parts of a chart, one below the other, each with where its lanes begin.
pub(super) struct Sheet {
    parts: Vec<(usize, Part)>,
    /// From one lane to the next.
    pub lane: usize,
    pub width: usize,
    height: usize,
}

impl Sheet {
    pub fn new(chart: &Chart) -> Sheet {
        let shown = || chart.rows.iter().filter(|row| chart.shown(row));
        // As wide as the message needs that needs most: it has the length of its arrow.
        let needed = |row: &Row| (GAP + length_of(&row.label) + HEAD).div_ceil(lanes_of(row));
        let lane = shown().filter(|row| row.message.is_some()).map(needed).max().unwrap_or(0);
        let mut sheet = Sheet { parts: Vec::new(), lane: lane.clamp(*LANE.start(), *LANE.end()), width: 0, height: 0 };
        // Labels of the last lane stand to its right, where nothing is in the way of a statement.
        let label = |row: &Row| match row.message {
            None => shortened(&row.label, STATEMENT),
            Some(_) => sheet.label(row),
        };
        let end = |row: &Row| sheet.middle(row.lane) + GAP + length_of(&label(row)) + HEAD;
        let last = shown().filter(|row| row.lane + 1 == chart.lanes.len()).map(end).max().unwrap_or(0);
        sheet.width = last.max(2 * MARGIN + sheet.lane * chart.lanes.len().max(1));
        for part in chart.parts() {
            let top = sheet.height + if part.title.is_some() { TITLE } else { 0 };
            sheet.height = top + length(&part);
            sheet.parts.push((top, part));
        }
        sheet
    }

    /// Where a step of a lane is.
    pub fn point(&self, (lane, row): (usize, usize)) -> (usize, usize) {
        let part = self.parts.iter().find(|(_, part)| part.rows.contains(&row));
        let (top, place) = part.map_or((0, row), |(top, part)| (*top, row - part.rows.start));
        (self.middle(lane), top + TOP + ROW + place * ROW)
    }

    fn middle(&self, lane: usize) -> usize {
        MARGIN + self.lane / 2 + lane * self.lane
    }

    /// As much of a label as there is room for; the whole text is in the tooltip.
    pub fn label(&self, row: &Row) -> String {
        shortened(&row.label, lanes_of(row) * self.lane - GAP - HEAD)
    }
}

/// How far a part reaches down from the top of its lanes.
fn length(part: &Part) -> usize {
    TOP + ROW * (part.rows.len() + 2)
}

/// Over how many lanes the label of a row may reach: as many as the arrow that it stands on.
fn lanes_of(row: &Row) -> usize {
    match row.message {
        Some(Message::Rendezvous { receiver }) => receiver.abs_diff(row.lane).max(1),
        _ => 1,
    }
}

/// What stands above a part, the names of its lanes, and the lanes.
fn heads(chart: &Chart, sheet: &Sheet, top: usize, part: &Part, out: &mut String) {
    if let Some(title) = part.title {
        let _ = writeln!(out, "<text class=\"title\" x=\"12\" y=\"{}\">{title}</text>", top - 4);
    }
    let bottom = top + length(part) - ROW / 2;
    for (lane, name) in chart.lanes.iter().enumerate() {
        let x = sheet.middle(lane);
        let (left, wide) = (x - sheet.lane / 2 + 6, sheet.lane - 12);
        let (short, whole) = (escape(&shortened(name, wide - GAP)), escape(name));
        let (box_top, box_bottom, text_y) = (top + 12, top + 40, top + 30);
        let _ = writeln!(out, "<line class=\"lane\" x1=\"{x}\" y1=\"{box_bottom}\" x2=\"{x}\" y2=\"{bottom}\"/>");
        let _ =
            writeln!(out, "<rect class=\"box\" x=\"{left}\" y=\"{box_top}\" width=\"{wide}\" height=\"28\" rx=\"4\"/>");
        let _ = writeln!(out, "<text class=\"name\" x=\"{x}\" y=\"{text_y}\">{short}<title>{whole}</title></text>");
    }
}

/// What a text takes of the picture, whichever of the fonts it is shown in.
pub(super) fn length_of(text: &str) -> usize {
    text.chars().map(quarters).sum::<usize>().div_ceil(4)
}

/// What a letter takes, in quarters of a unit; those of scripts with square letters are wider.
fn quarters(letter: char) -> usize {
    if letter < '\u{1100}' || letter == '…' { 29 } else { 52 }
}

/// As much of a text as there is room for.
pub(super) fn shortened(text: &str, room: usize) -> String {
    if length_of(text) <= room {
        return text.to_string();
    }
    let mut taken = quarters('…');
    let fits = |letter: &char| {
        taken += quarters(*letter);
        taken <= 4 * room
    };
    text.chars().take_while(fits).chain(['…']).collect()
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

    /// What a picture says at the places of labels, and where these end; and how wide it is.
    fn labels(picture: &str) -> (Vec<(String, usize)>, usize) {
        let after = |text: &str, begin: &str| text.split_once(begin).map(|(_, rest)| rest.to_string());
        let number = |text: String| text.split_once('"').and_then(|(n, _)| n.parse::<usize>().ok()).expect("a number");
        let mut found = Vec::new();
        for line in picture.lines().filter(|line| line.contains("text-anchor=\"start\"")) {
            let text =
                after(line, ">").and_then(|rest| rest.split_once('<').map(|(text, _)| text.to_string())).unwrap();
            let x = number(after(line, " x=\"").unwrap());
            found.push((text.clone(), x + length_of(&text)));
        }
        (found, number(after(picture, " width=\"").unwrap()))
    }

    #[test]
    fn labels_use_the_room_there_is() {
        let mut chart = example();
        let message = "net!first,eve,alice,nonce_of_alice";
        chart.rows[0].label = message.into();
        assert!(svg(&chart).contains(&format!(">{message}<title>")), "lanes are wide enough for messages");
        // Of what is longer than the widest lane, as much is shown as one has room for.
        chart.rows[0].label = "m".repeat(200);
        let (found, _) = labels(&svg(&chart));
        assert!(found[0].0.ends_with('…') && found[0].0.chars().count() > 40, "{found:?}");
        // An arrow over two lanes has room for twice as much.
        chart.rows[0] = Row { message: Some(Message::Rendezvous { receiver: 2 }), ..chart.rows[0].clone() };
        let (found, _) = labels(&svg(&chart));
        assert!(found[0].0.chars().count() > 90, "{found:?}");
    }

    #[test]
    fn labels_stay_in_the_picture() {
        let mut chart = example();
        for label in ["time = 1 and a statement that is long", "ｆｕｌｌ　ｗｉｄｔｈ　ｌｅｔｔｅｒｓ"]
        {
            chart.rows[2].label = label.into();
            let (found, width) = labels(&svg(&chart));
            assert!(found.iter().all(|(_, end)| *end <= width), "{found:?} in {width}");
        }
        // Beside the last lane there is room for a statement of any usual length.
        let statement = "(!(floor[here].called&&floor[here].waiting)||(direction==up&&here<top))";
        chart.rows[2].label = statement.into();
        assert!(svg(&chart).contains(">(!(floor[here].called&amp;&amp;floor[here].waiting)||(direction==up"));
        let (found, _) = labels(&svg(&chart));
        assert!(found.iter().all(|(text, _)| !text.ends_with('…')), "{found:?}");
        let mut first = svg(&example());
        first.truncate(200);
        assert!(first.contains("width=\"660\""), "a chart of short labels is as wide as ever: {first}");
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
