//! What is wrong with a text, and where.
//!
//! [`Problem`] is what the passes hand around: a place as byte offsets, which costs nothing to keep. [`Diagnostic`] is what
//! the user gets: the line and column are found, and the text is shown. Reading stops at the first problem; where names are
//! looked up it goes on, and all unknown names are reported together. What is odd but has a meaning becomes a warning, which
//! looks the same.

use crate::lines::Lines;
use scrimp_system::{Source, Span};
use std::fmt;

/// What is wrong with a text: the first problem in it, and others that were found with it.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    pub source: Source,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    /// Further problems, in the order of the text.
    pub more: Vec<Diagnostic>,
}

/// A stretch of the text being read, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub start: u32,
    pub end: u32,
}

/// A diagnostic that does not know its source yet. Boxed, because it is part of the result of every small step.
#[derive(Debug, Clone)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    place: Place,
    message: String,
    help: Option<String>,
    /// A second place that the message speaks of; its line is appended to the message.
    earlier: Option<Place>,
    /// Problems that do not follow from this one.
    more: Vec<Problem>,
}

impl Place {
    /// From the start of this place to the end of a later one.
    pub fn to(self, later: Place) -> Place {
        Place { start: self.start, end: later.end.max(self.start) }
    }
}

impl Problem {
    pub fn new(place: Place, message: impl Into<String>) -> Problem {
        Problem(Box::new(Parts { place, message: message.into(), help: None, earlier: None, more: Vec::new() }))
    }

    /// Several problems as one; none is none.
    pub fn all(problems: impl IntoIterator<Item = Problem>) -> Result<(), Problem> {
        let mut problems = problems.into_iter();
        match problems.next() {
            None => Ok(()),
            Some(mut first) => {
                first.0.more.extend(problems);
                Err(first)
            }
        }
    }

    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.0.help = Some(help.into());
        self
    }

    /// Gives help if there is none yet.
    pub fn or_help(mut self, help: &str) -> Problem {
        self.0.help.get_or_insert_with(|| help.to_string());
        self
    }

    pub fn maybe_help(mut self, help: Option<String>) -> Problem {
        self.0.help = help.or(self.0.help);
        self
    }

    /// Moves the problem to another place.
    pub fn at(mut self, place: Place) -> Problem {
        self.0.place = place;
        self
    }

    /// Ends the message with "on line n", the line of `place`.
    pub fn on_line_of(mut self, place: Place) -> Problem {
        self.0.earlier = Some(place);
        self
    }

    /// Two results, or all that is wrong with either.
    pub fn both<A, B>(a: Result<A, Problem>, b: Result<B, Problem>) -> Result<(A, B), Problem> {
        match (a, b) {
            (Ok(a), Ok(b)) => Ok((a, b)),
            (Err(mut a), Err(b)) => {
                a.0.more.push(b);
                Err(a)
            }
            (Err(problem), _) | (_, Err(problem)) => Err(problem),
        }
    }

    /// The text that this was found in, with the nearest names in the place of unknown ones: if these are all that is wrong
    /// and every one has a name near it.
    pub fn with_known_names(self, text: &str) -> Option<String> {
        let mut all = Vec::new();
        self.apart(&mut all);
        all.sort_by_key(|problem| std::cmp::Reverse(problem.0.place.start));
        let mut out = text.to_string();
        for Problem(parts) in all {
            let help = parts.help.filter(|_| parts.message.starts_with("unknown "))?;
            let name = help.strip_prefix("did you mean `")?.strip_suffix("`?")?;
            let range = parts.place.start as usize..parts.place.end as usize;
            out.get(range.clone())?;
            out.replace_range(range, name);
        }
        Some(out)
    }

    /// What there is, or nothing and a problem noted, so that others can still be found.
    pub fn noted<T>(found: Result<T, Problem>, problems: &mut Vec<Problem>) -> Option<T> {
        found.map_err(|problem| problems.push(problem)).ok()
    }

    /// This problem and all that came with it, each by itself.
    fn apart(mut self, into: &mut Vec<Problem>) {
        let more = std::mem::take(&mut self.0.more);
        into.push(self);
        more.into_iter().for_each(|problem| problem.apart(into));
    }

    /// Lines and columns, in the order of the text. What is said of one place is not repeated for others.
    pub fn locate(self, source: &Source) -> Diagnostic {
        let mut all = Vec::new();
        self.apart(&mut all);
        all.sort_by_key(|problem| problem.0.place.start);
        let mut said = std::collections::HashSet::new();
        all.retain(|problem| said.insert(problem.0.message.clone()));
        let mut lines = Lines::of(source);
        let mut found: Vec<Diagnostic> = all.into_iter().map(|p| p.locate_alone(source, &mut lines)).collect();
        let mut first = found.remove(0);
        first.more = found;
        first
    }

    fn locate_alone(self, source: &Source, lines: &mut Lines<'_>) -> Diagnostic {
        let Parts { place, message, help, earlier, .. } = *self.0;
        let span = lines.span(place);
        let message = match earlier {
            Some(place) => {
                let earlier = lines.span(place);
                let file = match earlier.part == span.part {
                    true => String::new(),
                    false => format!(" of {}", source.file_name(earlier.part)),
                };
                format!("{message} on line {}{file}", earlier.line)
            }
            None => message,
        };
        Diagnostic { source: source.clone(), span, message, help, more: Vec::new() }
    }
}

