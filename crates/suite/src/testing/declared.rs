//! What a model declares about itself in its leading comments, one a line: `// states: 1050`, `// property: deadlock -> fails at 16`,
//! `// expect: violated assertion at 12 events`; in XML `<!-- states: 1050 -->`.
//!
//! The leading comments end with the first sign that is neither a comment nor blank. Lines without one of the keys are prose; a line
//! whose key is nearly one is wrong, and so is a declaration in a later comment, so that a slip does not pass for a test.

use super::comments;
use super::flags::is_given;
use crate::document::{Read, Wrong, known};
use crate::template::words;
use scrimp_report::number::{parse_duration, parse_size};
use std::ops::Range;

/// Keys that are a number in the answer of `scrimp count`, with its field.
const COUNTS: [(&str, &str); 8] = [
    ("states", "states"),
    ("transitions", "transitions"),
    ("levels", "levels"),
    ("deadlocks", "deadlocks"),
    ("faults", "faults"),
    ("vector", "state_bytes"),
    ("most tokens in a place", "max_token_in_place"),
    ("most tokens in all", "max_token_per_marking"),
];
const OTHERS: [&str; 6] = ["assertion violations", "property", "expect", "time", "memory", "flags"];

/// A test, or nothing to test.
#[derive(Debug, Default, Clone)]
pub struct Declared {
    pub claims: Vec<Claim>,
    pub time: Option<String>,
    pub memory: Option<(String, u64)>,
    pub flags: Vec<String>,
    /// Where the flags say how much memory a run has.
    memory_flag: Option<Range<usize>>,
}

impl Declared {
    fn says_something(&self) -> bool {
        !self.claims.is_empty() || self.time.is_some() || self.memory.is_some() || !self.flags.is_empty()
    }
}

/// One thing that is to be so.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The line of the text, from 1.
    pub line: usize,
    /// As it is written.
    pub text: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A field of `count` is this number; of the bytes of a state, at most.
    Count { field: &'static str, number: u64, at_most: bool },
    /// The check of this property.
    Property { property: String, holds: bool, events: Option<u64> },
    /// The check of everything that a model has; a property is named by how its name begins.
    Whole { verdict: String, property: Option<String>, events: Option<u64> },
    /// Whether an assertion is ever violated.
    Assertions { violated: bool },
    /// Nothing but that it is a model.
    Readable,
}

/// Reads the leading comments, and sees to it that no later one declares anything.
pub fn read(text: &str) -> Read<Declared> {
    let mut declared = Declared::default();
    let (leading, rest) = comments::leading(text);
    for line in leading {
        one(line.text, line.at, line.number, &mut declared)?;
    }
    if let (Some((_, memory)), Some(at)) = (&declared.memory, &declared.memory_flag) {
        return Err(Wrong::new(at, format!("the memory of a run is declared twice: also by `memory: {memory}`")));
    }
    for line in comments::later(text, rest) {
        let mut late = Declared::default();
        let declares = one(line.text, line.at.clone(), line.number, &mut late).is_ok() && late.says_something();
        if declares {
            let end = text[..rest].matches('\n').count() + 1;
            let wrong = Wrong::new(&line.at, "this stands behind the first comments, so it would declare nothing");
            return Err(wrong.help(format!("move it up, before line {end}, which is no comment")));
        }
    }
    Ok(declared)
}

