//! No text makes the front end panic: random bytes, and valid models with tokens removed, repeated and exchanged.

use proptest::prelude::*;
use scrimp_lang::{parse_dve, parse_property, parse_property_file};
use scrimp_system::Source;

const MODEL: &str = "
    input int n = 2; const byte K = 3, T[2] = {1, 2}; byte x = K, a[n] = {1, 2, 3}; channel c; channel {byte, int} d[2];
    process P { int v = K * 2; state s, t; commit t; accept s; init s; assert s: x < 10 imply v > 0;
      trans s -> t { guard x < K && not Q.u; guard v; sync c!x + 1; effect x = x + 1, a[x % 2] = T[v]; },
      -> s { sync d!{1, 2}; }, t -> s { sync d?{x, a[1]}; } }
    process Q { byte w; state u; init u; trans u -> u { sync c?w; effect x = P->v; }; }
    process node(key i, limit) { state r; init r; trans r -> r { guard i < limit and node(1).r; }; }
    for (k : 1 .. 3) { process node(k, 4 - k); }
    expression e() { P.s } property ltl f \"F(e)\"
    property process N { state q; init q; accept q; trans q -> q { guard x == 2; }; }
    system async;";

/// The model in pieces: words, numbers, and single characters.
fn pieces() -> Vec<&'static str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut previous = ' ';
    for (at, c) in MODEL.char_indices() {
        if !(c.is_alphanumeric() && previous.is_alphanumeric()) && at > start {
            pieces.push(&MODEL[start..at]);
            start = at;
        }
        previous = c;
    }
    pieces.push(&MODEL[start..]);
    pieces
}

fn try_all(text: &str) {
    if let Ok(system) = parse_dve(Source::new("m.dve", text)) {
        system.validate().unwrap_or_else(|e| panic!("{}: {text}", e.0));
    }
    let system = parse_dve(Source::new("m.dve", MODEL)).unwrap();
    let _ = parse_property(&system, text).map_err(|e| e.to_string());
    let _ = parse_property_file(&system, Source::new("p", text)).map_err(|e| e.to_string());
}

#[test]
fn the_model_itself_is_right() {
    parse_dve(Source::new("m.dve", MODEL)).unwrap_or_else(|e| panic!("{e}"));
}

/// Every beginning of the model, and every model with one piece missing.
#[test]
fn cut_models_do_not_panic() {
    let pieces = pieces();
    for at in 0..pieces.len() {
        let _ = parse_dve(Source::new("m.dve", pieces[..at].concat())).map_err(|e| e.to_string());
        let without = [&pieces[..at], &pieces[at + 1..]].concat().concat();
        let _ = parse_dve(Source::new("m.dve", without)).map_err(|e| e.to_string());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        try_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_pieces_do_not_panic(picks in prop::collection::vec(any::<prop::sample::Index>(), 0..120)) {
        let pieces = pieces();
        let text: Vec<&str> = picks.iter().map(|i| pieces[i.index(pieces.len())]).collect();
        try_all(&text.join(" "));
        try_all(&format!("reach: {}", text.join(" ")));
    }

    #[test]
    fn mutated_models_do_not_panic(
        changes in prop::collection::vec((0..4u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
    ) {
        let mut text = pieces();
        for (kind, i, j) in changes {
            let (i, j) = (i.index(text.len()), j.index(text.len()));
            match kind {
                0 => drop(text.remove(i)),
                1 => text.insert(i, text[i]),
                2 => text.swap(i, j),
                _ => text[i] = text[j],
            }
        }
        try_all(&text.concat());
    }
}
