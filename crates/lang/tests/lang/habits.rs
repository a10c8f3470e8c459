//! Habits of other tools in the properties and formulas of models: what is told of them.

use scrimp_lang::{NetNames, Promela, parse_property, read_net};
use std::path::Path;

fn model(formula: &str) -> String {
    format!("byte x, holder;\nactive proctype P() {{ inside: x = 1; holder = x }}\nltl q {{ {formula} }}\n")
}

fn refused(formula: &str) -> String {
    match Promela::new("m.pml", &model(formula), Path::new(""), &[]) {
        Err(problem) => problem.to_string(),
        Ok(_) => panic!("{formula} is accepted"),
    }
}

fn warnings(formula: &str) -> Vec<String> {
    let mut promela = Promela::new("m.pml", &model(formula), Path::new(""), &[]).unwrap();
    promela.system(false).unwrap().warnings
}

#[test]
fn formulas_of_models_are_rewritten() {
    for (formula, meant) in [
        ("[] (holder == 1 => <> (x == 1))", "ltl q { [] (holder == 1 -> <> (x == 1)) }"),
        ("[] (holder == 1 /\\ x = 1)", "ltl q { [] (holder == 1 && x == 1) }"),
        ("[] (holder == 1 \\/ ~(x == 1))", "ltl q { [] (holder == 1 || !(x == 1)) }"),
        ("x == 0 ~> x == 1", "ltl q { [] (x == 0 -> <> (x == 1)) }"),
        ("□ (x # 2 ∧ x ≤ 1)", "ltl q { [] (x != 2 && x <= 1) }"),
        // The unknown name is told next.
        ("[] (holdr == 1 => x == 1)", "ltl q { [] (holdr == 1 -> x == 1) }"),
    ] {
        let told = refused(formula);
        assert!(told.contains(&format!("help: did you mean `{meant}`?")), "{told}");
    }
    assert!(!refused("[] (x === 1)").contains("did you mean `ltl"));
    assert!(!refused("[] ((x => 1)").contains("did you mean `ltl"));
    assert!(!refused("[] (xx == 1)").contains("did you mean `ltl"));
}

#[test]
fn a_complement_of_a_condition_is_warned_of() {
    let told = warnings("[] ~(x == 1) && <> !(~x)");
    assert_eq!(
        told[0],
        "m.pml:3:12: warning: `~` complements the bits of a number, and this is a condition, so it is always true\n  \
         ltl q { [] ~(x == 1) && <> !(~x) }\n             ^~~~~~~~~\nhelp: did you mean `!(x==1)`?"
    );
    assert!(told[1].contains("it is true unless that number is -1"), "{}", told[1]);
    assert_eq!(told.len(), 2);
    assert!(warnings("[] (~x < 0) && [] !(x == 1)").is_empty());
}

#[test]
fn names_and_operators_may_both_be_wrong() {
    let mut promela = Promela::new("m.pml", &model("[] (x < 2)"), Path::new(""), &[]).unwrap();
    let system = promela.system(false).unwrap();
    for (property, help) in [
        ("ltl: [] (holdr == 1 => <> x == 1)", "did you mean `ltl: [] (holder == 1 -> <> x == 1)`?"),
        ("holdr == 1", "did you mean `invariant: holder == 1` (in every reachable state)"),
        ("invariant: !(P[0]@inside)", "did you mean `invariant: !(P@inside)`?"),
        ("ltl: WF(P)", "fairness is an option: `--fair 'WF(P)'`"),
        ("reach: R@inside", "known processes: P"),
        ("bounded", "`bounded` is a property of Petri nets only"),
        ("bound: x", "`bound` is a property of Petri nets only"),
        ("invariant: x <> 1", "did you mean `invariant: x != 1`?"),
    ] {
        let told = parse_property(&system, property).unwrap_err().to_string();
        assert!(told.contains(help), "{property}: {told}");
    }
    let told = parse_property(&system, "reach: x in {1}").unwrap_err().to_string();
    assert!(!told.contains("help"), "{told}");
}

#[test]
fn what_takes_no_condition_says_so() {
    let net = read_net(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/kanban.pnml")).unwrap();
    let told = NetNames::new(&net).question("live: x").unwrap_err().to_string();
    assert!(told.contains("`live` takes no condition"), "{told}");
}
