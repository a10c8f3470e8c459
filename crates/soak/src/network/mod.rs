//! Networks of labelled transition systems: at random, and what their operators mean state by state.

mod generate;
mod grammar;
mod interpret;
mod print;
mod shrink;
mod tree;

pub use tree::Model;

use crate::coverage::{Grammar, Written};
use crate::language::{Answer, Expected, Language, Oracle, Twin};
use crate::oracle::graph::Graph;
use crate::oracle::{self, MOST_STATES, linear};
use interpret::Interpreter;
use scrimp_system::Random;
use std::path::Path;
use tree::{Body, Question};

pub struct Network;

impl Language for Network {
    type Model = Model;

    const NAME: &'static str = "network";
    const GRAMMAR: &'static Grammar = &grammar::GRAMMAR;

    fn generate(random: &mut Random, written: &mut Written) -> Model {
        let model = generate::model(random);
        grammar::note(&model, written);
        model
    }

    fn files(model: &Model, stem: &str) -> Vec<(String, String)> {
        print::files(model, stem)
    }

    fn judge(model: &Model, _: &Path, _: bool) -> Oracle {
        let Some(graph) = Graph::of(&Interpreter::new(model), MOST_STATES) else {
            return Oracle::Incomparable("too many states".into());
        };
        let mut answers = vec![graph.never("deadlock", |state| graph.is_dead(state))];
        if model.forbid.is_some() {
            answers.push(graph.never("assertions", |state| graph.forbidden[state] > 0));
        }
        answers.extend(model.questions.iter().map(|question| answer(question, &graph)));
        Oracle::Known(Expected { answers, ..graph.counts() })
    }

    fn twin(model: &Model, _: &mut Random) -> Option<Twin<Model>> {
        // Files that are the same twice.
        let mut twin = model.clone();
        twin.files = model.components.iter().map(|file| model.files[*file].clone()).collect();
        twin.components = (0..model.components.len()).collect();
        if let Body::Lines(lines) = &mut twin.body {
            lines.dedup();
        }
        let same_counts = twin.body == model.body;
        let property = |_: &Model, text: &str| Some(text.to_string());
        Some(Twin { model: twin, how: "of files of their own", same_counts, property })
    }

    fn smaller(model: &Model, number: usize) -> Option<Model> {
        shrink::smaller(model, number)
    }
}

fn answer(question: &Question, graph: &Graph<Vec<usize>>) -> Answer {
    let at = |(component, place): (usize, usize), state: usize| graph.states[state][component] == place;
    match question {
        Question::Invariant(component, place) => {
            graph.never(format!("invariant: !C{component}@{place}"), |state| at((*component, *place), state))
        }
        Question::Reach(component, place) => {
            let steps = graph.distance(|state| at((*component, *place), state));
            Answer::new(format!("reach: C{component}.{place}"), steps.is_some()).shown_by(steps)
        }
        Question::Formula { formula, branching, atoms, fair } => {
            let label = |state: usize| atoms.iter().enumerate().map(|(i, atom)| (at(*atom, state) as u64) << i).sum();
            let labels: Vec<u64> = (0..graph.states.len()).map(label).collect();
            let names: Vec<String> = atoms.iter().map(|(component, place)| format!("C{component}@{place}")).collect();
            let edges = &graph.edges;
            let holds = match branching {
                true => oracle::branching::holds(formula, &labels, edges)[0],
                false => linear::Runs { labels: &labels, edges, fair: *fair }.all_satisfy(formula),
            };
            let logic = if *branching { "ctl" } else { "ltl" };
            Answer { fair: *fair, ..Answer::new(format!("{logic}: {}", formula.text(&names, 7)), holds) }
        }
    }
}
