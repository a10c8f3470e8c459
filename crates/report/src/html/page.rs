//! The frame of a report: its head, what it is about, the verdict in one sentence, and how to get it again.

use super::escape;

/// Colours have meanings, and there are few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Warn,
    Plain,
}

impl Tone {
    /// The class of the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Warn => "warn",
            Tone::Plain => "plain",
        }
    }
}

/// A report as a whole.
#[derive(Debug, Clone)]
pub struct Page {
    /// What was done, such as `scrimp check`.
    pub kind: String,
    /// What it was done to.
    pub title: String,
    pub tone: Tone,
    /// The verdict in a word, and in a sentence.
    pub verdict: String,
    pub summary: String,
    /// The command that leads here.
    pub command: String,
    /// Ready markup.
    pub body: String,
}

const STYLE: &str = include_str!("style.css");

/// The text of the file.
pub fn page(page: &Page) -> String {
    let Page { kind, title, tone, verdict, summary, command, body } = page;
    let [kind, title, verdict, summary, command] = [kind, title, verdict, summary, command].map(|text| escape(text));
    let (class, version) = (tone.class(), env!("CARGO_PKG_VERSION"));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"generator\" content=\"scrimp {version}\"/>\n\
         <title>{title}: {verdict}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header class=\"{class}\">\n<p class=\"kind\">{kind}</p>\n<h1>{title}</h1>\n\
         <p class=\"verdict\"><strong>{verdict}</strong> {summary}</p>\n\
         <pre class=\"command\"><code>{command}</code></pre>\n</header>\n<main>\n{body}</main>\n\
         <footer>Made by scrimp {version}.</footer>\n</body>\n</html>\n"
    )
}
