//! From a state to the numbers of its pieces.

use super::{END, HERE, PIECE, Pieces, SHORT, Wrong};
use serde::ser::{self, Serialize};

/// How states are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A struct or tuple with so many fields: a number for each.
    Fields(usize),
    /// Anything else: one number for all.
    Whole,
}

impl Shape {
    pub fn numbers(self) -> usize {
        match self {
            Shape::Fields(fields) => fields,
            Shape::Whole => 1,
        }
    }
}

/// Memory for writing states.
pub struct Encoder<'p> {
    pieces: &'p Pieces,
    out: Vec<u8>,
    /// How deep within the state.
    depth: u32,
    numbers: Vec<u32>,
    fields: Option<usize>,
    /// How many bytes were written of the state.
    pub written: usize,
    /// What each field held in the state before, and its number: states that follow one another are much alike.
    before: Vec<(Vec<u8>, u32)>,
}

impl<'p> Encoder<'p> {
    pub fn new(pieces: &'p Pieces) -> Encoder<'p> {
        Encoder { pieces, out: Vec::new(), depth: 0, numbers: Vec::new(), fields: None, written: 0, before: Vec::new() }
    }

    /// The numbers of a state's pieces, and how it is laid out.
    pub fn encode(&mut self, state: &impl Serialize) -> Result<(Shape, &[u32]), Wrong> {
        self.out.clear();
        self.numbers.clear();
        (self.depth, self.fields, self.written) = (0, None, 0);
        state.serialize(&mut *self)?;
        match self.fields.filter(|fields| *fields > 0) {
            Some(fields) if fields == self.numbers.len() => Ok((Shape::Fields(fields), &self.numbers)),
            Some(fields) => Err(Wrong(format!("{fields} fields were announced, {} were written", self.numbers.len()))),
            None => {
                let number = self.number(0)?;
                self.written += self.out.len();
                self.numbers.push(number);
                Ok((Shape::Whole, &self.numbers))
            }
        }
    }

    /// The number of what was written from `start` on, as a piece.
    fn number(&self, start: usize) -> Result<u32, Wrong> {
        self.pieces
            .number(&self.out[start..])
            .ok_or_else(|| Wrong("there are more pieces of states than numbers".into()))
    }

    #[inline]
    fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
    }

