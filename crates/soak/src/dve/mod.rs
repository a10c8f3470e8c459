//! DVE: models at random, and what they mean by the manual.

mod expressions;
mod generate;
mod grammar;
mod interpret;
mod print;
mod shrink;
mod tree;
mod twin;

pub use tree::Model;

use crate::coverage::{Grammar, Written};
use crate::language::{Answer, Expected, Language, Oracle, Twin};
use crate::oracle::graph::Graph;
use crate::oracle::{self, MOST_STATES, linear};
use interpret::{Interpreter, State};
use print::Printer;
use scrimp_system::Random;
use std::path::Path;
use tree::{Expr, Question};

pub struct Dve;

impl Language for Dve {
    type Model = Model;

    const NAME: &'static str = "dve";
    const GRAMMAR: &'static Grammar = &grammar::GRAMMAR;

    fn generate(random: &mut Random, written: &mut Written) -> Model {
        let model = generate::model(random);
        grammar::note(&model, written);
        model
    }

    fn files(model: &Model, stem: &str) -> Vec<(String, String)> {
        vec![(format!("{stem}.dve"), Printer::new(model).text())]
    }

    fn judge(model: &Model, _: &Path, _: bool) -> Oracle {
        let interpreter = Interpreter::new(model, false);
        let Some(graph) = Graph::of(&interpreter, MOST_STATES) else {
            return Oracle::Incomparable("too many states".into());
        };
        let mut expected = Expected { answers: answers(model, &interpreter, &graph), ..graph.counts() };
        if let Some(watcher) = model.watcher() {
            let interpreter = Interpreter::new(model, true);
            let Some(graph) = Graph::of(&interpreter, MOST_STATES) else {
                return Oracle::Incomparable("too many states".into());
            };
            let accepting = &model.body(watcher).accepting;
            let accepts = |state: usize| accepting.contains(&graph.states[state].places[watcher]);
            // A guard that cannot be evaluated leaves it open what is accepted.
            if graph.states.iter().all(|state| interpreter.watches(state, watcher)) {
                expected.answers.push(Answer::new("claim", !oracle::cycle_through(&graph.edges, accepts)));
            }
            // Deadlocks are those of the system, whatever the one who watches can do.
            expected = Expected { answers: expected.answers, deadlocks: None, faults: None, ..graph.counts() };
        }
        Oracle::Known(expected)
    }

    fn twin(model: &Model, random: &mut Random) -> Option<Twin<Model>> {
        twin::twin(model, random)
    }

    fn smaller(model: &Model, number: usize) -> Option<Model> {
        shrink::smaller(model, number)
    }
}

/// What is true of the model without the process that watches.
fn answers(model: &Model, interpreter: &Interpreter, graph: &Graph<State>) -> Vec<Answer> {
    let eval = |e: &Expr, process: Option<usize>, state: usize| interpreter.eval(e, &graph.states[state], process);
    let states = || 0..graph.states.len();
    let mut answers = vec![
        graph.never("deadlock", |state| graph.is_dead(state)),
        graph.never("faults", |state| graph.faults[state] > 0),
    ];
    let holds = |process: usize, place: usize, e: &Expr, state: usize| {
        graph.states[state].places[process] != place || matches!(eval(e, Some(process), state), Ok(value) if value != 0)
    };
    let asserted = (0..model.processes.len()).all(|process| {
        model.body(process).assertions.iter().all(|(place, e)| states().all(|state| holds(process, *place, e, state)))
    });
    answers.push(Answer::new("assertions", asserted));
    for question in &model.questions {
        let text = Printer::new(model).question(question);
        let values = |e: &Expr| states().map(|state| eval(e, None, state).map(|v| v != 0)).collect::<Vec<_>>();
        match question {
            Question::Invariant(e) => {
                let values = values(e);
                answers.push(graph.never(text, |state| values[state] != Ok(true)));
            }
            Question::Reach(e) => {
                let values = values(e);
                // Where it cannot be evaluated somewhere, that is an error, whether or not it is reached elsewhere.
                let answer = match values.contains(&Err(interpret::Error)) {
                    true => Answer::new(text, false),
                    false => {
                        let steps = graph.distance(|state| values[state] == Ok(true));
                        Answer::new(text, steps.is_some()).shown_by(steps)
                    }
                };
                answers.push(answer);
            }
            Question::Formula { formula, branching, atoms, fair } => {
                let Some(labels) = labels(&atoms.iter().map(values).collect::<Vec<_>>()) else { continue };
                let edges = &graph.edges;
                let faults = graph.faults.iter().any(|faults| *faults > 0);
                let fair = *fair && !faults;
                let holds = match branching {
                    true => oracle::branching::holds(formula, &labels, edges)[0],
                    false => linear::Runs { labels: &labels, edges, fair }.all_satisfy(formula),
                };
                answers.push(Answer { fair, ..Answer::new(text, holds) });
            }
        }
    }
    answers
}

/// Which conditions hold in which state; nothing where one cannot be evaluated.
fn labels(values: &[Vec<Result<bool, interpret::Error>>]) -> Option<Vec<u64>> {
    let states = values.first().map_or(0, Vec::len);
    let bit = |number: usize, state: usize| Some((values[number][state].ok()? as u64) << number);
    (0..states).map(|state| (0..values.len()).map(|number| bit(number, state)).sum()).collect()
}
