//! From a network's file, and the files that it names, to components and what can happen among them.
//!
//! A component is an `.aut` file or another network, whose components then belong to this one. A file that is used several
//! times is read once.

use super::compose::{self, HIDDEN, Joint, Names, moved};
use super::lower::{self, Component, Limits, Network};
use super::lts::Lts;
use super::parser::{self, MOST_COMPONENTS};
use super::syntax::{LabelSet, Program, Tree};
use crate::diagnostic::{Place, Problem};
use crate::opened::opening;
use crate::reading::{self, Language};
use crate::symbols::Map;
use crate::{LoadError, aut, boundary, foreign};
use scrimp_system::{Included, Source, System};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Networks within networks.
const DEEPEST: usize = 20;
/// Bytes of all texts of networks together.
const MOST_TEXT: usize = 16 << 20;
/// Labels of all components together.
const MOST_LABELS: usize = 1 << 20;
/// Labels that are shown when many are in no vector.
const MOST_WARNINGS: usize = 5;

/// The system that a network describes.
pub(crate) fn open(path: &Path, text: &str) -> Result<System, LoadError> {
    open_within(path, text, Limits::default())
}

pub(super) fn open_within(path: &Path, text: &str, limits: Limits) -> Result<System, LoadError> {
    let mut loader = Loader {
        names: Names::new(),
        components: Vec::new(),
        files: Map::default(),
        above: Vec::new(),
        text: String::new(),
        included: Vec::new(),
        warnings: Vec::new(),
        taken: Map::default(),
        labels: 0,
    };
    let joints = loader.network(path, text, "")?;
    let source = Source::with_included(path.display().to_string(), loader.text, loader.included);
    let whole = Place { start: 0, end: 0 };
    let network = Network { components: loader.components, joints, labels: loader.names.texts };
    let mut system = lower::lower(&network, source.clone(), limits)
        .map_err(|(place, message, help)| Problem::new(place.unwrap_or(whole), message).help(help).locate(&source))?;
    system.warnings = loader.warnings;
    Ok(system)
}

struct Loader {
    names: Names,
    components: Vec<Component>,
    files: Map<PathBuf, Rc<Lts>>,
    /// The networks that are being read, the outermost first.
    above: Vec<PathBuf>,
    /// The texts of all networks, one behind the other.
    text: String,
    included: Vec<Included>,
    warnings: Vec<String>,
    /// Names of components.
    taken: Map<String, ()>,
    /// How many the components have together.
    labels: usize,
}

impl Loader {
    /// What can happen in a network; its components are added. `prefix` is the name that it has in the one around it.
    fn network(&mut self, path: &Path, text: &str, prefix: &str) -> Result<Vec<Joint>, LoadError> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let source = Source::new(path.display().to_string(), text);
        if self.text.len() + text.len() > MOST_TEXT {
            return Err(reading::refuse(path, format!("networks of more than {MOST_TEXT} bytes are not supported")));
        }
        let program = parser::parse(text).map_err(|problem| problem.locate(&source))?;
        let base = self.text.len() as u32;
        if !self.above.is_empty() {
            self.included.push(Included { name: source.name.clone(), start: base });
        }
        self.text.push_str(text);
        self.above.push(real);
        let file = File { path, source: &source, program: &program, prefix, base };
        let joints = match &program.behaviour {
            Some(tree) => file.joints(self, tree, &mut vec![false; program.components.len()])?,
            None => Vec::new(),
        };
        self.above.pop();
        Ok(joints)
    }

    fn lts(&mut self, path: &Path) -> Result<Rc<Lts>, LoadError> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if let Some(known) = self.files.get(&real) {
            return Ok(known.clone());
        }
        let lts = Rc::new(aut::read_file(path)?.1);
        self.files.insert(real, lts.clone());
        Ok(lts)
    }
}

/// A network's file while it is read.
struct File<'a> {
    path: &'a Path,
    source: &'a Source,
    program: &'a Program,
    prefix: &'a str,
    base: u32,
}

