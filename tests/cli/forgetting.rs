//! Forgetting on the command line: what is refused, what is said of caches too small, of states visited again, of runs.

use crate::common::command::{file, model, scrimp};

#[test]
fn unsound_combinations_are_refused_with_the_reason() {
    let phils = model("phils3.dve");
    for (flags, reason) in [
        ("--forget pseudo-root --reduce por+sleep", "sleep sets are kept with their states"),
        ("--forget sweep", "goes by a progress measure"),
        ("--forget sweep --progress auto --order bbfs:4", "the sweep-line expands states by progress"),
        ("--progress auto", "nothing else uses"),
        ("--order progress", "goes by a progress measure"),
        ("--order best", "needs --heuristic"),
        ("--heuristic fork[0]", "nothing else uses"),
        ("--order release", "--forget pseudo-root"),
        ("--chains", "--forget cache"),
        ("--stride 2", "--forget cache"),
        ("--forget cache --stride 0", "from 1 to 255"),
        ("--order bbfs:4 --threads 2", "depth-first in part"),
        ("--forget cache --chains --threads 2", "another thread may hold"),
        ("--forget cache --in-degrees", "--in-degrees"),
        ("--order bbfs:0", "a width of at least 1"),
        ("--order alt:0,0", "at least one level"),
        ("--order frobnicate", "bbfs:WIDTH"),
        ("--forget frobnicate", "pseudo-root"),
        ("--forget cache:0", "at least 1 state"),
        ("--forget cache:9,frobnicate", "out-degree"),
        ("--forget sweep --progress nobody+1", "nobody"),
        ("--forget sweep --progress auto:9", "0 to 5"),
        ("--order best --heuristic nobody", "nobody"),
        ("--forget cache --front front.tsv", "where the sweep-line stands"),
    ] {
        let words: Vec<&str> = ["count", phils.as_str()].into_iter().chain(flags.split(' ')).collect();
        let message = scrimp(&words).refused();
        assert!(message.contains(reason), "{flags}: {message}");
    }
    // An event that can have come from too many states is named, with its line.
    let message = scrimp(&["count", &model("lfsr.dve"), "--forget", "pseudo-root"]).refused();
    assert!(message.contains("line 20, event Shift") && message.contains("4096 values"), "{message}");
}

#[test]
fn a_cache_too_small_for_its_tree_says_so() {
    let out = scrimp(&["count", &model("phils6.dve"), "--forget", "cache:200,random"]).code(3);
    assert!(out.stdout.contains("do not fit in 200 states") && out.stdout.contains("--order dfs"), "{}", out.stdout);
    let json = scrimp(&["count", &model("phils6.dve"), "--forget", "cache:200", "--json"]).code(3).json();
    assert_eq!((&json["verdict"], &json["limits"]["reached"]), (&"incomplete".into(), &"cache".into()));
    let out = scrimp(&["count", &model("phils6.dve"), "--order", "dfs", "--max-visits", "100"]).code(3);
    assert!(out.stdout.contains("--max-visits"), "{}", out.stdout);
}

/// The last visits may fall to any share of the states.
#[test]
fn a_limit_on_visits_ends_all_threads() {
    let phils = model("phils3.dve");
    for visits in [1, 2, 3, 5, 17, 100, 153] {
        for forget in ["none", "pseudo-root", "cache"] {
            let flags = ["--order", "random", "--forget", forget, "--threads", "3", "--json"];
            let limit = visits.to_string();
            let words = [&["count", phils.as_str(), "--max-visits", &limit][..], &flags].concat();
            let json = scrimp(&words).code(3).json();
            assert_eq!((&json["visits"], &json["limits"]["reached"]), (&visits.into(), &"visits".into()), "{forget}");
        }
    }
}

#[test]
fn states_visited_again_are_not_counted_as_states() {
    let phils = model("phils6.dve");
    let flags = ["--forget", "cache:15000", "--reduce", "edge-lean", "--audit", "--json"];
    let json = scrimp(&[&["count", phils.as_str()], &flags[..]].concat()).code(0).json();
    assert!(json["states"].is_null() && json["transitions"].is_null() && json["deadlocks"].is_null());
    assert_eq!(json["audited_states"], 24_040);
    assert!(json["visits"].as_u64().unwrap() > 24_040 && json["forget"]["evictions"].as_u64().unwrap() > 0);
    assert_eq!(json["stored_peak"], 15_000);
}

