//! What the fields of a log mean: a text of a few lines, or the model's own leading comments.
//!
//! Nothing of it is needed where a log uses the model's own names: `process` and `event` are the fields that name who acted
//! and what happened, and a field that is called like a variable has the value that it has then.

use crate::glob::glob;
use crate::place::wrong;
use crate::template::Template;
use scrimp_checker::CheckError;
use scrimp_core::nearest;
use scrimp_system::Source;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// How many steps may happen between two records, and before the first, without a record of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// So many at most; with 0, every step is in the log.
    Most(u32),
    /// Any number.
    Any,
}

impl Unseen {
    /// Reads a number or `any`.
    pub fn read(text: &str) -> Result<Unseen, String> {
        match text {
            "any" => Ok(Unseen::Any),
            number => number.parse().map(Unseen::Most).map_err(|_| {
                format!(
                    "expected a number of steps or `any`, found `{number}`\nhelp: 0 means that every step is in the log"
                )
            }),
        }
    }

    pub(crate) fn bound(self) -> Option<u32> {
        match self {
            Unseen::Most(most) => Some(most),
            Unseen::Any => None,
        }
    }
}

/// What is known of the order of records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Order {
    /// Each log is in order; of two logs nothing is known.
    #[default]
    File,
    /// The records of each process are in order.
    Process,
    /// The records of each process are in order, and this field has vector clocks.
    Clock(String),
}

/// What the fields of a log mean.
#[derive(Debug, Clone, Default)]
pub struct Mapping {
    /// What messages call it, and its lines.
    name: String,
    lines: Vec<String>,
    /// The fields that name the process and the event.
    pub(crate) process: Option<Rule>,
    pub(crate) event: Vec<Rule>,
    pub(crate) order: Order,
    pub(crate) unseen: Option<Unseen>,
    pub(crate) processes: Vec<Rule>,
    pub(crate) events: Vec<Rule>,
    pub(crate) skipped: Vec<Rule>,
    pub(crate) values: Vec<Rule>,
    pub(crate) words: Vec<Rule>,
    pub(crate) ignored: Vec<Rule>,
    /// What may be said once, and was, with its line.
    once: Vec<(&'static str, usize)>,
}

/// A text of the log, and what it stands for.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// With `*` for anything.
    pub left: String,
    pub right: String,
    /// Of a value: it is that before the step.
    pub before: bool,
    /// The line, from 1, and where in it each of both stands.
    line: usize,
    at_left: Range<usize>,
    at_right: Range<usize>,
}

impl Rule {
    /// What a text of the log stands for by this rule; `*` is what it is in the text.
    pub fn meaning(&self, text: &str) -> Option<String> {
        let stands = glob(&self.left, text)?;
        Some(if self.left.contains('*') { self.right.replace('*', stands) } else { self.right.clone() })
    }

    /// What it says of a record.
    pub fn template(&self) -> Template {
        Template::new(&self.right, self.left.contains('*'))
    }

    /// What tells it from the other rules.
    pub fn number(&self) -> usize {
        self.line
    }
}

/// Bytes of a net that may be leading comments.
const BEGINNING: u64 = 1 << 16;

const KEYS: [&str; 8] = ["process", "event", "order", "unseen", "value", "skip", "word", "ignore"];
const SHAPES: &str = "lines are `process FIELD`, `event FIELD`, `process \"NAME\" = PROCESS`, `event \"NAME\" = EVENT`, \
                      `value FIELD = EXPR`, `word \"TEXT\" = VALUE`, `skip \"NAME\"`, `ignore FIELD`, `order …` and `unseen …`";

impl Mapping {
    /// Reads a mapping; `name` is what messages call it.
    pub fn parse(name: &str, text: &str) -> Result<Mapping, CheckError> {
        let mut mapping = Mapping { name: name.into(), lines: lines(text), ..Mapping::default() };
        for (number, line) in mapping.lines.clone().iter().enumerate() {
            mapping.read(number + 1, line, 0..line.len())?;
        }
        Ok(mapping)
    }

