//! A net as a PNML document.

use super::tree::*;
use std::fmt::Write;

pub fn document(model: &Model) -> String {
    let kind = if model.coloured { "symmetricnet" } else { "ptnet" };
    let mut out =
        String::from("<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n");
    let _ = writeln!(out, "<net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/{kind}\">");
    if model.coloured {
        declarations(model, &mut out);
    }
    for page in 0..model.pages {
        let _ = writeln!(out, "<page id=\"page{page}\">");
        nodes(model, page, &mut out);
        if !model.nested {
            out.push_str("</page>\n");
        }
    }
    if model.nested {
        out.push_str(&"</page>".repeat(model.pages));
        out.push('\n');
    }
    units(model, &mut out);
    out.push_str("</net>\n</pnml>\n");
    out
}

fn units(model: &Model, out: &mut String) {
    let Some(units) = &model.units else { return };
    let arcs: usize = model.transitions.iter().map(|t| t.arcs.len()).sum();
    let (places, transitions) = (model.places.len(), model.transitions.len());
    let _ = writeln!(out, "<toolspecific tool=\"nupn\" version=\"1.1\">");
    let _ = writeln!(out, "<size places=\"{places}\" transitions=\"{transitions}\" arcs=\"{arcs}\"/>");
    let _ = writeln!(out, "<structure units=\"{}\" root=\"u0\" safe=\"true\">", units.len() + 1);
    let all: Vec<String> = (1..=units.len()).map(|number| format!("u{number}")).collect();
    let _ = writeln!(out, "<unit id=\"u0\"><places/><subunits>{}</subunits></unit>", all.join(" "));
    for (number, places) in units.iter().enumerate() {
        let places: Vec<String> = places.iter().map(|place| format!("p{place}")).collect();
        let _ = writeln!(out, "<unit id=\"u{}\"><places>{}</places><subunits/></unit>", number + 1, places.join(" "));
    }
    out.push_str("</structure></toolspecific>\n");
}

fn declarations(model: &Model, out: &mut String) {
    out.push_str("<declaration><structure><declarations>\n");
    for (number, sort) in model.sorts.iter().enumerate() {
        let constants = |size: usize| -> String {
            (0..size)
                .map(|colour| format!("<feconstant id=\"k{number}_{colour}\" name=\"k{number}_{colour}\"/>"))
                .collect()
        };
        let body = match sort {
            Sort::Dot => "<dot/>".to_string(),
            Sort::Bool => "<bool/>".to_string(),
            Sort::Cyclic(size) => format!("<cyclicenumeration>{}</cyclicenumeration>", constants(*size)),
            Sort::Enumeration(size) => format!("<finiteenumeration>{}</finiteenumeration>", constants(*size)),
            Sort::Range(first, last) => format!("<finiteintrange start=\"{first}\" end=\"{last}\"/>"),
            Sort::Product(parts) => {
                let parts: String = parts.iter().map(|part| usersort(*part)).collect();
                format!("<productsort>{parts}</productsort>")
            }
        };
        let _ = writeln!(out, "<namedsort id=\"s{number}\" name=\"S{number}\">{body}</namedsort>");
    }
    for (number, partition) in model.partitions.iter().enumerate() {
        let _ = write!(out, "<partition id=\"part{number}\" name=\"part{number}\">{}", usersort(partition.sort));
        for part in 0..=partition.parts.iter().copied().max().unwrap_or(0) {
            let _ = write!(out, "<partitionelement id=\"part{number}_{part}\" name=\"part{number}_{part}\">");
            for (colour, own) in partition.parts.iter().enumerate() {
                if *own == part {
                    out.push_str(&constant(model, partition.sort, colour));
                }
            }
            out.push_str("</partitionelement>");
        }
        out.push_str("</partition>\n");
    }
    for (number, sort) in model.variables.iter().enumerate() {
        let _ = writeln!(out, "<variabledecl id=\"v{number}\" name=\"x{number}\">{}</variabledecl>", usersort(*sort));
    }
    out.push_str("</declarations></structure></declaration>\n");
}

fn usersort(sort: usize) -> String {
    format!("<usersort declaration=\"s{sort}\"/>")
}

