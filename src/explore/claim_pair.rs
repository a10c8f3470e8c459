//! The model as one looks at it, without its claim; and with it, for runs that a claim has a part in.
//!
//! Both stay as they are, with numbers of their own for their states: whoever looks at the one is not disturbed by who looks
//! at the other.

use super::carry::carry;
use super::session::Session;
use super::text::Problem;
use super::{Opening, export, source, view};
use crate::walk::{Node, Replayed, Run, Walk, exact_json};
use crate::{Loaded, Opened, Plain, PropertyResult, Stop, Trace};
use scrimp_explorer::Refusal;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Numbers from here on are those of the model with its claim.
const WITH_CLAIM: Node = 1 << 31;

pub struct ClaimPair {
    /// What it was read from; a model in Rust was not.
    origin: Option<Origin>,
    plain: Session,
    /// Made when a run asks for it.
    claimed: Option<Session>,
    /// The number of the first state with the claim.
    first_claimed: Node,
    /// Where to begin, and the property that the run there breaks.
    begin: Replayed,
    about: Value,
}

/// What a model is read from: the file, or a text that stands for what is in it.
#[derive(Debug, Clone)]
pub struct Origin {
    pub opening: Opening,
    pub text: Option<Arc<str>>,
}

/// A model that was read, before anything in it has a number.
pub struct Made {
    origin: Origin,
    walk: Walk,
    language: &'static str,
    has_claim: bool,
    /// The files that it was read from, the model's own first.
    pub files: Vec<PathBuf>,
}

impl Made {
    pub fn of(origin: Origin) -> Result<Made, Problem> {
        let (mut loaded, language) = origin.load(&Stop::never())?;
        let has_claim = loaded.has_claim();
        // A claim is a property, and in the way of whoever looks at the model.
        loaded.take_claim().map_err(|e| Problem::of(e.to_string()))?;
        let walk = Walk::new(loaded).map_err(|e| Problem::of(e.to_string()))?;
        let files = files(&origin.opening, &walk);
        Ok(Made { origin, walk, language, has_claim, files })
    }

    /// With states that have no number of an earlier model's states, so that neither is taken for the other.
    pub fn behind(self, before: Option<&ClaimPair>) -> Result<ClaimPair, Problem> {
        let next = |session: &Session| session.walk().next();
        let first = before.map_or(0, |before| next(&before.plain));
        let first_claimed =
            before.map_or(WITH_CLAIM, |before| before.claimed.as_ref().map_or(before.first_claimed, next));
        let walk = self.walk.numbered_from(first);
        let plain = Session::new(walk, self.language, self.has_claim).map_err(Problem::of)?;
        Ok(ClaimPair { first_claimed, ..ClaimPair::of_session(plain, Some(self.origin)) })
    }
}

impl Origin {
    /// Reads it; a text that somebody is writing is read as long as nobody waits too long for it.
    pub fn load(&self, stop: &Stop) -> Result<(Loaded, &'static str), Problem> {
        let Opening { model, define, .. } = &self.opening;
        let mut opened = match &self.text {
            Some(text) => crate::open_text(model, text, define, stop)?,
            None => crate::open_within(model, define, stop)?,
        };
        let language = view::language(&opened);
        if let Opened::Net(net) = &mut opened {
            net.name = model.display().to_string();
        }
        Ok((Loaded::at_once(opened)?, language))
    }

    fn with_claim(&self, first: Node) -> Result<Option<Session>, String> {
        let (mut loaded, language) = self.load(&Stop::never()).map_err(|problem| problem.shown)?;
        if loaded.system.claim.is_none() && !loaded.add_claim().map_err(|e| e.to_string())? {
            return Ok(None);
        }
        let walk = Walk::new(loaded).map_err(|e| e.to_string())?.numbered_from(first);
        Session::new(walk, language, true).map(Some)
    }
}

/// The files of a model: its own, those that it includes, and for a network those that it names.
fn files(opening: &Opening, walk: &Walk) -> Vec<PathBuf> {
    let mut files = vec![opening.model.clone()];
    let Some(model) = walk.model().file() else { return files };
    let source = &model.system().source;
    files.extend(source.included.iter().map(|included| PathBuf::from(&included.name)));
    let is_network = |name: &str| name.trim_end_matches(".gz").ends_with(".network");
    for part in (0..=source.included.len() as u32).filter(|part| is_network(source.file_name(*part))) {
        let folder = PathBuf::from(source.file_name(part)).parent().map(PathBuf::from).unwrap_or_default();
        let text = source.text.get(source.part(part)).unwrap_or("");
        let words = text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | ')' | ',' | ';' | '='));
        for word in words.filter(|word| word.contains('.')) {
            let path = folder.join(word);
            if path.is_file() && !files.contains(&path) {
                files.push(path);
            }
        }
    }
    files
}

impl ClaimPair {
    /// A model in Rust, at the end of a run if there is one to begin with.
    pub fn given(model: Plain, run: Option<Trace>) -> Result<ClaimPair, String> {
        let mut result = PropertyResult::undecided("given");
        result.trace = run;
        let trace = exact_json(&model, &result);
        let mut both = ClaimPair::of_session(Session::new(Walk::through(Box::new(model)), "Rust", false)?, None);
        if let Some(trace) = trace {
            both.begin_with(&trace, Value::Null).map_err(|refusal| refusal.message)?;
        }
        Ok(both)
    }

