//! The grammar of PNML: which term may stand directly inside which, and what a net has of it.

use super::tree::*;
use crate::coverage::{Exclusion, Grammar, Nesting, Written};

const MULTISETS: &[&str] = &["one", "numberof", "scalarproduct", "add", "subtract", "all", "several tuples", "empty"];
const VALUES: &[&str] = &["variable", "constant", "successor", "predecessor", "tuple"];
const GUARDS: &[&str] =
    &["true", "and", "or", "not", "imply", "equality", "inequality", "less", "at most", "greater", "at least"];
const COMPARISONS: &[&str] = &["equality", "inequality", "less", "at most", "greater", "at least"];
const ARCS: &[&str] = &["taking", "giving", "inhibitor", "reset", "test"];
const SORTS: &[&str] = &["dot", "bool", "cyclic", "enumeration", "range", "product"];
const ASKED: &[&str] = &["invariant", "reach", "ltl", "ctl"];
const CONDITIONS: &[&str] = &["truth", "deadlock", "fireable", "!", "&&", "||", "->", "==", "!=", "<", "<=", ">", ">="];
const COMPARED: &[&str] = &["==", "!=", "<", "<=", ">", ">="];

pub static GRAMMAR: Grammar = Grammar {
    productions: &[
        "net",
        "coloured net",
        "page",
        "nested page",
        "units",
        "place",
        "transition",
        "guard",
        "taking",
        "giving",
        "inhibitor",
        "reset",
        "test",
        "elsewhere",
        "weight",
        "dot",
        "bool",
        "cyclic",
        "enumeration",
        "range",
        "product",
        "partition",
        "one",
        "numberof",
        "scalarproduct",
        "add",
        "subtract",
        "all",
        "several tuples",
        "empty",
        "variable",
        "constant",
        "successor",
        "predecessor",
        "tuple",
        "part of",
        "part",
        "true",
        "and",
        "or",
        "not",
        "imply",
        "equality",
        "inequality",
        "less",
        "at most",
        "greater",
        "at least",
        "no deadlock",
        "invariant",
        "reach",
        "bound",
        "bounded",
        "one-safe",
        "stable-marking",
        "quasi-live",
        "live",
        "ltl",
        "ctl",
        "truth",
        "deadlock",
        "fireable",
        "!",
        "&&",
        "||",
        "->",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "tokens",
        "tokens of a colour",
    ],
    allowed: &[
        Nesting {
            outer: &["net", "coloured net"],
            inner: &[
                "page",
                "nested page",
                "units",
                "place",
                "transition",
                "no deadlock",
                "invariant",
                "reach",
                "bound",
                "bounded",
                "one-safe",
                "stable-marking",
                "quasi-live",
                "live",
                "ltl",
                "ctl",
            ],
        },
        Nesting { outer: &["coloured net"], inner: SORTS },
        Nesting { outer: &["coloured net"], inner: &["partition"] },
        Nesting { outer: &["product"], inner: SORTS },
        Nesting { outer: &["partition"], inner: &["cyclic", "enumeration", "range"] },
        Nesting { outer: &["place"], inner: SORTS },
        Nesting { outer: &["place"], inner: MULTISETS },
        Nesting { outer: &["place"], inner: &["weight"] },
        Nesting { outer: &["transition"], inner: ARCS },
        Nesting { outer: &["transition"], inner: &["guard"] },
        Nesting { outer: ARCS, inner: &["elsewhere"] },
        Nesting { outer: &["taking", "giving", "inhibitor", "test"], inner: MULTISETS },
        Nesting { outer: &["taking", "giving", "inhibitor", "test"], inner: &["weight"] },
        Nesting { outer: &["numberof", "scalarproduct", "add", "subtract", "several tuples"], inner: MULTISETS },
        Nesting { outer: &["one", "successor", "predecessor", "tuple", "part of"], inner: VALUES },
        Nesting { outer: COMPARISONS, inner: VALUES },
        Nesting { outer: COMPARISONS, inner: &["part of", "part"] },
        Nesting { outer: &["guard", "and", "or", "not", "imply"], inner: GUARDS },
        Nesting { outer: ASKED, inner: CONDITIONS },
        Nesting { outer: &["!", "&&", "||", "->"], inner: CONDITIONS },
        Nesting { outer: COMPARED, inner: &["tokens", "tokens of a colour"] },
        Nesting { outer: &["bound"], inner: &["tokens"] },
    ],
    excluded: &[
        Exclusion {
            outer: &["successor", "predecessor", "part of"],
            inner: &["tuple"],
            why: "the standard does not allow it: tuples have no order",
        },
        Exclusion {
            outer: &["less", "at most", "greater", "at least"],
            inner: &["tuple"],
            why: "the standard does not allow it: tuples have no order",
        },
        Exclusion {
            outer: &["coloured net"],
            inner: &["units"],
            why: "the standard does not allow it: units are of places without colours",
        },
    ],
};

pub fn note(model: &Model, written: &mut Written) {
    Noting { model, written }.model();
}

struct Noting<'m, 'w> {
    model: &'m Model,
    written: &'w mut Written,
}

impl Noting<'_, '_> {
    fn within(&mut self, production: &str, inner: impl FnOnce(&mut Self)) {
        self.written.enter(production);
        inner(self);
        self.written.leave();
    }

    fn model(&mut self) {
        let model = self.model;
        self.within(if model.coloured { "coloured net" } else { "net" }, |n| {
            for _ in 0..model.pages {
                n.written.leaf(if model.nested && model.pages > 1 { "nested page" } else { "page" });
            }
            model.units.iter().for_each(|_| n.written.leaf("units"));
            if model.coloured {
                (0..model.sorts.len()).for_each(|sort| n.sort(sort));
                model.partitions.iter().for_each(|p| n.within("partition", |n| n.sort(p.sort)));
            }
            for place in &model.places {
                n.within("place", |n| {
                    n.sort(place.sort);
                    n.term(&place.marking);
                });
            }
            for transition in &model.transitions {
                n.within("transition", |n| n.transition(transition));
            }
            model.questions.iter().for_each(|question| n.question(question));
        });
    }

