//! Every file of `models/` with collapsed states: the counts of its header, whatever searches and forgets.

mod common;

use common::{files, model, property, replay};
use scrimp::plan::{CacheChoice, ForgetChoice, OrderChoice, StoreChoice};
use scrimp::{Control, Mode, Options, Plan, Property, Report, Verdict};

const MEMORY: usize = 16 << 30;

fn collapsed(options: Options) -> Plan {
    Plan::new(&Options { store: Some(StoreChoice::Collapse), memory: Some(MEMORY), ..options }).expect("a sound plan")
}

fn run(model: &scrimp::NativeModel, properties: &[Property], plan: &Plan) -> Report {
    scrimp::run(model, properties, plan, &Control::new(None)).expect("the search can begin")
}

#[test]
fn plain_searches_count_the_same() {
    for file in files() {
        let model = model(&file.system, Mode::Compiled);
        for threads in [1, 2, 4] {
            let context = format!("{}, {threads} threads", file.name);
            let report = run(&model, &[], &collapsed(Options { threads, ..Options::default() }));
            let facts = report.facts;
            assert!(report.exhaustive, "{context}");
            assert_eq!(
                (facts.states, facts.transitions, facts.depth as u64),
                (file.facts.states, file.facts.transitions, file.facts.levels),
                "{context}"
            );
        }
    }
}

#[test]
fn traces_lead_to_what_was_found() {
    for file in files().into_iter().filter(|file| file.facts.states < 50_000) {
        let model = model(&file.system, Mode::Compiled);
        for (order, threads) in
            [(OrderChoice::BreadthFirst, 1), (OrderChoice::BreadthFirst, 2), (OrderChoice::DepthFirst, 1)]
        {
            let plan = collapsed(Options { order: Some(order), threads, ..Options::default() });
            for expected in &file.facts.properties {
                let context = format!("{}, {}, {order}, {threads} threads", file.name, expected.text);
                let report = run(&model, &[property(&model, &expected.text)], &plan);
                let result = &report.properties[0];
                assert_eq!(result.verdict == Verdict::Verified, expected.holds, "{context}");
                assert_eq!(result.trace.is_some(), expected.at.is_some(), "{context}");
                if let Some(trace) = &result.trace {
                    assert!(order != OrderChoice::BreadthFirst || Some(trace.steps.len()) == expected.at, "{context}");
                    replay(&model, trace, &property(&model, &expected.text))
                        .unwrap_or_else(|e| panic!("{context}: {e}"));
                }
            }
        }
    }
}

#[test]
fn forgetters_visit_the_same_states() {
    for file in files().into_iter().filter(|file| file.facts.states < 3_000) {
        let model = model(&file.system, Mode::Compiled);
        let most = Some((file.facts.states as usize / 2).max(10));
        let caches = [CacheChoice { most, ..CacheChoice::default() }, CacheChoice::default()];
        let mut choices: Vec<ForgetChoice> = caches.into_iter().map(ForgetChoice::Cache).collect();
        choices.push(ForgetChoice::Nothing);
        if scrimp::Model::suits_predecessors(&model).is_ok() {
            choices.push(ForgetChoice::PseudoRoot(None));
        }
        for forget in choices {
            for order in [OrderChoice::BreadthFirst, OrderChoice::DepthFirst] {
                let context = format!("{}, {forget}, {order}", file.name);
                let options = Options { forget: forget.clone(), order: Some(order), audit: true, ..Options::default() };
                let report = run(&model, &[], &collapsed(options.clone()));
                let plain = Plan::new(&Options { store: Some(StoreChoice::Table), memory: Some(MEMORY), ..options })
                    .expect("a sound plan");
                let table = run(&model, &[], &plain);
                // The same numbers in the same order: the search is the same one.
                assert_eq!((report.visits, report.audited), (table.visits, table.audited), "{context}");
                assert_eq!(report.limit, table.limit, "{context}");
            }
        }
    }
}
