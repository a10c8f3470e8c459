//! Declarations of variables, of mtypes, and of types.

use super::{Parsed, Parser, unexpected};
use crate::diagnostic::{Place, Problem};
use crate::promela::syntax::*;
use crate::promela::tokens::TokenKind;

impl Parser {
    /// Whether a declaration comes next.
    pub(super) fn at_declaration(&mut self) -> Parsed<bool> {
        let token = self.peek()?;
        Ok(match token.kind {
            TokenKind::Keyword => matches!(
                &*token.text,
                "bit"
                    | "bool"
                    | "byte"
                    | "pid"
                    | "short"
                    | "int"
                    | "unsigned"
                    | "mtype"
                    | "chan"
                    | "hidden"
                    | "show"
                    | "local"
            ),
            TokenKind::Name => {
                let name = token.text.clone();
                self.stream.known.records.contains(&name)
            }
            _ => false,
        })
    }

    /// Variables, all of one type.
    pub(super) fn declaration(&mut self) -> Parsed<Vec<Declaration>> {
        match self.declaration_or_mtype()? {
            Item::Variables(variables) => Ok(variables),
            _ => Err(Problem::new(self.last, "an mtype must be declared outside of processes")),
        }
    }

    pub(super) fn declaration_or_mtype(&mut self) -> Parsed<Item> {
        let hidden = self.take("hidden")?;
        if !hidden && !self.take("show")? {
            self.take("local")?;
        }
        if self.at("mtype")? {
            self.next()?;
            let kind = match self.take(":")? {
                true => Some(self.name("the name of an mtype")?),
                false => None,
            };
            if self.take("=")? || self.at("{")? {
                return self.mtype(kind);
            }
            return Ok(Item::Variables(self.variables(&Type::Mtype(kind), hidden)?));
        }
        let kind = self.variable_type()?;
        Ok(Item::Variables(self.variables(&kind, hidden)?))
    }

    fn mtype(&mut self, kind: Option<Ident>) -> Parsed<Item> {
        self.expect("{")?;
        let mut values = Vec::new();
        while !self.take("}")? {
            if self.take(",")? {
                continue;
            }
            let value = self.name("the name of a value")?;
            self.stream.known.values.insert(value.name.clone());
            values.push(value);
        }
        if values.is_empty() {
            return Err(Problem::new(self.last, "an mtype has at least one value"));
        }
        Ok(Item::Mtype { kind, values })
    }

    /// Any type but mtype; the width of `unsigned` comes with the variable.
    fn variable_type(&mut self) -> Parsed<Type> {
        let token = self.next()?;
        Ok(match &*token.text {
            text if token.is_name() && self.stream.known.records.contains(text) => {
                Type::Record(Ident { name: token.text, place: token.place })
            }
            _ if token.kind != TokenKind::Keyword => return Err(unexpected(&token, "a type")),
            "bit" => Type::Bit,
            "bool" => Type::Bool,
            "byte" => Type::Byte,
            "pid" => Type::Pid,
            "short" => Type::Short,
            "int" => Type::Int,
            "unsigned" => Type::Unsigned(0),
            "chan" => Type::Chan,
            _ => return Err(unexpected(&token, "a type")),
        })
    }

    fn variables(&mut self, kind: &Type, hidden: bool) -> Parsed<Vec<Declaration>> {
        let mut out = vec![self.variable(kind, hidden)?];
        while self.at(",")? {
            // In a list of parameters, a comma may be followed by the next type.
            self.next()?;
            if self.at_declaration()? {
                out.extend(self.declaration()?);
                break;
            }
            out.push(self.variable(kind, hidden)?);
        }
        Ok(out)
    }

    fn variable(&mut self, kind: &Type, hidden: bool) -> Parsed<Declaration> {
        let name = self.name("the name of a variable")?;
        let mut kind = kind.clone();
        let mut length = None;
        if self.take(":")? {
            let bits = self.next()?;
            kind = match (kind, bits.kind) {
                (Type::Unsigned(_), TokenKind::Number(width @ 1..=31)) => Type::Unsigned(width as u32),
                (Type::Unsigned(_), _) => return Err(Problem::new(bits.place, "a width is between 1 and 31 bits")),
                _ => return Err(Problem::new(bits.place, "only an `unsigned` has a width")),
            };
        } else if self.take("[")? {
            length = Some(self.expression()?);
            self.expect("]")?;
        }
        if kind == Type::Unsigned(0) {
            return Err(Problem::new(name.place, format!("`{}` has no width", name.name))
                .help(format!("write for instance `unsigned {} : 4`", name.name)));
        }
        let initial = match self.take("=")? {
            true => Some(self.initial()?),
            false => None,
        };
        Ok(Declaration { name, kind, length, initial, hidden })
    }

    fn initial(&mut self) -> Parsed<Initial> {
        if self.take("{")? {
            let mut values = vec![self.expression()?];
            while self.take(",")? {
                values.push(self.expression()?);
            }
            self.expect("}")?;
            return Ok(Initial::List(values));
        }
        if !self.take("[")? {
            return Ok(Initial::Value(self.expression()?));
        }
        let capacity = self.expression()?;
        self.expect("]")?;
        self.expect("of")?;
        self.expect("{")?;
        let mut fields = vec![self.field_type()?];
        while self.take(",")? {
            fields.push(self.field_type()?);
        }
        self.expect("}")?;
        Ok(Initial::Channel { capacity, fields })
    }

    /// The type of a field of a message.
    fn field_type(&mut self) -> Parsed<(Type, Place)> {
        let place = self.peek()?.place;
        if self.take("mtype")? {
            let kind = match self.take(":")? {
                true => Some(self.name("the name of an mtype")?),
                false => None,
            };
            return Ok((Type::Mtype(kind), place.to(self.last)));
        }
        match self.variable_type()? {
            Type::Unsigned(_) => Err(Problem::new(place, "a field of a message cannot be `unsigned`")),
            kind => Ok((kind, place)),
        }
    }

    pub(super) fn typedef(&mut self) -> Parsed<Typedef> {
        self.expect("typedef")?;
        let name = self.name("the name of a type")?;
        self.expect("{")?;
        self.stream.in_sequence = true;
        let mut fields = Vec::new();
        loop {
            fields.extend(self.declaration()?);
            let separated = self.separators()?;
            if self.at("}")? {
                break;
            }
            if !separated {
                return Err(unexpected(&self.next()?, "`;` or `}`"));
            }
        }
        self.next()?;
        self.stream.in_sequence = false;
        self.stream.known.records.insert(name.name.clone());
        Ok(Typedef { name, fields })
    }
}
