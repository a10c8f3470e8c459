//! What is asked of a net, in the words of properties and in the contest's XML.

use super::tree::*;
use crate::formula::{Connective, Formula, Quantifier, Temporal};

/// A question as `--property` takes it.
pub fn text(model: &Model, question: &Question) -> String {
    match question {
        Question::Deadlock => "deadlock".into(),
        Question::Invariant(c) => format!("invariant: {}", condition(model, c)),
        Question::Reach(c) => format!("reach: {}", condition(model, c)),
        Question::Bound(places) => {
            let places: Vec<String> = places.iter().map(|place| format!("p{place}")).collect();
            format!("bound: {}", places.join(" + "))
        }
        Question::Bounded => "bounded".into(),
        Question::OneSafe => "one-safe".into(),
        Question::StableMarking => "stable-marking".into(),
        Question::QuasiLive => "quasi-live".into(),
        Question::Live => "live".into(),
        Question::Formula { formula, branching, atoms } => {
            let atoms: Vec<String> = atoms.iter().map(|c| condition(model, c)).collect();
            format!("{}: {}", if *branching { "ctl" } else { "ltl" }, formula.text(&atoms, model.style))
        }
    }
}

fn condition(model: &Model, c: &Condition) -> String {
    match c {
        Condition::Truth(value) => value.to_string(),
        Condition::Deadlock => "deadlock".into(),
        Condition::Fireable(number) => format!("t{number}"),
        Condition::Compare(comparison, a, b) => {
            let word = match comparison {
                Comparison::Equal => "==",
                Comparison::Unequal => "!=",
                Comparison::Less => "<",
                Comparison::AtMost => "<=",
                Comparison::Greater => ">",
                Comparison::AtLeast => ">=",
            };
            format!("{} {word} {}", sum(model, a), sum(model, b))
        }
        Condition::Not(a) => format!("!({})", condition(model, a)),
        Condition::And(a, b) => format!("({}) && ({})", condition(model, a), condition(model, b)),
        Condition::Or(a, b) => format!("({}) || ({})", condition(model, a), condition(model, b)),
        Condition::Imply(a, b) => format!("({}) imply ({})", condition(model, a), condition(model, b)),
    }
}

/// The name of a place, or of one of its colours.
fn name(model: &Model, place: usize, colour: Option<usize>) -> String {
    let shown = colour.map(|colour| model.shown(model.places[place].sort, colour)).filter(|shown| !shown.is_empty());
    shown.map_or(format!("p{place}"), |shown| format!("p{place}({shown})"))
}

fn sum(model: &Model, sum: &Sum) -> String {
    let term = |(place, colour, factor): &(usize, Option<usize>, i64)| {
        let name = name(model, *place, *colour);
        let name = if name.contains('(') { format!("\"{name}\"") } else { name };
        if *factor == 1 { name } else { format!("{factor} * {name}") }
    };
    let mut parts: Vec<String> = sum.terms.iter().map(term).collect();
    if sum.constant != 0 || parts.is_empty() {
        parts.push(sum.constant.to_string());
    }
    parts.join(" + ")
}

/// A question as a formula of the contest; nothing where that has no words for it.
pub fn xml(model: &Model, question: &Question) -> Option<String> {
    let quantified = |a: &str, b: &str, inner: String| format!("<{a}><{b}>{inner}</{b}></{a}>");
    Some(match question {
        Question::Deadlock => quantified("all-paths", "globally", "<negation><deadlock/></negation>".into()),
        Question::Invariant(c) => quantified("all-paths", "globally", condition_xml(model, c)),
        Question::Reach(c) => quantified("exists-path", "finally", condition_xml(model, c)),
        Question::Bound(places) => {
            let places: String = places.iter().map(|place| format!("<place>p{place}</place>")).collect();
            format!("<place-bound>{places}</place-bound>")
        }
        Question::Formula { formula, branching, atoms } => {
            let inner = formula_xml(model, formula, atoms)?;
            if *branching { inner } else { format!("<all-paths>{inner}</all-paths>") }
        }
        _ => return None,
    })
}

fn element(name: &str, parts: &[String]) -> String {
    format!("<{name}>{}</{name}>", parts.concat())
}

fn condition_xml(model: &Model, c: &Condition) -> String {
    let of = |c: &Condition| condition_xml(model, c);
    match c {
        Condition::Truth(value) => format!("<{value}/>"),
        Condition::Deadlock => "<deadlock/>".into(),
        Condition::Fireable(number) => format!("<is-fireable><transition>t{number}</transition></is-fireable>"),
        Condition::Compare(comparison, a, b) => {
            let word = match comparison {
                Comparison::Equal => "eq",
                Comparison::Unequal => "ne",
                Comparison::Less => "lt",
                Comparison::AtMost => "le",
                Comparison::Greater => "gt",
                Comparison::AtLeast => "ge",
            };
            element(&format!("integer-{word}"), &[sum_xml(model, a), sum_xml(model, b)])
        }
        Condition::Not(a) => element("negation", &[of(a)]),
        Condition::And(a, b) => element("conjunction", &[of(a), of(b)]),
        Condition::Or(a, b) => element("disjunction", &[of(a), of(b)]),
        Condition::Imply(a, b) => element("implication", &[of(a), of(b)]),
    }
}

fn sum_xml(model: &Model, sum: &Sum) -> String {
    let constant = |value: i64| format!("<integer-constant>{value}</integer-constant>");
    let term = |(place, colour, factor): &(usize, Option<usize>, i64)| {
        let tokens = format!("<tokens-count><place>{}</place></tokens-count>", name(model, *place, *colour));
        if *factor == 1 { tokens } else { element("integer-product", &[constant(*factor), tokens]) }
    };
    let mut parts: Vec<String> = sum.terms.iter().map(term).collect();
    if sum.constant != 0 || parts.is_empty() {
        parts.push(constant(sum.constant));
    }
    if parts.len() == 1 { parts.remove(0) } else { element("integer-sum", &parts) }
}

fn formula_xml(model: &Model, formula: &Formula, atoms: &[Condition]) -> Option<String> {
    let of = |f: &Formula| formula_xml(model, f, atoms);
    Some(match formula {
        Formula::Truth(value) => format!("<{value}/>"),
        Formula::Atom(number) => condition_xml(model, &atoms[*number]),
        Formula::Not(a) => element("negation", &[of(a)?]),
        Formula::Both(connective, a, b) => {
            let name = match connective {
                Connective::And => "conjunction",
                Connective::Or => "disjunction",
                Connective::Implies => "implication",
                Connective::Equivalent => "equivalence",
            };
            element(name, &[of(a)?, of(b)?])
        }
        Formula::Runs(quantifier, temporal, list) => {
            let list = list.iter().map(of).collect::<Option<Vec<String>>>()?;
            let inner = match temporal {
                Temporal::Next => element("next", &list),
                Temporal::Finally => element("finally", &list),
                Temporal::Globally => element("globally", &list),
                Temporal::Until => {
                    let parts = [element("before", &list[..1]), element("reach", &list[1..])];
                    element("until", &parts)
                }
                _ => return None,
            };
            match quantifier {
                None => inner,
                Some(Quantifier::All) => element("all-paths", &[inner]),
                Some(Quantifier::Some) => element("exists-path", &[inner]),
            }
        }
    })
}