fn nodes(model: &Model, page: usize, out: &mut String) {
    for (number, place) in model.places.iter().enumerate().filter(|(_, place)| place.page == page) {
        let _ = write!(out, "<place id=\"p{number}\"><name><text>p{number}</text></name>");
        match (model.coloured, &place.marking) {
            (false, Multiset::Plain(0)) => {}
            (false, Multiset::Plain(tokens)) => {
                let _ = write!(out, "<initialMarking><text>{tokens}</text></initialMarking>");
            }
            (_, marking) => {
                let _ = write!(out, "<type><structure>{}</structure></type>", usersort(place.sort));
                let _ = write!(
                    out,
                    "<hlinitialMarking><text/><structure>{}</structure></hlinitialMarking>",
                    term(model, marking)
                );
            }
        }
        out.push_str("</place>\n");
    }
    for (number, transition) in model.transitions.iter().enumerate().filter(|(_, t)| t.page == page) {
        let _ = write!(out, "<transition id=\"t{number}\"><name><text>t{number}</text></name>");
        if let Some(condition) = &transition.guard {
            let _ = write!(out, "<condition><structure>{}</structure></condition>", guard(model, condition));
        }
        out.push_str("</transition>\n");
    }
    references(model, page, out);
    for (t, transition) in model.transitions.iter().enumerate() {
        for (number, arc) in transition.arcs.iter().enumerate().filter(|(_, arc)| arc.page == page) {
            arc_element(model, (t, number), arc, out);
        }
    }
}

/// What stands on another page is referred to by what stands on this one.
fn references(model: &Model, page: usize, out: &mut String) {
    let mut done: Vec<String> = Vec::new();
    for (t, transition) in model.transitions.iter().enumerate() {
        for arc in transition.arcs.iter().filter(|arc| arc.page == page) {
            let p = arc.place;
            let place =
                (model.places[p].page != page).then(|| format!("<referencePlace id=\"rp{p}_{page}\" ref=\"p{p}\"/>\n"));
            let transition =
                (transition.page != page).then(|| format!("<referenceTransition id=\"rt{t}_{page}\" ref=\"t{t}\"/>\n"));
            for line in place.into_iter().chain(transition) {
                if !done.contains(&line) {
                    out.push_str(&line);
                    done.push(line);
                }
            }
        }
    }
}

fn arc_element(model: &Model, (t, number): (usize, usize), arc: &Arc, out: &mut String) {
    let on = |own: usize, plain: String, reference: String| if own == arc.page { plain } else { reference };
    let p = arc.place;
    let place = on(model.places[p].page, format!("p{p}"), format!("rp{p}_{}", arc.page));
    let transition = on(model.transitions[t].page, format!("t{t}"), format!("rt{t}_{}", arc.page));
    let (source, target) = if arc.kind == Kind::Giving { (transition, place) } else { (place, transition) };
    let word = match arc.kind {
        Kind::Taking | Kind::Giving => None,
        Kind::Inhibitor => Some("inhibitor"),
        Kind::Reset => Some("reset"),
        Kind::Test => Some("test"),
    };
    // The common tools write it in three ways.
    let way = (model.style >> (t * 5 + number)) % 3;
    let attribute = word.filter(|_| way == 0).map_or(String::new(), |word| format!(" type=\"{word}\""));
    let _ = write!(out, "<arc id=\"a{t}_{number}\" source=\"{source}\" target=\"{target}\"{attribute}>");
    match (word, way) {
        (Some(word), 1) => {
            let _ = write!(out, "<type value=\"{word}\"/>");
        }
        (Some(word), 2) => {
            let _ = write!(out, "<arctype><text>{word}</text></arctype>");
        }
        _ => {}
    }
    match &arc.term {
        _ if arc.kind == Kind::Reset => {}
        Multiset::Plain(1) => {}
        Multiset::Plain(weight) => {
            let _ = write!(out, "<inscription><text>{weight}</text></inscription>");
        }
        other => {
            let _ = write!(out, "<hlinscription><structure>{}</structure></hlinscription>", term(model, other));
        }
    }
    out.push_str("</arc>\n");
}

