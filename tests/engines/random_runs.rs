//! Random formulas of linear and of branching time about random small nets: every answer is that of the formula as it stands,
//! worked out on the graph of all markings, and every run that comes with an answer repeats itself as it says.
//!
//! `SCRIMP_TEST_NETS` is the number of nets, and `SCRIMP_TEST_SEED` the first seed.

use crate::common::nets::{Graph, after, condition, net, shown};
use scrimp::lts::Wanted;
use scrimp::nets::{Inquiry, PetriNet, Structure};
use scrimp::{CheckError, Control, Guides, Mode, NativeModel, Options, Plan, Property, PropertyResult, Report};
use scrimp_net::reduce::{Time, reduce_for};
use scrimp_net::{Condition, Formula, NamedQuestion, Net, Question};
use scrimp_system::{Random, Stop};
use scrimp_temporal::{Limits, translate};
use std::error::Error;
use std::time::{Duration, Instant};

const MOST: usize = 60;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn linear(net: &Net, random: &mut Random, depth: usize) -> Formula {
    let is = |random: &mut Random| Formula::Atom(condition(net, random, 1));
    if depth == 0 {
        return is(random);
    }
    let mut inner = || Box::new(linear(net, random, depth - 1));
    let (a, b) = (inner(), inner());
    match random.below(14) {
        0 => *a,
        1 => Formula::Not(a),
        2 => Formula::And(vec![*a, *b]),
        3 => Formula::Or(vec![*a, *b]),
        4 => Formula::Implies(a, b),
        5 => Formula::Equivalent(a, b),
        6 => Formula::Next(a),
        7 | 8 => Formula::Finally(a),
        9 | 10 => Formula::Globally(a),
        11 => Formula::Until(a, b),
        12 => Formula::Release(a, b),
        _ if random.below(2) == 0 => Formula::WeakUntil(a, b),
        _ => Formula::StrongRelease(a, b),
    }
}

fn branching(net: &Net, random: &mut Random, depth: usize) -> Formula {
    if depth == 0 {
        return Formula::Atom(condition(net, random, 1));
    }
    let mut inner = || Box::new(branching(net, random, depth - 1));
    let (a, b) = (inner(), inner());
    let path = match random.below(16) {
        0 => return *a,
        1 => return Formula::Not(a),
        2 => return Formula::And(vec![*a, *b]),
        3 => return Formula::Or(vec![*a, *b]),
        4 => return Formula::Implies(a, b),
        5 => return Formula::Equivalent(a, b),
        6 | 7 => Formula::Next(a),
        8 | 9 => Formula::Finally(a),
        10 | 11 => Formula::Globally(a),
        12 | 13 => Formula::Until(a, b),
        14 => Formula::WeakUntil(a, b),
        _ => Formula::Release(a, b),
    };
    if random.below(2) == 0 { Formula::AllPaths(Box::new(path)) } else { Formula::ExistsPath(Box::new(path)) }
}

/// Where a formula of branching time holds.
fn where_it_holds(formula: &Formula, net: &Net, graph: &Graph) -> Vec<bool> {
    let of = |f: &Formula| where_it_holds(f, net, graph);
    let not = |a: Vec<bool>| a.into_iter().map(|x| !x).collect::<Vec<bool>>();
    let both = |a: Vec<bool>, b: Vec<bool>, f: fn(bool, bool) -> bool| {
        a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect::<Vec<bool>>()
    };
    let everywhere = |truth: bool| vec![truth; graph.markings.len()];
    // From the empty set up, or from all markings down: b, or a and a step to where it holds (on all steps, or on one).
    let until = |a: &[bool], b: &[bool], all_paths: bool, weak: bool| {
        let mut now = everywhere(weak);
        loop {
            let next = (0..now.len()).map(|m| {
                let mut steps = graph.firings[m].iter().map(|&(_, to)| now[to]);
                let onward = match (graph.firings[m].is_empty(), all_paths) {
                    // The run ends here: what need not come has not come.
                    (true, _) => weak,
                    (_, true) => steps.all(|x| x),
                    (_, false) => steps.any(|x| x),
                };
                b[m] || a[m] && onward
            });
            let next: Vec<bool> = next.collect();
            if next == now {
                return now;
            }
            now = next;
        }
    };
    match formula {
        Formula::True => everywhere(true),
        Formula::False => everywhere(false),
        Formula::Atom(condition) => graph.markings.iter().map(|m| condition.holds(net, m)).collect(),
        Formula::Not(a) => not(of(a)),
        Formula::And(parts) => parts.iter().map(of).reduce(|a, b| both(a, b, |a, b| a && b)).unwrap(),
        Formula::Or(parts) => parts.iter().map(of).reduce(|a, b| both(a, b, |a, b| a || b)).unwrap(),
        Formula::Implies(a, b) => both(of(a), of(b), |a, b| !a || b),
        Formula::Equivalent(a, b) => both(of(a), of(b), |a, b| a == b),
        Formula::AllPaths(path) | Formula::ExistsPath(path) => {
            let all_paths = matches!(formula, Formula::AllPaths(_));
            match &**path {
                Formula::Next(a) => {
                    let a = of(a);
                    let step = |firings: &Vec<(u32, usize)>| match all_paths {
                        true => firings.iter().all(|&(_, to)| a[to]),
                        false => firings.iter().any(|&(_, to)| a[to]),
                    };
                    graph.firings.iter().map(step).collect()
                }
                Formula::Finally(a) => until(&everywhere(true), &of(a), all_paths, false),
                Formula::Globally(a) => until(&of(a), &everywhere(false), all_paths, true),
                Formula::Until(a, b) => until(&of(a), &of(b), all_paths, false),
                Formula::WeakUntil(a, b) => until(&of(a), &of(b), all_paths, true),
                Formula::Release(a, b) => {
                    let (a, b) = (of(a), of(b));
                    until(&b, &both(a, b.clone(), |a, b| a && b), all_paths, true)
                }
                other => panic!("{other:?}"),
            }
        }
        other => panic!("{other:?}"),
    }
}

