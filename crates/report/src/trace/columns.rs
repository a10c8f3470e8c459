//! Lines of a trace in columns that stand below each other, within the width of the terminal.
//!
//! Columns only grow, so that a run can be shown while it is made. What is too long for its line goes on below, at the same
//! column; so does what a step changes where the statement before it is long.

use super::row::Row;
use crate::style::Style;

/// Columns keep this distance.
const GAP: usize = 2;
/// A column of names or places grows to this width.
const MOST: usize = 48;
/// What changes gets so much room beside the event, if it needs that; else it stands below.
const ROOM: usize = 26;
/// Where what changes stands below long events, it stands beside short ones, at this column if it can.
const STOP: usize = 20;

pub struct Columns {
    style: Style,
    /// What each line begins with.
    margin: String,
    number: usize,
    /// Of process, place and event.
    widths: [usize; 3],
    /// Of what changes, as far as room is kept for it.
    details: usize,
    /// Those that were met: each has a colour.
    processes: Vec<String>,
}

impl Columns {
    pub fn new(style: Style) -> Columns {
        Columns::within(style, "")
    }

    /// The same behind a margin.
    pub fn within(style: Style, margin: &str) -> Columns {
        Columns { style, margin: margin.to_string(), number: 3, widths: [0; 3], details: 0, processes: Vec::new() }
    }

    /// Makes room for rows that are shown later.
    pub fn expect(&mut self, rows: &[Row]) {
        for row in rows {
            self.number = self.number.max(row.number.map_or(0, |number| number.to_string().len()));
            for (width, cell) in self.widths.iter_mut().zip([&row.process, &row.place, &row.event]) {
                *width = (*width).max(length(cell).min(MOST));
            }
            let wrong = row.wrong.as_ref().map_or(0, |wrong| length(wrong));
            self.details = self.details.max(together(&row.details).max(wrong).min(ROOM));
        }
    }

    /// A line of text among the rows.
    pub fn remark(&self, text: &str) -> String {
        format!("{}{}{text}\n", self.margin, " ".repeat(self.number + GAP))
    }

    /// Values below a line, several to a line.
    pub fn values(&self, items: &[String]) -> String {
        let indent = length(&self.margin) + self.number + GAP;
        let blank = format!("{}{}", self.margin, " ".repeat(self.number + GAP));
        filled(items, self.style.width.saturating_sub(indent))
            .into_iter()
            .map(|line| format!("{blank}{line}\n"))
            .collect()
    }

    /// A title where a row would stand.
    pub fn title(&self, number: Option<usize>, text: &str) -> String {
        let number = number.map_or(String::new(), |number| number.to_string());
        format!("{}{number:>width$}  {}\n", self.margin, self.style.bold(text), width = self.number)
    }

    pub fn lines(&mut self, rows: &[Row]) -> String {
        self.expect(rows);
        rows.iter().map(|row| self.line(row)).collect()
    }

    /// Where the event begins and where what changes does, and whether these stand beside what is before them, or below.
    fn places(&self) -> Places {
        let taken = |width: usize| if width > 0 { width + GAP } else { 0 };
        let below = length(&self.margin) + self.number + 2 * GAP;
        let event = length(&self.margin) + self.number + GAP + taken(self.widths[0]) + taken(self.widths[1]);
        let room = self.style.width.saturating_sub(event);
        // Of long events the beginning is enough, if that is not too little.
        let needed = self.widths[2].min(ROOM);
        if room < needed {
            return Places { event: below, beside: false, details: below, details_beside: false };
        }
        let widest = self.widths[2].min(room.saturating_sub(GAP + self.details));
        match widest >= needed {
            true => Places { event, beside: true, details: event + taken(widest), details_beside: true },
            false => Places { event, beside: true, details: below, details_beside: false },
        }
    }

