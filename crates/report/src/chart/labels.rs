//! Where the labels of a picture stand: beside the dot of their step, on the side where no arrow crosses them.
//!
//! Four places are tried: right or left of the lane, above or below the step. A label below its step keeps the next one from
//! standing close beneath it. Where an arrow crosses every place, the label is drawn over the arrow, with a
//! border in the colour of the sheet (see the style of `svg.rs`).

use super::svg::{GAP, HEAD, MARGIN, Sheet, length_of, shortened};
use super::{Arrow, Message, Row};

/// A label stands so far above its step, or below it, and reaches so far up from its baseline.
const ABOVE: usize = 6;
const BELOW: usize = 13;
const HEIGHT: usize = 9;
/// What an arrow must keep away from a label, at least.
const CLEAR: f64 = 1.5;
/// A long arrow is looked at beside so many steps, at most.
const FARTHEST: usize = 2_000;

/// A label in its place.
pub struct Label {
    pub text: String,
    pub x: usize,
    /// Its baseline.
    pub y: usize,
    /// It ends at `x`.
    pub to_left: bool,
}

type Line = [(f64, f64); 2];

/// What labels must stand clear of.
pub struct Labels {
    /// For each row, the lines of the arrows that pass it.
    lines: Vec<Vec<Line>>,
    /// The row of the last label, if that stands below its step, and where it begins and ends.
    below: Option<(usize, f64, f64)>,
}

impl Labels {
    pub fn beside(sheet: &Sheet, arrows: &[Arrow], rows: usize) -> Labels {
        let mut lines = vec![Vec::new(); rows];
        for arrow in arrows {
            let bends = bends(sheet, arrow);
            let (first, last) = (arrow.from.1.min(arrow.to.1), arrow.from.1.max(arrow.to.1));
            // A label reaches to the step before and to the next one.
            for row in (first.saturating_sub(1)..(last + 2).min(rows)).take(FARTHEST) {
                lines[row].extend(bends.windows(2).map(|ends| [ends[0], ends[1]]));
            }
        }
        Labels { lines, below: None }
    }

    /// The label of a row that is at this lane and row.
    pub fn place(&mut self, sheet: &Sheet, row: &Row, at: (usize, usize)) -> Label {
        let (x, y) = sheet.point(at);
        let short = sheet.label(row);
        // A step without a message may say all where nothing is in the way.
        let beyond = sheet.width.saturating_sub(x + GAP + HEAD);
        let whole = match row.message {
            None => shortened(&row.label, beyond),
            Some(_) => short.clone(),
        };
        let free = if at.0 == 0 { x.saturating_sub(MARGIN) } else { sheet.lane }.saturating_sub(2 * GAP);
        let to_left = shortened(&row.label, free.min(length_of(&short)));
        // Above an arrow to the left the label would stand on the wrong side of it.
        let leftwards = matches!(row.message, Some(Message::Rendezvous { receiver }) if receiver < row.lane);
        if leftwards {
            self.below = None;
            return Label { text: short, x: x - GAP, y: y - ABOVE, to_left: true };
        }
        let right = |text: &String, y: usize| Label { text: text.clone(), x: x + GAP, y, to_left: false };
        let left = |text: &String, y: usize| Label { text: text.clone(), x: x - GAP, y, to_left: true };
        let places = [
            right(&whole, y - ABOVE),
            right(&short, y - ABOVE),
            left(&to_left, y - ABOVE),
            right(&short, y + BELOW),
            left(&to_left, y + BELOW),
        ];
        let cost = |label: &Label| {
            let cut = usize::from(label.text.ends_with('…') && !row.label.ends_with('…'));
            2 * (self.crossings(at.1, label) + usize::from(self.meets_last(at.1, label, y))) + cut
        };
        let best = places.into_iter().min_by_key(cost).unwrap_or_else(|| right(&short, y - ABOVE));
        let (from, to) = sides(&best);
        self.below = (best.y > y).then_some((at.1, from, to));
        best
    }

    /// Is there a label just above this one?
    fn meets_last(&self, row: usize, label: &Label, y: usize) -> bool {
        let (left, right) = sides(label);
        let near = |(last, from, to): (usize, f64, f64)| last + 1 == row && left < to && from < right;
        label.y < y && self.below.is_some_and(near)
    }

    /// How many lines pass through a label.
    fn crossings(&self, row: usize, label: &Label) -> usize {
        let ((left, right), y) = (sides(label), label.y as f64);
        let (from, to) = ((left - CLEAR, y - HEIGHT as f64 - CLEAR), (right + CLEAR, y + CLEAR));
        self.lines[row].iter().filter(|line| meets(line, from, to)).count()
    }
}

