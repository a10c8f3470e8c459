//! A model in Rust in the browser.

use super::Explorer;
use crate::{DescribedModel, Property, Trace};
use scrimp_core::Condition;
use scrimp_explorer::Server;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// How a model is served.
#[derive(Debug, Clone)]
pub struct Serve {
    /// The port to listen on; 0 is one that is free.
    pub port: u16,
    /// Opens the page; without it, the address is printed and that is all.
    pub open_browser: bool,
    /// What the page calls the model; without one, the name of its type.
    pub name: Option<String>,
    /// A run that [`scrimp::run`](crate::run) has found: the page begins at its end.
    pub run: Option<Trace>,
}

impl Default for Serve {
    fn default() -> Serve {
        Serve { port: 0, open_browser: true, name: None, run: None }
    }
}

/// Shows a model in the browser, as `scrimp explore` shows a model file: prints the address of the page, opens it, and
/// answers it until the program is ended with Ctrl-C.
///
/// The page offers to check the properties, or that there is no deadlock where none are given. Fails where the port is taken,
/// where the model has no initial state, or where it has no such run as is to be shown.
///
/// ```no_run
/// use scrimp::explore::{Serve, serve};
/// use scrimp::Property;
/// # use scrimp::{Batch, Describe, EventText, Model};
/// # struct Counter;
/// # impl Model for Counter {
/// #     fn state_bytes(&self) -> usize { 1 }
/// #     fn initial(&self, out: &mut Batch) { out.push(&[0], 0); }
/// #     fn expand(&self, state: &[u8], out: &mut Batch) { out.push(&[(state[0] + 1) % 10], 0); }
/// # }
/// # impl Describe for Counter {
/// #     fn event(&self, _: u32) -> EventText { EventText::default() }
/// #     fn values(&self, _: &[u8]) -> Vec<(String, String)> { Vec::new() }
/// # }
///
/// serve(Counter, [Property::invariant("below seven", |s| s[0] < 7)], &Serve::default())?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn serve<M: DescribedModel + Send + 'static>(
    model: M,
    properties: impl Into<Vec<Property<Condition<'static>>>>,
    how: &Serve,
) -> io::Result<()> {
    let page = Page::new(model, properties, how)?;
    writeln!(io::stdout(), "{}", page.address())?;
    let _ = writeln!(io::stderr(), "open this address in a browser; Ctrl-C ends");
    if how.open_browser {
        open_browser(&page.address());
    }
    page.run()
}

/// The page of a model, for programs that tell its address in a way of their own.
pub struct Page {
    server: Server,
    explorer: Arc<Explorer>,
}

impl Page {
    /// How long it is waited whether the model can be looked at.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Makes the page for a model and its properties, at an address where it can be reached. Fails where there is no such address.
    pub fn new<M: DescribedModel + Send + 'static>(
        model: M,
        properties: impl Into<Vec<Property<Condition<'static>>>>,
        how: &Serve,
    ) -> io::Result<Page> {
        let server = Server::bind(how.port)?;
        let mut properties = properties.into();
        if properties.is_empty() {
            properties.push(Property::deadlock());
        }
        let name = how.name.clone().unwrap_or_else(|| short_name(std::any::type_name::<M>()));
        let explorer = Explorer::of_model(Arc::new(model), name, properties, how.run.clone());
        match explorer.failure(Page::PATIENCE) {
            Some(message) => Err(io::Error::new(io::ErrorKind::InvalidInput, message)),
            None => Ok(Page { server, explorer }),
        }
    }

    /// Where the page is: on this machine, behind a secret.
    pub fn address(&self) -> String {
        self.server.address()
    }

    /// Answers until the program ends.
    pub fn run(self) -> io::Result<()> {
        self.server.run(self.explorer)
    }
}

/// A type without its path: `Ring<Node>` of `my::Ring<my::Node>`.
fn short_name(name: &str) -> String {
    let parts = name.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    parts.map(|part| part.rsplit("::").next().unwrap_or(part)).collect()
}

/// Asks the system to open a page; whoever has no browser has the address.
pub fn open_browser(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet =
        Command::new(program).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut child) = quiet {
        std::thread::spawn(move || child.wait());
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn types_are_called_without_their_paths() {
        assert_eq!(super::short_name("example::Buffer"), "Buffer");
        assert_eq!(super::short_name("a::Ring<b::c::Node, u8>"), "Ring<Node, u8>");
    }
}
