//! Documents that are damaged in arbitrary ways are read or refused, and never anything else.

use proptest::prelude::*;
use scrimp_lang::{read_formulas_from, read_net_from};
use std::path::Path;

fn models() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "pnml"));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Pieces that documents are made of.
const PIECES: [&str; 20] = [
    "<page>",
    "</page>",
    "<place id=\"p\"/>",
    "<arc source=\"p\" target=\"t\">",
    "</arc>",
    "\"",
    "<",
    ">",
    "&lt;",
    "&#x41;",
    "<subterm>",
    "</subterm>",
    "<all>",
    "</all>",
    "<tuple>",
    "</tuple>",
    "9223372036854775807",
    "-1",
    "<!--",
    "-->",
];

const FORMULA: &str = "<property-set><property><id>a</id><formula><all-paths><until><before><conjunction><integer-le>\
    <tokens-count><place>room</place></tokens-count><integer-constant>3</integer-constant></integer-le><is-fireable>\
    <transition>print</transition></is-fireable></conjunction></before><reach><negation><deadlock/></negation></reach>\
    </until></all-paths></formula></property></property-set>";

/// Cuts a stretch out, or puts a piece or a copy of another stretch in.
fn damage(text: &mut Vec<u8>, (place, length, kind): (usize, usize, usize)) {
    let place = place % (text.len() + 1);
    let end = (place + length).min(text.len());
    match kind.checked_sub(2) {
        Some(piece) => drop(text.splice(place..place, PIECES[piece % PIECES.len()].bytes())),
        None if kind == 0 => drop(text.drain(place..end)),
        None => {
            let copy = text[place..end].to_vec();
            let to = (place * 7 + length) % (text.len() + 1);
            text.splice(to..to, copy);
        }
    }
}

proptest! {
    #[test]
    fn damaged_documents(number in 0usize..8, changes in prop::collection::vec((any::<usize>(), 0usize..60, 0usize..22), 1..4)) {
        let mut text = models().swap_remove(number);
        changes.into_iter().for_each(|change| damage(&mut text, change));
        if let Err(diagnostic) = read_net_from("m.pnml", &text[..]) {
            prop_assert!(diagnostic.span.line >= 1, "{diagnostic}");
        }
    }

    #[test]
    fn damaged_formulas(changes in prop::collection::vec((any::<usize>(), 0usize..60, 0usize..22), 1..4)) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let net = scrimp_lang::read_net(&folder.join("printer.pnml")).unwrap();
        let mut text = FORMULA.as_bytes().to_vec();
        prop_assert!(read_formulas_from("f.xml", &text[..], &net).is_ok());
        changes.into_iter().for_each(|change| damage(&mut text, change));
        let _ = read_formulas_from("f.xml", &text[..], &net);
    }
}
