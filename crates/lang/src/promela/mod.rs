//! Promela, the language of SPIN: text to [`System`](scrimp_system::System).

mod parser;
mod preprocess;
mod print;
mod stream;
mod syntax;
mod temporal;
mod tokens;

use crate::diagnostic::Diagnostic;
pub(crate) use preprocess::Input;
use scrimp_system::Source;
use syntax::Specification;

/// The syntax tree of a model, and its whole text.
pub(crate) fn parse(input: Input<'_>) -> Result<(Specification, Source), Diagnostic> {
    let (pieces, source) = preprocess::preprocess(input)?;
    let parsed = tokens::tokens(&pieces).and_then(parser::parse);
    match parsed {
        Ok(specification) => Ok((specification, source)),
        Err(problem) => Err(problem.locate(&source)),
    }
}
