//! Runs tables of tasks in processes of their own and compares what came out.
//!
//! [`suite`] reads a file of tasks and makes cases of them, [`runner`] works through the cases and records every run in
//! a [`log`], [`table`] shows what came out beside what was expected, and [`compare`] holds two logs against each other.
//! [`testing`] holds models against what they declare, [`again`] checks one each time that it changes.

pub mod again;
pub mod case;
pub mod child;
pub mod collection;
pub mod compare;
pub mod csv;
pub mod document;
pub mod expect;
pub mod expression;
pub mod figures;
pub mod html;
pub mod latex;
pub mod log;
pub mod matrix;
pub mod means;
pub mod measure;
pub mod models;
pub mod opened;
pub mod pattern;
pub mod record;
pub mod runner;
pub mod scaling;
pub mod scope;
pub mod search;
pub mod suite;
pub mod summary;
pub mod table;
pub mod template;
pub mod testing;
pub mod watched;
