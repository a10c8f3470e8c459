//! Message sequence charts: who did what, and which message went from whom to whom, one row for each step of a run.
//!
//! A chart knows no model and no search: whoever has a trace fills in the rows.

mod labels;
mod mermaid;
mod svg;
mod text;

pub use mermaid::mermaid;
pub use svg::svg;
pub use text::text;

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Processes and what happened between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chart {
    /// The processes, from left to right.
    pub lanes: Vec<String>,
    /// The steps, from top to bottom.
    pub rows: Vec<Row>,
    /// The step of the run that each row belongs to, where rows are not steps: several may be of one step, and some of none.
    pub numbers: Vec<usize>,
    /// The rows from this one on happen again and again: they are drawn as a chart of their own. Where there are none,
    /// nothing more happens, for ever.
    pub again: Option<usize>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The process that does it, or that sends where two take part. A row of a lane that is not there is not shown.
    pub lane: usize,
    /// What it does, in the words of the model.
    pub label: String,
    pub message: Option<Message>,
}

/// The part of a step that has to do with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The other process receives in the same step.
    Rendezvous { receiver: usize },
    /// Goes into a buffer: behind all that is in it, unless it is known to come to stand elsewhere, counted from the oldest.
    Sent { channel: String, position: Option<usize> },
    /// Comes out of a buffer: the oldest that is in it, unless it is known to be another, counted from the oldest.
    Received { channel: String, position: usize },
}

impl Row {
    /// A step without a message.
    pub fn step(lane: usize, label: impl Into<String>) -> Row {
        Row { lane, label: label.into(), message: None }
    }
}

/// A message on its way: from a lane and row to a lane and row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arrow {
    from: (usize, usize),
    to: (usize, usize),
}

impl Chart {
    /// The number that a row is shown with: that of its step, at the first row of it.
    fn number(&self, row: usize) -> Option<usize> {
        let of = |row: usize| self.numbers.get(row).copied().unwrap_or(row + 1);
        (row.checked_sub(1).map(of) != Some(of(row))).then(|| of(row))
    }

    fn shown(&self, row: &Row) -> bool {
        let other = match row.message {
            Some(Message::Rendezvous { receiver }) => receiver,
            _ => row.lane,
        };
        row.lane < self.lanes.len() && other < self.lanes.len()
    }

    /// The parts that are drawn one below the other, each with what is said above it: one, or stem and loop.
    fn parts(&self) -> Vec<Part> {
        let rows = self.rows.len();
        let part = |title, rows| Part { title, rows };
        match self.again.map(|again| again.min(rows)) {
            None => vec![part(None, 0..rows)],
            Some(0) if rows > 0 => vec![part(Some("again and again"), 0..rows)],
            Some(again) if again == rows => vec![part(Some("first, and then nothing more, for ever"), 0..rows)],
            Some(again) => vec![part(Some("first"), 0..again), part(Some("then, again and again"), again..rows)],
        }
    }

    /// Each receive with its send. What was in a channel before the first row came from nowhere, and has no arrow; nor has
    /// what is received in the loop and was sent before it, since from the second time on it is another.
    fn arrows(&self) -> Vec<Arrow> {
        let mut waiting: HashMap<&str, VecDeque<(usize, usize)>> = HashMap::new();
        let mut arrows = Vec::new();
        for (number, row) in self.rows.iter().enumerate().filter(|(_, row)| self.shown(row)) {
            let here = (row.lane, number);
            match &row.message {
                None => {}
                Some(Message::Rendezvous { receiver }) => arrows.push(Arrow { from: here, to: (*receiver, number) }),
                Some(Message::Sent { channel, position }) => {
                    let queue = waiting.entry(channel).or_default();
                    queue.insert(position.unwrap_or(queue.len()).min(queue.len()), here);
                }
                Some(Message::Received { channel, position }) => {
                    let sent = waiting.get_mut(channel.as_str()).and_then(|queue| queue.remove(*position));
                    arrows.extend(sent.map(|from| Arrow { from, to: here }));
                }
            }
        }
        let within = |arrow: &Arrow| self.again.is_none_or(|again| (arrow.from.1 < again) == (arrow.to.1 < again));
        arrows.retain(within);
        arrows
    }
}

impl Chart {
    /// The last rows of a chart, so many at most. Arrows stay what they are, and those from a row that is left out are gone.
    pub fn last(self, most: usize) -> Chart {
        let gone = self.rows.len().saturating_sub(most);
        if gone == 0 {
            return self;
        }
        let arrows = self.arrows();
        let numbers = (gone..self.rows.len()).map(|row| self.numbers.get(row).copied().unwrap_or(row + 1)).collect();
        let Chart { lanes, mut rows, again, .. } = self;
        for row in &mut rows {
            // Until it is known that both of its ends are there.
            if !matches!(row.message, Some(Message::Rendezvous { .. })) {
                row.message = None;
            }
        }
        for (number, Arrow { from, to }) in arrows.into_iter().enumerate().filter(|(_, arrow)| arrow.from.1 >= gone) {
            if from.1 != to.1 {
                // A channel of its own for each message, so that what is left out does not matter.
                let channel = number.to_string();
                rows[from.1].message = Some(Message::Sent { channel: channel.clone(), position: None });
                rows[to.1].message = Some(Message::Received { channel, position: 0 });
            }
        }
        Chart { lanes, rows: rows.split_off(gone), numbers, again: again.map(|again| again.saturating_sub(gone)) }
    }
}

