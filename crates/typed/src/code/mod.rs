//! States as bytes of one length, and back.
//!
//! Serde takes a state apart. What a field of it holds becomes a *piece*: a string of bytes that is kept once, however many states
//! have it, and has a number. Within a piece, elements of sequences and maps are pieces too, unless they are short. A state is
//! then the numbers of its fields: short, of one length whatever it holds, and much alike in states that are.

mod decode;
mod encode;
mod pieces;
mod tree;

pub use decode::decode;
pub use encode::{Buffers, Encoder, Shape};
pub use pieces::{Pieces, hash};
pub use tree::tree;

use serde::{de, ser};
use std::fmt;

/// Why a value cannot be written or read. That hardly ever happens, so it is a pointer only.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::box_collection)]
pub struct Wrong(Box<String>);

impl Wrong {
    #[cold]
    pub fn new(why: impl Into<String>) -> Wrong {
        Wrong(Box::new(why.into()))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl ser::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Wrong {
        Wrong::new(message.to_string())
    }
}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Wrong {
        Wrong::new(message.to_string())
    }
}

/// What stands before an element: it follows, or the number of its piece does, or there are no more. Nothing stands before an
/// element whose first byte is none of these.
const HERE: u8 = 0xfd;
const PIECE: u8 = 0xfe;
const END: u8 = 0xff;

/// Elements of more bytes are pieces.
const SHORT: usize = 8;