    fn sort(&mut self, sort: usize) {
        let production = match &self.model.sorts[sort] {
            Sort::Dot => "dot",
            Sort::Bool => "bool",
            Sort::Cyclic(_) => "cyclic",
            Sort::Enumeration(_) => "enumeration",
            Sort::Range(..) => "range",
            Sort::Product(parts) => {
                return self.within("product", |n| parts.iter().for_each(|part| n.sort(*part)));
            }
        };
        self.written.leaf(production);
    }

    fn transition(&mut self, transition: &Transition) {
        transition.guard.iter().for_each(|guard| self.within("guard", |n| n.guard(guard)));
        for arc in &transition.arcs {
            let production = match arc.kind {
                Kind::Taking => "taking",
                Kind::Giving => "giving",
                Kind::Inhibitor => "inhibitor",
                Kind::Reset => "reset",
                Kind::Test => "test",
            };
            self.within(production, |n| {
                if arc.page != transition.page || arc.page != n.model.places[arc.place].page {
                    n.written.leaf("elsewhere");
                }
                if arc.kind != Kind::Reset {
                    n.term(&arc.term);
                }
            });
        }
    }

    fn term(&mut self, term: &Multiset) {
        match term {
            Multiset::Plain(_) => self.written.leaf("weight"),
            Multiset::One(value) => self.within("one", |n| n.value(value)),
            Multiset::Times(_, inner) => self.within("numberof", |n| n.term(inner)),
            Multiset::Scaled(_, inner) => self.within("scalarproduct", |n| n.term(inner)),
            Multiset::Add(list) => self.within("add", |n| list.iter().for_each(|inner| n.term(inner))),
            Multiset::Subtract(a, b) => self.within("subtract", |n| [a, b].into_iter().for_each(|inner| n.term(inner))),
            Multiset::All(_) => self.written.leaf("all"),
            Multiset::Tuple(list) => self.within("several tuples", |n| list.iter().for_each(|inner| n.term(inner))),
            Multiset::Empty(_) => self.written.leaf("empty"),
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Variable(_) => self.written.leaf("variable"),
            Value::Constant(..) => self.written.leaf("constant"),
            Value::Successor(inner) => self.within("successor", |n| n.value(inner)),
            Value::Predecessor(inner) => self.within("predecessor", |n| n.value(inner)),
            Value::Tuple(list) => self.within("tuple", |n| list.iter().for_each(|inner| n.value(inner))),
            Value::PartOf(_, inner) => self.within("part of", |n| n.value(inner)),
            Value::Part(..) => self.written.leaf("part"),
        }
    }

    fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::Truth(_) => self.written.leaf("true"),
            Guard::Compare(comparison, a, b) => {
                let names = ["equality", "inequality", "less", "at most", "greater", "at least"];
                let place = Comparison::ALL.iter().position(|known| known == comparison);
                self.within(names[place.unwrap_or(0)], |n| [a, b].into_iter().for_each(|value| n.value(value)));
            }
            Guard::Not(inner) => self.within("not", |n| n.guard(inner)),
            Guard::And(list) => self.within("and", |n| list.iter().for_each(|inner| n.guard(inner))),
            Guard::Or(list) => self.within("or", |n| list.iter().for_each(|inner| n.guard(inner))),
            Guard::Imply(a, b) => self.within("imply", |n| [a, b].into_iter().for_each(|inner| n.guard(inner))),
        }
    }

    fn question(&mut self, question: &Question) {
        match question {
            Question::Deadlock => self.written.leaf("no deadlock"),
            Question::Invariant(c) => self.within("invariant", |n| n.condition(c)),
            Question::Reach(c) => self.within("reach", |n| n.condition(c)),
            Question::Bound(places) => self.within("bound", |n| places.iter().for_each(|_| n.written.leaf("tokens"))),
            Question::Bounded => self.written.leaf("bounded"),
            Question::OneSafe => self.written.leaf("one-safe"),
            Question::StableMarking => self.written.leaf("stable-marking"),
            Question::QuasiLive => self.written.leaf("quasi-live"),
            Question::Live => self.written.leaf("live"),
            Question::Formula { branching, atoms, .. } => {
                self.within(if *branching { "ctl" } else { "ltl" }, |n| atoms.iter().for_each(|c| n.condition(c)));
            }
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Truth(_) => self.written.leaf("truth"),
            Condition::Deadlock => self.written.leaf("deadlock"),
            Condition::Fireable(_) => self.written.leaf("fireable"),
            Condition::Compare(comparison, a, b) => {
                let place = Comparison::ALL.iter().position(|known| known == comparison);
                self.within(COMPARED[place.unwrap_or(0)], |n| {
                    for (_, colour, _) in a.terms.iter().chain(&b.terms) {
                        n.written.leaf(if colour.is_some() { "tokens of a colour" } else { "tokens" });
                    }
                });
            }
            Condition::Not(a) => self.within("!", |n| n.condition(a)),
            Condition::And(a, b) => self.within("&&", |n| [a, b].into_iter().for_each(|c| n.condition(c))),
            Condition::Or(a, b) => self.within("||", |n| [a, b].into_iter().for_each(|c| n.condition(c))),
            Condition::Imply(a, b) => self.within("->", |n| [a, b].into_iter().for_each(|c| n.condition(c))),
        }
    }
}
