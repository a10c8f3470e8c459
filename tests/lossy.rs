//! Every file of `models/` with the lossy stores, which miss nothing where they have bits enough.

mod common;

use common::{files, model};
use scrimp::plan::{OrderChoice, StoreChoice};
use scrimp::{Control, Mode, Omission, Options, Plan};

fn counts_are_those_of_the_headers(store: StoreChoice) {
    for file in files() {
        let model = model(&file.system, Mode::Compiled);
        for (order, threads) in
            [(OrderChoice::BreadthFirst, 1), (OrderChoice::BreadthFirst, 2), (OrderChoice::DepthFirst, 1)]
        {
            let context = format!("{}, {store}, {order}, {threads} threads", file.name);
            let options = Options {
                store: Some(store.clone()),
                order: Some(order),
                threads,
                memory: Some(16 << 30),
                ..Options::default()
            };
            let plan = Plan::new(&options).expect("a sound plan");
            let report = scrimp::run(&model, &[], &plan, &Control::new(None)).expect("the search can begin");
            assert!(!report.exhaustive && report.limit.is_none(), "{context}");
            assert_eq!(
                (report.facts.states, report.facts.transitions),
                (file.facts.states, file.facts.transitions),
                "{context}"
            );
            match report.omission.expect("it may have missed some") {
                Omission::Probability(p) => assert!(p < 1e-6, "{context}: {p}"),
                Omission::Coverage(share) => assert!(share > 0.999_999, "{context}: {share}"),
            }
        }
    }
}

#[test]
fn hashes_of_64_bits_miss_nothing() {
    counts_are_those_of_the_headers(StoreChoice::Compact(64));
}

#[test]
fn many_bits_miss_nothing() {
    counts_are_those_of_the_headers(StoreChoice::BitState(64));
}
