//! Types, records and variables: what a declaration means.
//!
//! A record is taken apart into leaves, so that behind this file there are only scalars and arrays of them.

use super::core::{ChannelType, Leaf, LeafInitial, Mtype, Scalar, Value, Variable};
use super::resolve::Scope;
use super::syntax::{self, Declaration, Ident, Initial, Type};
use crate::diagnostic::{Place, Problem};
use crate::symbols::sorted_suggestion;
use std::collections::HashMap;
use std::sync::Arc;

/// Elements that an array, and cells that all variables of one declaration, may have.
const MAX_CELLS: u64 = 1 << 20;
/// Messages that a channel can hold, as SPIN's byte for the fill level allows.
const MAX_CAPACITY: i64 = 255;

/// What everything in a model can refer to.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub globals: Vec<Declared>,
    /// The global variables by name.
    pub global_names: HashMap<Arc<str>, usize>,
    pub global_variables: Vec<Variable>,
    pub records: Vec<Record>,
    pub record_names: HashMap<Arc<str>, usize>,
    pub mtypes: Vec<Mtype>,
    pub mtype_values: HashMap<Arc<str>, usize>,
    pub channels: Vec<ChannelType>,
    pub processes: HashMap<Arc<str>, usize>,
    /// The locals of each proctype, by name, for references from elsewhere.
    pub locals: Vec<Vec<Declared>>,
    /// Parameters of each proctype.
    pub parameters: Vec<usize>,
    pub warnings: Vec<Problem>,
    /// Statements that cannot be understood: the others are looked at all the same.
    pub problems: Vec<Problem>,
}

/// A variable as its declaration describes it.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub name: Arc<str>,
    pub kind: Kind,
    pub length: Option<u32>,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Scalar(Scalar),
    Record(usize),
}

#[derive(Debug)]
pub(crate) struct Record {
    pub fields: Vec<(Declared, LeafInitial)>,
}

impl Names {
    pub fn mtype(&mut self, kind: &Option<Ident>, values: &[Ident]) -> Result<(), Problem> {
        let kind = kind.as_ref().map(|k| k.name.clone());
        let before = self.mtypes.iter().filter(|m| m.kind == kind).count();
        if before + values.len() > 255 {
            let place = values.first().map_or(Place::default(), |v| v.place);
            return Err(Problem::new(place, "there are more than 255 names of this mtype"));
        }
        // As in SPIN, the last name of a list is number 1, and a later list goes on above.
        for (i, value) in values.iter().rev().enumerate() {
            let number = self.mtypes.len();
            if self.mtype_values.insert(value.name.clone(), number).is_some() {
                return Err(Problem::new(value.place, format!("the mtype name `{}` is declared twice", value.name)));
            }
            let value_number = (before + i + 1) as i64;
            self.mtypes.push(Mtype { name: value.name.clone(), kind: kind.clone(), value: value_number });
        }
        Ok(())
    }

    pub fn record(&mut self, definition: &syntax::Typedef) -> Result<(), Problem> {
        let Ident { name, place } = &definition.name;
        if self.record_names.contains_key(name) {
            return Err(Problem::new(*place, format!("the type `{name}` is declared twice")));
        }
        let mut fields: Vec<(Declared, LeafInitial)> = Vec::new();
        for field in &definition.fields {
            let declared = self.declared(field)?;
            if fields.iter().any(|(f, _)| f.name == declared.name) {
                return Err(Problem::new(declared.place, format!("the field `{}` is declared twice", declared.name)));
            }
            let initial = self.initial(&declared, field.initial.as_ref(), None)?;
            fields.push((declared, initial));
        }
        self.record_names.insert(name.clone(), self.records.len());
        self.records.push(Record { fields });
        Ok(())
    }

    pub fn kind(&self, kind: &Type, place: Place) -> Result<Kind, Problem> {
        Ok(Kind::Scalar(match kind {
            Type::Bit | Type::Bool => Scalar::Bits(1),
            Type::Byte => Scalar::Byte,
            Type::Pid => Scalar::Pid,
            Type::Short => Scalar::Short,
            Type::Int => Scalar::Int,
            Type::Unsigned(bits) => match bits {
                1..=32 => Scalar::Bits(*bits),
                _ => return Err(Problem::new(place, format!("`unsigned` has 1 to 32 bits, not {bits}"))),
            },
            Type::Chan => Scalar::Chan,
            Type::Mtype(kind) => Scalar::Mtype(kind.as_ref().map(|k| k.name.clone())),
            Type::Record(name) => match self.record_names.get(&name.name) {
                Some(record) => return Ok(Kind::Record(*record)),
                None => {
                    let known = self.record_names.keys().map(|name| &**name);
                    let problem = Problem::new(name.place, format!("unknown type `{}`", name.name));
                    return Err(problem.maybe_help(sorted_suggestion(&name.name, known)));
                }
            },
        }))
    }