/// Where a label begins and ends.
fn sides(label: &Label) -> (f64, f64) {
    let (x, wide) = (label.x as f64, length_of(&label.text) as f64);
    if label.to_left { (x - wide, x) } else { (x, x + wide) }
}

/// The points of an arrow; one back to its own lane is a bow.
fn bends(sheet: &Sheet, arrow: &Arrow) -> Vec<(f64, f64)> {
    let point = |end| {
        let (x, y) = sheet.point(end);
        (x as f64, y as f64)
    };
    let ((x, y), (to_x, to_y)) = (point(arrow.from), point(arrow.to));
    if arrow.from.0 != arrow.to.0 {
        return vec![(x, y), (to_x, to_y)];
    }
    let out = (sheet.lane / 3) as f64;
    let at = |t: f64| {
        let bow = 3.0 * t * (1.0 - t) * out;
        let down = t * t * (3.0 - 2.0 * t);
        (x + bow, y + (to_y - y) * down)
    };
    (0..=12).map(|i| at(f64::from(i) / 12.0)).collect()
}

/// Does a line come into a box? (Liang and Barsky's way to clip.)
fn meets([(x, y), (to_x, to_y)]: &Line, from: (f64, f64), to: (f64, f64)) -> bool {
    let (dx, dy) = (to_x - x, to_y - y);
    let (mut enters, mut leaves) = (0.0f64, 1.0f64);
    for (by, room) in [(-dx, x - from.0), (dx, to.0 - x), (-dy, y - from.1), (dy, to.1 - y)] {
        if by == 0.0 {
            if room < 0.0 {
                return false;
            }
        } else if by < 0.0 {
            enters = enters.max(room / by);
        } else {
            leaves = leaves.min(room / by);
        }
    }
    enters <= leaves
}

#[cfg(test)]
mod tests {
    use super::super::{Chart, svg, tests::example};
    use super::*;

    #[test]
    fn lines_meet_boxes_that_they_pass_through() {
        let meets = |line: Line| meets(&line, (10.0, 10.0), (20.0, 20.0));
        assert!(
            meets([(0.0, 0.0), (30.0, 30.0)])
                && meets([(15.0, 0.0), (15.0, 30.0)])
                && meets([(12.0, 12.0), (13.0, 13.0)])
        );
        assert!(
            !meets([(0.0, 0.0), (9.0, 9.0)])
                && !meets([(0.0, 15.0), (9.0, 15.0)])
                && !meets([(0.0, 25.0), (30.0, 25.0)])
        );
        assert!(!meets([(0.0, 18.0), (12.0, 30.0)]));
    }

    /// A chart in which arrows come from both sides, and long ones pass many steps.
    fn busy() -> Chart {
        let mut chart = example();
        let sent = |lane, channel: &str| Row {
            lane,
            label: format!("{channel}!1"),
            message: Some(Message::Sent { channel: channel.into(), position: None }),
        };
        let received = |lane, channel: &str| Row {
            lane,
            label: format!("{channel}?1"),
            message: Some(Message::Received { channel: channel.into(), position: 0 }),
        };
        chart.rows = vec![
            sent(0, "down"),
            sent(2, "up"),
            received(1, "down"),
            sent(1, "on"),
            received(0, "up"),
            Row::step(0, "a step that says more than a lane has room for, and more"),
            received(2, "on"),
            sent(0, "own"),
            sent(0, "other"),
            received(0, "own"),
            received(2, "other"),
        ];
        chart
    }

    #[test]
    fn no_arrow_crosses_a_label() {
        for chart in [example(), busy()] {
            let sheet = svg::Sheet::new(&chart);
            let mut labels = Labels::beside(&sheet, &chart.arrows(), chart.rows.len());
            for (i, row) in chart.rows.iter().enumerate() {
                let label = labels.place(&sheet, row, (row.lane, i));
                assert_eq!(labels.crossings(i, &label), 0, "row {}: {}", i + 1, label.text);
            }
        }
    }

    #[test]
    fn a_step_says_all_where_there_is_room() {
        let mut chart = busy();
        let whole = ">a step that says more than a lane has room for, and more<title>";
        assert!(!super::super::svg(&chart).contains(whole), "an arrow is in the way");
        chart.rows.retain(|row| row.message.is_none());
        assert!(super::super::svg(&chart).contains(whole));
    }
}
