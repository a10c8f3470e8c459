//! Documents that are wrong: each is refused with a message that says what is wrong, and on which line.

use scrimp_lang::{read_formulas_from, read_net, read_net_from};
use scrimp_net::Net;
use std::io::Write;

const HEAD: &str = "<?xml version=\"1.0\"?>\n<pnml>\n<net id=\"n\" type=\"ptnet\">\n<page id=\"g\">\n";
const TAIL: &str = "</page>\n</net>\n</pnml>\n";
const NODES: &str = "<place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/><transition id=\"u\"/>\n";

/// The message for a net whose page has this after four lines, with the line and column.
fn wrong(body: &str) -> String {
    whole(&format!("{HEAD}{body}{TAIL}"))
}

fn whole(text: &str) -> String {
    match read_net_from("m.pnml", text.as_bytes()) {
        Ok(net) => panic!("accepted: {text}\n{net:?}"),
        Err(diagnostic) => diagnostic.to_string(),
    }
}

fn check(body: &str, place: &str, message: &str) {
    let found = wrong(body);
    assert!(found.starts_with(&format!("m.pnml:{place}: error: ")), "{found}");
    assert!(found.contains(message), "{found}");
}

fn net(body: &str) -> Net {
    read_net_from("m.pnml", format!("{HEAD}{body}{TAIL}").as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn identifiers() {
    check("<place/>", "5:1", "without an id");
    check("<place id=\"\"/>", "5:1", "without an id");
    check("<place id=\"p\"/>\n <transition id=\"p\"/>", "6:2", "used already, on line 5");
    check("<referencePlace id=\"r\"/>", "5:1", "without the attribute \"ref\"");
    check("<referencePlace id=\"r\" ref=\"x\"/>", "5:1", "\"x\", which does not exist");
    check("<transition id=\"t\"/>\n<referencePlace id=\"r\" ref=\"t\"/>", "6:1", "not a place");
    check("<referencePlace id=\"r\" ref=\"s\"/><referencePlace id=\"s\" ref=\"r\"/>", "5:1", "cycle");
}

#[test]
fn arcs() {
    let arc = |arc: &str| format!("{NODES}{arc}");
    check(&arc("<arc id=\"a\" source=\"p\"/>"), "6:1", "without the attribute \"target\"");
    check(&arc("<arc id=\"a\" source=\"p\" target=\"x\"/>"), "6:1", "target \"x\" does not exist");
    check(&arc("<arc id=\"a\" source=\"p\" target=\"q\"/>"), "6:1", "from a place to a place");
    check(&arc("<arc id=\"a\" source=\"t\" target=\"u\"/>"), "6:1", "from a transition to a transition");
    check(&arc("<arc source=\"t\" target=\"p\" type=\"inhibitor\"/>"), "6:1", "inhibitor arc from a transition");
    check(&arc("<arc source=\"p\" target=\"t\" type=\"odd\"/>"), "6:1", "kind \"odd\"");
    check(&arc("<arc source=\"p\" target=\"t\" inscription=\"[1,5]\"/>"), "6:1", "the arc's weight");
    for (weight, message) in [
        ("0", "is zero"),
        ("-1", "is negative"),
        ("1.5", "not a whole number"),
        ("x", "not a number"),
        ("", "not a number"),
        ("9223372036854775808", "up to 2^63 - 1"),
        ("99999999999999999999999", "up to 2^63 - 1"),
        ("red,1,blue,2", "several classes"),
    ] {
        let text =
            arc(&format!("<arc source=\"p\" target=\"t\"><inscription>\n<text>{weight}</text></inscription></arc>"));
        check(&text, "7:1", message);
    }
    let half = "<arc source=\"p\" target=\"t\"><inscription><text>9223372036854775807</text></inscription></arc>";
    check(&arc(&format!("{half}\n{half}")), "7:1", "above 2^63 - 1 together");
}

#[test]
fn markings() {
    check("<place id=\"p\"><initialMarking><text>-3</text></initialMarking></place>", "5:31", "is negative");
    check("<place id=\"p\"><initialMarking><text>2.5</text></initialMarking></place>", "5:31", "whole number");
    check("<place id=\"p\"><capacity><text>2</text></capacity></place>", "5:25", "capacities");
}

/// What tools add to nets and would change what they do.
#[test]
fn extensions_that_change_the_meaning() {
    check("<place id=\"p\" invariant=\"&lt;= 5\"/>", "5:1", "age is bounded");
    assert_eq!(net("<place id=\"p\" invariant=\"&lt; inf\"/>").places.len(), 1);
    let priority =
        |id: u32, n: u32| format!("<transition id=\"t{id}\"><priority><value>{n}</value></priority></transition>\n");
    assert_eq!(net(&(priority(0, 1) + &priority(1, 1))).transitions.len(), 2);
    check(&(priority(0, 1) + &priority(1, 2)), "6:31", "different priorities");
    let text = "<arc source=\"p\" target=\"t\"><hlinscription><text>2'x</text></hlinscription></arc>";
    check(&format!("{NODES}{text}"), "6:28", "without a term");
}

#[test]
fn broken_xml() {
    assert!(whole("<html>\n<body/></html>").contains("m.pnml:1:1: error: this is not a PNML file"));
    assert!(whole("<!DOCTYPE html>\n<html/>").contains("m.pnml:2:1: error: this is not a PNML file"));
    assert!(whole("no XML").contains("m.pnml:1:1: error: this is not XML: there is text outside"));
    assert!(whole("   ").contains("no XML element"));
    assert!(whole("<pnml/>").contains("no <net>"));
    assert!(whole("<pnml><net id=\"a\"/><net id=\"b\"/></pnml>").contains("second net"));
    assert!(whole("<pnml><net id=\"a\"/></pnml><pnml/>").contains("second root"));
    assert!(whole("<pnml>\n<net id=\"a\">").contains("the text ends inside an element"));
    assert!(whole("<pnml>\n<net id=\"a").contains("m.pnml:2:1: error: this is not well-formed"));
    assert!(whole("<pnml>\n<net></place></pnml>").contains("m.pnml:2:6: error: this is not well-formed"));
    check("<place id=\"p\" id=\"q\"/>", "5:1", "a wrong attribute");
    check("<place id=\"&big;\"/>", "5:1", "\"&big;\" is not known");
    check("<place id=\"p\"><name><text>&big;</text></name></place>", "5:27", "\"&big;\" is not known");
    let bomb = "<!DOCTYPE pnml [\n<!ENTITY a \"aaaaaaaaaa\">\n<!ENTITY b \"&a;&a;&a;&a;&a;\">\n]>\n<pnml/>";
    assert!(whole(bomb).contains("m.pnml:1:1: error: a document type that defines entities"));
    let deep = "<a>".repeat(100_000);
    check(&deep, "5:11992", "nested more than 4000 deep");
    let pages = "<page id=\"x\">".repeat(3900) + &"</page>".repeat(3900);
    assert_eq!(net(&pages).places.len(), 0);
    let mut bytes = format!("{HEAD}<place id=\"\u{e9}\"/>{TAIL}").into_bytes();
    assert!(read_net_from("m", &bytes[..]).is_ok());
    bytes.retain(|b| *b != 0xc3);
    assert!(read_net_from("m", &bytes[..]).unwrap_err().to_string().contains("m:5:1: error: the text is not UTF-8"));
}

#[test]
fn the_line_is_shown_from_the_file() {
    let folder = std::env::temp_dir().join(format!("scrimp-pnml-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("{HEAD}{NODES}  <arc id=\"a\" source=\"p\" target=\"x\"/>\n{TAIL}");
    let (plain, packed) = (folder.join("a.pnml"), folder.join("b.pnml.gz"));
    std::fs::write(&plain, &text).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(std::fs::File::create(&packed).unwrap(), Default::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap();
    for path in [&plain, &packed] {
        let message = read_net(path).unwrap_err().to_string();
        let line = "<arc id=\"a\" source=\"p\" target=\"x\"/>";
        let wanted = format!(
            "{}:6:3: error: the arc's target \"x\" does not exist\n    {line}\n    ^{}",
            path.display(),
            "~".repeat(line.len() - 1)
        );
        assert_eq!(message, wanted);
    }
    std::fs::write(&plain, b"\xff\xfe<\0").unwrap();
    assert!(read_net(&plain).unwrap_err().to_string().contains("UTF-16"));
    std::fs::write(&plain, b"").unwrap();
    assert!(read_net(&plain).unwrap_err().to_string().contains("the file is empty"));
    assert!(read_net(&folder).unwrap_err().to_string().contains("a folder"));
    // An archive that was cut off.
    let bytes = std::fs::read(&packed).unwrap();
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    assert!(read_net(&packed).unwrap_err().to_string().contains("cannot be read further"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn units() {
    let units = |body: &str| format!("{NODES}<toolspecific tool=\"nupn\" version=\"1.1\">\n{body}</toolspecific>");
    let unit = |id: &str, places: &str, inner: &str| {
        format!("<unit id=\"{id}\"><places>{places}</places><subunits>{inner}</subunits></unit>\n")
    };
    let all =
        |units: &[String]| format!("<structure units=\"2\" root=\"a\" safe=\"true\">\n{}</structure>", units.concat());
    let good = net(&units(&all(&[unit("a", "p", "b"), unit("b", "q", "")])));
    let found = good.units.unwrap();
    assert!(found.safe && found.units[found.root as usize].subunits == [1] && found.units[1].places == [1]);
    check(&units(&all(&[unit("a", "x", "")])), "8:1", "\"x\" in this unit is not a place");
    check(&units(&all(&[unit("b", "p", "")])), "7:1", "unit \"a\" does not exist");
    check(&units(&all(&[unit("a", "p", ""), unit("a", "q", "")])), "9:1", "there twice");
    check(&units(&all(&[unit("a", "p", "b"), unit("b", "q", "a")])), "9:1", "contains the one it is in");
    check(&units(&all(&[unit("a", "p", ""), unit("b", "q", "")])), "9:1", "not inside the root");
    check(&units(&all(&[unit("a", "p", "c")])), "8:1", "unit \"c\" does not exist");
}

/// A coloured net with these declarations after a body, from line 5 on.
fn coloured(body: &str) -> String {
    let declarations = "<declaration><structure><declarations>
        <namedsort id=\"N\" name=\"N\"><cyclicenumeration><feconstant id=\"n1\" name=\"1\"/><feconstant id=\"n2\" name=\"2\"/></cyclicenumeration></namedsort>
        <namedsort id=\"R\" name=\"R\"><finiteintrange start=\"1\" end=\"3\"/></namedsort>
        <namedsort id=\"NR\" name=\"NR\"><productsort><usersort declaration=\"N\"/><usersort declaration=\"R\"/></productsort></namedsort>
        <variabledecl id=\"x\" name=\"x\"><usersort declaration=\"N\"/></variabledecl>
        <variabledecl id=\"r\" name=\"r\"><usersort declaration=\"R\"/></variabledecl>
        </declarations></structure></declaration>\n";
    let nodes = "<place id=\"p\"><type><structure><usersort declaration=\"N\"/></structure></type></place>
        <place id=\"q\"><type><structure><usersort declaration=\"NR\"/></structure></type></place>\n";
    format!("{}{nodes}{body}{declarations}{TAIL}", HEAD.replace("ptnet", "symmetricnet"))
}

fn check_coloured(body: &str, place: &str, message: &str) {
    let found = whole(&coloured(body));
    assert!(found.starts_with(&format!("m.pnml:{place}: error: ")), "{found}");
    assert!(found.contains(message), "{found}");
}

#[test]
fn colours() {
    let arc = |place: &str, term: &str| {
        format!(
            "<transition id=\"t\"/>\n<arc source=\"{place}\" target=\"t\"><hlinscription><structure>\n{term}</structure></hlinscription></arc>\n"
        )
    };
    let good = read_net_from("m", coloured(&arc("p", "<variable refvariable=\"x\"/>")).as_bytes()).unwrap();
    assert_eq!((good.places.len(), good.transitions.len()), (8, 2));
    assert_eq!((&*good.places[1].name, &*good.places[7].name), ("p(2)", "q(2,3)"));
    assert_eq!(good.transitions[0].name, "t(x=1)");
    check_coloured(&arc("p", "<variable refvariable=\"r\"/>"), "9:1", "of the sort R, where N is expected");
    check_coloured(&arc("p", "<variable refvariable=\"y\"/>"), "9:1", "variable \"y\" is not declared");
    check_coloured(&arc("p", "<useroperator declaration=\"c\"/>"), "9:1", "constant \"c\" is not declared");
    check_coloured(&arc("p", "<all><usersort declaration=\"M\"/></all>"), "9:6", "sort \"M\" is not declared");
    check_coloured(&arc("p", "<all><usersort declaration=\"R\"/></all>"), "9:1", "where N is expected");
    check_coloured(&arc("p", "<strange/>"), "9:1", "<strange> is not supported");
    check_coloured(&arc("p", "<dotconstant/>"), "9:1", "of the sort dot");
    check_coloured(
        &arc(
            "p",
            "<tuple><subterm><variable refvariable=\"x\"/></subterm><subterm><variable refvariable=\"x\"/></subterm></tuple>",
        ),
        "9:1",
        "a tuple of 2",
    );
    check_coloured(
        &arc(
            "q",
            "<tuple><subterm><variable refvariable=\"x\"/></subterm>\n<subterm><variable refvariable=\"x\"/></subterm></tuple>",
        ),
        "10:10",
        "of the sort N, where R is expected",
    );
    check_coloured(
        &arc(
            "q",
            "<finiteintrangeconstant value=\"7\"><finiteintrange start=\"1\" end=\"3\"/></finiteintrangeconstant>",
        ),
        "9:1",
        "7 is not an element",
    );
    let minus = "<subtract><subterm><variable refvariable=\"x\"/></subterm><subterm><all><usersort declaration=\"N\"/></all></subterm></subtract>";
    check_coloured(&arc("p", minus), "8:1", "subtracted than there are");
    let count = |n: &str| {
        format!(
            "<numberof><subterm><numberconstant value=\"{n}\"/></subterm><subterm><variable refvariable=\"x\"/></subterm></numberof>"
        )
    };
    check_coloured(&arc("p", &count("-1")), "9:20", "negative");
    check_coloured(&arc("p", &count("9223372036854775808")), "9:20", "2^63");
    check_coloured("<transition id=\"t\"/><arc source=\"p\" target=\"t\"/>\n", "7:21", "without an inscription");
    check_coloured("<place id=\"s\"><type><text>N</text></type></place>\n", "7:15", "<type> without a term");
    check_coloured(
        "<place id=\"s\"><type><structure><usersort declaration=\"N\"/></structure></type><hlinitialMarking><structure><variable refvariable=\"x\"/></structure></hlinitialMarking></place>\n",
        "7:107",
        "a variable in an initial marking",
    );
    let guard = |guard: &str| {
        format!("<transition id=\"t\"><condition><structure>\n{guard}</structure></condition></transition>\n")
    };
    let two = |op: &str, a: &str, b: &str| {
        guard(&format!(
            "<{op}><subterm><variable refvariable=\"{a}\"/></subterm>\n<subterm><variable refvariable=\"{b}\"/></subterm></{op}>"
        ))
    };
    check_coloured(&two("equality", "x", "r"), "9:10", "of the sort R, where N is expected");
    check_coloured(&guard("<variable refvariable=\"x\"/>"), "8:1", "where a condition is expected");
    check_coloured(&guard("<equality/>"), "8:1", "must have two parts");
    let same = "<equality><subterm><variable refvariable=\"x\"/></subterm><subterm><variable refvariable=\"x\"/></subterm></equality>";
    let deep = "<not><subterm>".repeat(490) + same + &"</subterm></not>".repeat(490);
    assert_eq!(read_net_from("m", coloured(&guard(&deep)).as_bytes()).unwrap().transitions.len(), 2);
    let deep = "<not><subterm>".repeat(600) + "<variable refvariable=\"x\"/>" + &"</subterm></not>".repeat(600);
    check_coloured(&guard(&deep), "8:7001", "nested more than 500 deep");
}

#[test]
fn unfolding_has_a_bound() {
    let sort = "<namedsort id=\"B\" name=\"B\"><finiteintrange start=\"1\" end=\"100000000\"/></namedsort>";
    let all = "<hlinitialMarking><structure><all><usersort declaration=\"B\"/></all></structure></hlinitialMarking>";
    let place =
        format!("<place id=\"p\"><type><structure><usersort declaration=\"B\"/></structure></type>{all}</place>\n");
    check(
        &format!("<declaration><structure><declarations>{sort}</declarations></structure></declaration>\n{place}"),
        "6:107",
        "more elements than are supported",
    );
    let circle = "<namedsort id=\"A\" name=\"A\"><usersort declaration=\"A\"/></namedsort>";
    check(
        &format!("<declaration><structure>\n<declarations>{circle}</declarations></structure></declaration>\n"),
        "6:42",
        "cycle",
    );
    // Each sort is the square of the one before: one element, of more parts than can be counted.
    let squares: String = (1..90).map(|i| format!("<namedsort id=\"S{i}\" name=\"S\"><productsort><usersort declaration=\"S{}\"/><usersort declaration=\"S{}\"/></productsort></namedsort>", i - 1, i - 1)).collect();
    let squares = format!("<namedsort id=\"S0\" name=\"S\"><dot/></namedsort>{squares}");
    assert!(
        wrong(&format!("<declaration><structure><declarations>{squares}</declarations></structure></declaration>\n"))
            .contains("1000 parts")
    );
    let wide = "<namedsort id=\"A\" name=\"A\"><finiteintrange start=\"-9223372036854775808\" end=\"9223372036854775807\"/></namedsort>";
    check(
        &format!("<declaration><structure>\n<declarations>{wide}</declarations></structure></declaration>\n"),
        "6:42",
        "a range with more than",
    );
}

/// The message for a property with this formula, which stands on line 4.
fn wrong_formula(formula: &str) -> String {
    let net = net(NODES);
    let text =
        format!("<property-set>\n<property><id>a</id>\n<formula>\n{formula}</formula></property>\n</property-set>");
    match read_formulas_from("f.xml", text.as_bytes(), &net) {
        Ok(questions) => panic!("accepted: {questions:?}"),
        Err(diagnostic) => diagnostic.to_string(),
    }
}

#[test]
fn formulas() {
    let check = |formula: &str, place: &str, message: &str| {
        let found = wrong_formula(formula);
        assert!(found.starts_with(&format!("f.xml:{place}: error: ")) && found.contains(message), "{found}");
    };
    check("", "2:1", "\"a\" has no formula");
    check("<odd/>", "4:1", "<odd> is not known");
    check("<is-fireable><transition>x</transition></is-fireable>", "4:14", "no transition \"x\"");
    check("<is-fireable><transition>p</transition></is-fireable>", "4:14", "no transition \"p\"");
    check("<is-fireable/>", "4:1", "without a <transition>");
    check("<is-fireable><place>p</place></is-fireable>", "4:14", "where a <transition> is expected");
    check("<tokens-count><place>p</place></tokens-count>", "3:1", "a formula that is a number");
    check("<true/><true/>", "3:1", "several roots");
    check("<negation/>", "4:1", "without operands");
    check("<negation><true/><true/></negation>", "4:1", "one operand");
    check("<implication><true/></implication>", "4:1", "two operands");
    check("<integer-le><true/><integer-constant>1</integer-constant></integer-le>", "4:1", "a number is expected");
    check("<integer-le><integer-constant>1</integer-constant></integer-le>", "4:1", "two operands");
    check("<conjunction><integer-constant>1</integer-constant></conjunction>", "4:1", "a formula is expected");
    check("<integer-constant>9223372036854775808</integer-constant>", "4:1", "not a number up to 2^63 - 1");
    check("<until><before><true/></before></until>", "4:1", "one <before> and one <reach>");
    check("<next><steps>3</steps><true/></next>", "4:1", "several steps");
    let max = "<integer-constant>9223372036854775807</integer-constant>";
    check(&format!("<integer-le><integer-sum>{max}{max}</integer-sum>{max}</integer-le>"), "4:13", "above 2^63 - 1");
    let deep = "<negation><next>".repeat(499) + "<deadlock/>" + &"</next></negation>".repeat(499);
    let text = format!("<property-set><property><id>a</id><formula>{deep}</formula></property></property-set>");
    assert_eq!(read_formulas_from("f.xml", text.as_bytes(), &net(NODES)).unwrap().len(), 1);
    let deep = "<next>".repeat(1100) + "<deadlock/>" + &"</next>".repeat(1100);
    check(&deep, "4:601", "nested more than 1000 deep");
    let fire = "<is-fireable><transition>t</transition></is-fireable>";
    let double = "<equivalence>".repeat(60) + fire + &format!("{fire}</equivalence>").repeat(60);
    assert!(wrong_formula(&double).contains("parts"));
    let net = net(NODES);
    let message = |text: &str| read_formulas_from("f.xml", text.as_bytes(), &net).unwrap_err().to_string();
    assert!(message("<pnml/>").contains("f.xml:1:1: error: this is not a file of properties"));
    assert!(
        message("<property-set>\n<property/></property-set>")
            .contains("f.xml:2:1: error: a <property> without an <id>")
    );
    let twice = "<property><id>n-Liveness</id></property>\n".repeat(2);
    assert!(message(&format!("<property-set>{twice}</property-set>")).contains("f.xml:2:1: error: a second property"));
}