/// Does a formula of linear time hold of every run? By the automaton of its negation and the components of the product.
fn holds_of_all(formula: &Formula, net: &Net, graph: &Graph) -> Option<bool> {
    let mut conditions: Vec<Condition> = Vec::new();
    formula.atoms(&mut |c| {
        if !conditions.contains(c) {
            conditions.push(c.clone());
        }
    });
    let letters = formula.map(&mut |c| conditions.iter().position(|known| known == c).unwrap() as u32);
    let automaton = translate(&scrimp_temporal::Formula::Not(Box::new(letters)), &Limits::default()).ok()?;
    let letter = |m: usize| {
        let holds = |(i, c): (usize, &Condition)| (c.holds(net, &graph.markings[m]) as u64) << i;
        conditions.iter().enumerate().map(holds).sum::<u64>()
    };
    let states = automaton.states.len();
    let edges = |node: usize| {
        let (m, q) = (node / states, node % states);
        let mut next: Vec<usize> = graph.firings[m].iter().map(|&(_, to)| to).collect();
        if next.is_empty() {
            next.push(m);
        }
        let enabled: Vec<(usize, u64)> = automaton.states[q]
            .iter()
            .filter(|edge| edge.guard.holds(letter(m)))
            .map(|edge| (edge.to as usize, edge.marks))
            .collect();
        next.into_iter()
            .flat_map(|to| enabled.iter().map(move |&(q, marks)| (to * states + q, marks)))
            .collect::<Vec<_>>()
    };
    let reach = |start: usize| {
        let mut seen = vec![false; graph.markings.len() * states];
        let mut todo = vec![start];
        while let Some(node) = todo.pop() {
            for (next, _) in edges(node) {
                if !std::mem::replace(&mut seen[next], true) {
                    todo.push(next);
                }
            }
        }
        seen
    };
    let start = automaton.initial as usize;
    let mut from_start = reach(start);
    from_start[start] = true;
    let mut passed = vec![false; from_start.len()];
    for node in (0..from_start.len()).filter(|&node| from_start[node]) {
        if passed[node] {
            continue;
        }
        let forth = reach(node);
        if !forth[node] {
            continue;
        }
        // The component of the node: what it reaches and what reaches it.
        let component: Vec<usize> = (0..forth.len()).filter(|&n| forth[n] && reach(n)[node]).collect();
        let mut inside = vec![false; forth.len()];
        component.iter().for_each(|&n| inside[n] = true);
        let marks =
            component.iter().flat_map(|&n| edges(n)).filter(|(to, _)| inside[*to]).fold(0, |all, (_, m)| all | m);
        if marks & automaton.all_marks() == automaton.all_marks() {
            return Some(false);
        }
        component.iter().for_each(|&n| passed[n] = true);
    }
    Some(true)
}

