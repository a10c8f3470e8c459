//! Breadth-first search by several processes, on this machine or on several: each owns the states that some of their bytes give it.
//!
//! [`run`] is the way in, with a [`Cluster`] that was brought together before: process 0 [leads](Cluster::lead), the others [`follow`].
//!
//! - How they come together: `secret`, `handshake`, `door`, `hosts`, `meeting`; what they say then: `control`, `job`.
//! - How states get to their owners: `words`, `partition` as `locality` chooses it, `coding`, `lately`, `parcel`, and
//!   `exchange` on the dataflow of `timely`.
//! - What a worker does: `search` and `expand`, with `goal`; what those of a process have in common: `shared`, with `kept` and
//!   `level`. `word` is what all say at the end of a level, `way` finds a run,
//!   `save` keeps a search in files. Where states are forgotten, `shares` runs the engine's own search with what is `between` the workers.
//! - Two sides: `cluster` and `run` of process 0, `follow` of the others; `crew` has the threads of either.
//!
//! This engine stands on the explicit one where other engines stand beside it: the states of a worker lie in that one's
//! [stores](scrimp_search::store), and what is saved in its files, because they are the same states.

mod between;
mod cluster;
mod coding;
mod control;
mod crew;
mod door;
mod emptiness;
mod exchange;
mod expand;
mod follow;
mod gathering;
mod goal;
mod handshake;
#[cfg(test)]
mod hostile;
mod hosts;
mod job;
mod kept;
mod lasso;
mod lately;
mod level;
mod link;
mod locality;
mod mail;
mod meeting;
mod never;
mod numbered;
mod parcel;
mod partition;
mod run;
mod run_cycles;
mod run_shares;
mod save;
mod search;
mod secret;
mod shared;
mod shares;
mod signals;
mod way;
mod word;
mod words;

pub use cluster::Cluster;
pub use follow::{At, Followed, Follower, follow};
pub use gathering::Gathering;
pub use hosts::{Host, Hosts};
pub use run::{ClusterReport, Options, run};
pub use run_cycles::{CyclesReport, run_cycles};
pub use run_shares::{Forgot, run_shares};
pub use save::SEARCH;
pub use secret::{Secret, VARIABLE};
pub use shares::Manner;
