//! Macros, and how a call becomes what the macro stands for.
//!
//! What a call becomes is read again, so that the macros in it are expanded too, except those that are being expanded: these
//! names are painted, and never expanded again. That is what a C preprocessor does, and it always comes to an end; only the
//! length of the result has to be bounded.

use super::scan::{Piece, PieceKind, scan};
use super::{MAX_EXPANSION, Preprocessor, end_piece};
use crate::diagnostic::{Place, Problem};
use std::rc::Rc;
use std::sync::Arc;

/// How deep calls may stand in arguments of calls.
const MAX_NESTING: u32 = 200;

#[derive(Debug)]
pub(super) struct Macro {
    name: Arc<str>,
    parameters: Option<Vec<Arc<str>>>,
    /// The last parameter takes all the arguments that are left.
    variadic: bool,
    body: Vec<Piece>,
}

/// Pieces that are read before the files are read on.
#[derive(Debug)]
pub(super) struct Context {
    pieces: std::vec::IntoIter<Piece>,
    /// The macro that they are the expansion of.
    expands: Option<Arc<str>>,
    /// Nothing below is read until these are taken away.
    apart: bool,
}

/// One argument of a call.
struct ArgumentPieces {
    written: Vec<Piece>,
    expanded: Option<Vec<Piece>>,
}

impl Macro {
    /// `rest` is what follows the name in its definition.
    pub fn new(name: Arc<str>, rest: &[Piece]) -> Result<Macro, Problem> {
        let (parameters, variadic, body) = match rest.first() {
            Some(first) if first.is("(") && !first.space => {
                let close = rest.iter().position(|piece| piece.is(")"));
                let close =
                    close.ok_or_else(|| Problem::new(first.place, "the parameters of the macro have no `)`"))?;
                let (parameters, variadic) = parameters(&rest[1..close])?;
                (Some(parameters), variadic, &rest[close + 1..])
            }
            _ => (None, false, rest),
        };
        Ok(Macro { name, parameters, variadic, body: body.to_vec() })
    }

    fn parameter(&self, piece: &Piece) -> Option<usize> {
        let parameters = self.parameters.as_ref()?;
        parameters.iter().position(|name| piece.kind == PieceKind::Name && *name == piece.text)
    }
}

fn parameters(pieces: &[Piece]) -> Result<(Vec<Arc<str>>, bool), Problem> {
    let mut names = Vec::new();
    let mut rest = pieces.iter().peekable();
    while let Some(piece) = rest.next() {
        match piece.kind {
            PieceKind::Name => names.push(piece.text.clone()),
            PieceKind::Mark if &*piece.text == ".." => names.push("__VA_ARGS__".into()),
            _ => return Err(Problem::new(piece.place, "this is not a parameter of a macro")),
        }
        // Three dots are read as two and one.
        let dots = &*piece.text == ".." || rest.next_if(|piece| piece.is("..")).is_some();
        if dots && rest.next().is_some_and(|piece| piece.is(".")) && rest.peek().is_none() {
            return Ok((names, true));
        }
        match rest.next() {
            None => break,
            Some(comma) if comma.is(",") && rest.peek().is_some() => {}
            Some(other) => {
                return Err(Problem::new(other.place, "the parameters of a macro are names with commas between"));
            }
        }
    }
    Ok((names, false))
}

impl Preprocessor {
    /// The next piece, with all macros expanded.
    pub(super) fn expanded(&mut self) -> Result<Piece, Problem> {
        loop {
            let mut piece = self.unexpanded()?;
            if piece.kind != PieceKind::Name || piece.painted {
                return Ok(piece);
            }
            let Some(found) = self.macros.get(&piece.text).cloned() else { return Ok(piece) };
            if self.active.contains_key(&piece.text) {
                piece.painted = true;
                return Ok(piece);
            }
            let expansion = match &found.parameters {
                None => self.substitute(&found, &mut [], &piece)?,
                Some(_) => match self.arguments(&found, piece.place)? {
                    Some(mut arguments) => self.substitute(&found, &mut arguments, &piece)?,
                    None => return Ok(piece),
                },
            };
            if expansion.is_empty() {
                self.breaks |= piece.breaks;
            }
            self.push(expansion, Some(found.name.clone()), false);
        }
    }

    /// These pieces with all macros expanded, whatever comes after them.
    pub(super) fn expand_apart(&mut self, pieces: Vec<Piece>) -> Result<Vec<Piece>, Problem> {
        if self.nesting >= MAX_NESTING {
            let place = pieces.first().map_or(Place::default(), |piece| piece.place);
            return Err(Problem::new(place, format!("macros are called more than {MAX_NESTING} deep")));
        }
        self.nesting += 1;
        self.push(pieces, None, true);
        let mut out = Vec::new();
        loop {
            let piece = self.expanded()?;
            if piece.kind == PieceKind::End {
                break;
            }
            out.push(piece);
        }
        self.contexts.pop();
        self.nesting -= 1;
        Ok(out)
    }

    fn push(&mut self, pieces: Vec<Piece>, expands: Option<Arc<str>>, apart: bool) {
        if let Some(name) = &expands {
            *self.active.entry(name.clone()).or_default() += 1;
        }
        self.contexts.push(Context { pieces: pieces.into_iter(), expands, apart });
    }

