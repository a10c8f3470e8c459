//! Petri nets: from a net to a system that is searched, with as few bits a marking as its structure allows.
//!
//! Where structure gives no bound for a place, a guess does. A search that finds a marking with more tokens says so, and is
//! begun again with more room.

mod answers;
mod check;
mod cover;
mod equation;
mod explicit;
mod goal;
mod inquiry;
mod making;
mod reduced;
mod runs;
mod structure;
mod walks;

pub use check::NetCheck;
pub use goal::{Goal, Known};
pub use inquiry::{Answered, Inquiry};
pub use making::Making;
pub use runs::{Runs, Tree};
pub use structure::Structure;

use crate::grow::Grows;
use scrimp_core::{Property, Report};
use scrimp_lang::LoadError;
use scrimp_native::NativeModel;
use scrimp_net::coverability::{Boundedness, Limits, boundedness};
use scrimp_net::linear::{self, Affine, Flow, Inequality};
use scrimp_net::{Encoding, Kept, Lowered, MOST_TOKENS, Net, OneOf};
use scrimp_search::Plan;
use scrimp_search::lts::Wanted;
use scrimp_system::{Later, Source, Stop, System};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Tokens for which a place has room that nothing is known of.
const FIRST_GUESS: u64 = 15;
/// What structure may take before anything is searched.
const PATIENCE: Duration = Duration::from_secs(2);
/// Steps of an elimination, and terms of an equation by which a place is not stored.
const EFFORT: usize = 20_000_000;
const MOST_TERMS: usize = 8;

/// Searches a model for what decides properties by a plan, within the plan's time from now on, and makes the graph that is
/// wanted if the plan says so.
pub type Search<'a, E> =
    dyn FnMut(&NativeModel, &[Property<scrimp_core::Condition>], &mut Plan, &Wanted) -> Result<Report, E> + 'a;

/// A search that was made for some of the questions, which are the properties of its report.
#[derive(Debug, Clone)]
pub struct Made {
    pub plan: Plan,
    pub report: Report,
}

/// A net, and what is known about the tokens of its places.
#[derive(Debug, Clone)]
pub struct PetriNet {
    pub net: Arc<Net>,
    pub structure: Structure,
    /// What structure says of each place.
    pub bounds: Vec<Option<u64>>,
    groups: Vec<OneOf>,
    implied: Vec<Affine>,
    /// What proves the bounds, and more.
    inequalities: Vec<Inequality>,
    /// Whether some place gets ever more tokens, if that is known.
    pub unbounded: Option<bool>,
    /// Room for places without a bound.
    guesses: Vec<u64>,
    /// Places that are alike are kept alike, so that symmetries of the net are symmetries of its states.
    alike: bool,
    name: String,
    /// The net as a system with that room, made when it is first asked for.
    lowered: OnceLock<Arc<Lowered>>,
}

impl Grows for PetriNet {
    fn system(&self) -> Result<Arc<System>, LoadError> {
        Ok(self.lowered()?.system.clone())
    }

    fn grow(&mut self, model: &NativeModel) -> Result<bool, LoadError> {
        Ok(self.widen(model))
    }

    fn missing(&self) -> &'static str {
        "a place gets more tokens"
    }
}

impl PetriNet {
    pub fn new(net: Net, name: String, structure: Structure) -> PetriNet {
        PetriNet::under(net, name, structure, &Stop::never())
    }

    /// Looks at the structure as long as there is time.
    pub fn under(net: Net, name: String, structure: Structure, stop: &Stop) -> PetriNet {
        let deadline = stop.within(PATIENCE).deadline().unwrap_or_else(Instant::now);
        PetriNet::within(net, name, structure, deadline)
    }

