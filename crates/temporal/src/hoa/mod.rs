//! Automata as text: the Hanoi Omega-Automata format, version 1.

mod label;
mod lexer;
mod reader;
mod writer;

pub use lexer::HoaError;
pub use reader::read;
pub use writer::write;
