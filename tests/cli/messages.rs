//! What the command says when it cannot do its work: that something is wrong, once, and what.

use crate::common;
use crate::common::command::{file, model, scratch, scrimp};

/// Wrong uses, word by word between spaces; `~` is a space within a word, and `@` begins the name of a file of the test.
const WRONG: &str = "\
check @nofile.dve
check @
check @junk.dve
check @junk.pml
check @junk.pnml
check @junk.aut
check @junk.network
check @lost.network
check @broken.network
check @empty.dve
check @junk.gz
check LOCK -p nonsense
check LOCK -p invariant:~1~+
check LOCK -p reach:~foo~==~1
check LOCK -p ltl:~[]~(
check LOCK -p ctl:~AG~(
check LOCK -p claim
check LOCK -p accepting
check LOCK -p progress
check LOCK -p hoa:~nofile
check LOCK -p hoa:@atom.hoa
check LOCK -p hoa:@junk.aut
check LOCK --property-file @nofile
check LOCK --property-file @empty.dve
check LOCK --property-file @junk.aut
check LOCK --formulas @junk.aut
check NET --formulas @junk.aut
check NET --formulas @nofile
check NET -p bound:~(
check NET -p nonsense
check NET --structure nonsense
check NET -p live --graph @graph.aut
check LOCK --order nonsense
check LOCK --store nonsense
check LOCK --store compact:900
check LOCK --store bitstate:x
check LOCK --store dfa --layers nonsense
check LOCK --store dfa --layers 999
check LOCK --store dfa --layers 1,1
check LOCK --backedges nonsense
check LOCK --forget nonsense
check LOCK --forget cache:x
check LOCK --forget cache:1,nonsense
check LOCK --reduce nonsense
check LOCK --engine nonsense
check LOCK --engine bmc:x
check LOCK --engine symbolic --variables nonsense
check LOCK --engine symbolic --store tree
check LOCK --engine bmc -p ctl:~AG~EF~inside==0
check LOCK --cycles nonsense
check LOCK --fair nonsense((
check LOCK --fair weak
check LOCK --fair strong
check LOCK --fair SF(
check LOCK -p ltl:~<>~inside==1 --fair SF(nobody)
check LOCK -p ltl:~<>~inside==1 --fair strong --cycles nested
check LOCK --progress nonsense --forget sweep
check LOCK --progress auto:9 --forget sweep
check LOCK --progress linear --forget sweep
check LOCK --forget sweep
check LOCK --heuristic x( --order best
check LOCK --order best
check LOCK --memory 1K
check LOCK --memory 4M
check LOCK --memory nonsense
check LOCK --time nonsense
check LOCK --threads 0
check LOCK --threads 2 --order dfs
check LOCK --structure nonsense
check LOCK --disk @nofolder
check LOCK --store disk:@nofolder
check LOCK --checkpoint @nofolder/save
check LOCK --resume @nofile
check LOCK --resume @junk.aut
check LOCK --graph @graph.nonsense
check LOCK --graph @nofolder/graph.aut
check LOCK --graph LOCK
check LOCK --report @report.txt
check LOCK --report -
check LOCK --report @nofolder/report.html
check LOCK --plot @nofolder/plot.svg
check LOCK --chart @nofolder/chart.svg
check LOCK --dot @nofolder/graph.dot
check LOCK --front @front.log
check LOCK --front @nofolder/front.log --forget sweep --progress inside
check LOCK --json --plot -
check LOCK --json --chart -
check LOCK --panels nonsense
check LOCK --panels memory
check LOCK --nonsense
check LOCK -D N=3
check LOCK -D 1x=3
check
count LOCK --fair weak
count LOCK --graph @graph.nonsense
count LOCK --in-degrees --store bitstate
count @nofile
plan @nofile
plan LOCK --order nonsense
plan LOCK -p invariant:~(
simulate @nofile
simulate LOCK --trace @nofile
simulate LOCK --trace @junk.aut
simulate LOCK --trace @object.json
simulate LOCK --steps x
simulate LOCK --walks 0
simulate LOCK --walks x
simulate LOCK --walks -1
simulate LOCK --walks 99999999999999999999999
simulate LOCK --walks 5 --threads 0
simulate LOCK --walks 5 --threads 99999
simulate LOCK --walks 5 --time nonsense
simulate LOCK --walks 5 --memory 1K
simulate LOCK --walks 5 -p nonsense
simulate LOCK --walks 5 -p invariant:~(
simulate LOCK --walks 5 -p ltl:~[]~1
simulate LOCK --walks 5 -p claim
simulate LOCK --walks 5 --trace @object.json
simulate LOCK --walks 5 -i
simulate LOCK --walks 5 --json --chart -
simulate LOCK -p deadlock
simulate LOCK --threads 2
simulate LOCK --json
explain LOCK -p reach:~1
explain LOCK -p ctl:~(
explain LOCK
explain @nofile -p ctl:~AG~1
automaton LOCK
automaton LOCK -p reach:~1
automaton LOCK -p ltl:~(
automaton @nofile
bench @nofile
bench @junk.aut
bench SUITE --filter nonsense
bench SUITE --set nonsense
bench SUITE --out @nofolder/results
compare @nofile @nofile
compare @junk.aut @junk.aut
compare @junk.aut
explore @nofile
explore @junk.dve
explore LOCK --trace @nofile
explore LOCK --trace @junk.aut
explore LOCK --trace @object.json
explore LOCK --port 99999
";

#[test]
fn an_error_is_called_one_once() {
    let folder = scratch("messages");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for (name, text) in [
        ("empty.dve", ""),
        ("object.json", "{}"),
        ("lost.network", "component A = \"nofile.aut\"\n"),
        ("broken.network", "component A = \"junk.aut\"\n"),
        (
            "atom.hoa",
            "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"nonsense((\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0 {0}\n[0] 0\n--END--\n",
        ),
    ] {
        file(&format!("messages/{name}"), text);
    }
    for ending in ["dve", "pml", "pnml", "aut", "network", "gz"] {
        file(&format!("messages/junk.{ending}"), "junk [\n");
    }
    let (lock, net) = (model("naive_lock.dve"), model("packing.pnml"));
    let suite = common::manifest().join("benches/symbolic.toml").display().to_string();
    let at = format!("{}/", folder.display());
    for line in WRONG.lines() {
        let words: Vec<String> = line.split(' ').map(|word| word.replace('~', " ").replace('@', &at)).collect();
        let known = |word: &String| match word.as_str() {
            "LOCK" => lock.clone(),
            "NET" => net.clone(),
            "SUITE" => suite.clone(),
            other => other.to_string(),
        };
        let words: Vec<String> = words.iter().map(known).collect();
        let answer = scrimp(&words.iter().map(String::as_str).collect::<Vec<_>>()).code(2);
        assert_eq!(answer.stderr.matches("error:").count(), 1, "{line}: {}", answer.stderr);
        let first = answer.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: ") || first.contains(": error: "), "{line}: {}", answer.stderr);
    }
}
