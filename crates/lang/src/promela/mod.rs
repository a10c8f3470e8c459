//! Promela, the language of SPIN: text to [`System`](scrimp_system::System).

mod channels;
mod core;
mod declare;
mod element;
mod events;
mod flow;
mod instances;
mod known;
mod lower;
mod print;
mod program;
mod resolve;
mod syntax;
mod values;