    /// The mapping in the leading comments of a model file. Of a net, whose text is not kept, the beginning is read again.
    pub fn in_comments(path: &Path, source: &Source) -> Result<Mapping, CheckError> {
        let name = path.display().to_string();
        if !source.text.is_empty() {
            return Mapping::of_model(&name, &source.text[source.part(0)]);
        }
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut start));
        match read {
            Ok(_) => Mapping::of_model(&name, &String::from_utf8_lossy(&start)),
            Err(error) => Err(CheckError::file(path, error)),
        }
    }

    /// The mapping in the leading comments of a text: lines such as `// conform: event msg`.
    pub fn of_model(name: &str, text: &str) -> Result<Mapping, CheckError> {
        let mut mapping = Mapping { name: name.into(), lines: lines(text), ..Mapping::default() };
        let mut within = false;
        for (number, line) in mapping.lines.clone().iter().enumerate() {
            let plain = line.trim();
            let opens = ["//", "/*", "<!--"].into_iter().find(|open| plain.starts_with(open));
            within |= opens.is_some_and(|open| open != "//");
            if !(within || opens.is_some() || plain.is_empty() || plain.starts_with("<?xml")) {
                break;
            }
            let closes = ["*/", "-->"].into_iter().find(|close| plain.ends_with(close));
            within &= closes.is_none();
            let end = line.trim_end().len() - closes.map_or(0, str::len);
            let content = line[..end].trim_start_matches(['/', '*', '<', '!', '-', ' ', '\t']);
            if let Some(said) = content.strip_prefix("conform:") {
                mapping.read(number + 1, line, end - said.len()..end)?;
            }
        }
        Ok(mapping)
    }

    /// Does it say nothing?
    pub fn is_empty(&self) -> bool {
        let Mapping { process, event, order, unseen, processes, events, skipped, values, words, ignored, .. } = self;
        let rules = [processes, events, skipped, values, words, ignored];
        process.is_none()
            && event.is_empty()
            && *order == Order::File
            && unseen.is_none()
            && rules.iter().all(|r| r.is_empty())
    }

    /// What is wrong with what a rule says.
    pub(crate) fn wrong(&self, rule: &Rule, message: String, help: Option<String>) -> CheckError {
        self.at(rule.line, rule.at_right.clone(), message, help)
    }

    /// What is wrong with some bytes of what a rule says.
    pub(crate) fn wrong_within(&self, rule: &Rule, from: usize, message: String, help: Option<String>) -> CheckError {
        let start = (rule.at_right.start + from).min(rule.at_right.end);
        self.at(rule.line, start..rule.at_right.end.max(start), message, help)
    }

    fn at(&self, line: usize, at: Range<usize>, message: String, help: Option<String>) -> CheckError {
        wrong(&self.name, line as u64, &self.lines[line - 1], at, message, help).into()
    }

    fn read(&mut self, line: usize, text: &str, within: Range<usize>) -> Result<(), CheckError> {
        let mut words = Words { text: &text[..without_comment(text, &within)], at: within.start };
        let Some(key) = words.word().map_err(|(at, message)| self.at(line, at, message, None))? else { return Ok(()) };
        let fail = |mapping: &Mapping, at: &Range<usize>, message: String, help: Option<&str>| {
            Err(mapping.at(line, at.clone(), message, help.map(str::to_string)))
        };
        if !KEYS.contains(&key.text.as_str()) || key.quoted {
            let near = nearest(&key.text, KEYS).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| SHAPES.to_string());
            return fail(self, &key.at, format!("`{}` says nothing of a log", key.text), Some(&help));
        }
        let mut left = Vec::new();
        loop {
            match words.word().map_err(|(at, message)| self.at(line, at, message, None))? {
                Some(word) if word.text == "=" && !word.quoted => break,
                Some(word) => left.push(word),
                None => {
                    return match self.plain(&key.text, &left, line) {
                        None => Ok(()),
                        Some((at, message)) => {
                            let end = text.trim_end().len();
                            fail(self, &at.unwrap_or(end..end), message, Some(SHAPES))
                        }
                    };
                }
            }
        }
        let at_right = words.rest();
        let [name] = &left[..] else {
            let end = at_right.start;
            return fail(self, &(key.at.end..end), "one name is expected before `=`".into(), Some(SHAPES));
        };
        if at_right.is_empty() {
            return fail(self, &at_right, "nothing is behind `=`".into(), Some(SHAPES));
        }
        let mut right = text[at_right.clone()].to_string();
        let before = key.text == "value" && right.ends_with(" before");
        if before {
            right = right[..right.len() - " before".len()].trim_end().to_string();
        }
        let at_right = at_right.start..at_right.start + right.len();
        if matches!(key.text.as_str(), "process" | "word") {
            right = right.trim_matches('"').to_string();
        }
        let rule = Rule { left: name.text.clone(), right, before, line, at_left: name.at.clone(), at_right };
        let before = match key.text.as_str() {
            "process" => &self.processes[..],
            "event" => &self.events,
            "value" => &self.values,
            _ => &self.words,
        };
        if let Some(before) = before.iter().find(|before| before.left == rule.left) {
            let message = format!("`{}` is said in line {} already, and only one can hold", rule.left, before.line);
            return fail(self, &rule.at_left, message, Some("of events, ` | ` stands between alternatives"));
        }
        match key.text.as_str() {
            "process" => self.processes.push(rule),
            "event" => self.events.push(rule),
            "value" => self.values.push(rule),
            "word" => self.words.push(rule),
            other => return fail(self, &key.at, format!("`{other}` has no `=`"), Some(SHAPES)),
        }
        Ok(())
    }

    /// A line without `=`. Answers what is wrong with it, and where.
    fn plain(&mut self, key: &str, words: &[Word], line: usize) -> Option<(Option<Range<usize>>, String)> {
        let rule = |word: &Word| Rule {
            left: word.text.clone(),
            right: String::new(),
            before: false,
            line,
            at_left: word.at.clone(),
            at_right: word.at.clone(),
        };
        let first = words.first();
        let missing = |what: &str| Some((None, format!("{what} is missing behind `{key}`")));
        let too_many =
            |from: usize| words.get(from).map(|word| (Some(word.at.clone()), "one word too many".to_string()));
        if let Some(once) = ["process", "event", "order", "unseen"].into_iter().find(|once| *once == key) {
            if let Some((_, before)) = self.once.iter().find(|(said, _)| *said == once) {
                let at = first.map(|word| word.at.clone());
                return Some((at, format!("`{key}` is said in line {before} already, and only one can hold")));
            }
            self.once.push((once, line));
        }
        match (key, first) {
            ("process", Some(field)) => {
                self.process = Some(rule(field));
                too_many(1)
            }
            ("process" | "event", None) => missing("the name of a field"),
            ("event", Some(_)) => {
                self.event = words.iter().map(rule).collect();
                None
            }
            ("order", Some(word)) => match (word.text.as_str(), words.get(1)) {
                ("file", more) => {
                    self.order = Order::File;
                    more.and_then(|_| too_many(1))
                }
                ("process", more) => {
                    self.order = Order::Process;
                    more.and_then(|_| too_many(1))
                }
                ("clock", Some(field)) => {
                    self.order = Order::Clock(field.text.clone());
                    too_many(2)
                }
                ("clock", None) => missing("the field of the vector clocks"),
                (other, _) => {
                    let known = "it is `file`, `process` or `clock FIELD`";
                    Some((Some(word.at.clone()), format!("there is no order `{other}`: {known}")))
                }
            },
            ("order", None) => missing("`file`, `process` or `clock FIELD`"),
            ("unseen", Some(word)) => match Unseen::read(&word.text) {
                Ok(unseen) => {
                    self.unseen = Some(unseen);
                    too_many(1)
                }
                Err(message) => Some((Some(word.at.clone()), message.lines().next().unwrap_or_default().to_string())),
            },
            ("unseen", None) => missing("a number of steps or `any`"),
            ("skip", Some(_)) => {
                self.skipped.extend(words.iter().map(rule));
                None
            }
            ("ignore", Some(_)) => {
                self.ignored.extend(words.iter().map(rule));
                None
            }
            (_, None) => missing("a name"),
            (_, Some(_)) => missing("`=`"),
        }
    }

    /// What is said of a process of the log: the rule, and what `*` stands for in it.
    pub(crate) fn process_of<'t>(&self, text: &'t str) -> Option<(&'t str, &Rule)> {
        self.processes.iter().find_map(|rule| Some((glob(&rule.left, text)?, rule)))
    }

    /// What is said of the events of the log with this name.
    pub(crate) fn event_of<'t>(&self, text: &'t str) -> Option<(&'t str, &Rule)> {
        let exact = self.events.iter().find(|rule| rule.left == text);
        let rule = exact.or_else(|| self.events.iter().find(|rule| glob(&rule.left, text).is_some()))?;
        Some((glob(&rule.left, text).unwrap_or_default(), rule))
    }

    /// Is a record with this event no part of the run?
    pub(crate) fn skips(&self, event: &str) -> bool {
        self.skipped.iter().any(|rule| glob(&rule.left, event).is_some())
    }

    /// Does this field say nothing?
    pub(crate) fn ignores(&self, field: &str) -> bool {
        self.ignored.iter().any(|rule| glob(&rule.left, field).is_some())
    }

    /// Is this field put into names?
    pub(crate) fn uses(&self, field: &str) -> bool {
        let name = format!("{{{field}}}");
        self.events.iter().chain(&self.processes).any(|rule| rule.right.contains(&name))
    }

    /// A word of the log as the model has it.
    pub(crate) fn word(&self, text: &str) -> String {
        self.words.iter().find_map(|rule| rule.meaning(text)).unwrap_or_else(|| text.to_string())
    }

    /// The same rule, told by what it is about.
    pub(crate) fn wrong_left(&self, rule: &Rule, message: String, help: Option<String>) -> CheckError {
        self.at(rule.line, rule.at_left.clone(), message, help)
    }
}

