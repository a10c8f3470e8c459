//! `bench` and `compare` as a user meets them: suites that run, fail, are killed and go on.

use crate::common::command::{counters, file, finish, model, scratch, scrimp, start};
use crate::common::manifest;
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A suite file in a folder of its own, without earlier results.
fn suite(name: &str, text: &str) -> String {
    let folder = scratch(&format!("suite-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("suite.toml");
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn results(suite: &str) -> PathBuf {
    PathBuf::from(suite).with_extension("results.jsonl")
}

fn lines(suite: &str) -> Vec<String> {
    let text = std::fs::read_to_string(results(suite)).unwrap_or_default();
    text.split_inclusive('\n').map(str::to_string).collect()
}

fn records(suite: &str) -> Vec<Value> {
    lines(suite).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A task on two small models in two orders.
fn orders() -> String {
    format!(
        "[[task]]\nname = \"orders\"\nmodels = [{:?}, {:?}]\nflags = [\"--order ${{order}}\"]\n\
         sweep = {{ order = [\"bfs\", \"dfs\"] }}\n",
        model("phils3.dve"),
        model("phils4.dve"),
    )
}

/// A model that keeps a run busy for as long as it may.
fn endless(name: &str) -> String {
    file(name, counters(5, 200, 0))
}

#[test]
fn help_teaches() {
    let help = scrimp(&["bench", "--help"]).code(0).stdout;
    for word in ["[[task]]", "--set", "--fresh", "--repeat", "--filter", "--skip-missing", "Exit codes:"] {
        assert!(help.contains(word), "no {word} in:\n{help}");
    }
    assert!(scrimp(&["compare", "--help"]).code(0).stdout.contains("--threshold"));
}

#[test]
fn a_table_of_models_and_configurations() {
    let path = suite("table", &format!("title = \"Philosophers\"\n{}", orders()));
    let answer = scrimp(&["bench", &path, "--quiet"]).code(0);
    assert_eq!(answer.stderr, "");
    assert!(answer.stdout.starts_with("Philosophers\n\norders\n"), "{}", answer.stdout);
    let cells: Vec<Vec<&str>> = answer.stdout.lines().map(|l| l.split_whitespace().collect()).collect();
    for expected in [["phils3", "bfs", "154"], ["phils3", "dfs", "154"], ["phils4", "bfs", "832"]] {
        assert!(cells.iter().any(|row| row.starts_with(&expected)), "{}", answer.stdout);
    }
    let records = records(&path);
    assert_eq!(records.len(), 4);
    for record in &records {
        assert_eq!((&record["outcome"], &record["exit"]), (&"done".into(), &0.into()));
        assert!(record["wall_seconds"].as_f64().unwrap() > 0.0);
        assert!(record["peak_rss_bytes"].as_u64().unwrap() > 1 << 20);
        assert_eq!(record["result"]["verdict"], "verified");
    }
    assert_eq!(records[1]["settings"]["order"], "dfs");
}

#[test]
fn what_is_recorded_is_not_repeated() {
    let path = suite("again", &orders());
    scrimp(&["bench", &path]).code(0);
    let before = lines(&path);
    let answer = scrimp(&["bench", &path]).code(0);
    assert_eq!(lines(&path), before);
    assert!(answer.stderr.contains("4 recorded runs are not repeated"), "{}", answer.stderr);
    assert!(answer.stdout.contains("phils4"));
    // Three rounds: two more of each.
    scrimp(&["bench", &path, "--repeat", "3", "--jobs", "2"]).code(0);
    assert_eq!(lines(&path).len(), 12);
    scrimp(&["bench", &path, "--fresh", "--filter", "phils3 dfs"]).code(0);
    assert_eq!(lines(&path).len(), 1);
    // Another limit makes another run of it; another expectation does not.
    let text = orders();
    std::fs::write(&path, format!("[limits]\ntime = \"1m\"\n{text}expect = {{ deadlocks = 1 }}\n")).unwrap();
    scrimp(&["bench", &path, "--filter", "phils3 dfs"]).code(0);
    assert_eq!(lines(&path).len(), 2);
    std::fs::write(&path, format!("[limits]\ntime = \"1m\"\n{text}expect = {{ deadlocks = 2 }}\n")).unwrap();
    scrimp(&["bench", &path, "--filter", "phils3 dfs"]).code(1);
    assert_eq!(lines(&path).len(), 2);
}

#[test]
fn killed_in_the_middle_it_goes_on() {
    let slow = endless("suite_killed.dve");
    let path = suite(
        "killed",
        &format!(
            "[limits]\ntime = \"2s\"\nmemory = \"400M\"\n[[task]]\nname = \"all\"\nmodels = [{:?}, {:?}, {:?}]\n",
            model("phils3.dve"),
            slow,
            model("phils4.dve")
        ),
    );
    let mut child = start(&["bench", &path]);
    let begin = Instant::now();
    while lines(&path).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no first record");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = lines(&path);
    assert_eq!(before.len(), 1);
    std::thread::sleep(Duration::from_millis(200));
    assert!(process(&slow).is_none(), "the run outlives its suite");
    // As if the kill had come while a line was written.
    std::fs::write(results(&path), format!("{}{}", before[0], &before[0][..40])).unwrap();
    scrimp(&["bench", &path]).code(0);
    let after = records(&path);
    assert_eq!(lines(&path)[0], before[0]);
    let names: Vec<&str> = after.iter().map(|r| r["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["phils3", "suite_killed", "phils4"]);
    assert_eq!(after[1]["outcome"], "timed-out");
}

/// A process that has this word on its command line.
fn process(word: &str) -> Option<String> {
    let mut processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let has_word = |line: String| line.split('\0').any(|w| w == word);
    let found = processes.find(|p| std::fs::read_to_string(p.path().join("cmdline")).is_ok_and(has_word))?;
    Some(found.file_name().to_string_lossy().into_owned())
}

#[test]
fn interrupted_it_keeps_what_is_done() {
    let slow = endless("suite_interrupted.dve");
    let path = suite(
        "interrupted",
        &format!(
            "[limits]\nmemory = \"2G\"\n[[task]]\nname = \"all\"\nmodels = [{:?}, {slow:?}]\n",
            model("phils3.dve")
        ),
    );
    let child = start(&["bench", &path]);
    while lines(&path).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let answer = finish(child).code(3);
    assert!(answer.stderr.contains("the same command goes on"), "{}", answer.stderr);
    assert_eq!(lines(&path).len(), 1);
    assert!(process(&slow).is_none());
}

#[test]
fn wrong_suites_are_refused_before_anything_runs() {
    let phils = model("phils3.dve");
    let task = format!("[[task]]\nname = \"t\"\nmodels = [{phils:?}]\n");
    for (name, text, place, word) in [
        ("key", format!("{task}modles = 1\n"), ":4:1: error: ", "modles"),
        ("meant", format!("{task}modls = 1\n"), ":4:1: error: ", "did you mean `models`?"),
        ("base", format!("{task}base = \"bsf\"\n"), ":4:8: error: ", "known here: all"),
        ("top", format!("titel = \"x\"\n{task}"), ":1:1: error: ", "titel"),
        ("syntax", format!("{task}flags = [\n\n=\n"), ":6:1: error: ", ""),
        ("type", format!("{task}flags = 7.5.1\n"), ":4:", ""),
        ("limit", format!("[limits]\ntime = \"soon\"\n{task}"), ":2:8: error: ", "90s"),
        ("command", format!("{task}command = \"simulate\"\n"), ":4:11: error: ", "count or check"),
        ("name", format!("{task}flags = [\"--order ${{odrer}}\"]\n"), ":4:10: error: ", "odrer"),
        ("bound", format!("{task}expect = {{ states = {{ at-most = \"5 * x\" }} }}\n"), ":4:33: error: ", "`x`"),
        ("paper", format!("{task}paper = {{ states = {{ at-most = 5 }} }}\n"), ":4:20: error: ", "expect"),
        ("twice", format!("{task}{task}"), ":5:8: error: ", "two tasks"),
        ("table", "[[task]]\nname = \"t\"\nmodels = \"beem\"\n".into(), ":3:10: error: ", "beem"),
        ("missing", "[[task]]\nname = \"t\"\nmodels = [\"no.dve\"]\n".into(), ":3:11: error: ", "--skip-missing"),
        ("json", format!("{task}flags = [\"--json\"]\n"), ":4:10: error: ", "--json"),
        ("try", format!("{task}try = {{ a = 1 }}\n"), ":4:7: error: ", "sweep"),
        ("search", format!("{task}search = {{ parameter = \"p\", from = 5, step = 0, to = 9 }}\n"), ":4:", "steps"),
    ] {
        let path = suite(&format!("wrong-{name}"), &text);
        let message = scrimp(&["bench", &path]).refused();
        assert!(message.starts_with(&format!("{path}{place}")) && message.contains(word), "{name}: {message}");
        assert!(!results(&path).exists(), "{name}");
    }
    assert!(scrimp(&["bench", "no/such.toml"]).refused().starts_with("no/such.toml: error:"));
    let path = suite("wrong-set", &task);
    assert!(scrimp(&["bench", &path, "--set", "x=1"]).refused().contains("`x`"));
    assert!(scrimp(&["bench", &path, "--set", "x"]).refused().contains("NAME=VALUE"));
    assert!(scrimp(&["bench", &path, "--filter", "nothing"]).refused().contains("--list"));
}

const FOLDER: &str = "[variables]\nfolder = { default = \"nowhere\", env = \"SCRIMP_TEST_FOLDER\" }\n\
    [models.all]\npath = \"${folder}/${model}.dve*\"\ncolumns = [\"states\", \"transitions\"]\n\
    rows = [[\"phils3\", 154, 411], [\"phils4\", 832, \"-\"]]\n\
    [[task]]\nname = \"t\"\nmodels = \"all\"\nexpect = { states = \"${states}\", transitions = \"${transitions}\" }\n";

#[test]
fn a_folder_that_is_not_there_has_a_variable() {
    let path = suite("folder", FOLDER);
    let message = scrimp(&["bench", &path]).refused();
    assert!(message.contains("suite.toml:6:") && message.contains("nowhere/phils3.dve*"), "{message}");
    assert!(message.contains("--set folder=FOLDER, or the variable SCRIMP_TEST_FOLDER=FOLDER"), "{message}");
    let answer = scrimp(&["bench", &path, "--skip-missing"]).code(0);
    assert!(answer.stdout.contains("2 cases: 2 skipped"), "{}", answer.stdout);
    assert_eq!(records(&path)[1]["outcome"], "skipped");
    let models = manifest().join("models");
    let answer = scrimp(&["bench", &path, "--set", &format!("folder={}", models.display())]).code(0);
    assert!(answer.stdout.contains("2 cases: 2 as expected"), "{}", answer.stdout);
    assert_eq!(records(&path)[3]["outcome"], "done");
}

#[test]
fn wrong_values_are_told() {
    let task = format!("[[task]]\nname = \"t\"\nmodels = [{:?}]\n", model("phils3.dve"));
    for (name, expect, held) in [
        ("equal", "states = 154, verdict = \"verified\"", true),
        ("unequal", "states = 155", false),
        ("verdict", "verdict = \"violated\"", false),
        ("most", "stored_peak = { at-most = 154 }", true),
        ("too-many", "stored_peak = { at-most = \"99 % of 154\" }", false),
        ("least", "stored_peak = { at-least = 150, at-most = 160 }", true),
        ("about", "states = { about = 155, within = \"1 %\" }", true),
        ("not-about", "states = { about = 160, within = \"1 %\" }", false),
        ("dotted", "plan.order = \"bfs\", \"limits.reached\" = \"null\"", true),
        ("absent", "forget.nonsense = 0", false),
    ] {
        let path = suite(&format!("values-{name}"), &format!("{task}expect = {{ {expect} }}\n"));
        let answer = scrimp(&["bench", &path]).code(!held as i32);
        assert_eq!(answer.stdout.contains("WRONG"), !held, "{name}: {}", answer.stdout);
        assert!(answer.stdout.contains(if held { "1 as expected" } else { "1 wrong" }), "{name}: {}", answer.stdout);
    }
    // A published value is shown beside ours, and a miss of it is not wrong.
    let path = suite("values-paper", &format!("{task}paper = {{ stored_peak = 77 }}\n"));
    let answer = scrimp(&["bench", &path]).code(0);
    let row: Vec<&str> = answer.stdout.lines().find(|l| l.contains("phils3")).unwrap().split_whitespace().collect();
    assert_eq!(row[..4], ["phils3", "77", "154", "2.00"], "{}", answer.stdout);
}

#[test]
fn failures_are_recorded_and_the_suite_goes_on() {
    let broken = file("suite_broken.dve", "process {");
    let slow = endless("suite_failures.dve");
    let path = suite(
        "failures",
        &format!(
            "[[task]]\nname = \"refused\"\nmodels = [{broken:?}]\n\
             [[task]]\nname = \"own limits\"\nmodels = [{slow:?}]\nflags = [\"--memory 60M --store table\"]\n\
             [[task]]\nname = \"time\"\nmodels = [{slow:?}]\nlimits = {{ time = \"100ms\", memory = \"2G\" }}\n\
             [[task]]\nname = \"hard time\"\nmodels = [{slow:?}]\nflags = [\"--time 1h --memory 4G\"]\n\
             limits = {{ time = \"10ms\" }}\n\
             [[task]]\nname = \"hard memory\"\nmodels = [{slow:?}]\nflags = [\"--memory 4G\"]\n\
             limits = {{ memory = \"40M\" }}\nexpect = {{ outcome = \"out-of-memory\" }}\n\
             [[task]]\nname = \"last\"\nmodels = [{:?}]\n",
            model("phils3.dve")
        ),
    );
    let answer = scrimp(&["bench", &path]).code(1);
    let records = records(&path);
    let outcomes: Vec<&str> = records.iter().map(|r| r["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["refused", "out-of-memory", "timed-out", "timed-out", "out-of-memory", "done"]);
    assert!(records[0]["message"].as_str().unwrap().contains("suite_broken.dve:1:"));
    assert_eq!(records[1]["result"]["limits"]["reached"], "memory");
    assert_eq!((&records[3]["signal"], &records[3]["result"]), (&9.into(), &Value::Null));
    assert_eq!(records[4]["signal"], 9);
    assert!(answer.stdout.contains("WRONG: refused: "), "{}", answer.stdout);
    assert!(answer.stdout.contains("1 as expected") && answer.stdout.contains("1 wrong"), "{}", answer.stdout);
}

#[test]
fn a_run_that_crashes_is_recorded() {
    let slow = endless("suite_crash.dve");
    let models = format!("models = [{slow:?}, {:?}]", model("phils3.dve"));
    let path =
        suite("crash", &format!("[limits]\nmemory = \"2G\"\ntime = \"20s\"\n[[task]]\nname = \"all\"\n{models}\n"));
    let child = start(&["bench", &path]);
    let begin = Instant::now();
    let victim = loop {
        assert!(begin.elapsed() < Duration::from_secs(20), "no run begins");
        match process(&slow) {
            Some(id) => break id,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    assert!(std::process::Command::new("kill").args(["-ABRT", &victim]).status().unwrap().success());
    let answer = finish(child).code(1);
    assert!(answer.stdout.contains("WRONG: crashed: ended by signal 6"), "{}", answer.stdout);
    let records = records(&path);
    assert_eq!((&records[0]["outcome"], &records[0]["signal"]), (&"crashed".into(), &6.into()));
    assert_eq!(records[1]["outcome"], "done");
}

/// The smallest bound that holds is the largest value there is.
fn search(name: &str, more: &str) -> String {
    let counter = file(&format!("suite_{name}.dve"), counters(1, 7, 0));
    suite(
        name,
        &format!(
            "[models.one]\npath = {counter:?}\ncolumns = [\"states\", \"hint\"]\nrows = [[\"counter\", 8, 150]]\n\
             [[task]]\nname = \"bound\"\ncommand = \"check\"\nmodels = \"one\"\n\
             flags = [\"-p 'invariant: P_0.x <= ${{most}}' ${{mode}}\"]\ntry = {{ mode = [\"\", \"--order dfs\"] }}\n\
             paper = {{ most = \"100 % of states - 1\" }}\nexpect = {{ most = 7 }}\n\
             [task.search]\nparameter = \"most\"\nbase = \"states\"\nfrom = 1\nstep = \"12.5 %\"\nto = \"200 %\"\n\
             accept = {{ verdict = \"verified\", visits = {{ at-most = \"5 * states\" }} }}\n{more}"
        ),
    )
}

#[test]
fn a_search_finds_the_smallest_value() {
    let path = search("upward", "");
    let answer = scrimp(&["bench", &path]).code(0);
    let row: Vec<&str> = answer.stdout.lines().find(|l| l.contains("counter")).unwrap().split_whitespace().collect();
    assert_eq!(row[..4], ["counter", "7", "7", "1.00"], "{}", answer.stdout);
    // 1 to 7, in two orders each; all of them are records.
    assert_eq!(records(&path).len(), 14);
    assert!(records(&path).iter().all(|r| r["tried"]["accepted"] == (r["settings"]["most"] == "7")));
    scrimp(&["bench", &path]).code(0);
    assert_eq!(records(&path).len(), 14);
}

#[test]
fn a_search_may_begin_at_a_hint() {
    // Downward from 12 (150 % of 8) to 6, which fails.
    let path = search("downward", "start = \"hint %\"\nsettle = \"first\"\n");
    scrimp(&["bench", &path]).code(0);
    let tried: Vec<u64> = records(&path).iter().map(|r| r["tried"]["value"].as_u64().unwrap()).collect();
    assert_eq!(tried, [12, 11, 10, 9, 8, 7, 6, 6]);
    let path = search("hint-below", "start = 5\nsettle = \"first\"\n");
    scrimp(&["bench", &path]).code(0);
    let tried: Vec<u64> = records(&path).iter().map(|r| r["tried"]["value"].as_u64().unwrap()).collect();
    assert_eq!(tried, [5, 5, 6, 6, 7]);
}

/// Every combination: refusals are part of the answer, the best ones are named, and a page maps all of them.
#[test]
fn a_matrix_has_room_for_refusals() {
    let task = |matrix: &str| {
        format!(
            "[[task]]\nname = \"all\"\nmodels = [{:?}]\nflags = [\"--store ${{store}} --order ${{order}} ${{forget}}\"]\n\
             sweep = {{ store = [\"table\", \"comback\"], order = [\"bfs\", \"dfs\"], forget = [\"\", \"--forget pseudo-root\"] }}\n\
             expect = {{ states = 154 }}\n{matrix}\n",
            model("phils3.dve"),
        )
    };
    let with = "matrix = { rows = [\"store\", \"forget\"], columns = [\"order\"] }";
    let path = suite("matrix", &task(with));
    let page = scratch("matrix.html").to_string_lossy().into_owned();
    let out = scrimp(&["bench", &path, "--quiet", "--report", &page]).code(0).stdout;
    for words in ["8 combinations, 6 accepted (75 %), 6 came to their end", "least memory", "least time", "2 refused"] {
        assert!(out.contains(words), "no {words} in:\n{out}");
    }
    let page = std::fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("class=\"map\"").count(), 2);
    assert_eq!(page.matches("<td class=\"no\"").count(), 4, "two refused ones in each map");
    // Without it a refusal is a failure; and a name must be one that is swept over.
    scrimp(&["bench", &suite("no-matrix", &task("")), "--quiet"]).code(1);
    let wrong = suite("wrong-matrix", &task("matrix = { rows = [\"stores\"], columns = [\"order\"] }"));
    let told = scrimp(&["bench", &wrong, "--quiet"]).code(2).stderr;
    assert!(told.contains("`stores` is not swept over"), "{told}");
}

#[test]
fn list_runs_nothing_and_markdown_has_commands() {
    let path = suite("list", &orders());
    let text = scrimp(&["bench", &path, "--list"]).code(0).stdout;
    assert_eq!(text.lines().filter(|line| line.starts_with("orders: phils")).count(), 4);
    assert!(text.contains("phils3.dve --order dfs"), "{text}");
    assert!(!results(&path).exists());
    let table = PathBuf::from(&path).with_file_name("table.md").to_string_lossy().into_owned();
    scrimp(&["bench", &path, "--markdown", &table]).code(0);
    let text = std::fs::read_to_string(table).unwrap();
    assert!(text.contains("| phils3 | bfs | 154 |") && text.contains("--order dfs` |"), "{text}");
}

#[test]
fn damaged_results_are_refused() {
    let path = suite("damaged", &orders());
    scrimp(&["bench", &path]).code(0);
    let good = lines(&path);
    std::fs::write(results(&path), format!("{}{}", good[0], "{\"key\": 1}\n")).unwrap();
    let name = results(&path).to_string_lossy().into_owned();
    let message = scrimp(&["bench", &path]).refused();
    assert!(message.starts_with(&format!("{name}:2:")) && message.contains("--fresh"), "{message}");
    assert!(scrimp(&["compare", &name, &name]).refused().starts_with(&format!("{name}:2:")));
    assert!(scrimp(&["compare", "none.jsonl", &name]).refused().starts_with("none.jsonl: error:"));
    // A file of another kind is not taken for a cut-off line.
    std::fs::write(results(&path), "my notes").unwrap();
    assert!(scrimp(&["bench", &path]).refused().contains(":1:"));
    assert_eq!(std::fs::read_to_string(results(&path)).unwrap(), "my notes");
}

/// Results with something changed in the record of a model.
fn changed(name: &str, lines: &[String], change: impl Fn(&mut Value)) -> String {
    let edit = |line: &String| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if record["model"] == "phils4" {
            change(&mut record);
        }
        format!("{record}\n")
    };
    file(&format!("suite_compare_{name}.jsonl"), lines.iter().map(edit).collect::<String>())
}

#[test]
fn compare_tells_wrong_worse_and_better() {
    let path = suite("compare", &orders());
    scrimp(&["bench", &path]).code(0);
    let good = lines(&path);
    let same = changed("same", &good, |_| {});
    assert!(
        scrimp(&["compare", &same, &same]).code(0).stdout.starts_with("4 cases in both: 0 wrong, 0 worse, 0 better")
    );
    let wrong = changed("wrong", &good, |r| r["result"]["states"] = 833.into());
    let text = scrimp(&["compare", &same, &wrong]).code(1).stdout;
    assert!(text.contains("wrong  orders: phils4 order=bfs: states 832 -> 833"), "{text}");
    let more = changed("more", &good, |r| r["result"]["visits"] = 1000.into());
    let text = scrimp(&["compare", &same, &more]).code(0).stdout;
    assert!(text.contains("worse  orders: phils4 order=dfs: visits 832 -> 1,000 (+20 %)"), "{text}");
    let json = scrimp(&["compare", &more, &same, "--json"]).code(0).json();
    assert_eq!((json["better"].as_array().unwrap().len(), json["worse"].as_array().unwrap().len()), (2, 0));
    assert_eq!(json["better"][0]["field"], "visits");
    scrimp(&["compare", &same, &more, "--threshold", "much"]).refused();
    let text = scrimp(&["compare", &same, &more, "--threshold", "25%"]).code(0).stdout;
    assert!(text.contains("0 worse"), "{text}");
    let crashed = changed("crashed", &good, |r| r["outcome"] = "crashed".into());
    assert!(scrimp(&["compare", &same, &crashed]).code(0).stdout.contains("outcome done -> crashed"));
    let fewer = file("suite_compare_fewer.jsonl", good[..3].concat());
    assert!(scrimp(&["compare", &same, &fewer]).code(1).stdout.contains("gone   orders: phils4 order=dfs"));
    assert!(scrimp(&["compare", &fewer, &same]).code(0).stdout.contains("new    orders: phils4 order=dfs"));
}

#[test]
fn compare_judges_a_search_by_what_it_found() {
    let path = search("compared", "");
    scrimp(&["bench", &path]).code(0);
    let good = lines(&path);
    let edit = |line: &String| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["tried"]["accepted"] = (record["settings"]["most"].as_str() >= Some("5")).into();
        format!("{record}\n")
    };
    let before = file("suite_search_before.jsonl", good.iter().map(edit).collect::<String>());
    let after = results(&path).to_string_lossy().into_owned();
    let text = scrimp(&["compare", &before, &after]).code(0).stdout;
    assert!(text.contains("worse  bound: counter: most 5 -> 7"), "{text}");
}

/// The suites that come with the tool can be read, whatever is on this machine.
#[test]
fn the_suites_of_the_project_are_whole() {
    let mut seen = 0;
    for entry in std::fs::read_dir(manifest().join("benches")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let answer = scrimp(&["bench", &path.to_string_lossy(), "--list", "--skip-missing"]).code(0);
            assert!(answer.stdout.lines().count() > 5, "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen} suites");
}

/// Configurations against one of them, and what goes into a paper.
#[test]
fn figures_and_tables_for_papers() {
    let extra = "paper = { stored_peak = 100 }\nbase = \"dfs\"\nmeasures = [\"stored_peak\", \"visits\"]\n";
    let path = suite("paper", &format!("title = \"50 % & more\"\n{}{extra}", orders()));
    let folder = PathBuf::from(&path).with_file_name("figures");
    let [tex, csv, markdown] = ["t.tex", "r.csv", "t.md"].map(|name| PathBuf::from(&path).with_file_name(name));
    let words = [&folder, &tex, &csv, &markdown].map(|path| path.to_string_lossy().into_owned());
    let flags = ["--figures", &words[0], "--latex", &words[1], "--csv", &words[2], "--markdown", &words[3]];
    let answer = scrimp(&[&["bench", &path][..], &flags].concat()).code(0);
    assert!(answer.stdout.contains("Geometric means of ratios to dfs"), "{}", answer.stdout);
    let of = |name: &str| answer.stdout.lines().rfind(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(of("dfs ").contains("2 of 2  ") && of("dfs ").contains("1.00 (2)"), "{}", answer.stdout);
    for name in ["orders-stored_peak-over-states", "orders-wall_seconds-against-dfs", "orders-solved-within-time"] {
        let picture = std::fs::read_to_string(folder.join(format!("{name}.svg"))).expect(name);
        assert!(picture.starts_with("<svg") && picture.contains("width=\"84mm\""), "{name}");
        let pages = std::fs::read(folder.join(format!("{name}.pdf"))).expect(name);
        assert!(pages.starts_with(b"%PDF-1.4\n") && pages.ends_with(b"%%EOF\n"), "{name}");
    }
    let picture = std::fs::read_to_string(folder.join("orders-stored_peak-over-states.svg")).unwrap();
    assert!([">bfs<", ">dfs<", ">published<", ">states<"].iter().all(|word| picture.contains(word)), "{picture}");
    let tex = std::fs::read_to_string(tex).unwrap();
    for word in [
        "% 50 % & more",
        "\\toprule",
        "states stored at most, paper",
        "phils3 & bfs & 154 & 100 &",
        " & dfs & ",
        "\\bottomrule",
    ] {
        assert!(tex.contains(word), "no {word} in:\n{tex}");
    }
    let csv = std::fs::read_to_string(csv).unwrap();
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert!(lines[0].starts_with("task,model,configuration,order,outcome,wrong,verdict,states,"), "{}", lines[0]);
    assert!(lines.len() == 6 && lines[1].starts_with("orders,phils3,bfs,bfs,done,,verified,154,411,1,154,"), "{csv}");
    assert!(std::fs::read_to_string(markdown).unwrap().contains("| configuration | solved |"));
}

/// Tasks against one of them; what does not come to its end is named.
#[test]
fn tasks_are_held_against_one_of_them() {
    let task = |name: &str, flags: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\nmodels = [{:?}, {:?}]\nflags = [\"{flags}\"]\n",
            model("phils3.dve"),
            model("phils4.dve")
        )
    };
    let tasks = format!("{}{}", task("plain", "--order bfs"), task("none", "--order nonsense"));
    let path = suite("tasks", &format!("base = \"plain\"\n{tasks}"));
    let answer = scrimp(&["bench", &path, "-q"]);
    assert!(answer.stdout.contains("ratios to plain"), "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stdout.contains("phils3 (refused), phils4 (refused)"), "{}", answer.stdout);
    let message = scrimp(&["bench", &suite("tasks-wrong", &format!("base = \"plan\"\n{tasks}"))]).refused();
    assert!(
        message.contains(":1:8: error: no task is called `plan`") && message.contains("did you mean `plain`?"),
        "{message}"
    );
}

/// A collection says where it can be had, and is what the suite was written for.
#[test]
fn collections_are_checked() {
    let text = |folder: &str, sum: &str| {
        format!(
            "[collection]\nname = \"BEEM\"\nurl = \"https://example.org/beem\"\npath = \"{folder}/phils?.dve\"\n{sum}\
             [[task]]\nname = \"t\"\nmodels = [\"{folder}/phils3.dve\"]\n"
        )
    };
    let path = suite("collection", &text("nowhere", ""));
    let message = scrimp(&["bench", &path]).refused();
    assert!(
        message.contains("there is no file")
            && message.contains("part of BEEM, which can be had from https://example.org/beem"),
        "{message}"
    );
    let folder = PathBuf::from(&path).with_file_name("models");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(model("phils3.dve"), folder.join("phils3.dve")).unwrap();
    let wrong = format!("sha256 = \"{}\"\n", "0".repeat(64));
    std::fs::write(&path, text("models", &wrong)).unwrap();
    let message = scrimp(&["bench", &path]).refused();
    assert!(
        message.contains(":5:10: error: BEEM is not what the suite was written for: 1 file with the sum "),
        "{message}"
    );
    let (_, rest) = message.split_once("with the sum ").unwrap();
    let sum = format!("sha256 = \"{}\"\n", &rest[..64]);
    std::fs::write(&path, text("models", &sum)).unwrap();
    scrimp(&["bench", &path, "-q"]).code(0);
    // What `LC_ALL=C sha256sum phils?.dve | sha256sum` prints.
    let by_hand = std::process::Command::new("sh")
        .args(["-c", "LC_ALL=C sha256sum phils?.dve | sha256sum"])
        .current_dir(&folder)
        .output();
    if let Ok(output) = by_hand {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.len() < 64 || said.starts_with(&rest[..64]), "{said} is not {}", &rest[..64]);
    }
    std::fs::write(folder.join("phils4.dve"), "more").unwrap();
    assert!(scrimp(&["bench", &path]).refused().contains("2 files with the sum"));
    std::fs::write(&path, text("models", "sha256 = \"abc\"\n")).unwrap();
    assert!(scrimp(&["bench", &path]).refused().contains("64 hexadecimal digits"));
}