fn results(net: &Net, formulas: &[Formula], structure: Structure) -> Result<Vec<PropertyResult>, Box<dyn Error>> {
    let name = |(number, f): (usize, &Formula)| NamedQuestion {
        name: number.to_string(),
        question: Question::Formula(f.clone()),
    };
    let questions = formulas.iter().enumerate().map(name).collect();
    let options = Options { memory: Some(1 << 30), ..Options::default() };
    let mut search =
        |model: &NativeModel, properties: &[Property<scrimp_core::Condition>], plan: &mut Plan, wanted: &Wanted| {
            let guides = Guides { graph: Some(wanted), ..Guides::default() };
            let control = Control::new(plan.options().time);
            Ok::<Report, CheckError>(scrimp::run_guided(model, properties, plan, &control, guides)?)
        };
    let petri = PetriNet::new(net.clone(), "random".into(), structure);
    let answered = Inquiry::new(petri, questions).answer(&options, Mode::Auto, &mut search, &Stop::never())?;
    Ok(answered.report.properties)
}

#[test]
fn every_formula_is_decided_as_on_the_graph() {
    let first = number("SCRIMP_TEST_SEED", 0);
    let (mut answers, mut lassos) = (0, 0);
    for seed in first..first + number("SCRIMP_TEST_NETS", 60) {
        let net = net(seed);
        let Ok(graph) = Graph::new(&net, MOST) else { continue };
        let random = &mut Random(seed ^ 0xf0a1);
        let mut formulas: Vec<Formula> = (0..6).map(|_| branching(&net, random, 3)).collect();
        formulas.extend((0..6).map(|_| linear(&net, random, 3)));
        let structure = if seed % 2 == 0 { Structure::ALL } else { Structure::NONE };
        let structure = Structure { walks: false, ..structure };
        let results = results(&net, &formulas, structure).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for (formula, result) in formulas.iter().zip(&results) {
            let expected = match formula.is_ctl() {
                true => Some(where_it_holds(formula, &net, &graph)[0]),
                false => holds_of_all(formula, &net, &graph),
            };
            let context = || format!("seed {seed}: {formula:?}\n{result:?}\n{}", shown(&net));
            let expected = expected.map(|truth| if truth { "TRUE" } else { "FALSE" });
            assert!(expected.is_none() || result.answer.as_deref() == expected, "{expected:?}\n{}", context());
            answers += 1;
            let (Some(trace), Some(cycle)) = (&result.trace, result.cycle) else { continue };
            let run: Vec<u32> = trace.steps.iter().map(|(event, _)| *event).collect();
            let (end, back) = (after(&net, &run), after(&net, &run[..cycle]));
            assert!(end.is_some() && end == back, "{run:?} does not come back to {cycle}\n{}", context());
            lassos += 1;
        }
    }
    println!("{answers} answers, {lassos} runs that repeat themselves");
    assert!(answers > 100 && lassos > 0);
}

#[test]
fn every_formula_holds_in_the_smaller_net_if_it_does_in_the_whole() {
    let first = number("SCRIMP_TEST_SEED", 0);
    let (mut smaller, mut fused) = (0, 0);
    for seed in first..first + number("SCRIMP_TEST_NETS", 400) {
        let net = net(seed);
        let Ok(graph) = Graph::new(&net, MOST) else { continue };
        let random = &mut Random(seed ^ 0x5a11);
        for i in 0..8 {
            let time = if i % 2 == 0 { Time::Branching } else { Time::Linear };
            let depth = 1 + random.below(3);
            let formula = match time {
                Time::Branching => branching(&net, random, depth),
                Time::Linear => linear(&net, random, depth),
            };
            let deadline = Instant::now() + Duration::from_secs(5);
            let (reduced, question) = reduce_for(&net, &formula, time, deadline).expect("its places are observed");
            if reduced.removed.is_empty() {
                continue;
            }
            let left = Graph::new(&reduced.net, 4 * MOST).unwrap_or_else(|_| panic!("seed {seed}: it has grown"));
            let context = || format!("seed {seed}: {formula:?}\n{:?}\n{}", reduced.removed, shown(&net));
            let (before, now) = match time {
                Time::Branching => {
                    let holds = |f: &Formula, net: &Net, graph: &Graph| Some(where_it_holds(f, net, graph)[0]);
                    (holds(&formula, &net, &graph), holds(&question, &reduced.net, &left))
                }
                Time::Linear => (holds_of_all(&formula, &net, &graph), holds_of_all(&question, &reduced.net, &left)),
            };
            assert_eq!(before, now, "{}", context());
            smaller += 1;
            fused += (reduced.net.places.len() + 1 < net.places.len()) as usize;
        }
    }
    println!("{smaller} smaller nets, {fused} of them by more than a place");
    assert!(smaller > 100);
}
