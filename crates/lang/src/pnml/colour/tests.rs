//! What is left out where a net is unfolded to what can be enabled never fires.

use super::super::xml::Xml;
use super::super::{document, names::Names};
use super::*;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

/// The net unfolded as a whole, where that is not too much, and to what can be enabled.
fn both(text: &[u8]) -> (Option<Net>, Net) {
    let unfold = |reachable: bool| -> Result<Net, Wrong> {
        let stop = Stop::never();
        let mut draft = document::read(&mut Xml::new(text), &stop)?;
        draft.resolve_references()?;
        let mut sorts = Sorts::of(&draft.declarations)?;
        let folded = Folded::new(&draft, &mut sorts)?;
        let reached;
        let unfolding = match reachable {
            false => Unfolding::whole(&folded, &stop)?,
            true => {
                reached = Reached::of(&folded, MOST, Tries::new(TRIES, &stop))?;
                Unfolding::of(&folded, &reached, &stop)?
            }
        };
        unfolding.named(Names::of(&mut draft), &folded, &sorts)
    };
    (unfold(false).ok(), unfold(true).unwrap_or_else(|wrong| panic!("{wrong:?}")))
}

/// The names of the transitions that fire in the first so many markings.
fn firing(net: &Net, most: usize) -> HashSet<&str> {
    let mut seen = HashSet::from([net.initial()]);
    let mut open = VecDeque::from([net.initial()]);
    let mut names = HashSet::new();
    while let Some(marking) = open.pop_front().filter(|_| seen.len() < most) {
        for (number, transition) in net.transitions.iter().enumerate() {
            let mut next = marking.clone();
            if net.is_enabled(&marking, number as u32) && net.fire(&mut next, number as u32) {
                names.insert(&*transition.name);
                if seen.insert(next.clone()) {
                    open.push_back(next);
                }
            }
        }
    }
    names
}

/// A transition with its arcs by the names of the places.
fn arcs<'n>(net: &'n Net, transition: &'n Transition) -> [Vec<(&'n str, u64)>; 2] {
    [&transition.inputs, &transition.outputs].map(|list| {
        let mut list: Vec<_> = list.iter().map(|arc| (&*net.places[arc.place as usize].name, arc.weight)).collect();
        list.sort_unstable();
        list
    })
}

#[test]
fn only_what_never_fires_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/pnml/models");
    let Ok(models) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    };
    let mut compared = 0;
    for model in models.flatten().filter(|model| model.file_name().to_string_lossy().contains("-COL-")) {
        let Ok(text) = std::fs::read(model.path().join("model.pnml")) else { continue };
        if text.len() > 200_000 {
            continue;
        }
        let (Some(whole), reached) = both(&text) else { continue };
        if whole.transitions.len() > 20_000 {
            continue;
        }
        let of_whole: HashMap<&str, &Transition> = whole.transitions.iter().map(|t| (&*t.name, t)).collect();
        for transition in &reached.transitions {
            let same = of_whole.get(&*transition.name).map(|&other| arcs(&whole, other));
            assert_eq!(same, Some(arcs(&reached, transition)), "{:?}: {}", model.file_name(), transition.name);
        }
        let kept: HashSet<&str> = reached.transitions.iter().map(|t| &*t.name).collect();
        let lost: Vec<&str> = firing(&whole, 400).into_iter().filter(|name| !kept.contains(name)).collect();
        assert!(lost.is_empty(), "{:?}: {lost:?}", model.file_name());
        let marked = |net: &Net| net.places.iter().map(|p| p.initial).sum::<u64>();
        assert_eq!(marked(&whole), marked(&reached));
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
}

/// A product of 2^32 colours, of which a table leads round a few.
#[test]
fn few_of_many_colours() {
    let sort = r#"<usersort declaration="N"/>"#;
    let number = |n: u32| {
        format!(
            r#"<finiteintrangeconstant value="{n}"><finiteintrange start="0" end="65535"/></finiteintrangeconstant>"#
        )
    };
    let pair = |a: String, b: String| format!("<tuple><subterm>{a}</subterm><subterm>{b}</subterm></tuple>");
    let variable = |v: &str| format!(r#"<variable refvariable="{v}"/>"#);
    let arc = |id: u32, from: &str, to: &str, term: String| {
        format!(
            r#"<arc id="a{id}" source="{from}" target="{to}"><hlinscription><structure>{term}</structure></hlinscription></arc>"#
        )
    };
    let steps: Vec<String> =
        (0..9).map(|n| format!("<subterm>{}</subterm>", pair(number(n * 7000), number((n + 1) % 9 * 7000)))).collect();
    let place = |id: &str, sort: &str, marking: String| {
        format!(
            r#"<place id="{id}"><type><structure><usersort declaration="{sort}"/></structure></type><hlinitialMarking><structure>{marking}</structure></hlinitialMarking></place>"#
        )
    };
    let net = [
        place("at", "N", number(0)),
        place("table", "P", format!("<add>{}</add>", steps.concat())),
        r#"<place id="never"><type><structure><usersort declaration="P"/></structure></type></place><transition id="go"/><transition id="dead"/>"#.to_string(),
        arc(1, "at", "go", variable("x")),
        arc(2, "table", "go", pair(variable("x"), variable("y"))),
        arc(3, "go", "table", pair(variable("x"), variable("y"))),
        arc(4, "go", "at", variable("y")),
        arc(5, "never", "dead", pair(variable("x"), variable("y"))),
    ];
    let text = format!(
        r#"<pnml><net id="n" type="symmetricnet"><declaration><structure><declarations><namedsort id="N" name="N"><finiteintrange start="0" end="65535"/></namedsort><namedsort id="P" name="P"><productsort>{sort}{sort}</productsort></namedsort><variabledecl id="x" name="x">{sort}</variabledecl><variabledecl id="y" name="y">{sort}</variabledecl></declarations></structure></declaration><page id="p">{}</page></net></pnml>"#,
        net.concat()
    );
    let (whole, reached) = both(text.as_bytes());
    assert!(whole.is_none());
    // A place that is never marked and a transition that never fires are still there by name.
    let sizes = |groups: &[scrimp_net::Group]| groups.iter().map(|group| group.members.len()).collect::<Vec<_>>();
    assert_eq!(sizes(&reached.place_groups), [9, 9, 1]);
    assert_eq!(sizes(&reached.transition_groups), [9, 0]);
    assert_eq!(firing(&reached, 100).len(), 9);
}