fn lines(text: &str) -> Vec<String> {
    text.trim_start_matches('\u{feff}').lines().map(str::to_string).collect()
}

/// Where a comment begins: `#` at the beginning or behind a space, and not within quotes.
fn without_comment(text: &str, within: &Range<usize>) -> usize {
    let (mut quoted, mut space) = (false, true);
    for (at, c) in text[within.clone()].char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if space && !quoted => return within.start + at,
            _ => {}
        }
        space = c.is_whitespace();
    }
    within.end
}

struct Word {
    text: String,
    quoted: bool,
    at: Range<usize>,
}

/// The words of a line; what stands in quotes is one.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl Words<'_> {
    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn word(&mut self) -> Result<Option<Word>, (Range<usize>, String)> {
        self.skip_spaces();
        let (start, rest) = (self.at, &self.text[self.at..]);
        if rest.is_empty() {
            return Ok(None);
        }
        if let Some(inner) = rest.strip_prefix('"') {
            let Some(end) = inner.find('"') else {
                return Err((start..self.text.len(), "this text has no end: `\"` is missing".into()));
            };
            self.at += end + 2;
            return Ok(Some(Word { text: inner[..end].to_string(), quoted: true, at: start..self.at }));
        }
        let end = match rest.starts_with('=') {
            true => 1,
            false => rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '"')).unwrap_or(rest.len()),
        };
        self.at += end;
        Ok(Some(Word { text: rest[..end].to_string(), quoted: false, at: start..self.at }))
    }

    /// What is left of the line.
    fn rest(&mut self) -> Range<usize> {
        self.skip_spaces();
        let end = self.text.trim_end().len().max(self.at);
        self.at..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lefts(rules: &[Rule]) -> Vec<&str> {
        rules.iter().map(|rule| &rule.left[..]).collect()
    }

    #[test]
    fn lines_are_rules() {
        let text = "# a log\nprocess node\nevent  kind \"what now\"  # two\norder clock vc\nunseen 3\n\
                    process \"rm*\" = Part_*\nevent \"vote = yes\" = vote!1 | line 4\nvalue n = x + 1 before\nword COMMIT = commit\n\
                    skip beat \"tick *\"\nignore t\n";
        let mapping = Mapping::parse("m", text).unwrap();
        assert_eq!(
            (mapping.process.as_ref().map(|rule| &rule.left[..]), lefts(&mapping.event)),
            (Some("node"), vec!["kind", "what now"])
        );
        assert_eq!((&mapping.order, mapping.unseen), (&Order::Clock("vc".into()), Some(Unseen::Most(3))));
        assert_eq!(mapping.process_of("rm12").map(|(stands, rule)| (stands, &rule.right[..])), Some(("12", "Part_*")));
        assert!(mapping.process_of("tm").is_none());
        assert_eq!(mapping.event_of("vote = yes").unwrap().1.right, "vote!1 | line 4");
        assert!(mapping.event_of("vote").is_none());
        assert_eq!((mapping.values[0].right.as_str(), mapping.values[0].before), ("x + 1", true));
        assert_eq!((mapping.word("COMMIT"), mapping.word("x")), ("commit".into(), "x".into()));
        assert!(mapping.skips("tick 4") && mapping.skips("beat") && !mapping.skips("t") && mapping.ignores("t"));
        assert!(!mapping.is_empty() && Mapping::parse("m", "\n# nothing\n").unwrap().is_empty());
    }

    #[test]
    fn comments_of_a_model_are_read() {
        let text = "// m: a model\n// conform: process node\n/* conform: event kind */\n\nbyte x;\n// conform: order process\n";
        let mapping = Mapping::of_model("m.pml", text).unwrap();
        assert_eq!((mapping.process.is_some(), lefts(&mapping.event)), (true, vec!["kind"]));
        assert_eq!(mapping.order, Order::File);
        let xml = "<?xml version=\"1.0\"?>\n<!-- conform: unseen any -->\n<!--\n conform: skip x\n-->\n<pnml>";
        let mapping = Mapping::of_model("m.pnml", xml).unwrap();
        assert!(mapping.unseen == Some(Unseen::Any) && mapping.skips("x"));
        let shown = Mapping::of_model("m.pml", "// conform: evnt x\n").unwrap_err().to_string();
        assert!(shown.starts_with("m.pml:1:13: error: `evnt` says nothing of a log"), "{shown}");
    }

    #[test]
    fn slips_are_shown() {
        for (text, told) in [
            (
                "\nproces node\n",
                "m:2:1: error: `proces` says nothing of a log\n  proces node\n  ^~~~~~\nhelp: did you mean `process`?",
            ),
            ("event\n", "m:1:6: error: the name of a field is missing behind `event`"),
            ("process a b\n", "m:1:11: error: one word too many"),
            ("order time\n", "m:1:7: error: there is no order `time`"),
            ("order clock\n", "m:1:12: error: the field of the vector clocks is missing"),
            ("unseen -1\n", "m:1:8: error: expected a number of steps or `any`, found `-1`"),
            ("event \"a = b\n", "m:1:7: error: this text has no end"),
            ("event a =\n", "m:1:10: error: nothing is behind `=`"),
            ("value a b = c\n", "m:1:6: error: one name is expected before `=`"),
            ("value a\n", "m:1:8: error: `=` is missing"),
            ("process a\nprocess b\n", "m:2:9: error: `process` is said in line 1 already, and only one can hold"),
            ("order process\n\norder clock c\n", "m:3:7: error: `order` is said in line 1 already"),
            ("unseen 1\nunseen 1\n", "m:2:8: error: `unseen` is said in line 1 already"),
            ("event a\nevent b c\n", "m:2:7: error: `event` is said in line 1 already"),
            ("event a = b\nevent a = c\n", "m:2:7: error: `a` is said in line 1 already"),
            ("value x = y\nvalue x = z\n", "m:2:7: error: `x` is said in line 1 already"),
            ("skip a = b\n", "m:1:1: error: `skip` has no `=`"),
        ] {
            let shown = Mapping::parse("m", text).expect_err(text).to_string();
            assert!(shown.starts_with(told), "{shown}");
        }
    }
}
