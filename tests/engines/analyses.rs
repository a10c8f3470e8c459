//! Whatever an analysis says cannot be, random systems in which much goes wrong try to do: expressions that are never a
//! fault, values that a cell never has, events that are never enabled. Of random nets the markings are looked at: sums of
//! tokens that are never larger, places that are never marked together.

use crate::common;
use crate::common::faulty::{expression, system};
use crate::common::{model, nets};
use scrimp::nets::{PetriNet, Structure};
use scrimp::{Batch, Mode, Model, NativeModel, System};
use scrimp_system::bounds::{Cells, Knowledge, bounds};
use scrimp_system::invariants::Invariants;
use scrimp_system::values::Values;
use scrimp_system::{Describe, Expr, Fault, Random, VarId};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// How many random systems.
fn many(usual: u64) -> u64 {
    std::env::var("SCRIMP_MANY").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// The reachable states, up to so many.
fn states(model: &NativeModel, most: usize) -> Vec<Vec<u8>> {
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    let mut open: VecDeque<Vec<u8>> = (0..batch.len()).map(|i| batch.state(i).to_vec()).collect();
    let mut seen: HashSet<Vec<u8>> = open.iter().cloned().collect();
    let mut all = Vec::new();
    while let Some(state) = open.pop_front() {
        let next = common::successors(model, &state);
        for i in 0..next.len() {
            if seen.len() < most && seen.insert(next.state(i).to_vec()) {
                open.push_back(next.state(i).to_vec());
            }
        }
        all.push(state);
    }
    all
}

/// A value for every cell, within its domain.
fn valuation(random: &mut Random, system: &System) -> Vec<i64> {
    let domains = system.variables.iter().flat_map(|v| std::iter::repeat_n(v.domain, v.cells()));
    domains.map(|d| d.low + random.below((d.high - d.low + 1) as usize) as i64).collect()
}

fn evaluated(system: &System, cells: &Cells, e: &Expr, valuation: &[i64]) -> Result<i64, Fault> {
    e.eval(&|v, index| Ok(valuation[cells.at(system, v, index).ok_or(Fault::Index)? as usize]))
}

#[test]
fn expressions_do_only_what_is_said_of_them() {
    let (mut faults, mut harmless, mut narrowed) = (0, 0, 0);
    for seed in 0..many(300) {
        let system = system(seed, false);
        let cells = Cells::new(&system);
        let random = &mut Random(seed ^ 0xe4a1);
        for _ in 0..100 {
            let e = expression(random, &system, 3);
            let may_fault = e.may_fault(&system.variables);
            harmless += !may_fault as usize;
            for _ in 0..10 {
                let valuation = valuation(random, &system);
                let value = evaluated(&system, &cells, &e, &valuation);
                faults += value.is_err() as usize;
                assert!(value.is_ok() || may_fault, "{e:?} is {value:?}");
                // Some cells are known exactly, of others little is known.
                let mut base: Vec<Values> = Vec::new();
                for (cell, value) in valuation.iter().enumerate() {
                    let domain = system.variables[cells.variable(cell as u32).index()].domain;
                    base.push(match random.below(3) {
                        0 => Values::one(*value),
                        1 => Values::one(*value).join(&Values::one(domain.low)),
                        _ => Values::of(domain),
                    });
                }
                let known = Knowledge::new(&system, &cells, &base);
                let Ok(value) = value else { continue };
                assert!(known.eval(&e).contains(value), "{e:?} is {value}, not one of {:?}", known.eval(&e));
                let mut then = known.clone();
                assert!(then.assume(&e, value != 0), "{e:?} can be {value} in {valuation:?}");
                for (cell, values) in then.changed() {
                    let held = valuation[cell as usize];
                    assert!(values.contains(held), "{e:?} is {value} where cell {cell} is {held}");
                    narrowed += 1;
                }
            }
        }
    }
    assert!(faults > 20_000 && harmless > 10_000 && narrowed > 10_000, "{faults} {harmless} {narrowed}");
}

#[test]
fn states_are_within_what_is_known_of_them() {
    let (mut windows, mut dead, mut entered) = (0, 0, 0);
    for seed in 0..many(400) {
        let system = Arc::new(system(seed, seed % 3 == 0));
        let model = model(&system, Mode::Interpreted);
        let invariants = [Invariants::new(&system), Invariants::at_a_glance(&system)];
        let cells = Cells::new(&system);
        let bounds = bounds(&system, &cells);
        windows += invariants[0].windows.len();
        let known: Vec<Vec<Option<Knowledge>>> =
            invariants.iter().map(|i| system.events.iter().map(|event| i.enter(&system, event)).collect()).collect();
        dead += known[0].iter().filter(|known| known.is_none()).count();
        for state in states(&model, 400) {
            let read = |cell: u32| model.layout().read(&state, cells.variable(cell), cells.index(cell) as i64);
            let values: Vec<i64> = (0..cells.count() as u32).map(|cell| read(cell).unwrap()).collect();
            let name = &system.source.name;
            for (cell, value) in values.iter().enumerate() {
                assert!(bounds[cell].contains(*value), "{name}: cell {cell} is {value}");
                assert!(invariants.iter().all(|i| i.base[cell].contains(*value)), "{name}: cell {cell} is {value}");
            }
            for window in invariants.iter().flat_map(|i| &i.windows) {
                let shown: Box<[i64]> = window.cells.iter().map(|cell| values[*cell as usize]).collect();
                assert!(window.tuples.contains(&shown), "{name}: {:?} are {shown:?}", window.cells);
            }
            for (number, event) in system.events.iter().enumerate() {
                let here = |m: &scrimp_system::Move| {
                    model.layout().read(&state, system.processes[m.process.index()].control, 0) == Ok(m.from as i64)
                };
                if !event.moves.iter().all(here) || model.layout().holds(&event.guard, &state) != Ok(true) {
                    continue;
                }
                entered += 1;
                for known in &known {
                    let known = known[number].as_ref().unwrap_or_else(|| panic!("{name}: {} is enabled", event.label));
                    let inside = |(cell, set): (u32, &Values)| set.contains(values[cell as usize]);
                    assert!(known.changed().all(inside), "{name}: where {} is enabled", event.label);
                }
            }
        }
    }
    assert!(windows > 100 && dead > 100 && entered > 10_000, "{windows} {dead} {entered}");
}

#[test]
fn markings_are_within_what_is_known_of_them() {
    let (mut sums, mut apart, mut looked) = (0, 0, 0);
    for seed in 0..many(400) {
        let structure: Structure =
            ["all", "bounds", "-groups", "none"][seed as usize % 4].parse().expect("a structure");
        let petri = PetriNet::new(nets::net(seed), format!("net {seed}"), structure);
        let mut system = System::clone(&petri.lowered().expect("there are not so many tokens").system);
        // A marking without room is a fault like others.
        system.guessed = false;
        let system = Arc::new(system);
        let model = model(&system, Mode::Interpreted);
        let known = system.known.of(&system);
        sums += known.sums.len();
        apart += known.apart.iter().flatten().count();
        for state in states(&model, 300) {
            let read = |v: VarId| model.layout().read(&state, v, 0).expect("a variable can be read");
            let told = || format!("net {seed}, {structure}, {:?}\n{}", model.values(&state), nets::shown(&petri.net));
            for sum in &known.sums {
                let all: i64 = sum.terms.iter().map(|(v, weight)| weight.of(read(*v))).sum();
                assert!(all <= sum.most, "{sum:?} is {all}: {}", told());
            }
            let holds = |number: u32| {
                let literal = known.literals[number as usize];
                literal.holds_for(read(literal.variable))
            };
            for (one, others) in (0..).zip(&known.apart).filter(|(one, _)| holds(*one)) {
                let both = others.iter().find(|other| holds(**other));
                assert!(both.is_none(), "{:?} and {both:?}: {}", known.literals[one as usize], told());
            }
            looked += 1;
        }
    }
    assert!(sums > 100 && apart > 1_000 && looked > 10_000, "{sums} {apart} {looked}");
}
