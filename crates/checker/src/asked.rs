//! What is asked of a model: properties as they were written, or those that the model has itself.

use crate::error::CheckError;
use crate::load::Loaded;
use crate::properties::Asked;
use crate::temporal::never;
use scrimp_core::Property;
use scrimp_lang::{parse_condition, parse_property, parse_property_file, read_beside};
use scrimp_system::{Expr, Source, System};
use std::path::{Path, PathBuf};

/// What the user asks. Nothing means: everything that the model asks of itself.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Properties as texts.
    pub properties: Vec<String>,
    /// A file with one property on each line.
    pub property_file: Option<PathBuf>,
    /// Files with formulas of the Model Checking Contest, about nets.
    pub formulas: Vec<PathBuf>,
    /// Conditions that hold again and again on the runs that count.
    pub fair: Vec<String>,
}

/// A property as it was asked for.
enum Written {
    Property(Property<Expr>),
    /// What the model's own claim says.
    Claim,
}

impl Request {
    /// Is everything asked that the model asks of itself?
    pub fn is_own(&self) -> bool {
        self.properties.is_empty() && self.property_file.is_none()
    }

    /// Is the model's claim asked for?
    pub fn asks_claim(&self) -> bool {
        self.is_own() || self.names_claim()
    }

    fn names_claim(&self) -> bool {
        self.properties.iter().any(|text| text.trim() == "claim")
    }

    /// Refuses to ask what a model that is no net does not have.
    pub fn admit(&self, loaded: &Loaded) -> Result<(), CheckError> {
        if let Some(formulas) = self.formulas.first() {
            let message = "--formulas is for Petri nets (.pnml)\nhelp: ask with --property 'ltl: …' or 'ctl: …'";
            return Err(CheckError::file(formulas, message));
        }
        if self.names_claim() && !loaded.has_claim() {
            return Err(CheckError::Asked("property `claim`: the model has no never claim or property process".into()));
        }
        Ok(())
    }

    /// The properties asked for, in terms of a system.
    fn written(&self, system: &System) -> Result<Vec<Written>, CheckError> {
        let mut list = Vec::new();
        for text in &self.properties {
            list.push(match (text.trim(), text.trim().strip_prefix("hoa:")) {
                ("claim", _) => Written::Claim,
                (_, Some(path)) => Written::Property(automaton(Path::new(path.trim()), system)?),
                _ => Written::Property(parse_property(system, text)?),
            });
        }
        if let Some(path) = &self.property_file {
            let text = read_beside(path).map_err(|why| CheckError::file(path, why))?;
            let found = parse_property_file(system, Source::new(path.display().to_string(), text))?;
            if found.is_empty() {
                return Err(CheckError::file(path, "the file has no property"));
            }
            list.extend(found.into_iter().map(Written::Property));
        }
        Ok(list)
    }

    /// The properties of states, and those of runs. What a claim says is asked by itself.
    pub fn asked(&self, system: &System) -> Result<Asked, CheckError> {
        let list = self.written(system)?;
        if list.is_empty() {
            return Ok(Asked::by(system));
        }
        let mut asked = Asked::default();
        for written in list {
            if let Written::Property(property) = written {
                asked.add(system, property);
            }
        }
        Ok(asked)
    }

    /// The conditions of fairness.
    pub fn fair(&self, system: &System) -> Result<Vec<Expr>, CheckError> {
        self.fair.iter().map(|text| Ok(parse_condition(system, "fair", text)?)).collect()
    }
}

/// An automaton from a file, as what no run may be like.
pub fn automaton(path: &Path, system: &System) -> Result<Property<Expr>, CheckError> {
    let name = path.display().to_string();
    let text = read_beside(path).map_err(|why| CheckError::file(path, why))?;
    let atom = |text: &str| parse_condition(system, "atom", text).map_err(|problem| format!("{name}: {problem}"));
    never::read(&name, &text, &atom).map_err(CheckError::Asked)
}