    fn line(&mut self, row: &Row) -> String {
        let Places { event: event_at, beside: event_beside, details: details_at, details_beside: beside } =
            self.places();
        let style = self.style;
        let number = row.number.map_or(String::new(), |number| number.to_string());
        let mut out = format!("{}{}  ", self.margin, style.faint(&format!("{number:>width$}", width = self.number)));
        let mut at = length(&self.margin) + self.number.max(number.len()) + GAP;
        let colour = self.colour(&row.process);
        for (i, cell) in [&row.process, &row.place].into_iter().enumerate().filter(|(i, _)| self.widths[*i] > 0) {
            out.push_str(&if i == 0 { style.colour_of(colour, cell) } else { style.faint(cell) });
            let gap = (self.widths[i] + GAP).saturating_sub(length(cell)).max(GAP);
            out.push_str(&" ".repeat(gap));
            at += length(cell) + gap;
        }
        if !event_beside && !row.event.is_empty() {
            out = format!("{}\n{}", out.trim_end(), " ".repeat(event_at));
            at = event_at;
        }
        let mut event = wrapped(&row.event, style.width.saturating_sub(event_at)).into_iter();
        let first = event.next().unwrap_or_default();
        out.push_str(&style.bold(&first));
        at += length(&first);
        for more in event {
            out = format!("{}\n{}{}", out.trim_end(), " ".repeat(event_at), style.bold(&more));
            at = event_at + length(&more);
        }
        let room = style.width.saturating_sub(details_at);
        let details = filled(&row.details, room).into_iter().map(|line| (line, false));
        let wrong = row.wrong.iter().flat_map(|wrong| wrapped(wrong, room)).map(|line| (line, true));
        let beside_short = (at + GAP).max(event_at + STOP);
        let fits = beside_short + together(&row.details) <= style.width && row.wrong.is_none();
        for (i, (line, wrong)) in details.chain(wrong).enumerate() {
            match i == 0 {
                true if beside && (at + GAP <= details_at || at == event_at) => {
                    out.push_str(&" ".repeat(details_at.saturating_sub(at)));
                }
                true if !beside && event_beside && fits => out.push_str(&" ".repeat(beside_short - at)),
                _ => out = format!("{}\n{}", out.trim_end(), " ".repeat(details_at)),
            }
            out.push_str(&if wrong { style.bad(&line) } else { line });
        }
        format!("{}\n", out.trim_end())
    }

    fn colour(&mut self, process: &str) -> usize {
        self.processes.iter().position(|known| known == process).unwrap_or_else(|| {
            self.processes.push(process.to_string());
            self.processes.len() - 1
        })
    }
}

struct Places {
    event: usize,
    beside: bool,
    details: usize,
    details_beside: bool,
}

/// What items take on one line.
fn together(items: &[String]) -> usize {
    items.iter().map(|item| length(item) + 2).sum::<usize>().saturating_sub(2)
}

pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// Items with commas between them, as many to a line as there is room for.
pub(crate) fn filled(items: &[String], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let item = if i + 1 < items.len() { format!("{item},") } else { item.clone() };
        match lines.last_mut().filter(|line| length(line) + 1 + length(&item) <= room) {
            Some(line) => {
                line.push(' ');
                line.push_str(&item);
            }
            None => lines.extend(wrapped(&item, room)),
        }
    }
    lines
}

/// A text in lines of so many characters: broken behind a blank, a comma or a bracket where there is one, each further line
/// indented.
pub(crate) fn wrapped(text: &str, room: usize) -> Vec<String> {
    const NARROWEST: usize = 16;
    let room = room.max(NARROWEST);
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    loop {
        let indent = if lines.is_empty() { 0 } else { GAP };
        if rest.len() + indent <= room {
            lines.push(" ".repeat(indent) + &rest.into_iter().collect::<String>());
            return lines;
        }
        let most = room - indent;
        let good = rest[..most].iter().rposition(|c| matches!(c, ' ' | ',' | ']' | ')' | ';'));
        let end = good.filter(|place| *place >= most / 2).map_or(most, |place| place + 1);
        let line: String = rest.drain(..end).collect();
        lines.push(" ".repeat(indent) + line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: usize, event: &str, details: &[&str]) -> Row {
        let details = details.iter().map(|text| text.to_string()).collect();
        Row {
            number: Some(number),
            process: "P".into(),
            place: "m.dve:7".into(),
            event: event.into(),
            details,
            wrong: None,
        }
    }

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [row(1, "idle -> try", &["x = 1"]), row(12, "try -> critical", &["x = 2", "y = 3"])];
        let lines = Columns::new(Style::PLAIN).lines(&rows);
        assert_eq!(lines, "  1  P  m.dve:7  idle -> try      x = 1\n 12  P  m.dve:7  try -> critical  x = 2, y = 3\n");
        let narrow = Style { width: 40, ..Style::PLAIN };
        let lines = Columns::within(narrow, "    ").lines(&rows);
        assert!(lines.lines().all(|line| length(line) <= 40 && line.starts_with("    ")), "{lines}");
    }

    #[test]
    fn long_values_are_wrapped() {
        let value = format!("queue = {}", "[ping,1]".repeat(30));
        let lines = Columns::new(Style::PLAIN)
            .lines(&[row(1, "queue!ping,1", &["n = 1", &value]), Row { wrong: Some("no".into()), ..row(2, "", &[]) }]);
        assert!(lines.lines().all(|line| length(line) <= 100), "{lines}");
        assert_eq!(lines.matches("[ping,1]").count(), 30, "messages stay whole: {lines}");
        assert!(lines.ends_with("  no\n"), "{lines}");
    }

    #[test]
    fn a_text_without_blanks_is_wrapped_too() {
        let lines = wrapped(&"x".repeat(50), 20);
        assert!(lines.iter().all(|line| length(line) <= 20) && lines.concat().matches('x').count() == 50, "{lines:?}");
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(filled(&[], 5), [""; 0]);
    }
}
