//! What documents mean: the ways in which tools write arcs and markings, the terms of coloured nets, and formulas.

use scrimp_lang::{Language, Opened, open, open_as, read_formulas_from, read_net_from};
use scrimp_net::{Arc, Condition, Formula, Net, Question, Sum, Transition};

fn net(body: &str) -> Net {
    let text = format!("<pnml><net id=\"n\" type=\"ptnet\"><page id=\"g\">{body}</page></net></pnml>");
    read_net_from("m.pnml", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

fn arcs(arcs: &[(u32, u64)]) -> Vec<Arc> {
    arcs.iter().map(|&(place, weight)| Arc { place, weight }).collect()
}

const NODES: &str = "<place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/>";

/// The only transition, with these arcs.
fn transition(body: &str) -> Transition {
    net(&format!("{NODES}{body}")).transitions.remove(0)
}

#[test]
fn weights_of_parallel_arcs_add() {
    let t = transition(
        "<arc id=\"a\" source=\"q\" target=\"t\"><inscription><text> 2 </text></inscription></arc>
         <arc id=\"b\" source=\"p\" target=\"t\"/><arc id=\"c\" source=\"q\" target=\"t\"><graphics/></arc>
         <arc id=\"d\" source=\"t\" target=\"p\"><inscription><value>Default,4</value></inscription></arc>",
    );
    assert_eq!((t.inputs, t.outputs), (arcs(&[(0, 1), (1, 3)]), arcs(&[(0, 4)])));
}

#[test]
fn inhibitors_resets_and_tests_in_all_spellings() {
    for kind in [
        "type=\"inhibitor\"/>",
        "><type value=\"inhibitor\"/></arc>",
        "type=\"tapnInhibitor\" inscription=\"[0,inf)\"/>",
        "><arctype><text>inhibitor</text></arctype></arc>",
    ] {
        let t = transition(&format!("<arc source=\"p\" target=\"t\" {kind}"));
        assert_eq!((t.inputs, t.inhibitors), (arcs(&[]), arcs(&[(0, 1)])), "{kind}");
    }
    for kind in ["type=\"reset\"/>", "><type value=\"reset\"/></arc>", "><arctype><text>reset</text></arctype></arc>"] {
        let t = transition(&format!("<arc source=\"p\" target=\"t\" {kind}"));
        assert_eq!((t.inputs, t.resets), (arcs(&[]), vec![0]), "{kind}");
    }
    for kind in ["type=\"test\"/>", "><type value=\"read\"/></arc>"] {
        let t = transition(&format!("<arc source=\"p\" target=\"t\" {kind}"));
        assert_eq!((t.inputs, t.outputs), (arcs(&[(0, 1)]), arcs(&[(0, 1)])), "{kind}");
    }
    // Of several inhibitors the strictest counts; a test and a taking arc need what the larger needs.
    let inhibitor = |n: u32| format!("<arc source=\"p\" target=\"t\" type=\"inhibitor\" weight=\"{n}\"/>");
    assert_eq!(transition(&(inhibitor(3) + &inhibitor(2))).inhibitors, arcs(&[(0, 2)]));
    let test = "<arc source=\"p\" target=\"t\" type=\"test\" weight=\"3\"/>";
    let taken = "<arc source=\"p\" target=\"t\" type=\"timed\" inscription=\"[0,inf)\"/>";
    let t = transition(&format!("{test}{taken}"));
    assert_eq!((t.inputs, t.outputs), (arcs(&[(0, 3)]), arcs(&[(0, 2)])));
    // What is emptied is not given back.
    let t = transition(&format!("{test}<arc source=\"p\" target=\"t\" type=\"reset\"/>"));
    assert_eq!((t.inputs, t.outputs, t.resets), (arcs(&[(0, 3)]), arcs(&[]), vec![0]));
}

#[test]
fn markings_and_names() {
    let net = net("<place id=\"a\" name=\"A\" initialMarking=\"3\"/>
        <place id=\"b\"><name><text>same</text></name><initialMarking><value>Default,2</value></initialMarking></place>
        <place id=\"c\"><name><text>same</text></name><initialMarking><text>9223372036854775807</text></initialMarking></place>
        <place id=\"d\"><name><text>b</text></name></place><place id=\"e\"><name><text>x &lt; &#121;</text></name></place>
        <page id=\"inner\"><referenceTransition id=\"r\" ref=\"s\"/><referenceTransition id=\"s\" ref=\"t\"/>
        <referencePlace id=\"f\" ref=\"e\"/><transition id=\"t\"/><arc source=\"f\" target=\"r\"/></page>");
    let names: Vec<&str> = net.places.iter().map(|place| &*place.name).collect();
    assert_eq!(names, ["A", "b", "c", "d", "x < y"]);
    assert_eq!(net.initial(), [3, 2, i64::MAX as u64, 0, 0]);
    assert_eq!(net.transitions[0].inputs, arcs(&[(4, 1)]));
    assert_eq!((net.place_groups[1].id.as_str(), net.place_groups[1].name.as_str()), ("b", "same"));
    assert_eq!((net.places[1].line, net.places[4].line), (2, 4));
}

/// A coloured net with a place `p` of this sort, a place `d` of dots, and a transition with a guard.
fn coloured(sort: &str, marking: &str, guard: &str, arcs: &str) -> Result<Net, String> {
    let text = format!(
        "<pnml><net id=\"n\" type=\"symmetricnet\"><page id=\"g\">
        <place id=\"p\"><type><structure><usersort declaration=\"{sort}\"/></structure></type>{marking}</place>
        <place id=\"d\"><type><structure><usersort declaration=\"Dot\"/></structure></type></place>
        <transition id=\"t\">{guard}</transition>{arcs}</page>
        <declaration><structure><declarations>
          <namedsort id=\"Pair\" name=\"Pair\"><productsort><usersort declaration=\"F\"/><usersort declaration=\"C\"/></productsort></namedsort>
          <namedsort id=\"C\" name=\"C\"><cyclicenumeration><feconstant id=\"c0\" name=\"zero\"/><feconstant id=\"c1\" name=\"one\"/><feconstant id=\"c2\" name=\"two\"/></cyclicenumeration></namedsort>
          <namedsort id=\"F\" name=\"F\"><finiteenumeration><feconstant id=\"f0\" name=\"a\"/><feconstant id=\"f1\" name=\"b\"/></finiteenumeration></namedsort>
          <namedsort id=\"R\" name=\"R\"><finiteintrange start=\"-1\" end=\"2\"/></namedsort>
          <namedsort id=\"Dot\" name=\"Dot\"><dot/></namedsort>
          <namedsort id=\"Alias\" name=\"Alias\"><usersort declaration=\"C\"/></namedsort>
          <partition id=\"Half\" name=\"Half\"><usersort declaration=\"C\"/>
            <partitionelement id=\"low\" name=\"low\"><useroperator declaration=\"c0\"/></partitionelement>
            <partitionelement id=\"high\" name=\"high\"><useroperator declaration=\"c1\"/><useroperator declaration=\"c2\"/></partitionelement></partition>
          <variabledecl id=\"c\" name=\"c\"><usersort declaration=\"C\"/></variabledecl>
          <variabledecl id=\"e\" name=\"e\"><usersort declaration=\"Alias\"/></variabledecl>
          <variabledecl id=\"f\" name=\"f\"><usersort declaration=\"F\"/></variabledecl>
          <variabledecl id=\"r\" name=\"r\"><usersort declaration=\"R\"/></variabledecl>
          <variabledecl id=\"pair\" name=\"pair\"><usersort declaration=\"Pair\"/></variabledecl>
        </declarations></structure></declaration></net></pnml>"
    );
    read_net_from("m.pnml", text.as_bytes()).map_err(|e| e.to_string())
}

fn sub(term: &str) -> String {
    format!("<subterm>{term}</subterm>")
}

fn op(name: &str, terms: &[&str]) -> String {
    format!("<{name}>{}</{name}>", terms.iter().map(|term| sub(term)).collect::<String>())
}

fn var(id: &str) -> String {
    format!("<variable refvariable=\"{id}\"/>")
}

fn all(sort: &str) -> String {
    format!("<all><usersort declaration=\"{sort}\"/></all>")
}

fn times(n: u32, term: &str) -> String {
    op("numberof", &[&format!("<numberconstant value=\"{n}\"><positive/></numberconstant>"), term])
}

fn input(term: &str) -> String {
    format!("<arc source=\"p\" target=\"t\"><hlinscription><text/><structure>{term}</structure></hlinscription></arc>")
}

fn guard(term: &str) -> String {
    format!("<condition><text/><structure>{term}</structure></condition>")
}

fn marking(term: &str) -> String {
    format!("<hlinitialMarking><structure>{term}</structure></hlinitialMarking>")
}

fn names(net: &Net) -> Vec<&str> {
    net.transitions.iter().map(|t| &*t.name).collect()
}

/// The bindings that a guard leaves.
fn bindings(term: &str) -> Vec<String> {
    let net = coloured("C", "", &guard(term), "").unwrap_or_else(|e| panic!("{e}"));
    net.transitions.into_iter().map(|t| t.name).collect()
}

#[test]
fn all_but_one() {
    let others = op("subtract", &[&all("C"), &var("c")]);
    let net = coloured("C", &marking(&times(2, &all("C"))), "", &input(&others)).unwrap();
    assert_eq!(net.initial(), [2, 2, 2, 0]);
    assert_eq!(names(&net), ["t(c=zero)", "t(c=one)", "t(c=two)"]);
    assert_eq!(net.transitions[1].inputs, arcs(&[(0, 1), (2, 1)]));
    assert_eq!(net.transition_groups[0].members, [0, 1, 2]);
    let too_many = op("subtract", &[&all("C"), &times(2, &var("c"))]);
    assert!(coloured("C", "", "", &input(&too_many)).unwrap_err().contains("subtracted than there are"));
    // What is subtracted may be there several times.
    let twice = op("subtract", &[&times(3, &all("C")), &times(3, &var("c")), &op("successor", &[&var("c")])]);
    let net = coloured("C", "", "", &input(&twice)).unwrap();
    assert_eq!(net.transitions[0].inputs, arcs(&[(1, 2), (2, 3)]));
}

#[test]
fn successors_wrap_in_cycles_only() {
    let step = |name: &str, v: &str| op(name, &[&var(v)]);
    let net = coloured("C", "", "", &input(&step("predecessor", "c"))).unwrap();
    assert_eq!(net.transitions[0].inputs, arcs(&[(2, 1)]));
    let net = coloured("F", "", "", &input(&step("successor", "f"))).unwrap();
    assert_eq!((names(&net), &net.transitions[0].inputs), (vec!["t(f=a)"], &arcs(&[(1, 1)])));
    let net = coloured("R", "", "", &input(&step("predecessor", "r"))).unwrap();
    assert_eq!(names(&net), ["t(r=0)", "t(r=1)", "t(r=2)"]);
    assert_eq!(&*net.places[0].name, "p(-1)");
}

#[test]
fn tuples_are_all_combinations() {
    let term = op("tuple", &[&op("add", &[&times(2, &var("f")), "<useroperator declaration=\"f0\"/>"]), &all("C")]);
    let net = coloured("Pair", "", "", &input(&term)).unwrap();
    assert_eq!(net.places.len(), 7);
    assert_eq!((&*net.places[5].name, &*net.places[6].name), ("p(b,two)", "d"));
    assert_eq!(net.transitions[0].inputs, arcs(&[(0, 3), (1, 3), (2, 3)]));
    assert_eq!(net.transitions[1].inputs, arcs(&[(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 2)]));
    let net = coloured("Pair", "", "", &input(&var("pair"))).unwrap();
    assert_eq!(names(&net)[4], "t(pair=b,one)");
    let net = coloured("Pair", "", "", &input(&op("scalarproduct", &["<numberconstant value=\"0\"/>", &all("Pair")])))
        .unwrap();
    assert_eq!((names(&net), &net.transitions[0].inputs), (vec!["t"], &arcs(&[])));
}

#[test]
fn guards() {
    let (c, e) = (var("c"), var("e"));
    assert_eq!(bindings(&op("equality", &[&c, &op("successor", &[&e])])).len(), 3);
    assert_eq!(bindings(&op("inequality", &[&c, &e])).len(), 6);
    assert_eq!(bindings(&op("lessthan", &[&c, &e])), ["t(c=zero,e=one)", "t(c=zero,e=two)", "t(c=one,e=two)"]);
    assert_eq!(bindings(&op("lessthanorequal", &[&c, &e])).len(), 6);
    assert_eq!(bindings(&op("greaterthan", &[&c, "<useroperator declaration=\"c1\"/>"])), ["t(c=two)"]);
    assert_eq!(bindings(&op("greaterthanorequal", &[&c, "<useroperator declaration=\"c1\"/>"])).len(), 2);
    let same = op("equality", &[&c, &e]);
    assert_eq!(bindings(&op("imply", &[&same, "<booleanconstant value=\"false\"/>"])).len(), 6);
    assert_eq!(bindings(&op("or", &[&same, &op("not", &[&same])])).len(), 9);
    assert_eq!(bindings(&op("and", &[&same, "<booleanconstant value=\"true\"/>"])).len(), 3);
    assert_eq!(bindings(&op("and", &[])), ["t"]);
    let part = op(
        "equality",
        &[
            "<partitionelementof refpartition=\"Half\"><subterm><variable refvariable=\"c\"/></subterm></partitionelementof>",
            "<useroperator declaration=\"high\"/>",
        ],
    );
    assert_eq!(bindings(&part), ["t(c=one)", "t(c=two)"]);
    let number =
        "<finiteintrangeconstant value=\"1\"><finiteintrange start=\"-1\" end=\"2\"/></finiteintrangeconstant>";
    assert_eq!(bindings(&op("lessthan", &[number, &var("r")])), ["t(r=2)"]);
    // A variable of the guard alone tells transitions apart.
    let net = coloured("C", "", &guard(&op("inequality", &[&c, &e])), &input(&c)).unwrap();
    assert_eq!((net.transitions.len(), net.transitions[0].inputs.len()), (6, 1));
    // No element follows the last one, so there is no such binding.
    let beyond = op("not", &[&op("equality", &[&op("successor", &[&var("f")]), "<useroperator declaration=\"f0\"/>"])]);
    assert_eq!(bindings(&beyond), ["t(f=a)"]);
}

#[test]
fn other_arcs_of_coloured_nets() {
    let reset = "<arc source=\"p\" target=\"t\" type=\"reset\"/><arc source=\"d\" target=\"t\"/>";
    let net = coloured("C", "", "", reset).unwrap();
    assert_eq!((&net.transitions[0].resets, &net.transitions[0].inputs), (&vec![0, 1, 2], &arcs(&[(3, 1)])));
    let term = input(&times(2, &var("c"))).replace("target", "type=\"inhibitor\" target");
    let net = coloured("C", "", "", &term).unwrap();
    assert_eq!(net.transitions[2].inhibitors, arcs(&[(2, 2)]));
}

/// The questions of a file with these properties: the formula under each id.
fn questions(net: &Net, properties: &[(&str, &str)]) -> Vec<Question> {
    let property = |(id, formula): &(&str, &str)| {
        format!("<property><id>{id}</id><description>d</description><formula>{formula}</formula></property>")
    };
    let text = format!("<property-set>{}</property-set>", properties.iter().map(property).collect::<String>());
    let read = read_formulas_from("f.xml", text.as_bytes(), net).unwrap_or_else(|e| panic!("{e}"));
    read.into_iter().map(|named| named.question).collect()
}

fn question(formula: &str) -> Question {
    questions(&net(NODES), &[("a", formula)]).remove(0)
}

fn is(formula: &str) -> Condition {
    match question(formula) {
        Question::Formula(Formula::Atom(condition)) => condition,
        other => panic!("{other:?}"),
    }
}

#[test]
fn conditions_are_simple() {
    let p = "<tokens-count><place>p</place></tokens-count>";
    let both = "<tokens-count><place>p</place><place>q</place><place>p</place></tokens-count>";
    let n = |n: i64| format!("<integer-constant>{n}</integer-constant>");
    let at_most = |terms: &[(u32, i64)], constant| Condition::AtMostZero(Sum { terms: terms.to_vec(), constant });
    assert_eq!(is(&format!("<integer-le>{both}{}</integer-le>", n(3))), at_most(&[(0, 2), (1, 1)], -3));
    assert_eq!(is(&format!("<negation><integer-le>{p}{}</integer-le></negation>", n(3))), at_most(&[(0, -1)], 4));
    assert_eq!(is(&format!("<integer-gt>{p}{}</integer-gt>", n(3))), at_most(&[(0, -1)], 4));
    assert_eq!(is(&format!("<integer-ge>{p}{}</integer-ge>", n(3))), at_most(&[(0, -1)], 3));
    assert_eq!(is(&format!("<integer-lt>{p}{}</integer-lt>", n(3))), at_most(&[(0, 1)], -2));
    let equal = is(&format!("<integer-eq>{p}{}</integer-eq>", n(3)));
    assert_eq!(equal, Condition::All(vec![at_most(&[(0, 1)], -3), at_most(&[(0, -1)], 3)]));
    assert_eq!(is(&format!("<integer-ne>{p}{}</integer-ne>", n(3))), equal.negated());
    assert_eq!(is(&format!("<integer-ge>{p}{}</integer-ge>", n(0))), Condition::True);
    assert_eq!(is(&format!("<integer-le>{p}{p}</integer-le>")), Condition::True);
    let calculated = format!(
        "<integer-difference><integer-product>{}{p}{}</integer-product><integer-sum>{p}{}</integer-sum></integer-difference>",
        n(2),
        n(3),
        n(7)
    );
    assert_eq!(is(&format!("<integer-le>{calculated}{}</integer-le>", n(1))), at_most(&[(0, 5)], -8));
    let fire = "<is-fireable><transition>t</transition><transition>t</transition></is-fireable>";
    assert_eq!(is(fire), Condition::Fireable(vec![0]));
    let not_fire = || Condition::Not(Box::new(Condition::Fireable(vec![0])));
    // Whether what is before an implication ever holds is worth knowing, so these are not conditions.
    let implied = Formula::Implies(
        Box::new(Formula::Atom(Condition::Fireable(vec![0]))),
        Box::new(Formula::Atom(Condition::False)),
    );
    assert_eq!(question(&format!("<implication>{fire}<false/></implication>")), Question::Formula(implied));
    assert_eq!(is(&format!("<exclusive-disjunction>{fire}<true/></exclusive-disjunction>")), not_fire());
    assert_eq!(is(&format!("<equivalence>{fire}<false/></equivalence>")), not_fire());
}

#[test]
fn formulas_keep_their_time() {
    let dead = || Box::new(Formula::Atom(Condition::Deadlock));
    let reached = Formula::ExistsPath(Box::new(Formula::Finally(dead())));
    assert_eq!(
        question("<exists-path><finally><deadlock/></finally></exists-path>"),
        Question::Formula(reached.clone())
    );
    let until =
        "<all-paths><until><before><next><deadlock/></next></before><reach><deadlock/></reach></until></all-paths>";
    let wanted = Formula::AllPaths(Box::new(Formula::Until(Box::new(Formula::Next(dead())), dead())));
    assert_eq!(question(until), Question::Formula(wanted));
    let old = "<all-paths><next><if-no-successor>true</if-no-successor><steps>1</steps><deadlock/></next></all-paths>";
    assert_eq!(question(old), Question::Formula(Formula::AllPaths(Box::new(Formula::Next(dead())))));
    assert_eq!(
        question("<invariant><negation><negation><deadlock/></negation></negation></invariant>"),
        Question::Formula(Formula::AllPaths(Box::new(Formula::Globally(dead()))))
    );
    assert_eq!(question("<place-bound><place>q</place><place>p</place></place-bound>"), Question::Bound(vec![1, 0]));
    let net = net(NODES);
    let known = ["StateSpace", "OneSafe", "StableMarking", "QuasiLiveness", "Liveness", "ReachabilityDeadlock"];
    let ids: Vec<String> = known.iter().map(|id| format!("net-1-{id}")).collect();
    let properties: Vec<(&str, &str)> = ids.iter().map(|id| (&**id, "")).collect();
    let wanted = [
        Question::StateSpace,
        Question::OneSafe,
        Question::StableMarking,
        Question::QuasiLiveness,
        Question::Liveness,
        Question::Formula(reached),
    ];
    assert_eq!(questions(&net, &properties), wanted);
}

#[test]
fn names_in_formulas_of_coloured_nets() {
    let net = coloured("C", "", "", &input(&var("c"))).unwrap();
    let bound = |name: &str| format!("<place-bound><place>{name}</place></place-bound>");
    let found = questions(
        &net,
        &[("a", &bound("p")), ("b", &bound("p(one)")), ("c", "<is-fireable><transition>t</transition></is-fireable>")],
    );
    assert_eq!(found[0], Question::Bound(vec![0, 1, 2]));
    assert_eq!(found[1], Question::Bound(vec![1]));
    assert_eq!(found[2], Question::Formula(Formula::Atom(Condition::Fireable(vec![0, 1, 2]))));
}

#[test]
fn files_are_known_by_their_name_or_text() {
    let folder = std::env::temp_dir().join(format!("scrimp-open-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = "<?xml version=\"1.0\"?><pnml><net id=\"n\"/></pnml>";
    for name in ["a.pnml", "b.xml", "c"] {
        std::fs::write(folder.join(name), text).unwrap();
        assert!(matches!(open(&folder.join(name)), Ok(Opened::Net(_))), "{name}");
    }
    assert!(matches!(open_as(&folder.join("c"), Language::Pnml), Ok(Opened::Net(_))));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn positions_are_kept_where_every_node_has_one() {
    let node = |kind: &str, id: &str, x: i32, y: i32| {
        format!("<{kind} id=\"{id}\"><graphics><position x=\"{x}\" y=\"{y}.5\"/></graphics></{kind}>")
    };
    let read = |pages: &str| {
        let text = format!("<pnml><net id=\"n\" type=\"ptnet\">{pages}</net></pnml>");
        scrimp_lang::read_net_from("m.pnml", text.as_bytes()).unwrap().positions
    };
    let first = node("place", "p", 10, -20) + &node("transition", "t", 30, 40);
    let positions = read(&format!("<page id=\"1\">{first}</page>")).unwrap();
    assert_eq!((positions.places, positions.transitions), (vec![[10.0, -20.5]], vec![[30.0, 40.5]]));
    // A second page is drawn below the first; what follows a page inside a page stays with its own.
    let second = node("place", "q", 10, 0);
    let last = node("place", "r", 50, 7);
    let pages = format!("<page id=\"1\">{first}<page id=\"2\">{second}</page>{last}</page>");
    let places = read(&pages).unwrap().places;
    assert!(places[1][1] > 40.5 && places[2] == [50.0, 7.5]);
    for without in
        ["<place id=\"q\"/>", "<place id=\"q\"><name><graphics><position x=\"1\" y=\"1\"/></graphics></name></place>"]
    {
        assert_eq!(read(&format!("<page id=\"1\">{first}{without}</page>")), None);
    }
    let odd = first.replace("30", "NaN");
    assert_eq!(read(&format!("<page id=\"1\">{odd}</page>")), None);
    let attributes = "<place id=\"p\" positionX=\"3\" positionY=\"4\"/>";
    assert_eq!(read(attributes).unwrap().places, [[3.0, 4.0]]);
}