    /// Looks at the structure only until then.
    pub fn within(net: Net, name: String, structure: Structure, deadline: Instant) -> PetriNet {
        let flows = match structure.bounds || structure.groups || structure.implied {
            true => linear::place_flows(&net, EFFORT).flows,
            false => Vec::new(),
        };
        let positive: Vec<_> =
            flows.iter().filter(|flow| flow.is_positive()).map(|flow| flow.as_inequality()).collect();
        let bounds = match structure.bounds {
            true => linear::bounds(&net, &positive, deadline),
            false => linear::Bounds { places: vec![None; net.places.len()], proofs: Vec::new() },
        };
        let groups = match structure.groups {
            true => linear::exclusive_groups(&net, &flows, &bounds.proofs, deadline),
            false => Vec::new(),
        };
        // A place that is emptied keeps its tokens to itself: what the others have decides nothing about it.
        let mut emptied = vec![false; net.places.len()];
        net.transitions.iter().flat_map(|t| &t.resets).for_each(|&place| emptied[place as usize] = true);
        let kept = |group: linear::ExclusiveGroup| {
            let (places, emptied): (Vec<_>, Vec<_>) = group.places.into_iter().partition(|&p| !emptied[p as usize]);
            OneOf { places, always: group.always_one && emptied.is_empty() }
        };
        let groups: Vec<OneOf> = groups.into_iter().map(kept).filter(|group| group.places.len() > 1).collect();
        let mut free = vec![true; net.places.len()];
        groups.iter().flat_map(|group| &group.places).for_each(|&place| free[place as usize] = false);
        let mut implied = Vec::new();
        if structure.implied {
            let extract_claim: Vec<Flow> =
                flows.into_iter().filter(|flow| flow.weights.iter().all(|(place, _)| free[*place as usize])).collect();
            implied = linear::affine_places(&net, &extract_claim, &bounds.places, MOST_TERMS, deadline);
            // What transitions must look at has to be quick to look at.
            implied.retain(|a| a.never_restricts || matches!(a.terms[..], [(_, 1 | -1)]));
        }
        let guesses = net.places.iter().map(|place| FIRST_GUESS.max(place.initial.saturating_mul(2))).collect();
        let making = Making { bounds: bounds.places, groups, implied, guesses };
        PetriNet { inequalities: bounds.proofs, ..PetriNet::of(net, name, structure, making) }
    }

    /// With what was found out about it before.
    pub fn of(net: Net, name: String, structure: Structure, making: Making) -> PetriNet {
        let Making { bounds, groups, implied, guesses } = making;
        PetriNet {
            net: Arc::new(net),
            structure,
            bounds,
            groups,
            implied,
            inequalities: Vec::new(),
            unbounded: None,
            guesses,
            alike: false,
            name,
            lowered: OnceLock::new(),
        }
    }

    /// From now on keeps places that are alike alike: each as a number of its own.
    pub fn keep_alike(&mut self) {
        self.groups.clear();
        self.implied.clear();
        self.alike = true;
        self.guess_alike();
        self.lowered = OnceLock::new();
    }

    fn making(&self) -> Making {
        let (bounds, groups) = (self.bounds.clone(), self.groups.clone());
        Making { bounds, groups, implied: self.implied.clone(), guesses: self.guesses.clone() }
    }

    fn encoding(&self) -> Encoding {
        let mut encoding = Encoding::plain(&self.net, &self.bounds, |place| self.guesses[place as usize]);
        let counted = |encoding: &Encoding, place: u32| matches!(encoding.places[place as usize], Kept::Counted { .. });
        for group in &self.groups {
            if group.places.len() > 1 && group.places.iter().all(|&place| counted(&encoding, place)) {
                encoding.group(group.clone());
            }
        }
        for affine in &self.implied {
            if counted(&encoding, affine.place) && affine.terms.iter().all(|&(place, _)| counted(&encoding, place)) {
                let (terms, constant) = (affine.terms.clone(), affine.constant);
                encoding.places[affine.place as usize] = Kept::Sum { terms, constant };
            }
        }
        encoding
    }

    /// The net as a system, and where its places are in it.
    pub fn lowered(&self) -> Result<Arc<Lowered>, LoadError> {
        if let Some(lowered) = self.lowered.get() {
            return Ok(lowered.clone());
        }
        let source = Source::new(self.name.clone(), "");
        let mut lowered = Lowered::new(&self.net, &self.encoding(), source).ok_or_else(|| LoadError::File {
            path: self.name.clone().into(),
            problem: format!("a place can have more than {MOST_TOKENS} tokens, the most that are supported"),
        })?;
        // Nobody else has it yet.
        if let Some(system) = Arc::get_mut(&mut lowered.system) {
            system.making = self.making().numbers();
            let (net, bounds, inequalities) = (self.net.clone(), self.bounds.clone(), self.inequalities.clone());
            system.known = Later::new(move |system| scrimp_net::known(&net, &bounds, &inequalities, system));
            let net = self.net.clone();
            system.growing = Later::new(move |system| scrimp_net::growing(&net, system));
        }
        Ok(self.lowered.get_or_init(|| Arc::new(lowered)).clone())
    }

