//! How often each kind of action is taken.
//!
//! Actions are told apart by the variant of their enum, which costs a comparison; only the first of a variant is written out for its
//! name. Threads count for themselves, each in a share of its own as far as there are shares.

use crate::panics::caught;
use crate::per_thread::PerThread;
use std::fmt::Debug;
use std::mem::{Discriminant, discriminant};

/// What kind of action it is, and how often it was taken: 0 where it was offered, but led nowhere each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The name of its variant, or of its type.
    pub action: String,
    /// How often.
    pub times: u64,
}

/// Counts of actions.
pub struct Counts<A> {
    shares: PerThread<Share<A>>,
}

/// The variants that a thread has met.
type Share<A> = Vec<(Discriminant<A>, Taken)>;

impl<A: Debug> Counts<A> {
    pub fn new() -> Counts<A> {
        Counts { shares: PerThread::default() }
    }

    /// Counts the actions that were offered in a state, and those at these places, in order, as taken.
    pub fn add(&self, actions: &[A], taken: impl Iterator<Item = usize>) {
        let mut share = self.shares.own();
        let mut taken = taken.peekable();
        for (place, action) in actions.iter().enumerate() {
            let variant = discriminant(action);
            let known = share.iter().position(|(known, _)| *known == variant);
            let known = known.unwrap_or_else(|| {
                share.push((variant, Taken { action: name(action), times: 0 }));
                share.len() - 1
            });
            share[known].1.times += taken.next_if_eq(&place).is_some() as u64;
        }
    }

    /// All kinds of actions that were met, by name.
    pub fn all(&self) -> Vec<Taken> {
        let mut all: Vec<Taken> = Vec::new();
        for share in self.shares.all() {
            for (_, one) in share.iter() {
                match all.iter_mut().find(|known| known.action == one.action) {
                    Some(known) => known.times += one.times,
                    None => all.push(one.clone()),
                }
            }
        }
        all.sort_by(|one, other| one.action.cmp(&other.action));
        all
    }
}

/// The name of an action's variant; for what has none, such as a number, the name of its type.
fn name<A: Debug>(action: &A) -> String {
    let text = caught(|| format!("{action:?}")).unwrap_or_default();
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        return name;
    }
    let kind = std::any::type_name::<A>();
    kind.rsplit("::").next().unwrap_or(kind).to_string()
}
