//! Reports as one HTML file: no scripts, nothing from anywhere else, readable wherever a browser is.
//!
//! The markup is XML too, so that it can be checked strictly. Everything that comes from a model or a user is text and
//! passes through [`escape`].

mod branching;
mod document;
mod page;
mod picture;
mod searched;
mod trace;
mod words;

pub use crate::markup::escape;
pub use document::{Document, Kind};
pub use page::{Page, Tone, page};
pub use picture::{Pictures, caption};

/// A text of any length, cut where it would fill the page.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => escape(text),
        Some((at, _)) => format!("{}…", escape(&text[..at])),
    }
}

/// The rows of a table, as cells of ready markup; the first row has the headings.
///
/// `numbers` says of each column whether it has numbers, which stand to the right.
pub fn table(numbers: &[bool], rows: &[Vec<String>]) -> String {
    marked_table(numbers, rows, &|_| Tone::Plain)
}

/// The same with the tone of each row, by its place among all.
pub fn marked_table(numbers: &[bool], rows: &[Vec<String>], tone: &dyn Fn(usize) -> Tone) -> String {
    let mut out = String::from("<div class=\"scroll\"><table>\n");
    for (i, row) in rows.iter().enumerate() {
        out.push_str(match i {
            0 => "<thead>",
            1 => "<tbody>\n",
            _ => "",
        });
        match tone(i) {
            Tone::Plain => out.push_str("<tr>"),
            tone => out.push_str(&format!("<tr class=\"{}\">", tone.class())),
        }
        let tag = if i == 0 { "th" } else { "td" };
        for (cell, number) in row.iter().zip(numbers) {
            let class = if *number { " class=\"number\"" } else { "" };
            out.push_str(&format!("<{tag}{class}>{cell}</{tag}>"));
        }
        out.push_str(if i == 0 { "</tr></thead>\n" } else { "</tr>\n" });
    }
    out.push_str(if rows.len() > 1 { "</tbody></table></div>\n" } else { "</table></div>\n" });
    out
}

/// Names and figures, side by side as far as there is room.
pub fn figures(pairs: &[(String, String)]) -> String {
    let one =
        |(name, value): &(String, String)| format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
    format!("<dl class=\"figures\">{}</dl>\n", pairs.iter().map(one).collect::<String>())
}

/// A word with a colour.
pub fn pill(tone: Tone, word: &str) -> String {
    format!("<span class=\"pill {}\">{}</span>", tone.class(), escape(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("<<<<", 2), "&lt;&lt;…");
        assert_eq!(shortened("äöü", 3), "äöü");
    }

    #[test]
    fn tables_have_a_head() {
        let row = |a: &str, b: &str| vec![a.to_string(), b.to_string()];
        let markup = table(&[false, true], &[row("name", "n"), row("x", "1")]);
        assert!(markup.contains("<thead><tr><th>name</th><th class=\"number\">n</th></tr></thead>"));
        assert!(markup.contains("<tbody>\n<tr><td>x</td><td class=\"number\">1</td></tr>\n</tbody></table>"));
        assert!(!table(&[false, true], &[row("name", "n")]).contains("tbody"));
    }
}
