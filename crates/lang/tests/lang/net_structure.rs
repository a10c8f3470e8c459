//! What linear algebra says about the contest's nets, beside what the contest's oracle says.

use scrimp_lang::{read_formulas, read_net};
use scrimp_net::linear::{Refuter, bounds, deadlock_free, exclusive_groups, place_flows, place_semiflows};
use scrimp_net::{Condition, Formula, Question, Sum};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// What must never hold for the formula to have the answer given with it.
fn refutable(formula: &Formula) -> Option<(Condition, &'static str)> {
    match formula {
        Formula::ExistsPath(inner) => match &**inner {
            Formula::Finally(inner) => Some((condition(inner)?, "FALSE")),
            _ => None,
        },
        Formula::AllPaths(inner) => match &**inner {
            Formula::Globally(inner) => Some((Condition::Not(Box::new(condition(inner)?)), "TRUE")),
            _ => None,
        },
        _ => None,
    }
}

fn condition(formula: &Formula) -> Option<Condition> {
    Some(match formula {
        Formula::Atom(condition) => condition.clone(),
        Formula::Not(inner) => Condition::Not(Box::new(condition(inner)?)),
        Formula::And(parts) => Condition::All(parts.iter().map(condition).collect::<Option<_>>()?),
        Formula::Or(parts) => Condition::Any(parts.iter().map(condition).collect::<Option<_>>()?),
        _ => return None,
    })
}

#[test]
fn nothing_is_proven_that_the_oracle_denies() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    let Ok(expected) = fs::read_to_string(bench.join("expected.tsv")) else {
        eprintln!("skipped: there is no {}", bench.display());
        return;
    };
    let mut oracle: HashMap<(&str, &str), &str> = HashMap::new();
    for line in expected.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if let [_, file, property, value, ..] = fields[..]
            && let Some(model) = file.strip_prefix("pnml/models/").and_then(|file| file.strip_suffix("/model.pnml"))
        {
            oracle.insert((model, property), value);
        }
    }
    let soon = || Instant::now() + Duration::from_secs(1);
    let (mut refuted, mut exact, mut free) = (0, 0, 0);
    for entry in fs::read_dir(bench.join("pnml/models")).unwrap() {
        let folder = entry.unwrap().path();
        let model = folder.file_name().unwrap().to_str().unwrap();
        let net = read_net(&folder.join("model.pnml")).unwrap_or_else(|e| panic!("{model}: {e:?}"));
        let semiflows = place_semiflows(&net, 1_000_000).flows;
        let initial = net.initial();
        assert!(place_flows(&net, 1_000_000).flows.iter().chain(&semiflows).all(|flow| flow.holds(&initial)));
        let known: Vec<_> = semiflows.iter().map(|flow| flow.as_inequality()).collect();
        let known = bounds(&net, &known, soon());
        for group in exclusive_groups(&net, &semiflows, &known.proofs, soon()) {
            let sum: u64 = group.places.iter().map(|&p| initial[p as usize]).sum();
            assert!(sum <= 1 && (sum == 1 || !group.always_one), "{model}: {group:?}");
        }
        let largest = known.places.iter().copied().collect::<Option<Vec<u64>>>().and_then(|all| all.into_iter().max());
        // The tokens of a coloured place are counted together by the oracle.
        if let (Some(ours), Some(Ok(theirs))) = (largest, oracle.get(&(model, "max_token_in_place")).map(|n| n.parse()))
            && !model.contains("-COL-")
        {
            assert!(ours >= theirs, "{model}: no place has more than {ours} tokens, but {theirs} were seen");
        }
        if deadlock_free(&net, &known.places, soon()) == Some(true) {
            assert_ne!(oracle.get(&(model, "ReachabilityDeadlock")), Some(&"TRUE"), "{model} has a deadlock");
            free += 1;
        }
        let Some(mut refuter) = Refuter::new(&net, &known.places) else { continue };
        for kind in ["ReachabilityCardinality", "ReachabilityFireability", "UpperBounds"] {
            let file = folder.join(format!("{kind}.xml"));
            if !file.exists() {
                continue;
            }
            for named in read_formulas(&file, &net).unwrap_or_else(|e| panic!("{model}: {e:?}")) {
                let Some(&answer) = oracle.get(&(model, named.name.as_str())) else { continue };
                match named.question {
                    Question::Formula(formula) => {
                        let Some((never, then)) = refutable(&formula) else { continue };
                        if refuter.never_holds(&never, 2000, soon()) {
                            assert_eq!(answer, then, "{}", named.name);
                            refuted += 1;
                        }
                    }
                    Question::Bound(places) => {
                        let mut terms: BTreeMap<u32, i64> = BTreeMap::new();
                        places.iter().for_each(|&p| *terms.entry(p).or_default() += 1);
                        let sum = Sum { terms: terms.into_iter().collect(), constant: 0 };
                        let most = refuter.upper_bound(&sum, 200, soon());
                        if let (Some(ours), Ok(theirs)) = (most, answer.parse::<i128>()) {
                            assert!(ours >= theirs, "{}: {ours}, but {theirs} were seen", named.name);
                            exact += usize::from(ours == theirs);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    eprintln!("{refuted} formulas refuted, {exact} bounds exact, {free} nets free of deadlocks");
    assert!(refuted >= 300 && exact >= 450 && free >= 55);
}
