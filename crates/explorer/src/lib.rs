//! Looking at a model in the browser: a local server that answers its own page and nobody else.
//!
//! The server knows no model: it turns what the page asks into [`Request`]s, and whoever is [`Explored`] answers them. It
//! listens on this machine only, its address has a secret in it, and it refuses what another site's page
//! could make a browser send.

mod bundle;
mod guard;
mod http;
mod page;
mod request;
mod server;

pub use page::alone;
pub use request::{CheckOptions, Explored, Refusal, Request};
pub use server::Server;
