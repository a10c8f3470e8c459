//! The model as one looks at it, without its claim; and with it, for runs that a claim has a part in.
//!
//! Both stay as they are, with numbers of their own for their states: whoever looks at the one is not disturbed by who looks
//! at the other.

use super::session::Session;
use super::{Opening, view};
use crate::walk::{Node, Replayed, Run, Walk, exact_json};
use crate::{Loaded, Opened, Plain, PropertyResult, Trace};
use scrimp_explorer::Refusal;
use serde_json::{Value, json};

/// Numbers from here on are those of the model with its claim.
const WITH_CLAIM: Node = 1 << 31;

pub struct ClaimPair {
    /// What the file is read by again for its claim; a model in Rust has neither.
    opening: Option<Opening>,
    plain: Session,
    /// Made when a run asks for it.
    claimed: Option<Session>,
    /// Where to begin.
    begin: Replayed,
}

impl ClaimPair {
    pub fn open(opening: &Opening) -> Result<ClaimPair, String> {
        let (mut loaded, language) = load(opening)?;
        let has_claim = loaded.has_claim();
        // A claim is a property, and in the way of whoever looks at the model.
        loaded.take_claim().map_err(|e| e.to_string())?;
        let plain = Session::new(Walk::new(loaded).map_err(|e| e.to_string())?, language, has_claim)?;
        // The trace is long, and no longer needed when it was gone.
        let (model, define, properties) = (opening.model.clone(), opening.define.clone(), opening.properties.clone());
        Ok(ClaimPair::of_session(plain, Some(Opening { model, define, properties, trace: None })))
    }

    /// A model in Rust, at the end of a run if there is one to begin with.
    pub fn given(model: Plain, run: Option<Trace>) -> Result<ClaimPair, String> {
        let mut result = PropertyResult::undecided("given");
        result.trace = run;
        let trace = exact_json(&model, &result);
        let mut both = ClaimPair::of_session(Session::new(Walk::through(Box::new(model)), "Rust", false)?, None);
        if let Some(trace) = trace {
            both.begin_with(&trace).map_err(|refusal| refusal.message)?;
        }
        Ok(both)
    }

    fn of_session(plain: Session, opening: Option<Opening>) -> ClaimPair {
        let begin = Replayed { node: plain.start(), again: None };
        ClaimPair { opening, plain, claimed: None, begin }
    }

    /// What there is to look at.
    pub fn model(&mut self) -> Value {
        let mut model = self.plain.model();
        model["start"] = told(self.begin);
        model["asked"] = self.opening.as_ref().map_or(Vec::new(), |opening| opening.properties.clone()).into();
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
    pub fn begin_with(&mut self, trace: &Value) -> Result<(), Refusal> {
        self.begin = self.go(trace)?;
        Ok(())
    }

    fn go(&mut self, trace: &Value) -> Result<Replayed, Refusal> {
        let run = Run::of(trace).map_err(Refusal::wrong)?;
        let refusal = match self.plain.replay(&run) {
            Ok(replayed) => return Ok(replayed),
            Err(refusal) => refusal,
        };
        if let (None, Some(opening)) = (&self.claimed, &self.opening) {
            self.claimed = with_claim(opening).map_err(Refusal::wrong)?;
        }
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

fn load(opening: &Opening) -> Result<(Loaded, &'static str), String> {
    let mut opened = crate::open_with(&opening.model, &opening.define).map_err(|e| e.to_string())?;
    let language = view::language(&opened);
    if let Opened::Net(net) = &mut opened {
        net.name = opening.model.display().to_string();
    }
    let loaded = Loaded::at_once(opened).map_err(|e| e.to_string())?;
    Ok((loaded, language))
}

fn with_claim(opening: &Opening) -> Result<Option<Session>, String> {
    let (mut loaded, language) = load(opening)?;
    if loaded.system.claim.is_none() && !loaded.add_claim().map_err(|e| e.to_string())? {
        return Ok(None);
    }
    let walk = Walk::new(loaded).map_err(|e| e.to_string())?.numbered_from(WITH_CLAIM);
    Session::new(walk, language, true).map(Some)
}
