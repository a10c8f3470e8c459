//! A value as people read it: taken apart by serde, with the names of its fields.

use super::Wrong;
use serde::ser::{self, Serialize};
use std::fmt;

/// A value, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    Leaf(String),
    /// A sequence or a tuple.
    List(Vec<Tree>),
    /// A map.
    Map(Vec<(Tree, Tree)>),
    /// A struct, or a variant with named fields.
    Fields(&'static str, Vec<(&'static str, Tree)>),
    /// A variant or a tuple struct with what it holds.
    Named(&'static str, Vec<Tree>),
}

/// Takes a value apart.
pub fn tree(value: &(impl Serialize + ?Sized)) -> Tree {
    value.serialize(Taking).unwrap_or_else(|wrong| Tree::Leaf(format!("({wrong})")))
}

impl Tree {
    /// The parts that a person compares, each with its name: fields of structs, and elements of sequences and maps whose
    /// elements have parts themselves.
    pub fn entries(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        self.enter(String::new(), &mut all);
        all
    }

    /// As what stands in brackets behind a name.
    fn index(&self) -> String {
        match self {
            Tree::List(_) => self.to_string(),
            key => format!("[{key}]"),
        }
    }

    fn enter(&self, name: String, all: &mut Vec<(String, String)>) {
        let whole = |tree: &Tree| matches!(tree, Tree::Leaf(_) | Tree::Named(..));
        match self {
            Tree::Fields(_, fields) if name.is_empty() || !fields.is_empty() => {
                let dot = if name.is_empty() { "" } else { "." };
                fields.iter().for_each(|(field, value)| value.enter(format!("{name}{dot}{field}"), all));
            }
            Tree::List(elements) if name.is_empty() || elements.iter().any(|element| !whole(element)) => {
                elements.iter().enumerate().for_each(|(i, element)| element.enter(format!("{name}[{i}]"), all));
            }
            // What a map has not is not told.
            Tree::Map(entries) => {
                entries.iter().for_each(|(key, value)| value.enter(format!("{name}{}", key.index()), all))
            }
            Tree::Named(_, held) if name.is_empty() && held.len() == 1 => held[0].enter(name, all),
            value => all.push((if name.is_empty() { "state".into() } else { name }, value.to_string())),
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, all: &[Tree]| {
            for (i, tree) in all.iter().enumerate() {
                write!(f, "{}{tree}", if i == 0 { "" } else { ", " })?;
            }
            Ok(())
        };
        match self {
            Tree::Leaf(text) => f.write_str(text),
            Tree::List(all) => {
                f.write_str("[")?;
                list(f, all)?;
                f.write_str("]")
            }
            Tree::Map(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Tree::Fields(name, fields) => {
                write!(f, "{name} {{")?;
                for (i, (field, value)) in fields.iter().enumerate() {
                    write!(f, "{}{field}: {value}", if i == 0 { " " } else { ", " })?;
                }
                f.write_str(" }")
            }
            Tree::Named(name, held) => {
                write!(f, "{name}(")?;
                list(f, held)?;
                f.write_str(")")
            }
        }
    }
}

/// Takes values apart.
struct Taking;

/// Parts that were taken so far.
struct Taken {
    name: &'static str,
    /// Is it a tuple or sequence without a name?
    list: bool,
    parts: Vec<Tree>,
    fields: Vec<(&'static str, Tree)>,
    keys: Vec<Tree>,
}

impl Taken {
    fn new(name: &'static str, list: bool) -> Taken {
        Taken { name, list, parts: Vec::new(), fields: Vec::new(), keys: Vec::new() }
    }
}

macro_rules! leaves {
    ($($serialize:ident $ty:ty;)*) => {$(
        fn $serialize(self, value: $ty) -> Result<Tree, Wrong> {
            Ok(Tree::Leaf(value.to_string()))
        }
    )*};
}

impl ser::Serializer for Taking {
    type Ok = Tree;
    type Error = Wrong;
    type SerializeSeq = Taken;
    type SerializeTuple = Taken;
    type SerializeTupleStruct = Taken;
    type SerializeTupleVariant = Taken;
    type SerializeMap = Taken;
    type SerializeStruct = Taken;
    type SerializeStructVariant = Taken;

    leaves! {
        serialize_bool bool;
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_i128 i128;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_u128 u128;
        serialize_f32 f32;
        serialize_f64 f64;
    }

    fn serialize_char(self, value: char) -> Result<Tree, Wrong> {
        Ok(Tree::Leaf(format!("{value:?}")))
    }

    fn serialize_str(self, value: &str) -> Result<Tree, Wrong> {
        Ok(Tree::Leaf(format!("{value:?}")))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Tree, Wrong> {
        Ok(Tree::Leaf(format!("{value:?}")))
    }

    fn serialize_none(self) -> Result<Tree, Wrong> {
        Ok(Tree::Leaf("None".into()))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Tree, Wrong> {
        Ok(Tree::Named("Some", vec![value.serialize(Taking)?]))
    }

    fn serialize_unit(self) -> Result<Tree, Wrong> {
        Ok(Tree::Leaf("()".into()))
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<Tree, Wrong> {
        Ok(Tree::Leaf(name.into()))
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<Tree, Wrong> {
        Ok(Tree::Leaf(name.into()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Tree, Wrong> {
        value.serialize(Taking)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<Tree, Wrong> {
        Ok(Tree::Named(name, vec![value.serialize(Taking)?]))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Taken, Wrong> {
        Ok(Taken::new("", true))
    }

    fn serialize_tuple(self, _: usize) -> Result<Taken, Wrong> {
        Ok(Taken::new("", true))
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Taken, Wrong> {
        Ok(Taken::new(name, false))
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, name: &'static str, _: usize) -> Result<Taken, Wrong> {
        Ok(Taken::new(name, false))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Taken, Wrong> {
        Ok(Taken::new("", true))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Taken, Wrong> {
        Ok(Taken::new(name, false))
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, name: &'static str, _: usize) -> Result<Taken, Wrong> {
        Ok(Taken::new(name, false))
    }
}

macro_rules! parts {
    ($($kind:ident $method:ident;)*) => {$(
        impl ser::$kind for Taken {
            type Ok = Tree;
            type Error = Wrong;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
                self.parts.push(value.serialize(Taking)?);
                Ok(())
            }

            fn end(self) -> Result<Tree, Wrong> {
                Ok(if self.list { Tree::List(self.parts) } else { Tree::Named(self.name, self.parts) })
            }
        }
    )*};
}

parts! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! fields {
    ($($kind:ident)*) => {$(
        impl ser::$kind for Taken {
            type Ok = Tree;
            type Error = Wrong;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Wrong> {
                self.fields.push((name, value.serialize(Taking)?));
                Ok(())
            }

            fn end(self) -> Result<Tree, Wrong> {
                Ok(Tree::Fields(self.name, self.fields))
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Taken {
    type Ok = Tree;
    type Error = Wrong;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Wrong> {
        self.keys.push(key.serialize(Taking)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        self.parts.push(value.serialize(Taking)?);
        Ok(())
    }

    fn end(self) -> Result<Tree, Wrong> {
        Ok(Tree::Map(self.keys.into_iter().zip(self.parts).collect()))
    }
}
