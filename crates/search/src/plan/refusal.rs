//! Why a combination does not exist or would not be sound, and what is nearest to it.

use super::abilities::{NEEDS, ORBITS, able, why_apart};
use super::feature::{Axis, FEATURES, Feature, Features};
use super::options::Options;
use super::question::Question;
use std::fmt;
use std::io;

/// A combination that would not be sound or does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub reason: String,
    pub instead: String,
    /// The features that do not go together.
    pub(super) core: Features,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.reason)?;
        match self.instead.as_str() {
            "" => Ok(()),
            instead => write!(f, "\nhelp: {instead}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidInput, refusal.to_string())
    }
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>, instead: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into(), instead: instead.into(), core: Features::default() }
    }

    /// A value that a flag does not have; `known` are those it has, with what may follow them in brackets or behind a colon.
    pub(crate) fn unknown(what: &str, text: &str, known: &str) -> Refusal {
        let names = known.split(", ").map(|value| value.split(['[', ':']).next().unwrap_or(value));
        let wanted = text.split(':').next().unwrap_or(text);
        let instead = match scrimp_core::nearest(wanted, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("choose from: {known}"),
        };
        Refusal::new(format!("unknown {what} `{text}`"), instead)
    }

    /// A flag that means nothing without another.
    pub(super) fn of_needs(options: &Options, asked: Features) -> Option<Refusal> {
        let missing = |(feature, needs, _): &&(Feature, &[Feature], &str)| {
            asked.has(*feature) && !needs.iter().any(|need| asked.has(*need))
        };
        let (feature, needs, why) = NEEDS.iter().find(missing)?;
        let flag = options.written(*feature);
        let names: Vec<String> = needs.iter().map(|need| need.to_string()).collect();
        let needed = listed(&names, "or");
        Some(Refusal {
            reason: format!("{flag} needs {needed}: {why}"),
            instead: format!("add {}, or leave {flag} out", names[0]),
            core: Features::of(&[*feature]),
        })
    }

    /// What does not go together of all that is asked for.
    pub(super) fn of_conflict(options: &Options, question: Option<&Question>, asked: Features) -> Refusal {
        let core = minimal(asked);
        let (flags, natures): (Vec<Feature>, Vec<Feature>) = core.iter().partition(|feature| feature.is_flag());
        let written: Vec<String> = flags.iter().map(|flag| options.written(*flag)).collect();
        let kinds: Vec<String> = natures.iter().map(|nature| nature.to_string()).collect();
        let mut reason = match (&written[..], kinds.is_empty()) {
            ([], _) => format!("{} are not supported together", listed(&kinds, "and")),
            ([only], true) => format!("{only} is not supported here"),
            ([first, rest @ ..], true) => format!("{first} is not supported with {}", listed(rest, "and")),
            (all, false) => {
                let verb = if all.len() == 1 { "is" } else { "are" };
                format!("{} {verb} not supported for {}", listed(all, "and"), listed(&kinds, "and"))
            }
        };
        let name = question.and_then(|question| question.name.as_deref()).filter(|_| !natures.is_empty());
        if let Some(name) = name {
            reason.push_str(&format!(" (property `{name}`)"));
        }
        let pairs = core.iter().flat_map(|a| core.iter().map(move |b| (a, b)));
        if let Some(why) = pairs.filter(|(a, b)| a < b).find_map(|(a, b)| why_apart(a, b)) {
            reason.push_str(": ");
            reason.push_str(why);
        }
        Refusal { reason, instead: nearest(options, asked, &flags), core }
    }

    /// What the model itself does not allow.
    pub(super) fn of_model(options: &Options, asked: Features, core: Features, why: &str) -> Refusal {
        let flags: Vec<Feature> = core.iter().filter(|feature| feature.is_flag()).collect();
        let written: Vec<String> = flags.iter().map(|flag| options.written(*flag)).collect();
        let reason = format!("{} cannot be used with this model: {why}", listed(&written, "with"));
        // Of a name that is not known, the reason says what there is.
        let is_name = why.starts_with("unknown ");
        let instead = if is_name { String::new() } else { nearest(options, asked, &flags) };
        Refusal { reason, instead, core }
    }
}

/// As few of the features as already do not go together.
fn minimal(asked: Features) -> Features {
    let mut core = asked;
    // What the user did not write goes first, so that flags that exclude each other are told as that.
    let natures = asked.iter().filter(|feature| feature.axis() == Axis::Nature);
    for feature in natures.chain(asked.iter()) {
        let fewer = core.without(feature);
        if !fewer.is_empty() && able(fewer).is_none() {
            core = fewer;
        }
    }
    core
}

/// The flags to change so that all the rest stays: other values of the same flag, or leaving it out.
fn nearest(options: &Options, asked: Features, flags: &[Feature]) -> String {
    let works = |features: Features| able(features).is_some();
    let mut ways = Vec::new();
    for &flag in flags {
        let without = asked.without(flag);
        let axis = flag.axis();
        let others = FEATURES.iter().filter(|(other, of, _)| axis != Axis::Alone && *of == axis && *other != flag);
        let values: Vec<&str> = others
            .filter(|(other, ..)| works(without.with(*other)) && is_whole(without.with(*other)))
            // What one cannot do for a model or a question, the other cannot.
            .filter(|(other, ..)| !ORBITS.is_within(Features::of(&[flag, *other])))
            .map(|(.., name)| name.rsplit(' ').next().unwrap_or(name))
            .collect();
        let name = flag_name(flag);
        if !values.is_empty() {
            ways.push(format!("use {name} {}", listed(&values, "or")));
        } else if works(without) {
            ways.push(format!("leave out {name}"));
        }
    }
    match ways.is_empty() {
        true => {
            let written: Vec<String> = flags.iter().map(|flag| options.written(*flag)).collect();
            format!("leave out {}", listed(&written, "and"))
        }
        false => ways.join(", or "),
    }
}

/// Is nothing missing that something else needs?
fn is_whole(asked: Features) -> bool {
    NEEDS.iter().all(|(feature, needs, _)| !asked.has(*feature) || needs.iter().any(|need| asked.has(*need)))
}

/// The flag without its value.
fn flag_name(flag: Feature) -> String {
    flag.to_string().split(' ').next().unwrap_or_default().to_string()
}

/// `a, b or c`.
pub(super) fn listed<S: AsRef<str>>(parts: &[S], word: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} {word} {}", first.join(", "), last.as_ref())
        }
    }
}
