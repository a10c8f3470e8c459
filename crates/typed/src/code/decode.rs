//! From the numbers of its pieces back to a state.

use super::{END, HERE, PIECE, Pieces, Shape, Wrong};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};

/// The state with these pieces.
pub fn decode<S: DeserializeOwned>(pieces: &Pieces, shape: Shape, numbers: &[u32]) -> Result<S, Wrong> {
    match shape {
        Shape::Fields(_) => S::deserialize(&mut Decoder { pieces, input: &[], numbers: Some(numbers) }),
        Shape::Whole => {
            let mut bytes = Vec::new();
            read(pieces, numbers[0], &mut bytes)?;
            let mut decoder = Decoder { pieces, input: &bytes, numbers: None };
            let state = S::deserialize(&mut decoder)?;
            decoder.end()?;
            Ok(state)
        }
    }
}

fn read(pieces: &Pieces, number: u32, out: &mut Vec<u8>) -> Result<(), Wrong> {
    if pieces.read(number, out) { Ok(()) } else { Err(Wrong("there is no such piece".into())) }
}

struct Decoder<'a> {
    pieces: &'a Pieces,
    input: &'a [u8],
    /// Of the state itself, where it has a number for each field.
    numbers: Option<&'a [u32]>,
}

impl<'a> Decoder<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Wrong> {
        let (taken, rest) = self.input.split_at_checked(count).ok_or_else(|| Wrong("it ends too early".into()))?;
        self.input = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Wrong> {
        Ok(self.take(1)?[0])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Wrong> {
        self.take(N)?.try_into().map_err(|_| Wrong("it ends too early".into()))
    }

    fn unsigned(&mut self) -> Result<u64, Wrong> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            value |= ((byte & 0x7f) as u64) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                return Err(Wrong("a number is too long".into()));
            }
        }
    }

    fn signed(&mut self) -> Result<i64, Wrong> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Wrong> {
        let count = self.unsigned()? as usize;
        self.take(count)
    }

    fn text(&mut self) -> Result<&'a str, Wrong> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Wrong("a text is none".into()))
    }

    /// All was read.
    fn end(&self) -> Result<(), Wrong> {
        if self.input.is_empty() { Ok(()) } else { Err(Wrong("more was written than is read".into())) }
    }

    fn fields<'de, V: Visitor<'de>>(&mut self, count: usize, visitor: V) -> Result<V::Value, Wrong> {
        match self.numbers.take() {
            Some(numbers) if numbers.len() == count => {
                let pieces = self.pieces;
                visitor.visit_seq(Numbers { pieces, numbers: numbers.iter() })
            }
            Some(_) => Err(Wrong("other fields are read than were written".into())),
            None => visitor.visit_seq(Fields { left: count, decoder: self }),
        }
    }
}

/// The fields of the state itself.
struct Numbers<'a> {
    pieces: &'a Pieces,
    numbers: std::slice::Iter<'a, u32>,
}

impl<'de> de::SeqAccess<'de> for Numbers<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some(number) = self.numbers.next() else { return Ok(None) };
        of_piece(self.pieces, *number, seed).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.numbers.len())
    }
}

/// What a piece holds.
fn of_piece<'de, T: DeserializeSeed<'de>>(pieces: &Pieces, number: u32, seed: T) -> Result<T::Value, Wrong> {
    let mut bytes = Vec::with_capacity(64);
    read(pieces, number, &mut bytes)?;
    let mut decoder = Decoder { pieces, input: &bytes, numbers: None };
    let value = seed.deserialize(&mut decoder)?;
    decoder.end()?;
    Ok(value)
}

/// Fields that stand one after the other.
struct Fields<'d, 'a> {
    left: usize,
    decoder: &'d mut Decoder<'a>,
}

impl<'de> de::SeqAccess<'de> for Fields<'_, '_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(&mut *self.decoder).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// The elements of a sequence or a map.
struct Elements<'d, 'a> {
    decoder: &'d mut Decoder<'a>,
    /// An entry of a map that is a piece, and how much of it was read.
    entry: Option<(Vec<u8>, usize)>,
}