/// Every state at an even depth is the only successor of another: leaving these out and every other ancestor, too, must not
/// leave out all of them.
#[test]
fn a_ring_of_chains_is_not_gone_round_for_ever() {
    let text = "int p = 0; int c = 0;\nprocess P { state i, a, b; init i; trans i -> a {}, a -> b { effect c = 0; }, \
                a -> b { effect c = 1; }, b -> a { effect p = (p + 1) % 200, c = 0; }; }\nsystem async;\n";
    let path = file("ring.dve", text);
    let flags = ["--forget", "cache:64,fifo", "--chains", "--max-visits", "100000", "--audit", "--json"];
    let json = scrimp(&[&["count", path.as_str()], &flags[..]].concat()).code(0).json();
    assert_eq!(json["audited_states"], 601);
}

#[test]
fn violations_have_runs_whatever_was_forgotten() {
    let phils = model("phils4.dve");
    for flags in [
        "--forget pseudo-root",
        "--forget pseudo-root:300",
        "--forget cache:500 --stride 16",
        "--forget cache:500 --chains --reduce edge-lean",
        "--forget sweep --progress fork[0],-fork[2]",
        "--forget sweep+cache:700 --progress auto",
        "--order random --seed 3",
        "--order best --heuristic 4-fork[0]-fork[1]-fork[2]-fork[3]",
    ] {
        let words: Vec<&str> = ["check", phils.as_str(), "--json"].into_iter().chain(flags.split(' ')).collect();
        let json = scrimp(&words).code(1).json();
        let deadlock = &json["properties"][0];
        assert_eq!((&deadlock["name"], &deadlock["verdict"]), (&"deadlock".into(), &"violated".into()), "{flags}");
        assert!(deadlock["trace"]["length"].as_u64().unwrap() >= 8, "{flags}");
        assert!(deadlock["state"].is_object(), "{flags}");
    }
}

#[test]
fn the_front_is_logged_line_by_line() {
    let file = std::env::temp_dir().join(format!("scrimp-front-{}.tsv", std::process::id()));
    let front = file.display().to_string();
    let words = ["count", &model("bank.dve"), "--forget", "sweep", "--progress", "auto", "--front", &front];
    scrimp(&words).code(0);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("sweep\tprogress\tstored\topen\tpersistent\tvisits"));
    assert!(lines.clone().count() > 3 && lines.all(|line| line.split('\t').count() == 6), "{text}");
    assert!(scrimp(&[&words[..7], &["/"]].concat()).refused().contains("error"));
}

/// What was tried and would be refused is no advice.
#[test]
fn advice_does_not_name_what_was_given() {
    let election = model("large/election6.dve");
    let help = |options: &[&str]| {
        let text = scrimp(&[["count", &election].as_slice(), options].concat()).code(3).stdout;
        let line = text.lines().find(|line| line.starts_with("What would help")).expect("there is advice");
        line.to_string()
    };
    let cache = help(&["--forget", "cache", "--memory", "24M"]);
    assert!(
        cache.contains("a larger --memory, an order with fewer open states") && !cache.contains("(--forget)"),
        "{cache}"
    );
    let given = help(&["--forget", "cache:20", "--order", "dfs", "--chains", "--memory", "200M"]);
    assert!(given.contains("--reduce edge-lean"), "{given}");
    assert!(!given.contains("--order") && !given.contains("--chains"), "{given}");
    let sweep = help(&["--forget", "sweep", "--progress", "1", "--memory", "24M"]);
    assert!(sweep.contains("--forget sweep+cache") && !sweep.contains("--chains"), "{sweep}");
    let slow = help(&["--forget", "cache:2000", "--order", "dfs", "--time", "100ms"]);
    assert!(!slow.contains("--threads"), "{slow}");
}
