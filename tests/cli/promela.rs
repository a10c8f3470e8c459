//! Promela models on the command line: simulations and traces, much as SPIN shows them, charts, statements never executed.

use crate::common;
use crate::common::command::{file, scratch, scrimp, scrimp_reading};

const TALK: &str = r#"mtype = { req, ack };
chan c = [2] of { mtype, byte };
chan r = [0] of { byte };
byte x;
proctype B(byte n) {
  mtype m; byte k;
  c?m,k;
  printf("got %e %d %x %o %u %c %%\n", m, k, 255, 8, 7, 65);
  r!k+n;
  assert(k == 3)
}
init {
  byte y;
  atomic { run B(1); x = 5; }
  c!req,3;
  r?y;
  if
  :: x == 9 -> x = 1
  :: else
  fi
}
"#;

#[test]
fn a_simulation_has_a_line_for_each_statement() {
    let path = file("talk.pml", TALK);
    let out = scrimp(&["simulate", &path, "-n", "100"]).code(0).stdout;
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    let expected = [
        "  0  initial state",
        "     proc 0 (:init:)",
        "     all values are 0",
        "  1  proc 0 (:init:)  talk.pml:14 (state 1)  [(run B(1))]  starts proc 1 (B)",
        "     proc 0 (:init:)  talk.pml:14 (state 2)  [x = 5]       x = 5",
        "  2  proc 0 (:init:)  talk.pml:15 (state 4)  [c!req,3]     c = [req,3]",
        "  3  proc 1 (B)       talk.pml:7 (state 1)   [c?m,k]       B.m = req, B.k = 3, c = []",
    ];
    let told: Vec<String> = lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for (i, line) in expected.iter().enumerate() {
        assert_eq!(told[i], line.split_whitespace().collect::<Vec<_>>().join(" "), "{out}");
    }
    assert!(told.join(" ").contains("prints \"got req 3 ff 10 7 A %\""), "{out}");
    // A rendezvous is one step of two processes.
    let at = told.iter().position(|line| line.starts_with("5 proc 1 (B) talk.pml:9 (state 3) [r!(k+n)]")).expect(&out);
    assert!(told[at + 1].starts_with("proc 0 (:init:) talk.pml:16") && told[at].ends_with("sends 4"), "{out}");
    let column = |line: &str| line.find("talk.pml").unwrap_or_default();
    assert!(
        lines[3..].iter().filter(|line| line.contains("talk.pml")).all(|line| column(line) == column(lines[3])),
        "{out}"
    );
    assert!(out.contains("terminates"), "{out}");
}

#[test]
fn what_never_happens_is_listed() {
    let path = file("unreached.pml", format!("{TALK}proctype Never() {{ x = 2 }}\n"));
    let out = scrimp(&["check", &path]).code(0).stdout;
    // Where all is reached, nothing is said.
    assert!(!out.contains("unreached in proctype B\n"), "{out}");
    assert!(out.contains(&format!("unreached in init\n\t{path}:18, state 6, \"((x==9))\"\n")), "{out}");
    assert!(out.contains("unreached in proctype Never\n") && out.contains("(2 of 2 statements)"), "{out}");
    let json = scrimp(&["check", &path, "--json"]).code(0).json();
    assert_eq!(json["unreached"][1]["statement"], "x = 1");
    assert_eq!(json["unreached"].as_array().unwrap().len(), 4);
    assert!(!scrimp(&["count", &path]).code(0).stdout.contains("unreached in"));
    assert_eq!(scrimp(&["check", &path, "--quiet"]).code(0).stdout, "");
}

#[test]
fn violations_say_which_assertion_and_where_processes_are() {
    let path = file("violated.pml", TALK.replace("k == 3", "k == 2"));
    let out = scrimp(&["check", &path]).code(1).stdout;
    let end: Vec<&str> = out.lines().skip_while(|line| !line.contains("[assert((k==2))]")).collect();
    assert!(end[0].ends_with("assertion violated (k==2)") || end[1].trim() == "assertion violated (k==2)", "{out}");
    assert!(out.contains("the processes at the end\n"), "{out}");
    assert!(!out.contains("unreached"), "{out}");
    let json = scrimp(&["check", &path, "--json"]).code(1);
    let value = json.json();
    let property = value["properties"].as_array().unwrap().iter().find(|p| p["trace"].is_object()).unwrap().clone();
    assert_eq!(property["fault"]["fault"], "assertion violated (k==2)");
    assert_eq!(property["trace"]["steps"][2]["statements"][0]["statement"], "c!req,3");
    assert_eq!(property["trace"]["steps"][2]["changes"]["c"], "[req,3]");
    let trace = file("violated.json", &json.stdout);
    let replay = scrimp(&["simulate", &path, "--trace", &trace]).code(0).stdout;
    assert!(replay.contains("replayed, 5 steps"), "{replay}");
    let walk = scrimp(&["simulate", &path, "-n", "100"]).code(0).stdout;
    assert!(walk.contains("assertion violated (k==2)"), "{walk}");

    let stuck =
        file("stuck.pml", "byte x;\nactive proctype A() { x = 1; x == 2 }\nactive proctype E() { end: x == 3 }\n");
    let out = scrimp(&["check", &stuck]).code(1).stdout;
    assert!(out.contains("     proc 1 (E)  stuck.pml:3 (state 1)  [((x==3))]  <valid end state>\n"), "{out}");
    assert!(out.contains("     proc 0 (A)  stuck.pml:2 (state 2)  [((x==2))]\n"), "{out}");
}

