//! What is wrong in a line of a log or of a mapping, shown as problems of models are.

use scrimp_lang::Diagnostic;
use scrimp_system::{Source, Span};
use std::ops::Range;

/// What is wrong with some bytes of a line.
pub(crate) fn wrong(
    file: &str,
    number: u64,
    line: &str,
    at: Range<usize>,
    message: impl Into<String>,
    help: Option<String>,
) -> Diagnostic {
    let start = (0..=at.start.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let end = (start..=line.len()).find(|end| *end >= at.end && line.is_char_boundary(*end)).unwrap_or(line.len());
    let column = line[..start].chars().count() + 1;
    // The line is found by its byte, and a byte of 0 would say that there is none.
    let span = Span {
        start: start as u32 + 1,
        end: end as u32 + 1,
        line: u32::try_from(number).unwrap_or(u32::MAX),
        column: column as u32,
        part: 0,
    };
    let source = Source::new(file, format!("\n{line}"));
    Diagnostic { source, span, message: message.into(), help, more: Vec::new() }
}

/// What helps, and what helps besides.
pub(crate) fn and(help: &str, also: &str) -> String {
    match help {
        "" => also.to_string(),
        asked if asked.ends_with('?') => format!("{asked} {also}"),
        said => format!("{said}. {also}"),
    }
}

#[cfg(test)]
mod tests {
    use super::wrong;

    #[test]
    fn the_line_is_shown() {
        let shown = |at| wrong("a.jsonl", 7, "{\"x\": é}", at, "odd", Some("do that".into())).to_string();
        assert_eq!(shown(6..8), "a.jsonl:7:7: error: odd\n  {\"x\": é}\n        ^\nhelp: do that");
        assert_eq!(shown(0..1), "a.jsonl:7:1: error: odd\n  {\"x\": é}\n  ^\nhelp: do that");
        assert!(shown(90..99).starts_with("a.jsonl:7:9: error: odd"));
    }
}
