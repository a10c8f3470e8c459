//! From the numbers of its pieces back to a state.

use super::{HERE, PIECE, Pieces, Shape, Wrong};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};

/// The state whose fields hold this, as they were written.
pub fn decode<S: DeserializeOwned>(pieces: &Pieces, shape: Shape, fields: &[(Vec<u8>, u32)]) -> Result<S, Wrong> {
    match (shape, fields) {
        (Shape::Fields(_), _) => S::deserialize(&mut Decoder { pieces, input: &[], fields: Some(fields) }),
        (Shape::Whole, [(bytes, _)]) => of_bytes(pieces, bytes, std::marker::PhantomData),
        (Shape::Whole, _) => Err(Wrong::new("there is not one piece")),
    }
}

#[inline]
fn read(pieces: &Pieces, number: u32, out: &mut Vec<u8>) -> Result<(), Wrong> {
    if pieces.read(number, out) { Ok(()) } else { Err(Wrong::new("there is no such piece")) }
}

struct Decoder<'a> {
    pieces: &'a Pieces,
    input: &'a [u8],
    /// Of the state itself, where it has a piece for each field.
    fields: Option<&'a [(Vec<u8>, u32)]>,
}

impl<'a> Decoder<'a> {
    #[inline]
    fn take(&mut self, count: usize) -> Result<&'a [u8], Wrong> {
        let (taken, rest) = self.input.split_at_checked(count).ok_or_else(|| Wrong::new("it ends too early"))?;
        self.input = rest;
        Ok(taken)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Wrong> {
        Ok(self.take(1)?[0])
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Wrong> {
        self.take(N)?.try_into().map_err(|_| Wrong::new("it ends too early"))
    }

    #[inline]
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
                return Err(Wrong::new("a number is too long"));
            }
        }
    }

    #[inline]
    fn signed(&mut self) -> Result<i64, Wrong> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    #[inline]
    fn bytes(&mut self) -> Result<&'a [u8], Wrong> {
        let count = self.unsigned()? as usize;
        self.take(count)
    }

    #[inline]
    fn text(&mut self) -> Result<&'a str, Wrong> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Wrong::new("a text is none"))
    }

    /// All was read.
    #[inline]
    fn end(&self) -> Result<(), Wrong> {
        if self.input.is_empty() { Ok(()) } else { Err(Wrong::new("more was written than is read")) }
    }

    #[inline]
    fn fields<'de, V: Visitor<'de>>(&mut self, count: usize, visitor: V) -> Result<V::Value, Wrong> {
        match self.fields.take() {
            Some(fields) if fields.len() == count => {
                visitor.visit_seq(OfState { pieces: self.pieces, fields: fields.iter() })
            }
            Some(_) => Err(Wrong::new("other fields are read than were written")),
            None => visitor.visit_seq(Fields { left: count, decoder: self }),
        }
    }
}

/// The fields of the state itself.
struct OfState<'a> {
    pieces: &'a Pieces,
    fields: std::slice::Iter<'a, (Vec<u8>, u32)>,
}

impl<'de> de::SeqAccess<'de> for OfState<'_> {
    type Error = Wrong;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some((bytes, _)) = self.fields.next() else { return Ok(None) };
        of_bytes(self.pieces, bytes, seed).map(Some)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len())
    }
}

/// What a piece holds.
fn of_piece<'de, T: DeserializeSeed<'de>>(pieces: &Pieces, number: u32, seed: T) -> Result<T::Value, Wrong> {
    let mut bytes = Vec::with_capacity(64);
    read(pieces, number, &mut bytes)?;
    of_bytes(pieces, &bytes, seed)
}

/// What these bytes hold, all of them.
fn of_bytes<'de, T: DeserializeSeed<'de>>(pieces: &Pieces, bytes: &[u8], seed: T) -> Result<T::Value, Wrong> {
    let mut decoder = Decoder { pieces, input: bytes, fields: None };
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

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(&mut *self.decoder).map(Some)
    }

    #[inline]
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
    #[inline]
    fn next(&mut self) -> Result<Option<Option<u32>>, Wrong> {
        match self.decoder.input.first() {
            Some(&first) if first < HERE => return Ok(Some(None)),
            _ => {}
        }
        match self.decoder.byte()? {
            HERE => Ok(Some(None)),
            PIECE => Ok(Some(Some(u32::from_le_bytes(self.decoder.array()?)))),
            _ => Ok(None),
        }
    }
}

impl<'de> de::SeqAccess<'de> for Elements<'_, '_> {
    type Error = Wrong;

    #[inline]
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

    #[inline]
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
                let mut decoder = Decoder { pieces: self.decoder.pieces, input: &bytes, fields: None };
                let key = seed.deserialize(&mut decoder)?;
                let done = bytes.len() - decoder.input.len();
                self.entry = Some((bytes, done));
                Ok(Some(key))
            }
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        match self.entry.take() {
            None => seed.deserialize(&mut *self.decoder),
            Some((bytes, done)) => {
                let mut decoder = Decoder { pieces: self.decoder.pieces, input: &bytes[done..], fields: None };
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
            visitor.$visit(value.try_into().map_err(|_| Wrong::new("a number is too large"))?)
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

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Wrong> {
        Err(Wrong::new("it must be known beforehand what is read: no untagged enums, no flattened fields"))
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

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_bool(self.byte()? != 0)
    }

    #[inline]
    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let value = char::from_u32(self.unsigned()? as u32);
        visitor.visit_char(value.ok_or_else(|| Wrong::new("a character is none"))?)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_str(self.text()?)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_string(self.text()?.to_string())
    }

    #[inline]
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_bytes(self.bytes()?)
    }

    #[inline]
    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_byte_buf(self.bytes()?.to_vec())
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.byte()? {
            0 => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_seq(Elements { decoder: self, entry: None })
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.fields(count, visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.fields(count, visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_map(Elements { decoder: self, entry: None })
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.fields(fields.len(), visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_enum(Variant { decoder: self })
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_u64(self.unsigned()?)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Wrong> {
        Err(Wrong::new("a field is written that is not read"))
    }
}