fn one(content: &str, at: Range<usize>, line: usize, out: &mut Declared) -> Read<()> {
    let Some((key, value)) = content.split_once(':') else { return Ok(()) };
    let (key, value) = (key.trim_end(), value.trim());
    let start = at.start + content.len() - content.split_once(':').map_or("", |(_, v)| v).trim_start().len();
    let place = start..start + value.len();
    let wrong = |message: String| Wrong::new(&place, message);
    let number = || value.replace(['_', ','], "").parse::<u64>().ok();
    let claim = |kind| Claim { line, text: content.to_string(), kind };
    if let Some((_, field)) = COUNTS.iter().find(|(name, _)| *name == key) {
        // What has no bound cannot be counted.
        if value == "without bound" {
            return Ok(());
        }
        let Some(number) = number() else { return Err(wrong(format!("expected a number, found `{value}`"))) };
        out.claims.push(claim(Kind::Count { field, number, at_most: *field == "state_bytes" }));
        return Ok(());
    }
    match key {
        "assertion violations" => {
            let Some(number) = number() else { return Err(wrong(format!("expected a number, found `{value}`"))) };
            out.claims.push(claim(Kind::Assertions { violated: number > 0 }));
        }
        "property" => {
            let outcome = || {
                let (property, outcome) = value.rsplit_once("->")?;
                let (verdict, events) = ended(outcome.trim())?;
                let holds = match verdict {
                    "holds" => true,
                    "fails" => false,
                    _ => return None,
                };
                let property = property.trim().to_string();
                (!property.is_empty()).then_some(Kind::Property { property, holds, events })
            };
            let help =
                "write `property: PROPERTY -> holds`, or `-> fails at 7` for the events of the run that shows it";
            out.claims.push(claim(outcome().ok_or_else(|| wrong(format!("no outcome in `{value}`")).help(help))?));
        }
        "expect" => {
            let outcome = || {
                let (outcome, events) = ended(value)?;
                let (verdict, property) = outcome.split_once(' ').unwrap_or((outcome, ""));
                let known = ["verified", "violated", "incomplete", "no-error-found"].contains(&verdict);
                let property = (!property.trim().is_empty()).then(|| property.trim().to_string());
                known.then(|| Kind::Whole { verdict: verdict.to_string(), property, events })
            };
            let help = "write `expect: verified`, `expect: violated` or `expect: violated assertion at 12 events`";
            let outcome = outcome().ok_or_else(|| wrong(format!("no verdict in `{value}`")).help(help))?;
            if let Kind::Whole { verdict, property, events } = &outcome
                && verdict != "violated"
                && (property.is_some() || events.is_some())
            {
                let why = format!("a property and the length of its run go with `violated`, not with `{verdict}`");
                return Err(wrong(why).help(format!("write `expect: {verdict}`")));
            }
            out.claims.push(claim(outcome));
        }
        "time" => {
            parse_duration(value).map_err(wrong)?;
            if let Some(before) = out.time.replace(value.to_string()) {
                return Err(wrong(format!("the time of a run is declared twice: it was `{before}` before")));
            }
        }
        "memory" => {
            let size = parse_size(value).map_err(wrong)? as u64;
            if let Some((before, _)) = out.memory.replace((value.to_string(), size)) {
                return Err(wrong(format!("the memory of a run is declared twice: it was `{before}` before")));
            }
        }
        "flags" => {
            let flags = words(value).map_err(wrong)?;
            if let Some(flag) = ["--json", "--quiet", "--help"].into_iter().find(|flag| is_given(&flags, flag)) {
                return Err(wrong(format!("{flag} is not for tests, which read the JSON answer")));
            }
            if is_given(&flags, "--memory") {
                out.memory_flag = Some(place.clone());
            }
            out.flags.extend(flags);
        }
        _ => {
            let keys: Vec<&str> = COUNTS.iter().map(|(key, _)| *key).chain(OTHERS).collect();
            let help = known(key, &keys);
            if help.starts_with("did you mean") && key.len() > 3 {
                let at = at.start..at.start + key.len();
                return Err(Wrong::new(&at, format!("nothing is declared by `{key}`")).help(help));
            }
        }
    }
    Ok(())
}