impl File<'_> {
    fn refuse(&self, problem: Problem) -> LoadError {
        problem.locate(self.source).into()
    }

    /// What can happen in a part of the behaviour. How deep this goes the parser has bounded.
    fn joints(&self, loader: &mut Loader, tree: &Tree, used: &mut Vec<bool>) -> Result<Vec<Joint>, LoadError> {
        let mut joints = self.inner(loader, tree, used)?;
        if self.program.behaviour.as_ref().is_some_and(|whole| std::ptr::eq(whole, tree)) {
            self.finish(loader, &mut joints, used);
        }
        Ok(joints)
    }

    fn inner(&self, loader: &mut Loader, tree: &Tree, used: &mut Vec<bool>) -> Result<Vec<Joint>, LoadError> {
        match tree {
            Tree::Component(number) => {
                if std::mem::replace(&mut used[*number], true) {
                    let component = &self.program.components[*number];
                    let message = format!("component `{}` stands in the behaviour twice", component.name);
                    let help = format!("declare two: `component {0}, {0}2 = \"{1}\"`", component.name, component.file);
                    return Err(self.refuse(Problem::new(component.place, message).help(help)));
                }
                self.component(loader, *number)
            }
            Tree::Changed { change, inner } => {
                let joints = self.inner(loader, inner, used)?;
                Ok(compose::change(change, joints, &mut loader.names))
            }
            Tree::Parallel { rule, operands, place } => {
                let mut parts = Vec::with_capacity(operands.len());
                for operand in operands {
                    parts.push(self.inner(loader, operand, used)?);
                }
                let mut unused = Vec::new();
                let joints = compose::parallel(rule, parts, (*place, self.base), &mut loader.names, &mut unused)
                    .map_err(|problem| self.refuse(problem))?;
                for (operand, label) in unused.iter().take(MOST_WARNINGS) {
                    let message =
                        format!("label \"{label}\" of operand {} is in no vector, so it never happens", operand + 1);
                    let problem = Problem::new(*place, message).help("add a vector, or `alone` with this label");
                    loader.warnings.push(problem.locate(self.source).into_warning());
                }
                if let more @ 1.. = unused.len().saturating_sub(MOST_WARNINGS) {
                    let name = &self.source.name;
                    loader.warnings.push(format!("{name}: warning: {more} more labels are in no vector"));
                }
                Ok(joints)
            }
        }
    }

    fn finish(&self, loader: &mut Loader, joints: &mut [Joint], used: &[bool]) {
        if self.program.forbidden != LabelSet::default() {
            for joint in joints.iter_mut().filter(|joint| joint.label != HIDDEN) {
                joint.forbidden |= self.program.forbidden.contains(&loader.names.texts[joint.label as usize]);
            }
        }
        for (component, _) in self.program.components.iter().zip(used).filter(|(_, used)| !**used) {
            let message = format!("component `{}` is not part of the behaviour", component.name);
            loader.warnings.push(Problem::new(component.place, message).locate(self.source).into_warning());
        }
    }

    fn component(&self, loader: &mut Loader, number: usize) -> Result<Vec<Joint>, LoadError> {
        let component = &self.program.components[number];
        let path = self.path.parent().unwrap_or(Path::new("")).join(&component.file);
        let name = match self.prefix {
            "" => component.name.clone(),
            prefix => format!("{prefix}_{}", component.name),
        };
        let refuse = |message: String| self.refuse(Problem::new(component.place, message));
        match boundary::admitted(&path) {
            Ok(real) if real.is_file() => {}
            Ok(_) => {
                opening(&path);
                let problem = Problem::new(component.place, format!("there is no file {}", path.display()));
                return Err(self.refuse(problem.maybe_help(foreign::near(&path))));
            }
            Err(why) => return Err(refuse(format!("{}: {why}", path.display()))),
        }
        let format = reading::format_of(&path)?;
        match format.language {
            Some(Language::Aut) => {}
            Some(Language::Network) => {
                let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                if loader.above.contains(&real) {
                    return Err(refuse(format!("{} contains itself", path.display())));
                }
                if loader.above.len() >= DEEPEST {
                    return Err(refuse(format!("more than {DEEPEST} networks within each other are not supported")));
                }
                let text = reading::read_text(&path, format.compressed)?;
                return loader.network(&path, &text, &name);
            }
            _ => return Err(refuse("a component is an .aut file or a .network file".to_string())),
        }
        if loader.components.len() >= MOST_COMPONENTS {
            return Err(refuse(format!("more than {MOST_COMPONENTS} components are not supported")));
        }
        if loader.taken.insert(name.clone(), ()).is_some() {
            return Err(refuse(format!("there are two components `{name}`")));
        }
        let lts = loader.lts(&path)?;
        loader.labels += lts.labels.len();
        if loader.labels > MOST_LABELS {
            return Err(refuse(format!("more than {MOST_LABELS} labels of all components are not supported")));
        }
        let process = loader.components.len() as u32;
        let place = moved(component.place, self.base);
        let alone = |(label, text): (u32, &String)| Joint {
            label: loader.names.number(text),
            parts: vec![(process, label)],
            place,
            forbidden: false,
        };
        let joints = (0..).zip(&lts.labels).map(alone).collect();
        loader.components.push(Component { name, lts });
        Ok(joints)
    }
}
