//! Models to search: one of each language, of some ten thousand states, and one of each kind that turns out to be larger than a
//! first look at it shows.

/// Processes that count by themselves: (most + 1) to the power of `processes` states, and an end.
pub fn counters(processes: usize, most: usize) -> String {
    let one = |i: usize| {
        format!(
            "process P_{i} {{ byte x; state s; init s; trans s -> s {{ guard x < {most}; effect x = x + 1; }}; }}\n"
        )
    };
    (0..processes).map(one).collect::<String>() + "system async;\n"
}

/// The same with processes of Promela, of which one starts another late: after more states than a first look visits.
pub fn late(most: usize) -> String {
    format!(
        "byte a, b, c, d;\nproctype Late() {{ d = 1; d = 2; d = 3 }}\n\
         active proctype A() {{ do :: a < {most} -> a++ :: a == {most} && b == {most} && c == {most} -> run Late(); break od }}\n\
         active proctype B() {{ do :: b < {most} -> b++ :: else -> break od }}\n\
         active proctype C() {{ do :: c < {most} -> c++ :: else -> break od }}\n"
    )
}

/// Machines that go round by themselves: `places` to the power of `machines` markings.
pub fn machines(machines: usize, places: usize) -> String {
    let mut text = String::new();
    for (m, p) in (0..machines).flat_map(|m| (0..places).map(move |p| (m, p))) {
        let marking = if p == 0 { "<initialMarking><text>1</text></initialMarking>" } else { "" };
        let next = (p + 1) % places;
        text.push_str(&format!(
            "<place id=\"p{m}_{p}\">{marking}</place><transition id=\"t{m}_{p}\"/>\
             <arc id=\"i{m}_{p}\" source=\"p{m}_{p}\" target=\"t{m}_{p}\"/>\
             <arc id=\"o{m}_{p}\" source=\"t{m}_{p}\" target=\"p{m}_{next}\"/>\n"
        ));
    }
    net(&text)
}

/// Three places that share `tokens`. Nothing says how many a place may get, where structure is not looked at.
pub fn tokens(tokens: usize) -> String {
    let mut text = String::new();
    for p in 0..3 {
        let marking =
            if p == 0 { format!("<initialMarking><text>{tokens}</text></initialMarking>") } else { String::new() };
        let next = (p + 1) % 3;
        text.push_str(&format!(
            "<place id=\"p{p}\">{marking}</place><transition id=\"t{p}\"/>\
             <arc id=\"i{p}\" source=\"p{p}\" target=\"t{p}\"/><arc id=\"o{p}\" source=\"t{p}\" target=\"p{next}\"/>\n"
        ));
    }
    net(&text)
}

fn net(contents: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\
         <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"page\">\n{contents}</page></net></pnml>\n"
    )
}

/// A system that goes round, and as many of them side by side.
pub fn ring(states: usize) -> String {
    let edge = |s: usize| format!("({s}, \"step\", {})\n", (s + 1) % states);
    format!("des (0, {states}, {states})\n{}", (0..states).map(edge).collect::<String>())
}

pub fn network(components: usize, file: &str) -> String {
    let names: Vec<String> = (0..components).map(|i| format!("C{i}")).collect();
    let vector = |i: usize| {
        let parts: Vec<&str> = (0..components).map(|j| if i == j { "step" } else { "_" }).collect();
        format!("sync {} -> \"step {i}\"\n", parts.join(" * "))
    };
    format!("component {} = \"{file}\"\n{}", names.join(", "), (0..components).map(vector).collect::<String>())
}