/// `fails at 7 events` in its parts.
fn ended(text: &str) -> Option<(&str, Option<u64>)> {
    match text.rsplit_once(" at ") {
        None => Some((text, None)),
        Some((outcome, events)) => {
            let events = events.trim().trim_end_matches("events").trim_end_matches("event").trim();
            Some((outcome.trim(), Some(events.parse().ok()?)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_comments_are_read() {
        let text = "// m: a note\n// states: 1,050\n// expect: violated assertion at 12 events\n// time: 10s\n\
                    // flags: --reduce por -p 'reach: x'\n\n// property: reach: a -> b -> holds at 1 event\nbyte x;\n// states: x\n";
        let declared = read(text).unwrap();
        let kinds: Vec<Kind> = declared.claims.iter().map(|claim| claim.kind.clone()).collect();
        let property = Kind::Property { property: "reach: a -> b".into(), holds: true, events: Some(1) };
        let whole = Kind::Whole { verdict: "violated".into(), property: Some("assertion".into()), events: Some(12) };
        assert_eq!(kinds, [Kind::Count { field: "states", number: 1050, at_most: false }, whole, property]);
        assert_eq!(
            (declared.time.as_deref(), &declared.flags[..2]),
            (Some("10s"), &["--reduce".into(), "por".into()][..])
        );
        assert_eq!(declared.claims[2].line, 7);
        let xml = "<?xml version=\"1.0\"?>\n<!-- states: 4 -->\n<!--\n deadlocks: 1\n-->\n<pnml>\n<!-- states: x -->\n";
        assert_eq!(read(xml).unwrap().claims.len(), 2);
        assert_eq!(read("/* states: 3\n * levels: 2\n */\nint x;").unwrap().claims.len(), 2);
        assert_eq!(read("des (0, 4, 3)\n").unwrap().claims.len(), 0);
    }

    #[test]
    fn slips_are_shown() {
        for (text, place) in [
            ("// stats: 4\n", "m:1:4: error: nothing is declared by `stats`"),
            ("// a\n// states: many\n", "m:2:12: error: expected a number, found `many`"),
            ("// property: deadlock\n", "m:1:14: error: no outcome in `deadlock`"),
            ("// property: deadlock -> perhaps\n", "m:1:14: error: no outcome"),
            ("// expect: violated at noon\n", "m:1:12: error: no verdict"),
            ("// time: soon\n", "m:1:10: error: expected a duration, found `soon`"),
            ("// flags: 'a\n", "m:1:11: error: a quote"),
            ("// flags: --json\n", "m:1:11: error: --json is not for tests"),
            ("// flags: -kq\n", "m:1:11: error: --quiet is not for tests"),
            (
                "// expect: verified at 77 events\n",
                "m:1:12: error: a property and the length of its run go with `violated`",
            ),
            ("// expect: no-error-found deadlock\n", "m:1:12: error: a property and the length"),
            ("// memory: 64M\n// memory: 128M\n", "m:2:12: error: the memory of a run is declared twice: it was `64M`"),
            ("// time: 1s\n// time: 99s\n", "m:2:10: error: the time of a run is declared twice"),
            ("// flags: -m 64M\n// memory: 128M\n", "m:1:11: error: the memory of a run is declared twice"),
            ("#define N 1\n// states: 99\n", "m:2:4: error: this stands behind the first comments"),
            ("<?xml version=\"1.0\"?><!-- states: x -->", "m:1:35: error: expected a number"),
            ("/*\n * a\n */\nbyte x;\n/*\n * states: 99 */\n", "m:6:4: error: this stands behind the first"),
        ] {
            let shown = read(text).expect_err(text).show("m", text);
            assert!(shown.starts_with(place), "{shown}");
        }
        for prose in [
            "// note: states are many\n// see: https://x\n",
            // A label, and what a line does.
            "/*\n * states: 2\n */\nactive proctype P() {\nstate: skip;\ngoto fin;\nfin: skip\n}\n",
            "byte x; // states: 77\n// states: as many as there are\n",
        ] {
            assert!(read(prose).unwrap().claims.len() <= 1, "{prose}");
        }
    }
}
