//! Petri nets: from a net to a system that is searched, with as few bits a marking as its structure allows.
//!
//! Where structure gives no bound for a place, a guess does. A search that finds a marking with more tokens says so, and is
//! begun again with more room.

mod explicit;
mod goal;
mod inquiry;

pub use goal::{Goal, Known};
pub use inquiry::{Answer, Answered, Inquiry, Run};

use scrimp_lang::LoadError;
use scrimp_native::NativeModel;
use scrimp_net::{Encoding, Lowered, MOST_TOKENS, Net};
use scrimp_search::condensed::Wanted;
use scrimp_search::{Plan, Property, Report};
use scrimp_system::Source;
use std::sync::Arc;

/// Tokens for which a place has room that nothing is known of.
const FIRST_GUESS: u64 = 15;

/// Searches a model for what decides properties by a plan, and makes the graph that is wanted if the plan says so.
pub type Search<'a, E> = dyn FnMut(&NativeModel, &[Property], &mut Plan, &Wanted) -> Result<Report, E> + 'a;

/// A net, and what is known about the tokens of its places.
#[derive(Debug, Clone)]
pub struct PetriNet {
    pub net: Arc<Net>,
    /// What structure says of each place.
    pub bounds: Vec<Option<u64>>,
    /// Room for places without such a bound.
    guesses: Vec<u64>,
    name: String,
}

impl PetriNet {
    pub fn new(net: Net, name: String) -> PetriNet {
        let bounds = vec![None; net.places.len()];
        let guesses = net.places.iter().map(|place| FIRST_GUESS.max(place.initial.saturating_mul(2))).collect();
        PetriNet { net: Arc::new(net), bounds, guesses, name }
    }

    /// The net as a system, and where its places are in it.
    pub fn lowered(&self) -> Result<Lowered, LoadError> {
        let encoding = Encoding::plain(&self.net, &self.bounds, |place| self.guesses[place as usize]);
        Lowered::new(&self.net, &encoding, Source::new(self.name.clone(), "")).ok_or_else(|| LoadError::File {
            path: self.name.clone().into(),
            problem: format!("a place can have more than {MOST_TOKENS} tokens, the most that are supported"),
        })
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
        widened
    }
}
