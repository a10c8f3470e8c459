//! Petri nets, with colours and without: at random, and what they mean by firing alone.

mod generate;
mod grammar;
mod interpret;
mod print;
mod questions;
mod shrink;
mod tree;
mod twin;

pub use tree::Model;

use crate::coverage::{Grammar, Written};
use crate::language::{Answer, Expected, Language, Oracle, Twin};
use crate::oracle::graph::Graph;
use crate::oracle::{self, MOST_STATES, linear};
use interpret::{Interpreter, Marking};
use scrimp_system::Random;
use std::path::Path;
use tree::{Condition, Question};

pub struct Pnml;

impl Language for Pnml {
    type Model = Model;

    const NAME: &'static str = "pnml";
    const GRAMMAR: &'static Grammar = &grammar::GRAMMAR;

    fn generate(random: &mut Random, written: &mut Written) -> Model {
        let model = generate::model(random);
        grammar::note(&model, written);
        model
    }

    fn files(model: &Model, stem: &str) -> Vec<(String, String)> {
        vec![(format!("{stem}.pnml"), print::document(model))]
    }

    fn judge(model: &Model, _: &Path, _: bool) -> Oracle {
        let Some(interpreter) = Interpreter::new(model) else {
            return Oracle::Incomparable("less than empty".into());
        };
        let Some(graph) = Graph::of(&interpreter, MOST_STATES / 3) else {
            return Oracle::Incomparable("too many markings".into());
        };
        let answers = model.questions.iter().flat_map(|question| answers(question, &interpreter, &graph)).collect();
        Oracle::Known(Expected { answers, ..graph.counts() })
    }

    fn twin(model: &Model, random: &mut Random) -> Option<Twin<Model>> {
        twin::twin(model, random)
    }

    fn remarked(text: &str, remark: &str) -> String {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        format!("{first}\n<!-- {} -->\n{rest}", remark.replace("--", "=="))
    }

    fn smaller(model: &Model, number: usize) -> Option<Model> {
        shrink::smaller(model, number)
    }
}

/// The answer to a question, as it is asked in words and, where it can be, in XML.
fn answers(question: &Question, interpreter: &Interpreter, graph: &Graph<Marking>) -> Vec<Answer> {
    let model = interpreter.model;
    let holds = |c: &Condition| graph.states.iter().map(|m| interpreter.holds(c, m)).collect::<Vec<bool>>();
    let tokens = |place: usize, marking: &Marking| marking[place].iter().sum::<u64>();
    let places = || 0..model.places.len();
    let fires = |t: usize, state: usize| graph.edges[state].iter().any(|(_, own)| own[0] == t);
    let (truth, value) = match question {
        Question::Deadlock => ((0..graph.states.len()).all(|state| !graph.is_dead(state)), None),
        Question::Invariant(c) => (holds(c).into_iter().all(|value| value), None),
        Question::Reach(c) => (holds(c).contains(&true), None),
        Question::Bound(list) => {
            let most = graph.states.iter().map(|m| list.iter().map(|place| tokens(*place, m)).sum::<u64>()).max();
            (true, most)
        }
        Question::Bounded => (true, None),
        Question::OneSafe => (graph.states.iter().all(|m| places().all(|place| tokens(place, m) <= 1)), None),
        Question::StableMarking => {
            let stable =
                |place: usize| graph.states.iter().all(|m| tokens(place, m) == tokens(place, &graph.states[0]));
            (places().any(stable), None)
        }
        Question::QuasiLive => {
            let somewhere = |t: usize| (0..graph.states.len()).any(|state| fires(t, state));
            ((0..model.transitions.len()).all(somewhere), None)
        }
        Question::Live => {
            let again = |t: usize| {
                let labels: Vec<u64> = (0..graph.states.len()).map(|state| fires(t, state) as u64).collect();
                oracle::from_everywhere(&labels, &graph.edges)
            };
            ((0..model.transitions.len()).all(again), None)
        }
        Question::Formula { formula, branching, atoms } => {
            let values: Vec<Vec<bool>> = atoms.iter().map(holds).collect();
            let label = |state: usize| values.iter().enumerate().map(|(i, v)| (v[state] as u64) << i).sum();
            let labels: Vec<u64> = (0..graph.states.len()).map(label).collect();
            let edges = &graph.edges;
            let truth = match branching {
                true => oracle::branching::holds(formula, &labels, edges)[0],
                false => linear::Runs { labels: &labels, edges, fair: false }.all_satisfy(formula),
            };
            (truth, None)
        }
    };
    let answer = |text: String| Answer { value: value.map(|v| v.to_string()), ..Answer::new(text, truth) };
    let logic = if matches!(question, Question::Formula { branching: false, .. }) { " LTL" } else { "" };
    let xml = questions::xml(model, question).map(|xml| answer(format!("xml{logic}: {xml}")));
    [Some(answer(questions::text(model, question))), xml].into_iter().flatten().collect()
}
