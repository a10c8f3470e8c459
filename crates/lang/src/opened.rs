//! Who wants to know which files are opened for a model: itself, what it includes, its components, properties, formulas, automata.
//!
//! Only the readers know them all: what a text includes may be known to its macros alone.

use std::path::Path;
use std::sync::OnceLock;

static LISTENER: OnceLock<fn(&Path)> = OnceLock::new();

/// From now on, this is called with each file before it is opened, also where there is none. The first listener counts.
pub fn listen_to_opened(listener: fn(&Path)) {
    let _ = LISTENER.set(listener);
}

pub(crate) fn opening(path: &Path) {
    if let Some(listener) = LISTENER.get() {
        listener(path);
    }
}