    fn of_session(plain: Session, origin: Option<Origin>) -> ClaimPair {
        let begin = Replayed { node: plain.start(), again: None };
        ClaimPair { origin, plain, claimed: None, first_claimed: WITH_CLAIM, begin, about: Value::Null }
    }

    /// What there is to look at.
    pub fn model(&mut self) -> Value {
        let mut model = self.plain.model();
        if let Some(text) = self.own_text() {
            model["files"] = json!([{ "name": model["name"], "lines": text.lines().count() }]);
        }
        model["start"] = told(self.begin);
        model["start"]["property"] = self.about.clone();
        model["asked"] = self.origin.as_ref().map_or(Vec::new(), |origin| origin.opening.properties.clone()).into();
        model
    }

    /// The model that a state belongs to.
    pub fn of(&mut self, node: Node) -> &mut Session {
        match &mut self.claimed {
            Some(claimed) if node >= WITH_CLAIM => claimed,
            _ => &mut self.plain,
        }
    }

    /// Goes the way of a trace, in the model that it is of.
    pub fn replay(&mut self, trace: &Value) -> Result<Value, Refusal> {
        self.go(trace).map(told)
    }

    /// Goes the way of a trace, and begins at its end.
    pub fn begin_with(&mut self, trace: &Value, about: Value) -> Result<(), Refusal> {
        (self.begin, self.about) = (self.go(trace)?, about);
        Ok(())
    }

    /// Reads the model with its claim too, where it has one.
    fn take_claim(&mut self) -> Result<(), Refusal> {
        if let (None, Some(origin)) = (&self.claimed, &self.origin) {
            self.claimed = origin.with_claim(self.first_claimed).map_err(Refusal::wrong)?;
        }
        Ok(())
    }

    /// Where one begins.
    pub fn begin(&self) -> (Node, Option<Node>, &Value) {
        (self.begin.node, self.begin.again, &self.about)
    }

    /// The text that a model was read from which does not keep it, as nets do not.
    fn own_text(&self) -> Option<&str> {
        let text = self.origin.as_ref()?.text.as_deref()?;
        self.plain.walk().model().file().filter(|model| model.system().source.text.is_empty()).map(|_| text)
    }

    /// The text of a file of the model.
    pub fn text(&self, file: usize) -> Result<&str, Refusal> {
        match (self.own_text(), self.plain.walk().model().file()) {
            (Some(text), _) if file == 0 => Ok(text),
            (_, Some(model)) => source::text(model, file),
            (_, None) => Err(Refusal::unknown("this model has no text")),
        }
    }

    /// The run to a state as a page by itself.
    pub fn export(&mut self, node: Node, again: Option<Node>, property: Option<&Value>) -> Result<Value, Refusal> {
        let model = self.model();
        let files = model["files"].as_array().map_or(0, Vec::len);
        let texts: Vec<String> = (0..files).map_while(|file| self.text(file).ok().map(String::from)).collect();
        export::page(self.of(node), &model, &texts, node, again, property)
    }

    /// Has it such a state?
    pub fn has(&self, node: Node) -> bool {
        self.plain.walk().has(node) || self.claimed.as_ref().is_some_and(|claimed| claimed.walk().has(node))
    }

    /// Goes the way to a state of the model that this one was before, as far as it leads here. `at` is a state on that way, and
    /// `again` the one where its loop begins.
    pub fn carry(
        &mut self,
        before: &mut ClaimPair,
        node: Node,
        at: Node,
        again: Option<Node>,
    ) -> Result<Value, Refusal> {
        let old = before.of(node).walk();
        if !old.has(node) {
            return Err(Refusal::unknown(format!("there is no state {node}")));
        }
        if node >= WITH_CLAIM {
            self.take_claim()?;
        }
        let new = match &mut self.claimed {
            Some(claimed) if node >= WITH_CLAIM => claimed,
            _ => &mut self.plain,
        };
        let path = old.path(node);
        let carried = carry(old, node, new.walk_mut()).map_err(super::session::failed)?;
        let end = carried.path[carried.path.len() - 1];
        // Where the old state is beyond the end, the end is as near as one can be.
        let place = |wanted: Node| path.iter().position(|node| *node == wanted);
        let at = place(at).and_then(|place| carried.path.get(place)).copied().unwrap_or(end);
        let again = again.filter(|_| carried.lost.is_none()).and_then(|again| carried.path.get(place(again)?).copied());
        let closes = match again {
            Some(again) if again == end => new.walk_mut().choices(end).is_ok_and(|here| here.batch.is_empty()),
            Some(again) => new.walk().state(again) == new.walk().state(end),
            None => false,
        };
        let again = again.filter(|_| closes);
        Ok(json!({
            "node": end, "at": at, "loop": again, "steps": carried.path.len() - 1, "of": path.len() - 1,
            "lost": carried.lost,
        }))
    }

    fn go(&mut self, trace: &Value) -> Result<Replayed, Refusal> {
        let run = Run::of(trace).map_err(Refusal::wrong)?;
        let refusal = match self.plain.replay(&run) {
            Ok(replayed) => return Ok(replayed),
            Err(refusal) => refusal,
        };
        self.take_claim()?;
        match &mut self.claimed {
            // What is wrong with it in the model that one looks at says more.
            Some(claimed) => claimed.replay(&run).map_err(|_| refusal),
            None => Err(refusal),
        }
    }
}

fn told(replayed: Replayed) -> Value {
    json!({ "node": replayed.node, "loop": replayed.again })
}
