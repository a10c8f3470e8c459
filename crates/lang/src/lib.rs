//! From the text of a model to a [`System`](scrimp_system::System), and from the text of a property to a
//! [`Property`](scrimp_core::Property).
//!
//! [`load`] reads a file in whatever language its name says. Wrong texts are refused with a [`Diagnostic`] that points at
//! the place; no text makes these functions panic, hang or exhaust the stack.
//!
//! Without the feature `models` there are only properties.

// Properties do not need all of what languages share.
#![cfg_attr(not(feature = "models"), allow(dead_code))]

mod advice;
#[cfg(feature = "models")]
mod aut;
#[cfg(feature = "models")]
mod boundary;
mod diagnostic;
#[cfg(feature = "models")]
mod dve;
mod expression;
#[cfg(feature = "models")]
mod foreign;
mod formula;
mod lexer;
mod lines;
#[cfg(feature = "models")]
mod measure;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "models")]
mod opened;
#[cfg(feature = "models")]
mod pnml;
#[cfg(feature = "models")]
mod promela;
mod property;
#[cfg(feature = "models")]
mod question;
#[cfg(feature = "models")]
mod reading;
mod symbols;

#[cfg(feature = "models")]
pub use boundary::{Astray, inside, read_beside, stay_within};
pub use diagnostic::Diagnostic;
#[cfg(feature = "models")]
pub use dve::parse_dve;
#[cfg(feature = "models")]
pub use foreign::why_unreadable;
#[cfg(feature = "models")]
pub use measure::{MeasurePart, parse_measure, refuse_part};
#[cfg(feature = "models")]
pub use models::{LoadError, Opened, load, open, open_as, open_text, open_with, open_within};
#[cfg(feature = "models")]
pub use opened::listen_to_opened;
#[cfg(feature = "models")]
pub use pnml::{read_formulas, read_formulas_from, read_net, read_net_from, read_net_within};
#[cfg(feature = "models")]
pub use promela::Promela;
pub use property::{parse_condition, parse_property, parse_property_file};
#[cfg(feature = "models")]
pub use question::NetNames;
#[cfg(feature = "models")]
pub use reading::{Language, is_model_name};

/// Bytes that the text of a model may have, decompressed.
#[cfg(feature = "models")]
const MAX_TEXT: u64 = 64 << 20;
