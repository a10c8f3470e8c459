//! `--graph`: the reachability graph as a file.

use super::{Failure, remark};
use scrimp::condensed::{Form, Wanted, replace};
use scrimp::{NativeModel, Property, PropertyKind};
use std::path::Path;

pub struct GraphFile<'a> {
    path: &'a Path,
    form: Form,
    pub wanted: Wanted<'a>,
}

impl<'a> GraphFile<'a> {
    /// The conditions of properties become labels of states.
    pub fn new(path: &'a Path, properties: &'a [Property]) -> Result<GraphFile<'a>, Failure> {
        let Some(form) = Form::of(path) else {
            let message = "error: the ending says in which form a graph is written; use .aut, .dot or .scg";
            return Err(Failure(format!("{}: {message}", path.display())));
        };
        // Better now than after a long search.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            let message = "error: the graph cannot be written: there is no such directory";
            return Err(Failure(format!("{}: {message}", path.display())));
        }
        let mut wanted = Wanted { vectors: form.vectors(), ..Wanted::default() };
        for property in properties {
            if let PropertyKind::Invariant(condition) | PropertyKind::Reach(condition) = &property.kind {
                wanted.labels.push((property.name.clone(), Box::new(move |state| condition(state))));
            }
        }
        Ok(GraphFile { path, form, wanted })
    }

    pub fn write(self, model: &NativeModel, quiet: bool) -> Result<(), Failure> {
        let Some(graph) = self.wanted.graph.into_inner() else {
            return Ok(());
        };
        let path = self.path.display();
        replace(self.path, |out| graph.export(self.form, model, out))
            .map_err(|e| Failure(format!("{path}: error: the graph cannot be written: {e}")))?;
        let open = (0..graph.states()).filter(|&state| !graph.is_expanded(state)).count();
        if open > 0 && !quiet {
            remark(&format!("{path}: warning: the graph is not complete: {open} states were not expanded"));
        }
        Ok(())
    }
}
