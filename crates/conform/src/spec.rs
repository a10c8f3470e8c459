//! What is said of an event: its name, a message, a line, where a process goes. Several can be said, of which one must hold.
//!
//! Most of it is decided by the event alone; what a message has in it is only known in a state.

use crate::glob::{fits, squeezed};
use crate::subject::{Named, Subject};
use crate::template::{fill, is_mark};
use scrimp_system::EventCode;

/// One of these is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec(Vec<Said>);

#[derive(Debug, Clone, PartialEq, Eq)]
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

/// A text in parts, between which anything may stand; one part is the text as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Text(Vec<String>);

impl Text {
    fn new(text: &str, stars: bool) -> Text {
        Text(if stars { text.split('*').map(str::to_string).collect() } else { vec![text.to_string()] })
    }

    fn fits(&self, other: &str) -> bool {
        fits(&self.0, other)
    }

    /// With the values of a record, each of which stands for itself alone.
    fn filled(&self, values: &[String]) -> Text {
        Text(self.0.iter().map(|part| fill(part, values)).collect())
    }

    /// Is a value of a message this one? By its text, or by the number that both stand for.
    fn is_value(&self, subject: &Subject, value: &str) -> bool {
        let value = squeezed(value);
        self.fits(&value) || matches!(&self.0[..], [said] if subject.same(said, &value))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Message {
    channel: Text,
    sent: bool,
    /// Nothing is said of them where there are none.
    values: Vec<Text>,
}

/// Who may have written a record about an event: some of the processes that take part, or one who saw all of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Writers {
    pub lanes: Vec<usize>,
    pub whole: bool,
}

impl Writers {
    pub fn is_nobody(&self) -> bool {
        self.lanes.is_empty() && !self.whole
    }

    fn add(&mut self, lane: usize) {
        if !self.lanes.contains(&lane) {
            self.lanes.push(lane);
        }
    }

    /// Those of an event among these processes; where none is named, it is the event as a whole that was seen.
    pub fn of(named: &Named, lanes: &[usize]) -> Writers {
        let mut writers = Writers { lanes: Vec::new(), whole: lanes.is_empty() };
        named.lanes.iter().filter(|lane| lanes.contains(lane)).for_each(|lane| writers.add(*lane));
        writers
    }

    /// Can all of these be of different processes?
    pub fn are_apart(all: &[Writers]) -> bool {
        match all {
            [one] => !one.is_nobody(),
            _ => Writers::are_different(all),
        }
    }

    fn are_different(all: &[Writers]) -> bool {
        let Some((first, rest)) = all.split_first() else { return true };
        let without = |lane: &usize| -> bool {
            let mut rest = rest.to_vec();
            rest.iter_mut().for_each(|other| other.lanes.retain(|this| this != lane));
            Writers::are_different(&rest)
        };
        first.lanes.iter().any(without)
    }
}

/// May an event be meant, and by whom?
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fit {
    pub writers: Writers,
    /// There may be others; that depends on the message that it passes.
    pub message: bool,
}

impl Fit {
    pub fn is_no(&self) -> bool {
        self.writers.is_nobody() && !self.message
    }
}

impl Spec {
    /// What a rule says: alternatives between ` | `.
    pub fn read(text: &str) -> Result<Spec, String> {
        text.split(" | ").map(|part| Said::read(part.trim())).collect::<Result<_, _>>().map(Spec)
    }

    /// The line that is said, where nothing else is.
    pub fn line(&self) -> Option<u32> {
        match self.0[..] {
            [Said::Line { line, .. }] => Some(line),
            _ => None,
        }
    }

    /// The event of this name, as a log has it.
    pub fn exactly(text: &str) -> Spec {
        Spec(vec![Said::name(text, false)])
    }

    /// What a rule says with the values of a record.
    pub fn filled(&self, values: &[String]) -> Spec {
        Spec(self.0.iter().map(|said| said.filled(values)).collect())
    }