/// Problems of one text that are shown.
const MOST_SHOWN: usize = 10;
/// Characters of a source line that are shown; longer lines are cut to a window around the caret.
const WINDOW: usize = 100;
/// Characters shown before the caret when the start of the line is cut off.
const LEAD: usize = 40;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, "error")?;
        for other in self.more.iter().take(MOST_SHOWN - 1) {
            f.write_str("\n")?;
            other.show(f, "error")?;
        }
        match self.more.len().saturating_sub(MOST_SHOWN - 1) {
            0 => Ok(()),
            1 => write!(f, "\n{}: and 1 more error", self.source.name),
            more => write!(f, "\n{}: and {more} more errors", self.source.name),
        }
    }
}

impl Diagnostic {
    /// The text as a warning.
    pub(crate) fn into_warning(self) -> String {
        let mut text = String::new();
        match self.show(&mut text, "warning") {
            Ok(()) | Err(fmt::Error) => text,
        }
    }

    fn show(&self, f: &mut dyn fmt::Write, kind: &str) -> fmt::Result {
        let Diagnostic { source, span, message, help, .. } = self;
        write!(f, "{}:{}:{}: {kind}: {}", source.file_name(span.part), span.line, span.column, readable(message))?;
        let line = source.line(*span);
        if !line.trim().is_empty() {
            let caret = (span.column as usize).saturating_sub(1);
            let length = line.chars().count();
            let first = if length <= WINDOW { 0 } else { caret.saturating_sub(LEAD) };
            let shown: String = line.chars().skip(first).take(WINDOW).map(printable).collect();
            let (cut_before, cut_after) = (first > 0, first + WINDOW < length);
            let dots = |cut: bool| if cut { "..." } else { "" };
            write!(f, "\n  {}{shown}{}", dots(cut_before), dots(cut_after))?;
            // Tabs before the caret are repeated, so that the caret stands below its character whatever a tab's width.
            let indent: String =
                shown.chars().chain(" ".chars()).take(caret - first).map(|c| if c == '\t' { c } else { ' ' }).collect();
            let marked = source.text.get(span.start as usize..span.end as usize).unwrap_or("");
            let marked = marked.lines().next().unwrap_or("").chars().count();
            let room = shown.chars().count().saturating_sub(caret - first);
            let tail = "~".repeat(marked.min(room).saturating_sub(1));
            write!(f, "\n  {}{indent}^{tail}", if cut_before { "   " } else { "" })?;
        }
        match help {
            Some(help) => write!(f, "\nhelp: {}", readable(help)),
            None => Ok(()),
        }
    }
}

/// The text with very long words, which come from the model, cut short.
fn readable(text: &str) -> String {
    const LONGEST: usize = 80;
    let cut = |word: &str| match word.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_string(),
    };
    text.split(' ').map(cut).collect::<Vec<_>>().join(" ")
}

impl std::error::Error for Diagnostic {}

/// Control characters in a model must not reach a terminal.
fn printable(c: char) -> char {
    if c.is_control() && c != '\t' { '\u{fffd}' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, start: u32, end: u32) -> String {
        Problem::new(Place { start, end }, "wrong").locate(&Source::new("m.dve", text)).to_string()
    }

    #[test]
    fn a_caret_stands_below_the_place() {
        assert_eq!(show("a\nbyte x;\n", 7, 8), "m.dve:2:6: error: wrong\n  byte x;\n       ^");
        assert_eq!(show("\tbyte x;", 1, 5), "m.dve:1:2: error: wrong\n  \tbyte x;\n  \t^~~~");
    }

    #[test]
    fn several_problems_stand_in_the_order_of_the_text_and_are_said_once() {
        let at = |start, message: &str| Problem::new(Place { start, end: start + 1 }, message);
        let all = Problem::all([at(4, "no c"), at(0, "no a"), at(2, "no a")]).unwrap_err();
        let told = all.locate(&Source::new("m.dve", "a a c")).to_string();
        assert_eq!(told, "m.dve:1:1: error: no a\n  a a c\n  ^\nm.dve:1:5: error: no c\n  a a c\n      ^");
        let many = Problem::all((0..30).map(|i| at(0, &format!("no {i}")))).unwrap_err();
        let told = many.locate(&Source::new("m.dve", "a")).to_string();
        assert!(told.ends_with("m.dve: and 20 more errors"), "{told}");
        assert!(Problem::all([]).is_ok());
    }

    #[test]
    fn the_end_of_the_text_can_be_pointed_at() {
        assert_eq!(show("ab", 2, 2), "m.dve:1:3: error: wrong\n  ab\n    ^");
        assert_eq!(show("ab\n", 3, 3), "m.dve:2:1: error: wrong");
        assert_eq!(show("", 0, 0), "m.dve:1:1: error: wrong");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = format!("{}x{}", "a".repeat(300), "b".repeat(300));
        let shown = show(&text, 300, 301);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].len(), 2 + 3 + WINDOW + 3);
        assert_eq!(lines[1].find('x'), lines[2].find('^'));
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(show("/*é*/ x", 7, 8), "m.dve:1:7: error: wrong\n  /*é*/ x\n        ^");
    }

    #[test]
    fn control_characters_are_not_printed() {
        assert!(!show("a \u{1b}[31m b", 0, 1).contains('\u{1b}'));
    }
}
