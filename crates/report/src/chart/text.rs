//! A chart for terminals: a column for each process, a line for each step.
//!
//! Messages that are received at once are arrows. One that waits in a buffer has a number, at both of its ends.

use super::{Chart, Message, Row};
use std::collections::HashMap;

/// Columns are at least this wide, and at most.
const WIDTH: std::ops::RangeInclusive<usize> = 8..=24;

/// The chart, in lines.
pub fn text(chart: &Chart) -> String {
    let longest = chart.lanes.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = (longest + 2).clamp(*WIDTH.start(), *WIDTH.end());
    let digits = chart.numbers.iter().copied().max().unwrap_or(chart.rows.len()).to_string().len();
    let numbers = numbers(chart);
    let mut names = " ".repeat(digits + 2);
    for name in &chart.lanes {
        let name: String = name.chars().take(width - 1).collect();
        names.push_str(&format!("{name:^width$}"));
    }
    let names = names.trim_end();
    let line = |i: usize, row: &Row| {
        let mut cells: Vec<char> = (0..width * chart.lanes.len()).map(|_| ' ').collect();
        let middle = |lane: usize| lane * width + width / 2;
        for lane in 0..chart.lanes.len() {
            cells[middle(lane)] = '│';
        }
        cells[middle(row.lane)] = '●';
        if let Some(Message::Rendezvous { receiver }) = row.message
            && receiver != row.lane
        {
            let (from, to) = (middle(row.lane), middle(receiver));
            cells[from.min(to) + 1..from.max(to)].fill('─');
            cells[to] = if to > from { '▶' } else { '◀' };
        }
        let line: String = cells.into_iter().collect();
        let number = numbers.get(&i).map_or(String::new(), |number| format!("  ({number})"));
        let label: String = row.label.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let step = chart.number(i).map_or(String::new(), |step| step.to_string());
        format!("{step:>digits$}  {line}  {label}{number}\n")
    };
    let mut out = String::new();
    for part in chart.parts() {
        out.extend(part.title.map(|title| format!("{title}\n")));
        out.push_str(&format!("{names}\n"));
        let rows = part.rows.map(|i| (i, &chart.rows[i])).filter(|(_, row)| chart.shown(row));
        out.extend(rows.map(|(i, row)| line(i, row)));
    }
    out
}

/// For rows that send to a buffer or receive from one: the number of the message.
fn numbers(chart: &Chart) -> HashMap<usize, usize> {
    let waited: Vec<_> = chart.arrows().into_iter().filter(|arrow| arrow.from.1 != arrow.to.1).collect();
    let mut senders: Vec<usize> = waited.iter().map(|arrow| arrow.from.1).collect();
    senders.sort_unstable();
    let number = |row: usize| senders.binary_search(&row).unwrap_or_default() + 1;
    waited.iter().flat_map(|a| [(a.from.1, number(a.from.1)), (a.to.1, number(a.from.1))]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn lanes_arrows_and_numbers() {
        let expected = "
       Sender     Receiver <1>      Timer
1        ●             │             │         data!3  (1)
2        │             │             ●         nothing
3        │             ●             │         data?3  (1)
4        ◀─────────────●             │         ack!0
";
        let mut chart = example();
        chart.rows.remove(1);
        chart.rows.pop();
        chart.rows[1].label = "nothing".into();
        let found = format!("\n{}", text(&chart));
        let words = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        assert_eq!(words(&found), words(expected), "{found}");
    }

    #[test]
    fn any_chart_has_a_text() {
        assert_eq!(text(&Chart::default()).trim(), "");
        let mut chart = example();
        chart.lanes[0] = "long ".repeat(50);
        chart.rows[0].label = "two\nlines".into();
        assert!(text(&chart).contains("two lines"));
        assert_eq!(text(&chart).lines().count(), 7);
    }
}
