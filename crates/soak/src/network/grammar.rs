//! The grammar of networks: which operator may stand directly inside which, and what a network has of it.

use super::tree::*;
use crate::coverage::{Exclusion, Grammar, Nesting, Written};

const BEHAVIOURS: &[&str] = &["component", "|||", "||", "|[]|", "par", "par using", "hide in", "cut in", "rename in"];
const PATTERNS: &[&str] = &["gate", "label", "set"];
const LISTS: &[&str] = &["these", "all", "all but"];
const LISTED: &[&str] = &["alone", "hide", "cut", "forbid", "hide in", "cut in", "par using"];

pub static GRAMMAR: Grammar = Grammar {
    productions: &[
        "network",
        "set declaration",
        "behaviour",
        "sync",
        "alone",
        "hide",
        "cut",
        "rename",
        "forbid",
        "component",
        "|||",
        "||",
        "|[]|",
        "par",
        "par using",
        "hide in",
        "cut in",
        "rename in",
        "vector",
        "hidden result",
        "not taking part",
        "these",
        "all",
        "all but",
        "gate",
        "label",
        "set",
    ],
    allowed: &[
        Nesting {
            outer: &["network"],
            inner: &["set declaration", "behaviour", "sync", "alone", "hide", "cut", "rename", "forbid"],
        },
        Nesting {
            outer: &["behaviour", "|||", "||", "|[]|", "par", "par using", "hide in", "cut in", "rename in"],
            inner: BEHAVIOURS,
        },
        Nesting { outer: LISTED, inner: LISTS },
        Nesting { outer: &["these", "all but", "|[]|", "par"], inner: PATTERNS },
        Nesting { outer: &["set declaration", "rename", "rename in", "vector"], inner: &["gate", "label"] },
        Nesting { outer: &["sync", "par using"], inner: &["vector"] },
        Nesting { outer: &["vector"], inner: &["hidden result", "not taking part"] },
    ],
    excluded: &[Exclusion {
        outer: &["behaviour"],
        inner: &[],
        why: "not comparable: networks inside networks are the same operators once more",
    }],
};

pub fn note(model: &Model, written: &mut Written) {
    written.enter("network");
    for set in &model.sets {
        within(written, "set declaration", |w| patterns(set, w));
    }
    match &model.body {
        Body::Behaviour(inner) => within(written, "behaviour", |w| behaviour(inner, w)),
        Body::Lines(lines) => {
            for line in lines {
                match line {
                    Line::Sync(v) => within(written, "sync", |w| vector(v, w)),
                    Line::Alone(list) => within(written, "alone", |w| labels(list, w)),
                    Line::Hide(list) => within(written, "hide", |w| labels(list, w)),
                    Line::Cut(list) => within(written, "cut", |w| labels(list, w)),
                    Line::Rename(list) => within(written, "rename", |w| pairs(list, w)),
                }
            }
        }
    }
    model.forbid.iter().for_each(|list| within(written, "forbid", |w| labels(list, w)));
    written.leave();
}

fn within(written: &mut Written, production: &str, inner: impl FnOnce(&mut Written)) {
    written.enter(production);
    inner(written);
    written.leave();
}

fn patterns(list: &[Pattern], written: &mut Written) {
    for pattern in list {
        written.leaf(match pattern {
            Pattern::Gate(_) => "gate",
            Pattern::Exactly(_) => "label",
            Pattern::Set(_) => "set",
        });
    }
}

fn labels(list: &Labels, written: &mut Written) {
    match list {
        Labels::These(list) => within(written, "these", |w| patterns(list, w)),
        Labels::All => written.leaf("all"),
        Labels::AllBut(list) => within(written, "all but", |w| patterns(list, w)),
    }
}

fn vector(v: &Vector, written: &mut Written) {
    within(written, "vector", |w| {
        for part in &v.parts {
            match part {
                Some(pattern) => patterns(std::slice::from_ref(pattern), w),
                None => w.leaf("not taking part"),
            }
        }
        match &v.seen {
            Pattern::Gate(gate) if gate == "i" => w.leaf("hidden result"),
            seen => patterns(std::slice::from_ref(seen), w),
        }
    });
}

fn pairs(list: &[(Pattern, Pattern)], written: &mut Written) {
    list.iter().for_each(|(from, to)| patterns(&[from.clone(), to.clone()], written));
}

fn behaviour(b: &Behaviour, written: &mut Written) {
    let all = |list: &[Behaviour], w: &mut Written| list.iter().for_each(|inner| behaviour(inner, w));
    match b {
        Behaviour::Component(_) => written.leaf("component"),
        Behaviour::Beside(list) => within(written, "|||", |w| all(list, w)),
        Behaviour::Together(list) => within(written, "||", |w| all(list, w)),
        Behaviour::On(gates, a, b) => within(written, "|[]|", |w| {
            patterns(gates, w);
            behaviour(a, w);
            behaviour(b, w);
        }),
        Behaviour::Par(gates, list) => within(written, "par", |w| {
            patterns(gates, w);
            all(list, w);
        }),
        Behaviour::Using(vectors, alone, list) => within(written, "par using", |w| {
            vectors.iter().for_each(|v| vector(v, w));
            alone.iter().for_each(|list| labels(list, w));
            all(list, w);
        }),
        Behaviour::Hide(list, inner) => within(written, "hide in", |w| {
            labels(list, w);
            behaviour(inner, w);
        }),
        Behaviour::Cut(list, inner) => within(written, "cut in", |w| {
            labels(list, w);
            behaviour(inner, w);
        }),
        Behaviour::Rename(list, inner) => within(written, "rename in", |w| {
            pairs(list, w);
            behaviour(inner, w);
        }),
    }
}
