//! Breadth-first search on a graphics card: kernels made from the system, a table of quotients, levels.
//!
//! [`run`] is the way in. States become words with a few bits for each variable (`learn`, `packing`), events become functions
//! (`term`, `events`), and with the fixed part of the text, the table and the kernels (`text/`), they become a source that is
//! compiled when the model is known (`source`). A [`Device`] runs it: a card, or the threads of a processor, on which the
//! same text is tested (`host`). The loop over levels (`levels`) knows nothing of either.

pub mod card;
pub mod compiler;
pub mod device;
pub mod events;
pub mod host;
mod kernels;
pub mod key;
mod learn;
mod levels;
pub mod packing;
mod run;
pub mod source;
mod term;
mod way;

pub use card::Card;
pub use compiler::{Compiler, Effort};
pub use device::Device;
pub use host::Host;
pub use run::{Fit, GpuReport, Options, fit, run, text};
pub use source::Target;