    /// May it be this event, where one of these processes takes part?
    pub fn fit(&self, subject: &Subject, lanes: &[usize], code: EventCode) -> Fit {
        let named = subject.event(code);
        let mut fit = Fit::default();
        if takes_part(&named, lanes) {
            self.0.iter().for_each(|said| said.fit(subject, &named, lanes, code, &mut fit));
        }
        fit
    }

    /// Who may have written of the message that the event passes in a state.
    pub fn passes(&self, subject: &Subject, lanes: &[usize], code: EventCode, state: &[u8]) -> Writers {
        let mut writers = Writers::default();
        let Some(passed) = subject.model.passed(state, code) else { return writers };
        for said in &self.0 {
            let Said::Name { message: Some(message), .. } = said else { continue };
            let end = if message.sent { passed.from } else { passed.to };
            if let Some(end) = end.filter(|end| lanes.is_empty() || lanes.contains(end))
                && message.channel.fits(&squeezed(&passed.channel))
                && (message.values.is_empty()
                    || message.values.len() == passed.values.len()
                        && message.values.iter().zip(&passed.values).all(|(said, value)| said.is_value(subject, value)))
            {
                writers.add(end);
            }
        }
        writers
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
        Ok(match (behind("from"), behind("to")) {
            (Some(place), _) => Said::From(Text::new(place, true)),
            (_, Some(place)) => Said::To(Text::new(place, true)),
            _ if text.is_empty() => return Err("no event is named".into()),
            _ => Said::name(text, true),
        })
    }

    fn name(text: &str, stars: bool) -> Said {
        let plain = squeezed(text);
        Said::Name { name: Text::new(&plain, stars), message: Message::read(&plain, &|part| Text::new(part, stars)) }
    }

    fn filled(&self, values: &[String]) -> Said {
        match self {
            // A name that is all in the record may be a message.
            Said::Name { name, message: None } => match &name.filled(values).0[..] {
                [text] => Said::name(text, false),
                parts => Said::Name { name: Text(parts.to_vec()), message: None },
            },
            Said::Name { name, message: Some(message) } => {
                Said::Name { name: name.filled(values), message: Some(message.filled(values)) }
            }
            Said::From(place) => Said::From(place.filled(values)),
            Said::To(place) => Said::To(place.filled(values)),
            Said::Line { .. } => self.clone(),
        }
    }

    fn fit(&self, subject: &Subject, named: &Named, lanes: &[usize], code: EventCode, fit: &mut Fit) {
        // What is of one process is of the record's only where it may be that one.
        let mut by = |lane: Option<usize>| match lane {
            Some(lane) if lanes.is_empty() || lanes.contains(&lane) => fit.writers.add(lane),
            Some(_) => {}
            None => {
                let all = Writers::of(named, lanes);
                all.lanes.iter().for_each(|lane| fit.writers.add(*lane));
                fit.writers.whole |= all.whole;
            }
        };
        match self {
            Said::Name { name, message } => {
                named.names.iter().filter(|(other, _)| name.fits(other)).for_each(|(_, lane)| by(*lane));
                if let (Some(message), Some(passes)) = (message, subject.message(code)) {
                    fit.message |= passes.is_none_or(|(channel, from, to)| {
                        let end = if message.sent { from } else { to };
                        end.is_some_and(|end| lanes.is_empty() || lanes.contains(&end))
                            && message.channel.fits(&squeezed(channel))
                    });
                }
            }
            Said::Line { file, line } => {
                let is_that = |other: &str| {
                    file.as_ref().is_none_or(|file| other == file || other.ends_with(&format!("/{file}")))
                };
                let those = named.lines.iter().filter(|(other, number, _)| number == line && is_that(other));
                those.for_each(|(.., lane)| by(*lane));
            }
            Said::From(place) => {
                named.moves.iter().filter(|(_, from, _)| place.fits(from)).for_each(|(lane, ..)| by(Some(*lane)));
            }
            Said::To(place) => {
                named.moves.iter().filter(|(.., to)| place.fits(to)).for_each(|(lane, ..)| by(Some(*lane)));
            }
        }
    }
}

impl Message {
    /// `channel!a,b` or `channel?a(b)`.
    fn read(text: &str, text_of: &impl Fn(&str) -> Text) -> Option<Message> {
        let at = text.find(['!', '?'])?;
        let (channel, rest) = text.split_at(at);
        let word = |c: char| c.is_alphanumeric() || "_.[]*".contains(c) || is_mark(c);
        if channel.is_empty() || !channel.chars().all(word) || rest[1..].starts_with('=') {
            return None;
        }
        let sent = rest.starts_with('!');
        let values = parts(rest[1..].trim_start_matches(['!', '?']));
        let values = if values == [""] { Vec::new() } else { values.iter().map(|value| text_of(value)).collect() };
        Some(Message { channel: text_of(channel), sent, values })
    }