/// Rows that are drawn together.
struct Part {
    title: Option<&'static str>,
    rows: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn example() -> Chart {
        let row = |lane, label: &str, message| Row { lane, label: label.into(), message: Some(message) };
        let channel = || "data".to_string();
        Chart {
            lanes: vec!["Sender".into(), "Receiver <1>".into(), "Timer".into()],
            rows: vec![
                row(0, "data!3", Message::Sent { channel: channel(), position: None }),
                row(0, "data!4", Message::Sent { channel: channel(), position: Some(1) }),
                Row::step(2, "time = 1 & more"),
                row(1, "data?3", Message::Received { channel: channel(), position: 0 }),
                row(1, "ack!0", Message::Rendezvous { receiver: 0 }),
                row(1, "data?4", Message::Received { channel: channel(), position: 0 }),
            ],
            ..Chart::default()
        }
    }

    /// A step that is atomic has several rows and one number, and rows that are left out take theirs with them.
    #[test]
    fn rows_have_the_numbers_of_steps() {
        let mut chart = example();
        chart.numbers = vec![1, 1, 3, 4, 4, 7];
        let shown = |chart: &Chart| (0..chart.rows.len()).map(|row| chart.number(row)).collect::<Vec<_>>();
        assert_eq!(shown(&chart), [Some(1), None, Some(3), Some(4), None, Some(7)]);
        assert_eq!(shown(&example().last(2)), [Some(5), Some(6)]);
        assert_eq!(shown(&chart.clone().last(2)), [Some(4), Some(7)]);
        assert!(svg(&chart).contains(">7</text>") && !svg(&chart).contains(">6</text>"));
        assert!(text(&chart).lines().any(|line| line.starts_with("7 ")), "{}", text(&chart));
    }

    #[test]
    fn messages_leave_a_channel_in_order() {
        let arrows = example().arrows();
        let arrow = |from, to| Arrow { from, to };
        assert_eq!(arrows, [arrow((0, 0), (1, 3)), arrow((1, 4), (0, 4)), arrow((0, 1), (1, 5))]);
    }

    #[test]
    fn a_message_may_overtake() {
        let mut chart = example();
        chart.rows[3].message = Some(Message::Received { channel: "data".into(), position: 1 });
        let arrows = chart.arrows();
        assert_eq!((arrows[0].from, arrows[2].from), ((0, 1), (0, 0)));
    }

    #[test]
    fn a_message_may_go_before_others() {
        let mut chart = example();
        chart.rows[1].message = Some(Message::Sent { channel: "data".into(), position: Some(0) });
        let arrows = chart.arrows();
        assert_eq!((arrows[0].from, arrows[2].from), ((0, 1), (0, 0)));
        chart.rows[1].message = Some(Message::Sent { channel: "data".into(), position: Some(9) });
        assert_eq!(chart.arrows(), example().arrows());
    }

    /// The second message is sent before the loop and received in it: both ends are drawn, and no arrow between charts.
    #[test]
    fn stem_and_loop_are_two_charts() {
        let mut chart = example();
        chart.again = Some(4);
        let arrow = |from, to| Arrow { from, to };
        assert_eq!(chart.arrows(), [arrow((0, 0), (1, 3)), arrow((1, 4), (0, 4))]);
        let (lines, picture) = (text(&chart), svg(&chart));
        let heads = |out: &str| out.matches("Timer</").count() + out.matches("Timer\n").count();
        assert!(
            heads(&lines) == 2 && lines.contains("first\n") && lines.contains("then, again and again\n"),
            "{lines}"
        );
        assert!(lines.lines().any(|line| line.starts_with("5 ")), "{lines}");
        assert!(picture.matches("class=\"lane\"").count() == 6 && picture.contains(">then, again and again<"));
        for (again, word) in [(0, "again and again"), (6, "nothing more, for ever"), (99, "nothing more, for ever")] {
            chart.again = Some(again);
            assert!(text(&chart).contains(word) && svg(&chart).contains(word));
            assert_eq!(svg(&chart).matches("class=\"lane\"").count(), 3);
        }
        let empty = Chart { again: Some(0), ..Chart::default() };
        assert!(text(&empty).contains("nothing more") && svg(&empty).contains("nothing more"));
    }

    /// The first message is received in a row that stays, but was sent in one that does not.
    #[test]
    fn the_end_of_a_chart_has_its_arrows() {
        let chart = example().last(5);
        let arrow = |from, to| Arrow { from, to };
        assert_eq!(chart.rows.len(), 5);
        assert_eq!(chart.arrows(), [arrow((1, 3), (0, 3)), arrow((0, 0), (1, 4))]);
        assert_eq!(example().last(6), example());
        let round = Chart { again: Some(2), ..example() };
        assert_eq!((round.clone().last(5).again, round.last(1).again), (Some(1), Some(0)));
    }

    #[test]
    fn what_is_not_there_is_not_shown() {
        let mut chart = example();
        chart.rows.push(Row::step(9, "nobody"));
        chart.rows.push(Row { message: Some(Message::Rendezvous { receiver: 9 }), ..Row::step(0, "to nobody") });
        chart.rows.push(Row {
            message: Some(Message::Received { channel: "none".into(), position: 7 }),
            ..Row::step(0, "from nowhere")
        });
        assert_eq!(chart.arrows().len(), 3);
        assert!(!text(&chart).contains("nobody") && !svg(&chart).contains("nobody"));
        assert!(text(&chart).contains("from nowhere") && svg(&chart).contains("from nowhere"));
    }
}