    #[inline]
    fn signed(&mut self, value: i64) {
        self.unsigned((value << 1 ^ value >> 63) as u64);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.unsigned(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    /// A field of a struct or tuple.
    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, top: bool, value: &T) -> Result<(), Wrong> {
        if !top {
            return value.serialize(&mut *self);
        }
        self.out.clear();
        value.serialize(&mut *self)?;
        self.written += self.out.len();
        let place = self.numbers.len();
        let number = match self.before.get(place) {
            Some((bytes, number)) if *bytes == self.out => *number,
            _ => self.different(place)?,
        };
        self.numbers.push(number);
        Ok(())
    }

    /// The number of what was written, which is not what this field held before.
    fn different(&mut self, place: usize) -> Result<u32, Wrong> {
        let number = self.number(0)?;
        if self.before.len() <= place {
            self.before.resize_with(place + 1, Default::default);
        }
        let (bytes, known) = &mut self.before[place];
        bytes.clone_from(&self.out);
        *known = number;
        Ok(number)
    }

    /// What was written from `start` on is an element.
    #[inline]
    fn element(&mut self, start: usize) -> Result<(), Wrong> {
        if self.out.len() - start - 1 > SHORT {
            let number = self.number(start + 1)?;
            self.written += self.out.len() - start;
            self.out.truncate(start);
            self.out.push(PIECE);
            self.out.extend_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }

    #[inline]
    fn fields(&mut self, count: usize) -> Fields<'_, 'p> {
        let top = self.depth == 0;
        if top {
            self.fields = Some(count);
        }
        self.depth += 1;
        Fields { top: top && count > 0, encoder: self }
    }

    #[inline]
    fn elements(&mut self) -> Elements<'_, 'p> {
        self.depth += 1;
        Elements { start: 0, encoder: self }
    }

    #[inline]
    fn variant(&mut self, number: u32) -> Fields<'_, 'p> {
        self.unsigned(number as u64);
        self.depth += 1;
        Fields { top: false, encoder: self }
    }
}

/// The fields of a struct, a tuple or a variant, one after the other.
pub struct Fields<'e, 'p> {
    top: bool,
    encoder: &'e mut Encoder<'p>,
}

/// The elements of a sequence or a map.
pub struct Elements<'e, 'p> {
    start: usize,
    encoder: &'e mut Encoder<'p>,
}

impl Elements<'_, '_> {
    #[inline]
    fn begin(&mut self) {
        self.start = self.encoder.out.len();
        self.encoder.out.push(HERE);
    }

    #[inline]
    fn close(self) -> Result<(), Wrong> {
        self.encoder.out.push(END);
        self.encoder.depth -= 1;
        Ok(())
    }
}

impl<'e, 'p> ser::Serializer for &'e mut Encoder<'p> {
    type Ok = ();
    type Error = Wrong;
    type SerializeSeq = Elements<'e, 'p>;
    type SerializeTuple = Fields<'e, 'p>;
    type SerializeTupleStruct = Fields<'e, 'p>;
    type SerializeTupleVariant = Fields<'e, 'p>;
    type SerializeMap = Elements<'e, 'p>;
    type SerializeStruct = Fields<'e, 'p>;
    type SerializeStructVariant = Fields<'e, 'p>;

    #[inline]
    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Wrong> {
        self.out.push(value as u8);
        Ok(())
    }

    #[inline]
    fn serialize_i8(self, value: i8) -> Result<(), Wrong> {
        self.out.push(value as u8);
        Ok(())
    }

    #[inline]
    fn serialize_i16(self, value: i16) -> Result<(), Wrong> {
        self.signed(value as i64);
        Ok(())
    }

    #[inline]
    fn serialize_i32(self, value: i32) -> Result<(), Wrong> {
        self.signed(value as i64);
        Ok(())
    }

    #[inline]
    fn serialize_i64(self, value: i64) -> Result<(), Wrong> {
        self.signed(value);
        Ok(())
    }

    #[inline]
    fn serialize_i128(self, value: i128) -> Result<(), Wrong> {
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn serialize_u8(self, value: u8) -> Result<(), Wrong> {
        self.out.push(value);
        Ok(())
    }

    #[inline]
    fn serialize_u16(self, value: u16) -> Result<(), Wrong> {
        self.unsigned(value as u64);
        Ok(())
    }

    #[inline]
    fn serialize_u32(self, value: u32) -> Result<(), Wrong> {
        self.unsigned(value as u64);
        Ok(())
    }

    #[inline]
    fn serialize_u64(self, value: u64) -> Result<(), Wrong> {
        self.unsigned(value);
        Ok(())
    }

    #[inline]
    fn serialize_u128(self, value: u128) -> Result<(), Wrong> {
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<(), Wrong> {
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<(), Wrong> {
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn serialize_char(self, value: char) -> Result<(), Wrong> {
        self.unsigned(value as u64);
        Ok(())
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Wrong> {
        self.bytes(value.as_bytes());
        Ok(())
    }

    #[inline]
    fn serialize_bytes(self, value: &[u8]) -> Result<(), Wrong> {
        self.bytes(value);
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Wrong> {
        self.out.push(0);
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Wrong> {
        self.variant(1).encoder.field(false, value)?;
        self.depth -= 1;
        Ok(())
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Wrong> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Wrong> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, number: u32, _: &'static str) -> Result<(), Wrong> {
        self.unsigned(number as u64);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Wrong> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        number: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Wrong> {
        self.variant(number).encoder.field(false, value)?;
        self.depth -= 1;
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'e, 'p>, Wrong> {
        Ok(self.elements())
    }

    #[inline]
    fn serialize_tuple(self, count: usize) -> Result<Fields<'e, 'p>, Wrong> {
        Ok(self.fields(count))
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, count: usize) -> Result<Fields<'e, 'p>, Wrong> {
        Ok(self.fields(count))
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        number: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Fields<'e, 'p>, Wrong> {
        Ok(self.variant(number))
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Elements<'e, 'p>, Wrong> {
        Ok(self.elements())
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, count: usize) -> Result<Fields<'e, 'p>, Wrong> {
        Ok(self.fields(count))
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        _: &'static str,
        number: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Fields<'e, 'p>, Wrong> {
        Ok(self.variant(number))
    }
}

impl ser::SerializeSeq for Elements<'_, '_> {
    type Ok = ();
    type Error = Wrong;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        self.begin();
        value.serialize(&mut *self.encoder)?;
        self.encoder.element(self.start)
    }

    #[inline]
    fn end(self) -> Result<(), Wrong> {
        self.close()
    }
}

impl ser::SerializeMap for Elements<'_, '_> {
    type Ok = ();
    type Error = Wrong;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Wrong> {
        self.begin();
        key.serialize(&mut *self.encoder)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        value.serialize(&mut *self.encoder)?;
        self.encoder.element(self.start)
    }

    #[inline]
    fn end(self) -> Result<(), Wrong> {
        self.close()
    }
}

macro_rules! of_fields {
    ($($kind:ident $method:ident $(($name:ty))?;)*) => {$(
        impl ser::$kind for Fields<'_, '_> {
            type Ok = ();
            type Error = Wrong;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Result<(), Wrong> {
                self.encoder.field(self.top, value)
            }

            #[inline]
            fn end(self) -> Result<(), Wrong> {
                self.encoder.depth -= 1;
                Ok(())
            }
        }
    )*};
}

of_fields! {
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
    SerializeStruct serialize_field (&'static str);
    SerializeStructVariant serialize_field (&'static str);
}