#[test]
fn included_files_are_named() {
    file("included.inc", "byte x;\n\n\ninline set(v) {\n  x = v\n}\n");
    let path = file("including.pml", "#include \"included.inc\"\ninit {\n  x = 1;\n  set(2)\n}\n");
    let out = scrimp(&["simulate", &path]).code(0).stdout;
    assert!(out.contains("including.pml:3 (state 1)  [x = 1]") && out.contains("included.inc:5 "), "{out}");
}

#[test]
fn runs_become_charts() {
    let path = file("chart.pml", TALK.replace("k == 3", "k == 2"));
    let out = scrimp(&["check", &path, "--chart", "-"]).code(1).stdout;
    assert!(out.contains("c!req,3  (1)") && out.contains("c?req,3  (1)"), "{out}");
    assert!(out.contains("◀─") && out.contains("r!4") && out.contains("●     assertion violated (k==2)"), "{out}");
    let picture = scratch("chart.svg").to_string_lossy().into_owned();
    scrimp(&["simulate", &path, "--chart", &picture]).code(0);
    let svg = std::fs::read_to_string(&picture).expect("the chart is written");
    assert!(svg.starts_with("<svg") && svg.contains("c!req,3") && svg.contains("init:0"));
    assert!(scrimp(&["check", &path, "--chart", "-", "--json"]).code(2).stderr.contains("--chart"));
    let lock = common::command::model("phils3.dve");
    let text = scratch("chart.txt").to_string_lossy().into_owned();
    scrimp(&["check", &lock, "--chart", &text]).code(1);
    assert!(std::fs::read_to_string(&text).expect("a text").contains("Phil_0"));
}

/// A process is started only after more states than a first look visits.
#[test]
fn a_simulation_finds_more_processes_than_expected() {
    let count = "active [4] proctype C() { byte n; do :: n < 30 -> n++ od }\nproctype W() { printf(\"late\\n\") }\n";
    let path = file(
        "late.pml",
        format!("{count}active proctype S() {{ byte n; do :: n < 29 -> n++ :: n == 29 -> break od; run W() }}\n"),
    );
    let out = scrimp(&["simulate", &path, "-n", "2000"]).code(0).stdout;
    assert!(out.contains("starts proc 5 (W)") && out.contains("prints \"late\""), "{out}");
    let picks = "4\n".repeat(62) + "q\n";
    let out = scrimp_reading(&["simulate", &path, "-i"], &picks).code(0).stdout;
    assert!(out.contains("starts proc 5 (W)"), "{out}");
}

/// A message of a sorted send goes before larger ones, and one that is only looked at stays where it is.
#[test]
fn sorted_messages_have_their_own_arrows() {
    let text = "chan q = [4] of { byte };
active proctype A() { q!!5; q!!3; q!4; q!!1 }
active proctype B() { byte x; len(q) == 4; q?<x>; q?x; q??4; q?x; q?x; assert(false) }\n";
    let path = file("chart-sorted.pml", text);
    let out = scrimp(&["check", &path, "--chart", "-"]).code(1).stdout;
    let numbers = ["q!5  (1)", "q!3  (2)", "q!4  (3)", "q!1  (4)", "q?1  (4)", "q?4  (3)", "q?3  (2)", "q?5  (1)"];
    let drawn = out.lines().filter(|line| line.contains('●') && line.ends_with(')'));
    let rows: Vec<&str> = drawn.filter_map(|line| line.find('q').map(|at| &line[at..])).collect();
    assert_eq!(rows, numbers, "{out}");
}

/// Channels that have the same name and different owners are not one.
#[test]
fn channels_of_processes_are_told_apart() {
    let text = "chan far = [2] of { chan };
active [2] proctype P() { chan mine = [2] of { byte }; byte x; far!mine; mine?x; assert(x == 9 || x == 8) }
active proctype S() { chan one, two; far?one; far?two; two!8; one!9; timeout -> assert(false) }\n";
    let path = file("chart-mine.pml", text);
    let out = scrimp(&["check", &path, "--chart", "-"]).code(1).stdout;
    for name in ["P_0.mine!", "P_1.mine!", "P_0.mine?", "P_1.mine?", "far!P_0.mine", "far!P_1.mine"] {
        assert!(out.contains(name), "{name}: {out}");
    }
}
