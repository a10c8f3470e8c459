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

/// Writes states.
pub struct Encoder<'p> {
    pieces: &'p Pieces,
    /// How deep within the state.
    depth: u32,
    fields: Option<usize>,
    /// How many bytes were written of the state.
    pub written: usize,
    buffers: &'p mut Buffers,
}

/// Memory for writing states, to be used again.
#[derive(Default)]
pub struct Buffers {
    out: Vec<u8>,
    numbers: Vec<u32>,
    /// What each field holds in a state that those to be written are much like, and its number.
    like: Vec<(Vec<u8>, u32)>,
}

impl Buffers {
    /// The numbers of the pieces of the state that was written last.
    #[inline]
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// What is written from now on is much like the state with these pieces: a field that has not changed need not be looked up.
    /// What each field of that state holds, and its number.
    pub fn follow(&mut self, pieces: &Pieces, numbers: impl ExactSizeIterator<Item = u32>) -> &[(Vec<u8>, u32)] {
        let known = self.like.len();
        self.like.resize_with(numbers.len(), Default::default);
        for (place, (number, (bytes, like))) in numbers.zip(&mut self.like).enumerate() {
            if place >= known || *like != number {
                bytes.clear();
                pieces.read(number, bytes);
                *like = number;
            }
        }
        &self.like
    }
}

impl<'p> Encoder<'p> {
    pub fn new(pieces: &'p Pieces, buffers: &'p mut Buffers) -> Encoder<'p> {
        Encoder { pieces, depth: 0, fields: None, written: 0, buffers }
    }

    /// Finds the numbers of a state's pieces, which are then in the buffers. How the state is laid out.
    pub fn encode(&mut self, state: &impl Serialize) -> Result<Shape, Wrong> {
        self.buffers.out.clear();
        self.buffers.numbers.clear();
        (self.depth, self.fields, self.written) = (0, None, 0);
        state.serialize(&mut *self)?;
        let written = self.buffers.numbers.len();
        match self.fields.filter(|fields| *fields > 0) {
            Some(fields) if fields == written => Ok(Shape::Fields(fields)),
            Some(fields) => Err(Wrong::new(format!("{fields} fields were announced, {written} were written"))),
            None => {
                let number = self.number(0)?;
                self.written += self.buffers.out.len();
                self.buffers.numbers.push(number);
                Ok(Shape::Whole)
            }
        }
    }

    /// The number of what was written from `start` on, as a piece.
    #[inline]
    fn number(&self, start: usize) -> Result<u32, Wrong> {
        self.pieces
            .number(&self.buffers.out[start..])
            .ok_or_else(|| Wrong::new("there are more pieces of states than numbers"))
    }

    #[inline]
    fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.buffers.out.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.buffers.out.push(value as u8);
    }

    #[inline]
    fn signed(&mut self, value: i64) {
        self.unsigned((value << 1 ^ value >> 63) as u64);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.unsigned(bytes.len() as u64);
        self.buffers.out.extend_from_slice(bytes);
    }

    /// A field of a struct or tuple.
    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, top: bool, value: &T) -> Result<(), Wrong> {
        if !top {
            return value.serialize(&mut *self);
        }
        self.buffers.out.clear();
        value.serialize(&mut *self)?;
        self.written += self.buffers.out.len();
        let number = match self.buffers.like.get(self.buffers.numbers.len()) {
            Some((bytes, number)) if *bytes == self.buffers.out => *number,
            _ => self.number(0)?,
        };
        self.buffers.numbers.push(number);
        Ok(())
    }

    /// What was written from `start` on is an element.
    #[inline(always)]
    fn element(&mut self, start: usize) -> Result<(), Wrong> {
        let out = &self.buffers.out;
        match out.get(start) {
            Some(first) if *first < HERE && out.len() - start <= SHORT => Ok(()),
            _ => self.marked_element(start),
        }
    }

    /// The same, of one that needs a mark before it.
    #[inline(never)]
    fn marked_element(&mut self, start: usize) -> Result<(), Wrong> {
        let length = self.buffers.out.len() - start;
        if length <= SHORT {
            self.buffers.out.insert(start, HERE);
            return Ok(());
        }
        let number = self.number(start)?;
        self.written += length;
        self.buffers.out.truncate(start);
        self.buffers.out.push(PIECE);
        self.buffers.out.extend_from_slice(&number.to_le_bytes());
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
        self.start = self.encoder.buffers.out.len();
    }

    #[inline]
    fn close(self) -> Result<(), Wrong> {
        self.encoder.buffers.out.push(END);
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
        self.buffers.out.push(value as u8);
        Ok(())
    }

    #[inline]
    fn serialize_i8(self, value: i8) -> Result<(), Wrong> {
        self.buffers.out.push(value as u8);
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
        self.buffers.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn serialize_u8(self, value: u8) -> Result<(), Wrong> {
        self.buffers.out.push(value);
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
        self.buffers.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<(), Wrong> {
        self.buffers.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<(), Wrong> {
        self.buffers.out.extend_from_slice(&value.to_le_bytes());
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
        self.buffers.out.push(0);
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
