//! The value of the expression after `#if`, in 64 bits.

use super::scan::{Piece, PieceKind};
use crate::diagnostic::{Place, Problem};

const MAX_NESTING: u32 = 200;

/// `pieces` are expanded; names that are left are 0. `place` is the directive's.
pub(super) fn evaluate(pieces: &[Piece], place: Place) -> Result<i64, Problem> {
    let mut e = Evaluation { pieces, at: 0, place, nesting: 0, idle: 0 };
    let value = e.choice()?;
    match e.pieces.get(e.at) {
        None => Ok(value),
        Some(piece) => Err(Problem::new(piece.place, "the condition ends before this")),
    }
}

struct Evaluation<'p> {
    pieces: &'p [Piece],
    at: usize,
    place: Place,
    nesting: u32,
    /// Above 0, the value does not matter: a division by 0 is no error.
    idle: u32,
}

/// How tightly each operator binds.
fn precedence(mark: &str) -> Option<u8> {
    Some(match mark {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

impl Evaluation<'_> {
    fn take(&mut self, mark: &str) -> bool {
        let there = self.pieces.get(self.at).is_some_and(|piece| piece.is(mark));
        self.at += there as usize;
        there
    }

    fn choice(&mut self) -> Result<i64, Problem> {
        let condition = self.binary(1)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let first = self.unless_idle(condition == 0, Self::choice)?;
        if !self.take(":") {
            return Err(Problem::new(self.place, "a `:` is missing in the condition"));
        }
        let second = self.unless_idle(condition != 0, Self::choice)?;
        Ok(if condition != 0 { first } else { second })
    }

    fn unless_idle(&mut self, idle: bool, part: impl Fn(&mut Self) -> Result<i64, Problem>) -> Result<i64, Problem> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(Problem::new(self.place, "the condition is nested too deeply"));
        }
        self.idle += idle as u32;
        let value = part(self)?;
        self.idle -= idle as u32;
        self.nesting -= 1;
        Ok(value)
    }

    fn binary(&mut self, lowest: u8) -> Result<i64, Problem> {
        let mut left = self.unary()?;
        while let Some(piece) = self.pieces.get(self.at)
            && piece.kind == PieceKind::Mark
            && let Some(level) = precedence(&piece.text).filter(|level| *level >= lowest)
        {
            self.at += 1;
            let decided = matches!((&*piece.text, left != 0), ("||", true) | ("&&", false));
            let right = self.unless_idle(decided, |e| e.binary(level + 1))?;
            left = match &*piece.text {
                "||" => (left != 0 || right != 0) as i64,
                "&&" => (left != 0 && right != 0) as i64,
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => (left == right) as i64,
                "!=" => (left != right) as i64,
                "<" => (left < right) as i64,
                ">" => (left > right) as i64,
                "<=" => (left <= right) as i64,
                ">=" => (left >= right) as i64,
                "<<" => left.checked_shl(right as u32).unwrap_or(0),
                ">>" => left >> right.clamp(0, 63),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                _ if right == 0 && self.idle > 0 => 0,
                _ if right == 0 => return Err(Problem::new(piece.place, "this divides by 0")),
                "/" => left.wrapping_div(right),
                _ => left.wrapping_rem(right),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, Problem> {
        let Some(piece) = self.pieces.get(self.at) else {
            return Err(Problem::new(self.place, "the condition is not complete"));
        };
        self.at += 1;
        match (piece.kind, &*piece.text) {
            (PieceKind::Name, _) => Ok(0),
            (PieceKind::Number, text) => {
                number(text).ok_or_else(|| Problem::new(piece.place, format!("`{text}` is not a number")))
            }
            (PieceKind::Character, text) => Ok(character(text)),
            (_, "!") => Ok((self.unless_idle(false, Self::unary)? == 0) as i64),
            // Two marks that Promela reads as one.
            (_, "!!") => Ok((self.unless_idle(false, Self::unary)? != 0) as i64),
            (_, "-") => Ok(self.unless_idle(false, Self::unary)?.wrapping_neg()),
            (_, "+") => self.unless_idle(false, Self::unary),
            (_, "~") => Ok(!self.unless_idle(false, Self::unary)?),
            (_, "(") => {
                let value = self.unless_idle(false, Self::choice)?;
                match self.take(")") {
                    true => Ok(value),
                    false => Err(Problem::new(piece.place, "this parenthesis is not closed")),
                }
            }
            _ => Err(Problem::new(piece.place, "expected a number or a name")),
        }
    }
}

fn number(text: &str) -> Option<i64> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']).to_ascii_lowercase();
    let (digits, base) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => match text.strip_prefix("0b") {
            Some(digits) => (digits, 2),
            None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
            None => (&*text, 10),
        },
    };
    u64::from_str_radix(digits, base).ok().map(|value| value as i64)
}

fn character(text: &str) -> i64 {
    let mut inside = text.chars().skip(1);
    match (inside.next(), inside.next()) {
        (Some('\\'), Some(c)) => match c {
            'n' => 10,
            't' => 9,
            'r' => 13,
            '0' => 0,
            c => c as i64,
        },
        (Some(c), _) => c as i64,
        (None, _) => 0,
    }
}
