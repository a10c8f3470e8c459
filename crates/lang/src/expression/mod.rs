//! Expressions from text to [`scrimp_system::Expr`]: read by [`parser`], kept as [`syntax`], given meaning by [`lower`],
//! built of [`value`]s.

pub(crate) mod lower;
pub(crate) mod parser;
pub(crate) mod ranking;
pub(crate) mod syntax;
pub(crate) mod temporal;
mod value;
