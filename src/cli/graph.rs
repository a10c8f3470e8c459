//! `--graph` and `--dot`: the reachability graph as a file.

use super::{Failure, remark};
use scrimp::condensed::{Condensed, Form, Wanted};
use scrimp::{Condition, NativeModel, Property, PropertyKind, Trace};
use scrimp_search::replace;
use std::path::{Path, PathBuf};

pub struct GraphFiles<'a> {
    files: Vec<(&'a Path, Form)>,
    pub wanted: Wanted<'a>,
}

impl<'a> GraphFiles<'a> {
    /// The conditions of properties become labels of states. `None` where no graph is asked for.
    pub fn new(
        graph: Option<&'a Path>,
        dot: Option<&'a Path>,
        properties: &'a [Property<Condition<'a>>],
    ) -> Result<Option<GraphFiles<'a>>, Failure> {
        let mut files = Vec::new();
        if let Some(path) = graph {
            let Some(form) = Form::of(path) else {
                let message = "the ending says in which form a graph is written; use .aut, .dot or .scg";
                return Err(Failure::at(path.display(), message));
            };
            files.push((path, form));
        }
        files.extend(dot.map(|path| (path, Form::Dot)));
        let Some(vectors) = files.iter().map(|(_, form)| form.vectors()).max() else { return Ok(None) };
        let mut wanted = Wanted { vectors, ..Wanted::default() };
        for property in properties {
            if let PropertyKind::Invariant(condition) | PropertyKind::Reach(condition) = &property.kind {
                wanted.labels.push((property.name.clone(), Box::new(move |state| (condition.holds)(state))));
            }
        }
        Ok(Some(GraphFiles { files, wanted }))
    }

    /// The graph that was made, if it was.
    pub fn made(self) -> Option<Made> {
        let graph = self.wanted.graph.into_inner()?;
        Some(Made { files: self.files.into_iter().map(|(path, form)| (path.to_path_buf(), form)).collect(), graph })
    }
}

/// A graph, and the files it goes to. It is written when all is known, since the run in its picture may come from a later
/// search.
pub struct Made {
    files: Vec<(PathBuf, Form)>,
    graph: Condensed,
}

impl Made {
    /// Writes the graph; a picture shows the run.
    pub fn write(self, model: &NativeModel, run: Option<&Trace>, quiet: bool) -> Result<(), Failure> {
        let Made { files, graph } = self;
        let open = (0..graph.states()).filter(|&state| !graph.is_expanded(state)).count();
        for (path, form) in files {
            let path_text = path.display();
            replace(&path, |out| graph.export(form, model, run, out))
                .map_err(|e| Failure::at(&path_text, format!("the graph cannot be written: {e}")))?;
            if open > 0 && !quiet {
                remark(&format!("{path_text}: warning: the graph is not complete: {open} states were not expanded"));
            }
        }
        Ok(())
    }
}
