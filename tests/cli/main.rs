//! The command as a user runs it: what it prints and writes, with which exit code it ends.

#[path = "../common/mod.rs"]
mod common;

mod agents;
mod conform;
mod conform_evidence;
mod coverage;
mod defaults;
mod editors;
mod findings;
mod forgetting;
mod generating;
mod lasso;
mod licences;
mod messages;
mod nets;
mod outputs;
mod promela;
mod promela_errors;
mod promela_verdicts;
mod record;
mod reports;
mod scaling;
mod schema;
mod simulation;
mod stores;
mod suggestions;
mod suite;
mod temporal;
mod terminal;
mod testing;
mod traces;
mod usage;
mod watching;
