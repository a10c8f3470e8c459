//! A chart as a `sequenceDiagram` for Mermaid, which GitHub, GitLab and many editors draw.
//!
//! A message that waits in a channel goes to the channel, a participant of its own, and later from there to its receiver. Steps
//! without a message are notes.

use super::{Chart, Message};
use std::collections::BTreeMap;

/// The chart as a text that Mermaid reads.
pub fn mermaid(chart: &Chart) -> String {
    let mut out = "sequenceDiagram\n".to_string();
    let shown = || chart.rows.iter().filter(|row| chart.shown(row));
    for (lane, name) in chart.lanes.iter().enumerate() {
        out.push_str(&format!("    participant p{lane} as {}\n", escaped(name)));
    }
    let mut queues: BTreeMap<&str, usize> = BTreeMap::new();
    for row in shown() {
        if let Some(Message::Sent { channel, .. } | Message::Received { channel, .. }) = &row.message
            && !queues.contains_key(channel.as_str())
        {
            let name = row.label.split(['!', '?']).next().filter(|name| !name.is_empty()).unwrap_or("channel");
            out.push_str(&format!("    participant c{} as {}\n", queues.len(), escaped(name)));
            queues.insert(channel, queues.len());
        }
    }
    let line = |lane: usize, label: &str, message: &Option<Message>| match message {
        None => format!("Note over p{lane}: {}", escaped(label)),
        Some(Message::Rendezvous { receiver }) => format!("p{lane}->>p{receiver}: {}", escaped(label)),
        Some(Message::Sent { channel, .. }) => format!("p{lane}-)c{}: {}", queues[channel.as_str()], escaped(label)),
        Some(Message::Received { channel, .. }) => {
            format!("c{}->>p{lane}: {}", queues[channel.as_str()], escaped(label))
        }
    };
    for part in chart.parts() {
        let repeats = part.title.is_some() && chart.again == Some(part.rows.start) && !part.rows.is_empty();
        let indent = if repeats { "        " } else { "    " };
        if repeats {
            out.push_str("    loop again and again, for ever\n");
        }
        for row in chart.rows[part.rows].iter().filter(|row| chart.shown(row)) {
            out.push_str(&format!("{indent}{}\n", line(row.lane, &row.label, &row.message)));
        }
        if repeats {
            out.push_str("    end\n");
        }
    }
    if chart.again.is_some_and(|again| again >= chart.rows.len()) && !chart.lanes.is_empty() {
        out.push_str(&format!("    Note over p0: {}\n", "nothing more happens, for ever"));
    }
    out
}

/// A text without what Mermaid would take for its own: a semicolon ends a line, a number sign begins a letter by its code.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '#' | ';' | '<' | '{' | '}' => out.push_str(&format!("#{};", c as u32)),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    if out.trim().is_empty() { "#32;".into() } else { out }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use crate::chart::Row;

    #[test]
    fn messages_go_through_channels() {
        let expected = "sequenceDiagram
    participant p0 as Sender
    participant p1 as Receiver #60;1>
    participant p2 as Timer
    participant c0 as data
    p0-)c0: data!3
    p0-)c0: data!4
    Note over p2: time = 1 & more
    c0->>p1: data?3
    p1->>p0: ack!0
    c0->>p1: data?4
";
        assert_eq!(mermaid(&example()), expected);
    }

    #[test]
    fn a_loop_is_a_block() {
        let mut chart = example();
        chart.again = Some(4);
        let text = mermaid(&chart);
        assert!(
            text.ends_with(
                "    loop again and again, for ever\n        p1->>p0: ack!0\n        c0->>p1: data?4\n    end\n"
            ),
            "{text}"
        );
        chart.again = Some(6);
        assert!(mermaid(&chart).ends_with("Note over p0: nothing more happens, for ever\n"));
        chart.rows = vec![Row::step(0, "end; %% #1\nloop")];
        assert!(!mermaid(&chart).contains("end;"));
    }
}
