//! Rankings, the one thing that progress measures have beyond the expressions of properties.
//!
//! `P{idle < try, retry < critical}` is 0 while P is idle, 1 while it is at `try` or `retry`, 2 at `critical`;
//! `x{0 < 3 < 1}` does the same with the values of a variable. What is not listed ranks lowest.

use super::lower::{Lowering, Names};
use super::parser::{Parser, number};
use super::syntax::{ExprId, Name};
use crate::diagnostic::{Place, Problem};
use crate::lexer::Token;
use crate::symbols::suggestion;
use scrimp_system::{BinaryOp, Expr, VarId};

/// Values that the listed ones may span.
const MOST_VALUES: i64 = 1 << 16;

#[derive(Debug, Clone)]
pub(crate) struct Ranking {
    /// The process whose locations are ranked; `None` if the values of the operand before are.
    pub process: Option<(Name, Option<Vec<ExprId>>)>,
    /// Lowest first; those of a group share a rank.
    groups: Vec<Vec<Item>>,
}

#[derive(Debug, Clone, Copy)]
enum Item {
    Location(Name),
    Value(i64, Place),
}

/// A process as a ranking sees it.
pub(crate) struct Locations<'n> {
    pub control: VarId,
    pub names: &'n [String],
}

impl Parser<'_> {
    /// True at a brace behind which location names stand.
    pub fn at_locations(&self) -> bool {
        self.rankings
            && self.at(Token::LeftBrace)
            && match self.next_token() {
                Token::Word => true,
                Token::Minus => self.ahead(2).0 != Token::Number,
                _ => false,
            }
    }

    /// `{a < b, c < d}`
    pub fn ranking(&mut self, process: Option<(Name, Option<Vec<ExprId>>)>) -> Result<Ranking, Problem> {
        self.expect(Token::LeftBrace, "`{`")?;
        let mut groups = vec![vec![]];
        loop {
            let item = match process {
                Some(_) => Item::Location(self.location()?),
                None => self.listed_value()?,
            };
            groups.last_mut().into_iter().for_each(|group| group.push(item));
            if self.accept(Token::Less)? {
                groups.push(vec![]);
            } else if !self.accept(Token::Comma)? {
                break;
            }
        }
        self.expect(Token::RightBrace, "`<`, `,` or `}`")?;
        Ok(Ranking { process, groups })
    }

    /// `cs`; for a process that comes and goes `Worker.line_3`, and `-` where it is not there.
    fn location(&mut self) -> Result<Name, Problem> {
        let place = self.current.place();
        if self.accept(Token::Minus)? {
            return Ok(Name { symbol: self.symbols.intern("-"), place });
        }
        let mut name = self.name("the name of a location")?;
        while self.accept(Token::Dot)? {
            let last = self.name("the name of a location")?;
            let place = name.place.to(last.place);
            let whole = self.text.get(place.start as usize..place.end as usize).unwrap_or_default();
            name = Name { symbol: self.symbols.intern(whole), place };
        }
        Ok(name)
    }

    fn listed_value(&mut self) -> Result<Item, Problem> {
        let start = self.current.place();
        let negative = self.accept(Token::Minus)?;
        let place = start.to(self.current.place());
        let value = if self.at(Token::Number) { number(self.word()) } else { None };
        let Some(value) = value else { return Err(self.unexpected("a value to rank")) };
        self.advance()?;
        Ok(Item::Value(if negative { -(value as i64) } else { value as i64 }, place))
    }
}

impl<N: Names> Lowering<'_, N> {
    /// The rank of `operand`, or of the process's location.
    pub fn rank(
        &self,
        ranking: &Ranking,
        operand: Option<Expr>,
        arguments: Option<&[i64]>,
        place: Place,
    ) -> Result<Expr, Problem> {
        let (read, ranks) = match (&ranking.process, operand) {
            (Some((name, _)), _) => {
                let Locations { control, names } = self.names.locations(*name, arguments)?;
                let number = |name: Name| {
                    let word = self.symbols.name(name.symbol);
                    names.iter().position(|known| known == word).map(|at| at as i64).ok_or_else(|| {
                        let help = suggestion(word, names.iter().map(String::as_str));
                        Problem::new(name.place, format!("there is no location `{word}`")).maybe_help(help)
                    })
                };
                (Expr::Var(control), self.ranks(ranking, number)?)
            }
            (None, Some(read @ (Expr::Var(_) | Expr::Element(..)))) => (read, self.ranks(ranking, |_| Ok(0))?),
            (None, _) => return Err(Problem::new(place, "only the values of a variable can be ranked")),
        };
        let values = ranks.iter().map(|&(value, _, _)| value);
        let (low, high) = (values.clone().min().unwrap_or(0), values.max().unwrap_or(0));
        if high - low >= MOST_VALUES {
            return Err(Problem::new(place, format!("the values in a ranking must be within {MOST_VALUES}")));
        }
        let mut table = vec![0; (high - low) as usize + 1];
        let mut seen = vec![false; table.len()];
        for (value, rank, place) in ranks {
            let at = (value - low) as usize;
            if std::mem::replace(&mut seen[at], true) {
                return Err(Problem::new(place, "this is ranked twice"));
            }
            table[at] = rank;
        }
        Ok(ranked(read, low, table))
    }

    fn ranks(
        &self,
        ranking: &Ranking,
        location: impl Fn(Name) -> Result<i64, Problem>,
    ) -> Result<Vec<(i64, i64, Place)>, Problem> {
        let mut found = Vec::new();
        for (rank, group) in ranking.groups.iter().enumerate() {
            for item in group {
                let (value, place) = match *item {
                    Item::Value(value, place) => (value, place),
                    Item::Location(name) => (location(name)?, name.place),
                };
                found.push((value, rank as i64, place));
            }
        }
        Ok(found)
    }
}

/// `table[read - low]`, and 0 outside the table.
fn ranked(read: Expr, low: i64, table: Vec<i64>) -> Expr {
    let high = low + table.len() as i64 - 1;
    let binary = |op, a: Expr, b: i64| Expr::Binary(op, Box::new(a), Box::new(Expr::Const(b)));
    let above = binary(BinaryOp::GreaterEqual, read.clone(), low);
    let below = binary(BinaryOp::LessEqual, read.clone(), high);
    let inside = Expr::Binary(BinaryOp::And, Box::new(above), Box::new(below));
    let at = binary(BinaryOp::Subtract, read, low);
    Expr::If(Box::new(inside), Box::new(Expr::Table(table.into(), Box::new(at))), Box::new(Expr::Const(0)))
}
