//! The lines that begin with `#`.

use super::macros::Macro;
use super::scan::{Piece, PieceKind, scan};
use super::{OpenFile, Preprocessor, condition};
use crate::diagnostic::{Place, Problem};
use crate::reading::{open_file, read_text};
use scrimp_system::Included;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Files that may be open at once, each included by the one before it.
const MAX_OPEN: usize = 64;

/// An `#if` whose `#endif` has not come yet.
#[derive(Debug)]
pub(super) struct OpenCondition {
    pub place: Place,
    /// How many files were open where it stands.
    pub depth: usize,
    /// The lines between are a part of the model.
    pub taken_now: bool,
    /// One of its branches was taken, or must not be: what contains it is not taken.
    done: bool,
    after_else: bool,
}

impl Preprocessor {
    /// Obeys the directive whose `#` was just read.
    pub(super) fn directive(&mut self, sharp: Place) -> Result<(), Problem> {
        let line = self.rest_of_line()?;
        let Some((name, rest)) = line.split_first() else { return Ok(()) };
        let place = sharp.to(name.place);
        let taken = self.conditions.last().is_none_or(|open| open.taken_now);
        match &*name.text {
            "if" | "ifdef" | "ifndef" => {
                let holds = taken && self.opening_condition(&name.text, rest, place)?;
                let (depth, done) = (self.files.len(), holds || !taken);
                self.conditions.push(OpenCondition { place, depth, taken_now: holds, done, after_else: false });
                Ok(())
            }
            "elif" | "else" => self.other_branch(&name.text, rest, place),
            "endif" if self.innermost().is_none() => Err(Problem::new(place, "`#endif` without `#if`")),
            "endif" => {
                self.conditions.pop();
                Ok(())
            }
            _ if !taken => Ok(()),
            "define" => self.define(rest, place),
            "undef" => {
                let name = macro_name(rest, place)?;
                self.macros.remove(&name);
                Ok(())
            }
            "include" => self.include(rest, place),
            "error" => {
                let message = self.written(rest).to_string();
                Err(Problem::new(place, format!("#error: {}", message.trim())))
            }
            "line" | "pragma" | "ident" | "sccs" | "warning" | "assert" | "unassert" => Ok(()),
            // A line number, which another preprocessor left behind.
            _ if name.kind == PieceKind::Number => Ok(()),
            other => Err(Problem::new(place, format!("`#{other}` is not a directive of the preprocessor"))),
        }
    }

    /// The innermost condition of the current file.
    pub(super) fn innermost(&mut self) -> Option<&mut OpenCondition> {
        let depth = self.files.len();
        self.conditions.last_mut().filter(|open| open.depth == depth)
    }

    fn opening_condition(&mut self, kind: &str, rest: &[Piece], place: Place) -> Result<bool, Problem> {
        if kind == "if" {
            return self.condition(rest, place);
        }
        let name = macro_name(rest, place)?;
        Ok(self.macros.contains_key(&name) == (kind == "ifdef"))
    }

    fn other_branch(&mut self, kind: &str, rest: &[Piece], place: Place) -> Result<(), Problem> {
        let without = || Problem::new(place, format!("`#{kind}` without `#if`"));
        let open = self.innermost().ok_or_else(without)?;
        if open.after_else {
            return Err(Problem::new(place, format!("`#{kind}` after `#else`")).on_line_of(open.place));
        }
        open.taken_now = false;
        open.after_else = kind == "else";
        let holds = !open.done && (kind == "else" || self.condition(rest, place)?);
        if let Some(open) = self.innermost() {
            open.taken_now = holds;
            open.done |= holds;
        }
        Ok(())
    }

    fn condition(&mut self, rest: &[Piece], place: Place) -> Result<bool, Problem> {
        let mut pieces = Vec::new();
        let mut rest = rest.iter().peekable();
        while let Some(piece) = rest.next() {
            if piece.kind != PieceKind::Name || &*piece.text != "defined" {
                pieces.push(piece.clone());
                continue;
            }
            let parenthesis = rest.next_if(|piece| piece.is("(")).is_some();
            let name = rest.next().filter(|piece| piece.kind == PieceKind::Name);
            let name = name.ok_or_else(|| Problem::new(piece.place, "`defined` needs the name of a macro"))?;
            if parenthesis && rest.next_if(|piece| piece.is(")")).is_none() {
                return Err(Problem::new(piece.place, "a `)` is missing after `defined(`"));
            }
            let text: Arc<str> = if self.macros.contains_key(&name.text) { "1".into() } else { "0".into() };
            pieces.push(Piece { kind: PieceKind::Number, text, ..piece.clone() });
        }
        let pieces = self.expand_apart(pieces)?;
        condition::evaluate(&pieces, place).map(|value| value != 0)
    }