    /// A value of a record may be several of a message, but it is never any.
    fn filled(&self, values: &[String]) -> Message {
        let each = |value: &Text| match &value.filled(values).0[..] {
            [text] => parts(text).into_iter().map(|part| Text::new(&part, false)).collect(),
            parts => vec![Text(parts.to_vec())],
        };
        Message {
            channel: self.channel.filled(values),
            sent: self.sent,
            values: self.values.iter().flat_map(each).collect(),
        }
    }
}

/// The values of a message: `a,b`, or `a(b)`.
fn parts(values: &str) -> Vec<String> {
    values.trim_end_matches(')').replace('(', ",").split(',').map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    #[test]
    fn messages_are_told_from_names() {
        let text_of = |part: &str| Text::new(part, false);
        let read = |text: &str| Message::read(text, &text_of).map(|m| (m.channel.0[0].clone(), m.sent, m.values.len()));
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

    #[test]
    fn values_of_a_record_stand_for_themselves() {
        let filled = |rule: &str, values: &[&str]| {
            let template = Template::new(rule, false);
            let values: Vec<String> = values.iter().map(|value| value.to_string()).collect();
            Spec::read(&template.text).unwrap().filled(&values)
        };
        assert_eq!(filled("vote!{v}", &["", "1"]), Spec::exactly("vote!1"));
        assert_eq!(filled("{c}!{v}", &["", "vote", "1,x"]), Spec::exactly("vote!1,x"));
        assert_eq!(filled("{s}", &["", "(x == 1)"]), Spec::exactly("x==1"));
        assert_eq!(filled("{s}", &["", "*"]), Spec::exactly("*"));
        for value in ["*", "7 | from s", ""] {
            let Said::Name { name, message: Some(message) } = &filled("vote!{v}", &["", value]).0[0] else { panic!() };
            assert!(name.fits(&squeezed(&format!("vote!{value}"))) && !name.fits("vote!1"));
            assert_eq!(message.values, [Text::new(&squeezed(value), false)]);
            assert!(!message.values[0].fits("1"));
        }
        assert_eq!(
            filled("x{a}*", &["", "*"]),
            Spec(vec![Said::Name { name: Text(vec!["x*".into(), "".into()]), message: None }])
        );
    }

    #[test]
    fn several_writers_are_different_processes() {
        let of = |lanes: &[usize]| Writers { lanes: lanes.to_vec(), whole: false };
        assert!(Writers::are_apart(&[of(&[0, 1]), of(&[0])]) && !Writers::are_apart(&[of(&[1]), of(&[1])]));
        assert!(!Writers::are_apart(&[of(&[0, 1]), of(&[0, 1]), of(&[1])]));
        let whole = Writers { lanes: Vec::new(), whole: true };
        assert!(Writers::are_apart(std::slice::from_ref(&whole)) && !Writers::are_apart(&[whole, of(&[0])]));
        let either = Writers { lanes: vec![0], whole: true };
        assert!(!Writers::are_apart(&[either.clone(), either]));
    }
}
