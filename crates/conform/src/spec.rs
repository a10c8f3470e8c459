//! What is said of an event: its name, a message, a line, where a process goes. Several can be said, of which one must hold.
//!
//! Most of it is decided by the event alone; what a message has in it is only known in a state.

use crate::glob::{glob, squeezed};
use crate::subject::{Named, Subject};
use scrimp_system::EventCode;

/// One of these is so.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Spec(Vec<Said>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Said {
    /// One of its names is this, or it passes this message.
    Name {
        name: Text,
        message: Option<Message>,
    },
    /// It is written in this line.
    Line {
        file: Option<String>,
        line: u32,
    },
    /// A process goes from there, or to there.
    From(Text),
    To(Text),
}

/// A text as it is, or with `*` for anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Text {
    text: String,
    stars: bool,
}

impl Text {
    fn fits(&self, other: &str) -> bool {
        if self.stars { glob(&self.text, other).is_some() } else { self.text == other }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Message {
    channel: Text,
    sent: bool,
    /// Nothing is said of them where there are none.
    values: Vec<Text>,
}

/// May an event be meant?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    No,
    Yes,
    /// That depends on the message that it passes.
    Message,
}

impl Spec {
    /// What a rule says: alternatives between ` | `.
    pub fn read(text: &str) -> Result<Spec, String> {
        text.split(" | ").map(|part| Said::read(part.trim())).collect::<Result<_, _>>().map(Spec)
    }

    /// The event of this name, as a log has it.
    pub fn exactly(text: &str) -> Spec {
        Spec(vec![Said::name(text, false)])
    }

    /// May it be this event, where one of these processes takes part?
    pub fn fit(&self, subject: &Subject, lanes: &[usize], code: EventCode) -> Fit {
        let named = subject.event(code);
        if !takes_part(&named, lanes) {
            return Fit::No;
        }
        let mut fit = Fit::No;
        for said in &self.0 {
            match said.fit(subject, &named, lanes, code) {
                Fit::Yes => return Fit::Yes,
                Fit::Message => fit = Fit::Message,
                Fit::No => {}
            }
        }
        fit
    }

    /// Is the message that the event passes in a state one that is said?
    pub fn passes(&self, subject: &Subject, lanes: &[usize], code: EventCode, state: &[u8]) -> bool {
        let messages = || {
            self.0.iter().filter_map(|said| match said {
                Said::Name { message, .. } => message.as_ref(),
                _ => None,
            })
        };
        let Some(passed) = subject.model.passed(state, code) else { return false };
        messages().any(|message| {
            let end = if message.sent { passed.from } else { passed.to };
            end.is_some_and(|end| lanes.is_empty() || lanes.contains(&end))
                && message.channel.fits(&squeezed(&passed.channel))
                && (message.values.is_empty()
                    || message.values.len() == passed.values.len()
                        && message.values.iter().zip(&passed.values).all(|(said, value)| said.fits(&squeezed(value))))
        })
    }
}

/// Does one of these processes take part? Where none is named, anybody may.
pub(crate) fn takes_part(named: &Named, lanes: &[usize]) -> bool {
    lanes.is_empty() || named.lanes.iter().any(|lane| lanes.contains(lane))
}

impl Said {
    fn read(text: &str) -> Result<Said, String> {
        let behind = |word: &str| text.strip_prefix(word).filter(|rest| rest.starts_with(' ')).map(str::trim);
        if let Some(place) = behind("line") {
            let (file, line) = match place.rsplit_once(':') {
                Some((file, line)) => (Some(file.to_string()), line),
                None => (None, place),
            };
            let line = line.trim().parse().map_err(|_| format!("expected the number of a line, found `{place}`"))?;
            return Ok(Said::Line { file, line });
        }
        let text_of = |place: &str| Text { text: place.to_string(), stars: place.contains('*') };
        Ok(match (behind("from"), behind("to")) {
            (Some(place), _) => Said::From(text_of(place)),
            (_, Some(place)) => Said::To(text_of(place)),
            _ if text.is_empty() => return Err("no event is named".into()),
            _ => Said::name(text, true),
        })
    }

    fn name(text: &str, stars: bool) -> Said {
        let plain = squeezed(text);
        let text_of = |part: &str| Text { text: part.to_string(), stars: stars && part.contains('*') };
        Said::Name { name: text_of(&plain), message: Message::read(&plain, &text_of) }
    }

    fn fit(&self, subject: &Subject, named: &Named, lanes: &[usize], code: EventCode) -> Fit {
        let of_these = |lane: &usize| lanes.is_empty() || lanes.contains(lane);
        let fits = match self {
            Said::Name { name, .. } if named.names.iter().any(|other| name.fits(other)) => true,
            Said::Name { message: Some(message), .. } => {
                let passes = subject.channel(code);
                return match passes {
                    Some(channel) if channel.is_none_or(|channel| message.channel.fits(&squeezed(channel))) => {
                        Fit::Message
                    }
                    _ => Fit::No,
                };
            }
            Said::Name { .. } => false,
            Said::Line { file, line } => named.lines.iter().any(|(other, number)| {
                number == line && file.as_ref().is_none_or(|file| other == file || other.ends_with(&format!("/{file}")))
            }),
            Said::From(place) => named.moves.iter().any(|(lane, from, _)| of_these(lane) && place.fits(from)),
            Said::To(place) => named.moves.iter().any(|(lane, _, to)| of_these(lane) && place.fits(to)),
        };
        if fits { Fit::Yes } else { Fit::No }
    }
}

impl Message {
    /// `channel!a,b` or `channel?a(b)`.
    fn read(text: &str, text_of: &impl Fn(&str) -> Text) -> Option<Message> {
        let at = text.find(['!', '?'])?;
        let (channel, rest) = text.split_at(at);
        let word = |c: char| c.is_alphanumeric() || "_.[]*".contains(c);
        if channel.is_empty() || !channel.chars().all(word) || rest[1..].starts_with('=') {
            return None;
        }
        let sent = rest.starts_with('!');
        let values = rest[1..].trim_start_matches(['!', '?']).trim_end_matches(')').replace('(', ",");
        let values = if values.is_empty() { Vec::new() } else { values.split(',').map(text_of).collect() };
        Some(Message { channel: text_of(channel), sent, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_names() {
        let text_of = |part: &str| Text { text: part.into(), stars: false };
        let read = |text: &str| Message::read(text, &text_of).map(|m| (m.channel.text, m.sent, m.values.len()));
        assert_eq!(read("vote!1"), Some(("vote".into(), true, 1)));
        assert_eq!(read("order[0]?ask"), Some(("order[0]".into(), false, 1)));
        assert_eq!(read("frames!n(x)"), Some(("frames".into(), true, 2)));
        assert_eq!(read("ask_0!"), Some(("ask_0".into(), true, 0)));
        assert_eq!(read("x!=3"), None);
        assert_eq!(read("!x"), None);
        assert_eq!(read("a->b"), None);
    }

    #[test]
    fn alternatives_stand_apart() {
        assert_eq!(Spec::read("line 4 | to cs | a!1").unwrap().0.len(), 3);
        assert!(Spec::read("line x").is_err() && Spec::read("a | ").is_err());
    }
}