    fn define(&mut self, rest: &[Piece], place: Place) -> Result<(), Problem> {
        let name = macro_name(rest, place)?;
        let made = Macro::new(name.clone(), &rest[1..])?;
        self.macros.insert(name, Rc::new(made));
        Ok(())
    }

    /// `name` may have parameters: `F(x)`.
    pub(super) fn define_from_outside(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        let text = format!("{name} {value}").replace(['\n', '\r'], " ");
        let (mut at, mut pieces) = (0, Vec::new());
        loop {
            let piece = scan(&text, &mut at, text.len(), &mut self.spellings).map_err(|p| p.at(Place::default()))?;
            if matches!(piece.kind, PieceKind::End | PieceKind::LineEnd) {
                break;
            }
            pieces.push(Piece { place: Place::default(), ..piece });
        }
        self.define(&pieces, Place::default())
    }

    fn include(&mut self, rest: &[Piece], place: Place) -> Result<(), Problem> {
        let file = match rest.first() {
            Some(first) if first.kind == PieceKind::Name => {
                let pieces = self.expand_apart(rest.to_vec())?;
                pieces.iter().map(|piece| &*piece.text).collect::<String>()
            }
            _ => self.written(rest).to_string(),
        };
        let file = file.trim();
        let name = match file.strip_prefix('"') {
            Some(inner) => inner.split_once('"'),
            None => file.strip_prefix('<').and_then(|inner| inner.split_once('>')),
        };
        let Some((name, _)) = name.filter(|(name, _)| !name.is_empty()) else {
            return Err(Problem::new(place, "`#include` needs a file").help("for instance `#include \"file.h\"`"));
        };
        if self.files.len() >= MAX_OPEN {
            let message = format!("files are included more than {MAX_OPEN} deep");
            return Err(Problem::new(place, message).help("does this file include itself?"));
        }
        let folder = self.files.last().map(|file| file.folder.clone()).unwrap_or_default();
        let path = folder.join(name);
        let (at, end) = match self.known.get(&path) {
            Some(known) => *known,
            None => self.read(&path).map_err(|problem| {
                let place = rest.first().zip(rest.last()).map_or(place, |(first, last)| first.place.to(last.place));
                Problem::new(place, format!("cannot include `{}`: {problem}", path.display()))
            })?,
        };
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.files.push(OpenFile { at, end, folder, line_start: true });
        Ok(())
    }

    /// Puts the text of a file behind the text there is.
    fn read(&mut self, path: &Path) -> Result<(usize, usize), String> {
        let text = open_file(path).and_then(|(_, length)| match length {
            0 => Ok(String::new()),
            _ => read_text(path, false),
        });
        let text = text.map_err(|error| match error {
            crate::LoadError::File { problem, .. } => problem,
            other => other.to_string(),
        })?;
        if (self.text.len() + text.len()) as u64 > crate::MAX_TEXT {
            return Err(format!("with it, the model has more than {} bytes", crate::MAX_TEXT));
        }
        let start = self.text.len();
        self.text.push_str(&text);
        self.included.push(Included { name: path.display().to_string(), start: start as u32 });
        self.known.insert(path.to_path_buf(), (start, self.text.len()));
        Ok((start, self.text.len()))
    }

    /// The text of these pieces of the model.
    fn written(&self, pieces: &[Piece]) -> &str {
        let ends = pieces.first().zip(pieces.last());
        let range = ends.map(|(first, last)| first.place.start as usize..last.place.end as usize);
        range.and_then(|range| self.text.get(range)).unwrap_or("")
    }
}

fn macro_name(rest: &[Piece], place: Place) -> Result<Arc<str>, Problem> {
    match rest.first() {
        Some(piece) if piece.kind == PieceKind::Name => Ok(piece.text.clone()),
        Some(piece) => Err(Problem::new(piece.place, "this is not a name for a macro")),
        None => Err(Problem::new(place, "the name of a macro is missing")),
    }
}
