//! Progress measures as text: expressions as in properties, and rankings, separated by commas.

use crate::diagnostic::Diagnostic;
use crate::expression::parser::Parser;
use crate::lexer::Token;
use crate::property::{SystemNames, check_length, value};
use scrimp_system::{Expr, Source, System};

/// One component of a measure.
#[derive(Debug, Clone)]
pub struct MeasurePart {
    pub value: Expr,
    /// As it was written.
    pub text: String,
    /// Where it stands in the text, in bytes.
    pub start: usize,
}

/// Reads a measure such as `done, Sender{send < wait}, -left[0]`: what comes first weighs most.
pub fn parse_measure(system: &System, text: &str) -> Result<Vec<MeasurePart>, Diagnostic> {
    let source = Source::new("measure", text);
    let names = SystemNames::new(system);
    let parts = || {
        check_length(text)?;
        let mut p = Parser::new(text, 0, text.len())?;
        p.rankings = true;
        let mut parts = Vec::new();
        loop {
            let start = p.current.start as usize;
            let id = p.expression()?;
            let written = text[start..p.last_end as usize].to_string();
            parts.push(MeasurePart { value: value(&names, &p, id)?, text: written, start });
            if !p.accept(Token::Comma)? {
                break;
            }
        }
        match p.at(Token::End) {
            true => Ok(parts),
            false => Err(p.unexpected("`,`, an operator or the end of the measure")),
        }
    };
    parts().map_err(|problem| problem.locate(&source))
}

/// A complaint about one part of a measure: what is wrong with it is known only behind its syntax.
pub fn refuse_part(text: &str, part: &MeasurePart, message: &str, help: &str) -> Diagnostic {
    let place = crate::diagnostic::Place { start: part.start as u32, end: (part.start + part.text.len()) as u32 };
    crate::diagnostic::Problem::new(place, message).help(help).locate(&Source::new("measure", text))
}