    fn unexpanded(&mut self) -> Result<Piece, Problem> {
        while let Some(context) = self.contexts.last_mut() {
            if let Some(piece) = context.pieces.next() {
                return Ok(piece);
            }
            if context.apart {
                return Ok(end_piece());
            }
            if let Some(name) = context.expands.take()
                && let Some(times) = self.active.get_mut(&name)
            {
                *times -= 1;
                if *times == 0 {
                    self.active.remove(&name);
                }
            }
            self.contexts.pop();
        }
        self.next_of_files()
    }

    /// The arguments of a call; none when no parenthesis follows, for then it is no call.
    fn arguments(&mut self, called: &Macro, place: Place) -> Result<Option<Vec<ArgumentPieces>>, Problem> {
        let wanted = called.parameters.as_ref().map_or(0, Vec::len);
        let open = self.unexpanded()?;
        if !open.is("(") {
            if open.kind != PieceKind::End {
                self.push(vec![open], None, false);
            }
            return Ok(None);
        }
        let mut lines = open.breaks;
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let piece = self.unexpanded()?;
            lines |= piece.breaks;
            let all_taken = called.variadic && arguments.len() >= wanted;
            match &*piece.text {
                _ if piece.kind == PieceKind::End => {
                    return Err(Problem::new(place, format!("the call of the macro `{}` has no `)`", called.name)));
                }
                "," if depth == 0 && !all_taken => {
                    arguments.push(Vec::new());
                    continue;
                }
                ")" if depth == 0 => break,
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push(Piece { space: piece.space || piece.breaks, breaks: false, ..piece });
            }
        }
        // What follows a call of several lines is printed on a new line.
        self.breaks |= lines;
        if wanted == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if called.variadic && arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        }
        if arguments.len() != wanted {
            let (name, given) = (&called.name, arguments.len());
            let message = format!("the macro `{name}` has {wanted} {}, not {given}", parameters_word(wanted));
            return Err(Problem::new(place, message));
        }
        Ok(Some(arguments.into_iter().map(|written| ArgumentPieces { written, expanded: None }).collect()))
    }

    /// What the macro stands for, with its parameters replaced.
    fn substitute(
        &mut self,
        called: &Rc<Macro>,
        arguments: &mut [ArgumentPieces],
        call: &Piece,
    ) -> Result<Vec<Piece>, Problem> {
        let mut out: Vec<Piece> = Vec::new();
        let body = &called.body;
        let mut at = 0;
        // What stands to the left of a `##` is an empty argument.
        let mut left_empty = false;
        while let Some(piece) = body.get(at) {
            at += 1;
            let followed = body.get(at).is_some_and(|next| next.is("##"));
            let pasted = at >= 2 && body[at - 2].is("##");
            if piece.is("##") && at >= 2 && at < body.len() {
                continue;
            }
            let mut new = match called.parameter(piece) {
                Some(index) if followed || pasted => arguments[index].written.clone(),
                Some(index) => {
                    if arguments[index].expanded.is_none() {
                        let written = arguments[index].written.clone();
                        arguments[index].expanded = Some(self.expand_apart(written)?);
                    }
                    arguments[index].expanded.clone().unwrap_or_default()
                }
                None => match body.get(at).and_then(|next| called.parameter(next)) {
                    Some(index) if piece.is("#") && called.parameters.is_some() => {
                        at += 1;
                        vec![stringified(&arguments[index].written, call.place)]
                    }
                    _ => vec![Piece { place: call.place, ..piece.clone() }],
                },
            };
            if let Some(first) = new.first_mut() {
                first.space = piece.space;
            }
            if pasted && !left_empty {
                let comma = out.last().is_some_and(|left| left.is(","));
                match new.first_mut() {
                    // Before the arguments that are left, `, ##` stands for a comma if there are any.
                    None if comma => drop(out.pop()),
                    Some(right) if !comma => {
                        if let Some(left) = out.pop() {
                            *right = self.paste(&left, right, call.place)?;
                        }
                    }
                    _ => {}
                }
            }
            left_empty = new.is_empty() && (left_empty || !pasted);
            self.expanded += new.len() + 1;
            if self.expanded > MAX_EXPANSION {
                let message = format!("the macros of the model expand to more than {MAX_EXPANSION} words and marks");
                return Err(Problem::new(call.place, message));
            }
            out.extend(new);
        }
        if let Some(first) = out.first_mut() {
            (first.space, first.breaks) = (call.space, call.breaks);
        }
        Ok(out)
    }

    fn paste(&mut self, left: &Piece, right: &Piece, place: Place) -> Result<Piece, Problem> {
        let text = format!("{}{}", left.text, right.text);
        let mut at = 0;
        let piece = scan(&text, &mut at, text.len(), &mut self.spellings).map_err(|problem| problem.at(place))?;
        if at != text.len() {
            return Err(Problem::new(place, format!("`##` gives `{text}` here, which is not one word")));
        }
        Ok(Piece { place, space: left.space, breaks: left.breaks, ..piece })
    }
}

pub(crate) fn parameters_word(count: usize) -> &'static str {
    if count == 1 { "parameter" } else { "parameters" }
}

fn stringified(pieces: &[Piece], place: Place) -> Piece {
    let mut text = String::from("\"");
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 && piece.space {
            text.push(' ');
        }
        let quoted = matches!(piece.kind, PieceKind::String | PieceKind::Character);
        for c in piece.text.chars() {
            if quoted && matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text.push('"');
    Piece { kind: PieceKind::String, text: text.into(), place, space: false, breaks: false, painted: false }
}