fn operator(name: &str, terms: &[String]) -> String {
    let terms: String = terms.iter().map(|term| format!("<subterm>{term}</subterm>")).collect();
    format!("<{name}>{terms}</{name}>")
}

fn constant(model: &Model, sort: usize, colour: usize) -> String {
    match &model.sorts[sort] {
        Sort::Dot => "<dotconstant/>".to_string(),
        Sort::Bool => format!("<booleanconstant value=\"{}\"/>", colour == 1),
        Sort::Cyclic(_) | Sort::Enumeration(_) => format!("<useroperator declaration=\"k{sort}_{colour}\"/>"),
        Sort::Range(first, last) => format!(
            "<finiteintrangeconstant value=\"{}\"><finiteintrange start=\"{first}\" end=\"{last}\"/></finiteintrangeconstant>",
            first + colour as i64
        ),
        Sort::Product(parts) => {
            let colours = model.parts(sort, colour);
            let terms: Vec<String> =
                parts.iter().zip(colours).map(|(part, colour)| constant(model, *part, colour)).collect();
            operator("tuple", &terms)
        }
    }
}

fn value(model: &Model, v: &Value) -> String {
    match v {
        Value::Variable(number) => format!("<variable refvariable=\"v{number}\"/>"),
        Value::Constant(sort, colour) => constant(model, *sort, *colour),
        Value::Successor(inner) => operator("successor", &[value(model, inner)]),
        Value::Predecessor(inner) => operator("predecessor", &[value(model, inner)]),
        Value::Tuple(list) => operator("tuple", &list.iter().map(|inner| value(model, inner)).collect::<Vec<_>>()),
        Value::PartOf(partition, inner) => {
            let inner = value(model, inner);
            format!(
                "<partitionelementof refpartition=\"part{partition}\"><subterm>{inner}</subterm></partitionelementof>"
            )
        }
        Value::Part(partition, part) => format!("<useroperator declaration=\"part{partition}_{part}\"/>"),
    }
}

fn term(model: &Model, m: &Multiset) -> String {
    let number = |n: u64| format!("<numberconstant value=\"{n}\"><positive/></numberconstant>");
    let many = |list: &[Multiset]| list.iter().map(|inner| term(model, inner)).collect::<Vec<_>>();
    match m {
        Multiset::Plain(tokens) => operator("numberof", &[number(*tokens), "<dotconstant/>".into()]),
        Multiset::One(inner) => value(model, inner),
        Multiset::Times(factor, inner) => operator("numberof", &[number(*factor), term(model, inner)]),
        Multiset::Scaled(factor, inner) => operator("scalarproduct", &[number(*factor), term(model, inner)]),
        Multiset::Add(list) => operator("add", &many(list)),
        Multiset::Subtract(a, b) => operator("subtract", &[term(model, a), term(model, b)]),
        Multiset::All(sort) => format!("<all>{}</all>", usersort(*sort)),
        Multiset::Tuple(list) => operator("tuple", &many(list)),
        Multiset::Empty(sort) => format!("<empty>{}</empty>", usersort(*sort)),
    }
}

fn guard(model: &Model, g: &Guard) -> String {
    let many = |list: &[Guard]| list.iter().map(|inner| guard(model, inner)).collect::<Vec<_>>();
    match g {
        Guard::Truth(value) => format!("<booleanconstant value=\"{value}\"/>"),
        Guard::Compare(comparison, a, b) => {
            let name = match comparison {
                Comparison::Equal => "equality",
                Comparison::Unequal => "inequality",
                Comparison::Less => "lessthan",
                Comparison::AtMost => "lessthanorequal",
                Comparison::Greater => "greaterthan",
                Comparison::AtLeast => "greaterthanorequal",
            };
            operator(name, &[value(model, a), value(model, b)])
        }
        Guard::Not(inner) => operator("not", &[guard(model, inner)]),
        Guard::And(list) => operator("and", &many(list)),
        Guard::Or(list) => operator("or", &many(list)),
        Guard::Imply(a, b) => operator("imply", &[guard(model, a), guard(model, b)]),
    }
}
