//! The comments of a model, line by line: `// …` and `/* … */` as in Promela, DVE and networks, `<!-- … -->` as in XML.

use std::ops::Range;

/// A line of a comment, without the signs around it.
#[derive(Debug, PartialEq)]
pub struct Line<'t> {
    pub text: &'t str,
    /// Its bytes.
    pub at: Range<usize>,
    /// The line of the model, from 1.
    pub number: usize,
}

/// The comments before everything else, and where they end.
pub fn leading(text: &str) -> (Vec<Line<'_>>, usize) {
    let (mut lines, mut at, mut number) = (Vec::new(), 0, 1);
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        let length = if blank > 0 {
            blank
        } else if let Some(comment) = Comment::of(rest) {
            comment.lines(text, at, number, &mut lines);
            comment.length
        } else if rest.starts_with("<?xml") {
            rest.find("?>").map_or(rest.len(), |end| end + "?>".len())
        } else {
            return (lines, at);
        };
        number += ends_of_lines(&rest[..length]);
        at += length;
    }
}

/// The comments from here on that have lines of their own. What stands behind code is about that code.
pub fn later(text: &str, mut at: usize) -> Vec<Line<'_>> {
    let (mut lines, mut number) = (Vec::new(), ends_of_lines(&text[..at]) + 1);
    let mut first = text[..at].rsplit('\n').next().unwrap_or_default().trim().is_empty();
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some(comment) = Comment::of(rest) {
            let mut found = Vec::new();
            comment.lines(text, at, number, &mut found);
            lines.extend(found.into_iter().skip(usize::from(!first)));
            number += ends_of_lines(&rest[..comment.length]);
            at += comment.length;
            continue;
        }
        at += next.len_utf8();
        match next {
            '\n' => (first, number) = (true, number + 1),
            // No comment begins in a text that is printed.
            '"' => {
                let line = text[at..].lines().next().unwrap_or_default();
                at += line.find('"').map_or(0, |end| end + 1);
                first = false;
            }
            other => first &= other.is_whitespace(),
        }
    }
    lines
}

fn ends_of_lines(text: &str) -> usize {
    text.matches('\n').count()
}

/// A comment at the beginning of a text.
struct Comment {
    /// Bytes of its sign at the beginning, of what is between, and of the whole.
    open: usize,
    inner: usize,
    length: usize,
    starred: bool,
}

impl Comment {
    fn of(text: &str) -> Option<Comment> {
        let (open, close) =
            [("//", "\n"), ("/*", "*/"), ("<!--", "-->")].into_iter().find(|(o, _)| text.starts_with(o))?;
        let rest = &text[open.len()..];
        let inner = rest.find(close).unwrap_or(rest.len());
        // The end of a line is no part of a comment.
        let closed = if close == "\n" { 0 } else { close.len().min(rest.len() - inner) };
        Some(Comment { open: open.len(), inner, length: open.len() + inner + closed, starred: open == "/*" })
    }

    /// Its lines, where it begins at this byte of this line.
    fn lines<'t>(&self, text: &'t str, at: usize, mut number: usize, out: &mut Vec<Line<'t>>) {
        let mut start = at + self.open;
        for line in text[start..start + self.inner].split('\n') {
            let plain = if self.starred { line.trim_start().trim_start_matches('*') } else { line };
            let begin = start + line.len() - plain.trim_start().len();
            let plain = plain.trim();
            out.push(Line { text: plain, at: begin..begin + plain.len(), number });
            start += line.len() + 1;
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'t>(lines: &[Line<'t>]) -> Vec<(usize, &'t str)> {
        lines.iter().filter(|line| !line.text.is_empty()).map(|line| (line.number, line.text)).collect()
    }

    #[test]
    fn leading_comments_end_where_the_model_begins() {
        let text = "/*\n * a: 1\n */\nbyte x; // b: 2\n// c: 3\nx = 1; /* d: 4\n e: 5 */\nprintf(\"// f: 6\n// g: 7\n";
        let (found, end) = leading(text);
        assert_eq!(texts(&found), [(2, "a: 1")]);
        assert!(text[end..].starts_with("byte x"));
        assert_eq!(&text[found[1].at.clone()], "a: 1");
        assert_eq!(texts(&later(text, end)), [(5, "c: 3"), (7, "e: 5"), (9, "g: 7")]);
        let xml = "<?xml version=\"1.0\"?><!-- a: 1 --><!--\n b: 2\n--><pnml>\n<!-- c: 3 -->";
        let (found, end) = leading(xml);
        assert_eq!(texts(&found), [(1, "a: 1"), (2, "b: 2")]);
        assert_eq!(texts(&later(xml, end)), [(4, "c: 3")]);
        // On one line, and without an end.
        assert_eq!(texts(&leading("/* a: 1 */ // b: 2\n/* c: 3 */ int x;").0), [(1, "a: 1"), (1, "b: 2"), (2, "c: 3")]);
        assert_eq!(texts(&leading("/* a\n*").0), [(1, "a")]);
        for none in ["", "\n", "x", "/", "<?xml", "//"] {
            let (found, end) = leading(none);
            assert!(texts(&found).is_empty() && texts(&later(none, end)).is_empty(), "{none}");
        }
    }
}
