//! A network as text, with the files it is made of.

use super::tree::*;

/// The files of a network, the network first.
pub fn files(model: &Model, stem: &str) -> Vec<(String, String)> {
    let mut files = vec![(format!("{stem}.network"), network(model, stem))];
    for (number, lts) in model.files.iter().enumerate() {
        files.push((format!("{stem}_{number}.aut"), aut(lts)));
    }
    files
}

fn aut(lts: &Lts) -> String {
    let mut out = format!("des ({}, {}, {})\n", lts.initial, lts.edges.len(), lts.states);
    for (from, label, to) in &lts.edges {
        let label = if label.offers.is_empty() { label.text() } else { format!("\"{}\"", label.text()) };
        out.push_str(&format!("({from}, {label}, {to})\n"));
    }
    out
}

fn network(model: &Model, stem: &str) -> String {
    let mut out = String::new();
    for (number, file) in model.components.iter().enumerate() {
        out.push_str(&format!("component C{number} = \"{stem}_{file}.aut\"\n"));
    }
    for (number, set) in model.sets.iter().enumerate() {
        out.push_str(&format!("set s{number} = {{ {} }}\n", patterns(set)));
    }
    match &model.body {
        Body::Behaviour(inner) => out.push_str(&format!("behaviour {}\n", behaviour(inner))),
        Body::Lines(lines) => {
            for line in lines {
                out.push_str(&match line {
                    Line::Sync(v) => format!("sync {}\n", vector(v)),
                    Line::Alone(list) => format!("alone {}\n", labels(list)),
                    Line::Hide(list) => format!("hide {}\n", labels(list)),
                    Line::Cut(list) => format!("cut {}\n", labels(list)),
                    Line::Rename(list) => format!("rename {}\n", pairs(list)),
                });
            }
        }
    }
    if let Some(list) = &model.forbid {
        out.push_str(&format!("forbid {}\n", labels(list)));
    }
    out
}

fn pattern(p: &Pattern) -> String {
    match p {
        Pattern::Gate(gate) => gate.clone(),
        Pattern::Exactly(label) => format!("\"{}\"", label.text()),
        Pattern::Set(number) => format!("s{number}"),
    }
}

fn patterns(list: &[Pattern]) -> String {
    list.iter().map(pattern).collect::<Vec<_>>().join(", ")
}

fn labels(list: &Labels) -> String {
    match list {
        Labels::These(list) => patterns(list),
        Labels::All => "all".into(),
        Labels::AllBut(list) => format!("all but {}", patterns(list)),
    }
}

fn vector(v: &Vector) -> String {
    let part = |p: &Option<Pattern>| p.as_ref().map_or("_".to_string(), pattern);
    let parts: Vec<String> = v.parts.iter().map(part).collect();
    format!("{} -> {}", parts.join(" * "), pattern(&v.seen))
}

fn pairs(list: &[(Pattern, Pattern)]) -> String {
    list.iter().map(|(from, to)| format!("{} -> {}", pattern(from), pattern(to))).collect::<Vec<_>>().join(", ")
}

fn behaviour(b: &Behaviour) -> String {
    let operand = |b: &Behaviour| match b {
        Behaviour::Beside(_) | Behaviour::Together(_) | Behaviour::On(..) => format!("({})", behaviour(b)),
        _ => behaviour(b),
    };
    let joined = |list: &[Behaviour], word: &str| list.iter().map(operand).collect::<Vec<_>>().join(word);
    match b {
        Behaviour::Component(number) => format!("C{number}"),
        Behaviour::Beside(list) => joined(list, " ||| "),
        Behaviour::Together(list) => joined(list, " || "),
        Behaviour::On(gates, a, b) => format!("{} |[{}]| {}", operand(a), patterns(gates), operand(b)),
        Behaviour::Par(gates, list) => format!("par {} in {} end par", patterns(gates), joined(list, " || ")),
        Behaviour::Using(vectors, alone, list) => {
            let vectors: Vec<String> = vectors.iter().map(vector).collect();
            let alone = alone.as_ref().map_or(String::new(), |list| format!(" alone {}", labels(list)));
            format!("par using {}{alone} in {} end par", vectors.join(", "), joined(list, " || "))
        }
        Behaviour::Hide(list, inner) => format!("hide {} in {} end hide", labels(list), behaviour(inner)),
        Behaviour::Cut(list, inner) => format!("cut {} in {} end cut", labels(list), behaviour(inner)),
        Behaviour::Rename(list, inner) => format!("rename {} in {} end rename", pairs(list), behaviour(inner)),
    }
}
