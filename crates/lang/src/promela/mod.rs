//! Promela, the language of SPIN: text to [`System`](scrimp_system::System).

mod preprocess;
mod syntax;
