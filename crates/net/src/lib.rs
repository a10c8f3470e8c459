//! What a Petri net is, and what its structure tells before any search.
//!
//! A [`Net`] is a place/transition net; coloured nets are unfolded by the front end that reads them. Questions about a net
//! are [`Question`]s over its places and transitions.

mod co_marked;
pub mod coverability;
mod encoding;
mod known;
pub mod linear;
mod lower;
mod net;
mod question;
pub mod reduce;
mod simplify;
#[cfg(test)]
mod testing;
pub mod walk;

pub use co_marked::Together;
pub use encoding::{Encoding, Kept, OneOf};
pub use known::{growing, known};
pub use lower::{Lowered, MOST_TOKENS};
pub use net::{Arc, Group, Marking, Net, Place, PlaceId, Positions, Transition, TransitionId, Unit, Units};
pub use question::{Condition, Formula, NamedQuestion, Question, Sum};
pub use simplify::{all_of, any_of, negation};
