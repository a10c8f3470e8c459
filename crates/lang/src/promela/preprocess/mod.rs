//! The C preprocessor, as far as Promela models use it: macros, conditions and included files.
//!
//! SPIN hands every model to a C preprocessor first. What comes out here are the pieces that it would print, each with its
//! place in the model: for the expansion of a macro, the place where the macro is called.

mod condition;
mod directives;
mod macros;
mod scan;

pub(crate) use macros::parameters_word;
pub(crate) use scan::{Piece, PieceKind};

use crate::diagnostic::{Diagnostic, Place, Problem};
use directives::OpenCondition;
use macros::{Context, Macro};
use scan::{Spellings, scan};
use scrimp_system::{Included, Source};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Pieces that all macros together may expand to.
const MAX_EXPANSION: usize = 1 << 22;
/// Pieces that a model may have.
const MAX_PIECES: usize = 1 << 24;

/// A model as it is found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a> {
    pub name: &'a str,
    pub text: &'a str,
    /// Where the files that it includes are looked for.
    pub folder: &'a Path,
    /// Macros that are defined from outside: their names and what they stand for.
    pub definitions: &'a [(String, String)],
}

/// The pieces, and the text of the model with the included files behind it.
pub(crate) fn preprocess(input: Input<'_>) -> Result<(Vec<Piece>, Source), Diagnostic> {
    let mut p = Preprocessor {
        text: input.text.to_string(),
        files: vec![OpenFile { at: 0, end: input.text.len(), folder: input.folder.to_path_buf(), line_start: true }],
        conditions: Vec::new(),
        included: Vec::new(),
        known: HashMap::new(),
        spellings: Spellings::default(),
        macros: HashMap::new(),
        contexts: Vec::new(),
        active: HashMap::new(),
        expanded: 0,
        nesting: 0,
        breaks: false,
    };
    let mut pieces = Vec::new();
    let result = p.run(input, &mut pieces);
    let source = Source::with_included(input.name, p.text, p.included);
    // What comes after embedded C code may be beyond this preprocessor, but the code is what cannot be used.
    let result = result.map_err(|problem| match pieces.iter().find(|piece| embeds_code(&piece.text)) {
        Some(piece) => embedded_code(piece.place),
        None => problem,
    });
    match result {
        Ok(()) => Ok((pieces, source)),
        Err(problem) => Err(problem.locate(&source)),
    }
}

/// Whether a word begins embedded C code.
pub(crate) fn embeds_code(word: &str) -> bool {
    matches!(word, "c_code" | "c_decl" | "c_expr" | "c_state" | "c_track")
}

pub(crate) fn embedded_code(place: Place) -> Problem {
    Problem::new(place, "models with embedded C code are not supported")
        .help("say it in Promela, for instance with an `inline` or a `d_step`")
}

#[derive(Debug)]
struct Preprocessor {
    /// The main file, and the included files behind it.
    text: String,
    /// The main file, and within it the files being included.
    files: Vec<OpenFile>,
    conditions: Vec<OpenCondition>,
    included: Vec<Included>,
    /// The bytes of each file that was included.
    known: HashMap<PathBuf, (usize, usize)>,
    spellings: Spellings,
    macros: HashMap<Arc<str>, Rc<Macro>>,
    contexts: Vec<Context>,
    /// The macros that are being expanded, with how often.
    active: HashMap<Arc<str>, u32>,
    expanded: usize,
    /// How deep arguments of macros are being expanded within arguments.
    nesting: u32,
    /// The next piece is the first on its line.
    breaks: bool,
}

#[derive(Debug)]
struct OpenFile {
    at: usize,
    end: usize,
    folder: PathBuf,
    line_start: bool,
}

impl Preprocessor {
    fn run(&mut self, input: Input<'_>, out: &mut Vec<Piece>) -> Result<(), Problem> {
        if input.text.len() as u64 > crate::MAX_TEXT {
            let message =
                format!("the model has {} bytes; at most {} are supported", input.text.len(), crate::MAX_TEXT);
            return Err(Problem::new(Place::default(), message));
        }
        for (name, value) in input.definitions {
            self.define_from_outside(name, value)?;
        }
        loop {
            let piece = self.expanded()?;
            if out.len() >= MAX_PIECES {
                return Err(Problem::new(piece.place, format!("the model has more than {MAX_PIECES} words and marks")));
            }
            let end = piece.kind == PieceKind::End;
            out.push(piece);
            if end {
                return Ok(());
            }
        }
    }

    /// The next piece of the files, without macros expanded; directives on the way are obeyed.
    fn next_of_files(&mut self) -> Result<Piece, Problem> {
        loop {
            let outermost = self.files.len() == 1;
            let Some(file) = self.files.last_mut() else { return Ok(end_piece()) };
            let mut piece = scan(&self.text, &mut file.at, file.end, &mut self.spellings)?;
            let line_start = std::mem::replace(&mut file.line_start, piece.kind == PieceKind::LineEnd);
            match piece.kind {
                PieceKind::End => {
                    if let Some(open) = self.innermost() {
                        return Err(Problem::new(open.place, "this condition has no `#endif`"));
                    }
                    if outermost {
                        return Ok(piece);
                    }
                    self.files.pop();
                    self.breaks = true;
                }
                PieceKind::LineEnd => self.breaks = true,
                PieceKind::Mark if line_start && &*piece.text == "#" => {
                    self.directive(piece.place)?;
                    self.breaks = true;
                }
                _ if self.conditions.last().is_some_and(|open| !open.taken_now) => self.skip_line()?,
                _ => {
                    piece.breaks |= std::mem::take(&mut self.breaks);
                    return Ok(piece);
                }
            }
        }
    }

    /// The rest of the current line.
    fn rest_of_line(&mut self) -> Result<Vec<Piece>, Problem> {
        let mut out = Vec::new();
        let Some(file) = self.files.last_mut() else { return Ok(out) };
        file.line_start = true;
        loop {
            let piece = scan(&self.text, &mut file.at, file.end, &mut self.spellings)?;
            match piece.kind {
                PieceKind::LineEnd | PieceKind::End => return Ok(out),
                _ => out.push(Piece { breaks: false, ..piece }),
            }
        }
    }

    fn skip_line(&mut self) -> Result<(), Problem> {
        self.rest_of_line().map(drop)
    }
}

fn end_piece() -> Piece {
    let place = Place::default();
    Piece { kind: PieceKind::End, text: "".into(), place, space: false, breaks: false, painted: false }
}

#[cfg(test)]
mod tests;