    /// Name, kind and length; what it begins with is for [`Names::initial`].
    pub fn declared(&self, declaration: &Declaration) -> Result<Declared, Problem> {
        let Ident { name, place } = &declaration.name;
        let kind = self.kind(&declaration.kind, *place)?;
        let length = match &declaration.length {
            None => None,
            Some(length) => {
                let value = Scope::constant(self, length)?;
                if value < 1 || value as u64 > MAX_CELLS {
                    return Err(Problem::new(length.place, format!("an array cannot have {value} elements")));
                }
                Some(value as u32)
            }
        };
        Ok(Declared { name: name.clone(), kind, length, place: *place })
    }

    /// What a variable begins with. Values are looked up in `scope`; without one they must be constant.
    pub fn initial(
        &mut self,
        declared: &Declared,
        initial: Option<&Initial>,
        scope: Option<&Scope>,
    ) -> Result<LeafInitial, Problem> {
        let Some(initial) = initial else { return Ok(LeafInitial::Zero) };
        if let Kind::Record(_) = declared.kind {
            let message = "a record cannot be initialised as a whole; its fields begin at zero";
            self.warnings.push(Problem::new(declared.place, message));
            return Ok(LeafInitial::Zero);
        }
        let value = |e: &syntax::Expression| match scope {
            Some(scope) => scope.value(self, e),
            None => Scope::constant(self, e).map(Value::Number),
        };
        match initial {
            Initial::Value(e) => Ok(LeafInitial::Value(value(e)?)),
            Initial::List(list) => {
                if declared.length.is_none_or(|length| list.len() > length as usize) {
                    return Err(Problem::new(declared.place, "there are more initial values than elements"));
                }
                Ok(LeafInitial::List(list.iter().map(value).collect::<Result<_, _>>()?))
            }
            Initial::Channel { capacity, fields } => {
                if declared.kind != Kind::Scalar(Scalar::Chan) {
                    return Err(Problem::new(declared.place, "only a variable of type `chan` can be a channel"));
                }
                let size = Scope::constant(self, capacity)?;
                if !(0..=MAX_CAPACITY).contains(&size) {
                    return Err(Problem::new(capacity.place, format!("a channel cannot hold {size} messages"))
                        .help(format!("a channel holds at most {MAX_CAPACITY}")));
                }
                let mut scalars = Vec::new();
                for (field, place) in fields {
                    let kind = self.kind(field, *place)?;
                    for leaf in self.flatten(&kind, None, &LeafInitial::Zero, *place)? {
                        for _ in 0..leaf.cells() {
                            scalars.push(leaf.scalar.clone());
                        }
                    }
                }
                // Nor is a bit alone in a message packed.
                if let [only] = &mut scalars[..] {
                    *only = only.unpacked();
                }
                self.channels.push(ChannelType { capacity: size as u32, fields: scalars });
                Ok(LeafInitial::Channel(self.channels.len() - 1))
            }
        }
    }

    pub fn variable(&self, declared: &Declared, initial: &LeafInitial, parameter: bool) -> Result<Variable, Problem> {
        let leaves = self.flatten(&declared.kind, declared.length, initial, declared.place)?;
        if leaves.iter().map(Leaf::cells).sum::<u64>() > MAX_CELLS {
            return Err(Problem::new(declared.place, "this variable has too many elements"));
        }
        Ok(Variable { name: declared.name.clone(), leaves, parameter, place: declared.place })
    }

    /// The leaves of a variable or field of this kind.
    fn flatten(
        &self,
        kind: &Kind,
        length: Option<u32>,
        initial: &LeafInitial,
        place: Place,
    ) -> Result<Vec<Leaf>, Problem> {
        let mut leaves = match kind {
            Kind::Scalar(scalar) => vec![Leaf {
                suffix: String::new(),
                // SPIN has no arrays of bits: they are arrays of bytes.
                scalar: if length.is_some() { scalar.unpacked() } else { scalar.clone() },
                dimensions: vec![],
                initial: initial.clone(),
            }],
            Kind::Record(record) => {
                let mut leaves = Vec::new();
                for (field, initial) in &self.records[*record].fields {
                    for mut leaf in self.flatten(&field.kind, field.length, initial, place)? {
                        leaf.suffix = format!(".{}{}", field.name, leaf.suffix);
                        leaves.push(leaf);
                    }
                    if leaves.len() as u64 > MAX_CELLS {
                        return Err(Problem::new(place, "this variable has too many elements"));
                    }
                }
                leaves
            }
        };
        if let Some(length) = length {
            leaves.iter_mut().for_each(|leaf| leaf.dimensions.insert(0, length));
        }
        Ok(leaves)
    }

    /// How many leaves a variable of this kind has.
    pub fn leaf_count(&self, kind: &Kind) -> usize {
        match kind {
            Kind::Scalar(_) => 1,
            Kind::Record(record) => {
                self.records[*record].fields.iter().map(|(field, _)| self.leaf_count(&field.kind)).sum()
            }
        }
    }
}
