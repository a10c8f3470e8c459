//! `--graph` and `--dot`: the reachability graph as a file.

use super::args::SearchArgs;
use super::failure::Failure;
use super::output::remark;
use scrimp::lts::{Form, Lts};
use scrimp::{NativeModel, Trace};
use scrimp_search::replace;
use std::path::PathBuf;
use std::sync::Arc;

/// The files that the graph is to go to.
#[derive(Debug, Clone, Default)]
pub struct GraphFiles(Vec<(PathBuf, Form)>);

impl GraphFiles {
    pub fn new(args: &SearchArgs) -> Result<GraphFiles, Failure> {
        let mut files = Vec::new();
        if let Some(path) = &args.graph {
            let Some(form) = Form::of(path) else {
                let message = "unknown form of a graph\nhelp: the name ends in .aut (Aldebaran), .dot (Graphviz) or .scg (Scrimp)";
                return Err(Failure::at(path.display(), message));
            };
            files.push((path.clone(), form));
        }
        files.extend(args.dot.iter().map(|path| (path.clone(), Form::Dot)));
        Ok(GraphFiles(files))
    }

    /// Of how many states the values are shown.
    pub fn vectors(&self) -> usize {
        self.0.iter().map(|(_, form)| form.vectors()).max().unwrap_or(0)
    }
}

/// A graph, and the model that it is of. It is written when all is known, since the run in its picture may come from a later
/// search.
pub struct WrittenGraph {
    pub graph: Lts,
    pub model: Arc<NativeModel>,
}

impl WrittenGraph {
    /// Writes the graph; a picture shows the run.
    pub fn write(self, files: GraphFiles, run: Option<&Trace>, quiet: bool) -> Result<(), Failure> {
        let WrittenGraph { graph, model } = self;
        let open = (0..graph.states()).filter(|&state| !graph.is_expanded(state)).count();
        for (path, form) in files.0 {
            let path_text = path.display();
            replace(&path, |out| graph.export(form, &*model, run, out))
                .map_err(|e| Failure::at(&path_text, format!("the graph cannot be written: {e}")))?;
            if open > 0 && !quiet {
                remark(&format!("{path_text}: warning: the graph is not complete: {open} states were not expanded"));
            }
        }
        Ok(())
    }
}