    /// How the net is kept, in words.
    pub fn told(&self) -> String {
        let encoding = self.encoding();
        let (mut constant, mut counted, mut guessed, mut grouped, mut implied) = (0, 0, 0, 0, 0);
        for kept in &encoding.places {
            match kept {
                Kept::Always(_) => constant += 1,
                Kept::Counted { guessed: true, .. } => guessed += 1,
                Kept::Counted { .. } => counted += 1,
                Kept::OneOf { .. } => grouped += 1,
                Kept::Sum { .. } => implied += 1,
            }
        }
        let groups = encoding.groups.len();
        let parts = [
            (counted, "counted".to_string()),
            (guessed, "counted without a proven bound".to_string()),
            (grouped, format!("in {} with one token at most", many(groups, "group"))),
            (implied, "implied by others".to_string()),
            (constant, "without change".to_string()),
        ];
        let parts: Vec<String> =
            parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let places = many(self.net.places.len(), "place");
        format!("{places} in {}: {}", many(encoding.bits() as usize, "bit"), parts.join(", "))
    }

    /// Why the net has infinitely many markings, if a short look shows that it has.
    pub fn why_unbounded(&mut self, patience: Duration, memory: usize) -> Option<String> {
        if self.bounds.iter().all(Option::is_some) {
            return None;
        }
        let limits = Limits { deadline: Instant::now() + patience.min(PATIENCE), nodes: cover::nodes(self, memory) };
        match boundedness(&self.net, &limits) {
            Boundedness::Unbounded { place, prefix, pump } => {
                self.unbounded = Some(true);
                let name = |t: &u32| self.net.transitions[*t as usize].name.as_str();
                let shown = |all: &[u32]| {
                    let names: Vec<&str> = all.iter().take(10).map(name).collect();
                    format!("{}{}", names.join(" "), if all.len() > 10 { " …" } else { "" })
                };
                let after = if prefix.is_empty() { String::new() } else { format!(" after {}", shown(&prefix)) };
                let place = &self.net.places[place as usize].name;
                Some(format!("{place} gets more tokens whenever {} fires again{after}", shown(&pump)))
            }
            _ => None,
        }
    }

    /// Makes room for the marking that this model of the net had none for; `false` when there was none, or when there is no
    /// more to be had.
    pub fn widen(&mut self, model: &NativeModel) -> bool {
        let Some((state, record)) = model.outgrown() else { return false };
        let Some(transition) = self.net.transitions.get(record.event as usize) else { return false };
        let mut widened = false;
        for (place, change) in transition.effect() {
            let place = place as usize;
            let view = &model.system().views[place].value;
            let tokens = model.layout().eval(view, state).unwrap_or(0) as i128 + change;
            let guess = &mut self.guesses[place];
            if self.bounds[place].is_none() && tokens > *guess as i128 && *guess < MOST_TOKENS {
                // Twice the bits.
                *guess = (*guess + 1).saturating_mul(*guess + 1).saturating_sub(1).clamp(FIRST_GUESS, MOST_TOKENS);
                widened = true;
            }
        }
        if widened {
            self.lowered = OnceLock::new();
            self.guess_alike();
        }
        widened
    }

    /// Makes room for so many tokens in each place, as they were found without a search.
    pub fn make_room_for(&mut self, most: &[u64]) {
        for (place, &tokens) in most.iter().enumerate() {
            if self.bounds[place].is_none() && tokens > self.guesses[place] {
                self.guesses[place] = tokens;
                self.lowered = OnceLock::new();
            }
        }
        self.guess_alike();
    }

    /// Where places are kept alike, there is as much room in all that have no bound.
    fn guess_alike(&mut self) {
        if self.alike {
            let most = self.guesses.iter().copied().max().unwrap_or(0);
            self.guesses.fill(most);
        }
    }
}

/// A number of things.
fn many(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