impl Elements<'_, '_> {
    /// The number of the next element's piece, or that it follows; `None` where there is none.
    fn next(&mut self) -> Result<Option<Option<u32>>, Wrong> {
        match self.decoder.byte()? {
            HERE => Ok(Some(None)),
            PIECE => Ok(Some(Some(u32::from_le_bytes(self.decoder.array()?)))),
            END => Ok(None),
            _ => Err(Wrong("no element stands there".into())),
        }
    }
}

impl<'de> de::SeqAccess<'de> for Elements<'_, '_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        match self.next()? {
            None => Ok(None),
            Some(None) => seed.deserialize(&mut *self.decoder).map(Some),
            Some(Some(number)) => of_piece(self.decoder.pieces, number, seed).map(Some),
        }
    }
}

impl<'de> de::MapAccess<'de> for Elements<'_, '_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        match self.next()? {
            None => Ok(None),
            Some(None) => {
                self.entry = None;
                seed.deserialize(&mut *self.decoder).map(Some)
            }
            Some(Some(number)) => {
                let mut bytes = Vec::with_capacity(64);
                read(self.decoder.pieces, number, &mut bytes)?;
                let mut decoder = Decoder { pieces: self.decoder.pieces, input: &bytes, numbers: None };
                let key = seed.deserialize(&mut decoder)?;
                let done = bytes.len() - decoder.input.len();
                self.entry = Some((bytes, done));
                Ok(Some(key))
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        match self.entry.take() {
            None => seed.deserialize(&mut *self.decoder),
            Some((bytes, done)) => {
                let mut decoder = Decoder { pieces: self.decoder.pieces, input: &bytes[done..], numbers: None };
                let value = seed.deserialize(&mut decoder)?;
                decoder.end()?;
                Ok(value)
            }
        }
    }
}

/// A variant of an enum.
struct Variant<'d, 'a> {
    decoder: &'d mut Decoder<'a>,
}

impl<'de, 'd, 'a> de::EnumAccess<'de> for Variant<'d, 'a> {
    type Error = Wrong;
    type Variant = Variant<'d, 'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Variant<'d, 'a>), Wrong> {
        let number = self.decoder.unsigned()? as u32;
        Ok((seed.deserialize(IntoDeserializer::<Wrong>::into_deserializer(number))?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, '_> {
    type Error = Wrong;

    fn unit_variant(self) -> Result<(), Wrong> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Wrong> {
        seed.deserialize(self.decoder)
    }

    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.decoder.fields(count, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Wrong> {
        self.decoder.fields(fields.len(), visitor)
    }
}

macro_rules! numbers {
    ($($deserialize:ident $visit:ident $read:ident;)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            let value = self.$read()?;
            visitor.$visit(value.try_into().map_err(|_| Wrong("a number is too large".into()))?)
        }
    )*};
}

macro_rules! arrays {
    ($($deserialize:ident $visit:ident $ty:ty;)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            visitor.$visit(<$ty>::from_le_bytes(self.array()?))
        }
    )*};
}

impl<'de> de::Deserializer<'de> for &mut Decoder<'_> {
    type Error = Wrong;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Wrong> {
        Err(Wrong("it must be known beforehand what is read: no untagged enums, no flattened fields".into()))
    }

    numbers! {
        deserialize_i16 visit_i16 signed;
        deserialize_i32 visit_i32 signed;
        deserialize_i64 visit_i64 signed;
        deserialize_u16 visit_u16 unsigned;
        deserialize_u32 visit_u32 unsigned;
        deserialize_u64 visit_u64 unsigned;
    }

    arrays! {
        deserialize_i8 visit_i8 i8;
        deserialize_u8 visit_u8 u8;
        deserialize_i128 visit_i128 i128;
        deserialize_u128 visit_u128 u128;
        deserialize_f32 visit_f32 f32;
        deserialize_f64 visit_f64 f64;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_bool(self.byte()? != 0)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let value = char::from_u32(self.unsigned()? as u32);
        visitor.visit_char(value.ok_or_else(|| Wrong("a character is none".into()))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_string(self.text()?.to_string())
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_bytes(self.bytes()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_byte_buf(self.bytes()?.to_vec())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.byte()? {
            0 => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_seq(Elements { decoder: self, entry: None })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.fields(count, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.fields(count, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_map(Elements { decoder: self, entry: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.fields(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_enum(Variant { decoder: self })
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_u64(self.unsigned()?)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Wrong> {
        Err(Wrong("a field is written that is not read".into()))
    }
}
