//! `scrimp cluster` as a user runs it: counts, verdicts, processes that are killed, searches that are taken up, strangers at the door.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub fn scrimp() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scrimp"));
    command.env_remove("SCRIMP_SECRET");
    command
}

pub fn model(name: &str) -> String {
    format!("{}/models/{name}", env!("CARGO_MANIFEST_DIR"))
}

pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("scrimp-cluster-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Processes that count: a state for each way in which they can stand.
pub fn counters(folder: &Path, processes: u32, most: u64) -> (PathBuf, u64) {
    let process = |p| {
        format!(
            "process P_{p} {{ byte x; state s; init s; trans s -> s {{ guard x < {most}; effect x = x + 1; }}; }}\n"
        )
    };
    let path = folder.join("counters.dve");
    let text = (0..processes).map(process).collect::<String>() + "system async;\n";
    std::fs::write(&path, text).expect("a model");
    (path, (most + 1).pow(processes))
}

pub fn json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The processes that a process has started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let of = |entry: std::fs::DirEntry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let before: u32 = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        (before == parent).then_some(number)
    };
    all.filter_map(of).collect()
}

#[test]
fn the_same_answers_as_alone() {
    for (name, asked, code) in [
        ("peterson4.dve", &["count"][..], 0),
        ("leader.pml", &["check"], 0),
        ("naive_lock.dve", &["check", "--keep-going"], 1),
        ("klotski.dve", &["check", "-p", "reach: c[13] == 6"], 0),
        ("peterson3.dve", &["check", "-p", "ltl: [] !(P_0@cs && P_1@cs)"], 0),
        ("packing.pnml", &["count"], 0),
    ] {
        let run = |before: &[&str]| {
            let mut command = scrimp();
            command.args(before).args(&asked[..1]).arg(model(name)).args(&asked[1..]).args(["--json", "-q"]);
            command.output().expect("it runs")
        };
        let (alone, together) = (run(&[]), run(&["cluster", "-n", "2"]));
        assert_eq!(together.status.code(), Some(code), "{name}: {}", text(&together));
        let (alone, together) = (json(&alone), json(&together));
        if asked[0] == "count" || code == 0 && asked.len() == 1 {
            for figure in ["states", "transitions", "deadlocks", "faults", "level_sizes", "initial_states"] {
                assert_eq!(together[figure], alone[figure], "{name}: {figure}");
            }
        }
        assert_eq!(together["verdict"], alone["verdict"], "{name}");
        let all = |of: &serde_json::Value| -> Vec<String> {
            let properties = of["properties"].as_array().expect("a list").iter();
            properties
                .map(|p| {
                    format!("{} {} {}", p["name"], p["verdict"], p["trace"]["steps"].as_array().map_or(0, Vec::len))
                })
                .collect()
        };
        assert_eq!(all(&together), all(&alone), "{name}");
        assert_eq!(together["cluster"]["processes"], 2, "{name}");
    }
}

#[test]
fn what_is_not_distributed_is_refused() {
    for (asked, word) in [
        (&["-p", "ltl: [] <> P_0@cs", "--fair", "weak"][..], "takes part"),
        (&["-p", "ltl: [] <> P_0@cs", "--cycles", "nested"], "smaller"),
        (&["-p", "ltl: [] <> P_0@cs", "--checkpoint", "never-written"], "leave out --checkpoint"),
        (&["--forget", "sweep"], "progress measure"),
        (&["--forget", "sweep", "--progress", "P_0@cs", "--checkpoint", "never-written"], "leave out --checkpoint"),
        (&["-p", "ctl: AG EF P_0@cs"], "branching"),
        (&["--reduce", "por+sleep"], "sleep"),
        (&["--forget", "cache", "--checkpoint", "never-written"], "leave out --checkpoint"),
        (&["--forget", "cache", "--chains"], "another process"),
        (&["--forget", "cache", "--reconstruct"], "another process"),
        (&["--store", "bitstate"], "packed table"),
        (&["--order", "dfs"], "level by level"),
        (&["--max-visits", "10"], "--max-visits"),
        (&["--audit"], "every state"),
        (&["--engine", "symbolic"], "not supported with scrimp cluster"),
    ] {
        let mut command = scrimp();
        command.args(["cluster", "-n", "2", "check", &model("peterson3.dve")]).args(asked);
        let output = command.output().expect("it runs");
        // A permission that cannot be used is not used, and the report says so.
        let said = text(&output);
        assert!(said.contains(word), "{asked:?}: {said}");
        assert!(output.status.code() == Some(2) || said.contains("is not used"), "{asked:?}: {said}");
    }
    for wrong in
        [&["cluster", "count", "x.dve"][..], &["cluster", "-n", "0", "count", "x.dve"], &["cluster", "-n", "2"]]
    {
        assert_eq!(scrimp().args(wrong).output().expect("it runs").status.code(), Some(2), "{wrong:?}");
    }
}

/// All searches for infinite runs: their verdicts, and runs that the command follows once more.
#[test]
fn infinite_runs_as_alone() {
    let folder = folder("runs");
    for (name, property, code) in [
        ("peterson3.dve", "ltl: [] (P_0@enter -> <> P_0@cs)", 1),
        ("peterson3.dve", "ltl: !P_0@cs U (P_0@enter || [] !P_0@enter)", 0),
        ("dekker.dve", "ltl: ([]<> P_0@contend) -> ([]<> P_0@cs)", 0),
        ("elevator.pml", "ltl: [] (floor.called[2] -> <> floor.door[2] == open)", 1),
        ("leader.pml", "ltl: <> [] (leaders == 1)", 0),
        ("alternating_bit.dve", "ltl: <> Receiver@deliver", 1),
    ] {
        for cluster in [&["-n", "2"][..], &["-n", "4"]] {
            let threads: &[&str] = if cluster[1] == "4" { &["--threads", "2"] } else { &[] };
            let mut command = scrimp();
            command.arg("cluster").args(cluster).args(["check", &model(name), "-p", property, "--json", "-q"]);
            let output = command.args(threads).output().expect("it runs");
            assert_eq!(output.status.code(), Some(code), "{name} {property}: {}", text(&output));
            let answer = json(&output);
            assert!(property.contains(" U ") || answer.to_string().contains("OWCTY"), "{answer}");
            if code == 1 {
                let trace = folder.join("run.json");
                std::fs::write(&trace, &output.stdout).expect("a file");
                let replayed =
                    scrimp().args(["simulate", &model(name), "--trace"]).arg(&trace).output().expect("it runs");
                let said = text(&replayed);
                assert!(
                    said.contains("and so on for ever, from step") || said.contains("nothing more can happen"),
                    "{said}"
                );
            }
        }
    }
    // Cut by its time it knows nothing, and says so.
    let (counters, _) = counters(&folder, 6, 15);
    let mut command = scrimp();
    command.args(["cluster", "-n", "2", "check"]).arg(counters).args(["-p", "ltl: [] <> P_0.x > 3", "--json", "-q"]);
    let output = command.args(["--time", "300ms"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert_eq!(json(&output)["limits"]["reached"], "time");
    let _ = std::fs::remove_dir_all(folder);
}

/// Who dies while infinite runs are looked for ends all, too.
#[cfg(target_os = "linux")]
#[test]
fn who_dies_decides_nothing() {
    let folder = folder("dies");
    let (model, _) = counters(&folder, 6, 15);
    let mut command = scrimp();
    command.args(["cluster", "-n", "3", "check"]).arg(&model).args(["-p", "ltl: [] <> P_0.x > 30", "--json", "-q"]);
    let mut leader = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    let begun = Instant::now();
    while children(leader.id()).len() < 2 && begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let victim = children(leader.id())[0];
    let _ = Command::new("kill").args(["-9", &victim.to_string()]).status();
    assert_eq!(ends_within(&mut leader, Duration::from_secs(10)), Some(3));
    let mut out = String::new();
    leader.stdout.take().expect("piped").read_to_string(&mut out).expect("text");
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"));
    assert_eq!((&answer["limits"]["reached"], &answer["verdict"]), (&"gone".into(), &"incomplete".into()), "{out}");
    let _ = std::fs::remove_dir_all(folder);
}

/// The sweep-line goes where that of one process goes.
#[test]
fn sweeps_as_alone() {
    let folder = folder("sweeps");
    let (counters, states) = counters(&folder, 4, 9);
    let counters = counters.display().to_string();
    for (name, measure, asked, code) in [
        (counters.as_str(), "P_0.x + P_1.x + P_2.x + P_3.x", &["count"][..], 0),
        // Where it goes back, there are several sweeps.
        (counters.as_str(), "9 - P_0.x, P_1.x", &["count"], 0),
        (&model("peterson3.dve"), "P_0{idle < enter < look < climb < cs}", &["count"], 0),
        (&model("peterson3.dve"), "auto", &["check"], 0),
        (&model("naive_lock.dve"), "auto", &["check", "--keep-going"], 1),
        // Measures of names that are not sent.
        (&model("leader.pml"), "auto", &["check"], 0),
        (&model("packing.pnml"), "auto", &["count"], 0),
        (&model("kanban.pnml"), "linear", &["count"], 0),
        (counters.as_str(), "P_0.x", &["check", "-p", "reach: P_0.x == 9 && P_3.x == 9"], 0),
    ] {
        let run = |before: &[&str]| {
            let mut command = scrimp();
            command.args(before).args(&asked[..1]).arg(name).args(&asked[1..]);
            command.args(["--forget", "sweep", "--progress", measure, "--json", "-q"]).output().expect("it runs")
        };
        let alone = run(&[]);
        assert_eq!(alone.status.code(), Some(code), "{name} {measure}: {}", text(&alone));
        for (processes, threads) in [("2", "1"), ("4", "2")] {
            let mut command = scrimp();
            command.args(["cluster", "-n", processes]).args(&asked[..1]).arg(name).args(&asked[1..]);
            command.args(["--forget", "sweep", "--progress", measure, "--json", "-q", "--threads", threads]);
            let together = command.output().expect("it runs");
            assert_eq!(together.status.code(), Some(code), "{name} {measure}: {}", text(&together));
            let (one, all) = (json(&alone), json(&together));
            if asked[0] == "count" {
                for figure in ["states", "visits", "transitions", "deadlocks", "forget.sweeps", "forget.persistent"] {
                    let of =
                        |answer: &serde_json::Value| figure.split('.').fold(answer.clone(), |at, key| at[key].clone());
                    assert_eq!(of(&all), of(&one), "{name} {measure}: {figure}");
                }
            }
            assert_eq!(all["verdict"], one["verdict"], "{name}");
            for property in all["properties"].as_array().into_iter().flatten() {
                let shows =
                    property["verdict"] == "violated" || property["name"].as_str().is_some_and(|n| n.contains("9"));
                assert!(!shows || property["trace"].is_object(), "{name}: {property}");
            }
        }
    }
    assert!(states > 0);
    let _ = std::fs::remove_dir_all(folder);
}

/// With a cache that is too small, from pseudo-root states and with fewer events all is decided as by one process.
#[test]
fn forgets_and_reduces_as_alone() {
    for (name, asked, flags, once) in [
        ("peterson4.dve", "count", &["--forget", "cache"][..], true),
        ("peterson4.dve", "check", &["--forget", "cache:80000"], false),
        ("peterson4.dve", "check", &["--forget", "pseudo-root"], true),
        ("peterson4.dve", "check", &["--forget", "sweep+cache:60000,lru", "--progress", "auto"], true),
        ("leader.pml", "check", &["--reduce", "por"], true),
        ("naive_lock.dve", "check", &["--forget", "cache", "--keep-going"], true),
        ("naive_lock.dve", "check", &["--reduce", "por", "--forget", "cache:1000", "--keep-going"], true),
    ] {
        let run = |before: &[&str]| {
            let mut command = scrimp();
            command.args(before).args([asked, &model(name)]).args(flags).args(["--json", "-q"]);
            command.output().expect("it runs")
        };
        let (alone, together) = (run(&[]), run(&["cluster", "-n", "3"]));
        assert_eq!(together.status.code(), alone.status.code(), "{name} {flags:?}: {}", text(&together));
        let (one, all) = (json(&alone), json(&together));
        assert_eq!((&all["verdict"], &all["reduced"]), (&one["verdict"], &one["reduced"]), "{name} {flags:?}");
        let evictions = all["forget"]["evictions"].as_u64().unwrap_or(0);
        assert_eq!(evictions == 0, once, "{name} {flags:?}: {}", all["forget"]);
        if once && !flags.contains(&"por") {
            for figure in ["states", "visits", "transitions"] {
                assert_eq!(all[figure], one[figure], "{name} {flags:?}: {figure}");
            }
        }
        let violated = |answer: &serde_json::Value| {
            let properties = answer["properties"].as_array().cloned().unwrap_or_default();
            assert!(properties.iter().all(|p| p["verdict"] != "violated" || p["trace"].is_object()), "{name} {answer}");
            properties.iter().map(|p| (p["name"].to_string(), p["verdict"].to_string())).collect::<Vec<_>>()
        };
        assert_eq!(violated(&all), violated(&one), "{name} {flags:?}");
    }
}

pub fn ends_within(child: &mut Child, time: Duration) -> Option<i32> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().expect("a process") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    None
}

#[cfg(target_os = "linux")]
#[test]
fn who_dies_ends_all_and_the_search_goes_on_later() {
    let folder = folder("killed");
    let (model, states) = counters(&folder, 5, 15);
    let saved = folder.join("saved");
    let run = |processes: &str, more: &[&str]| {
        let mut command = scrimp();
        command.args(["cluster", "-n", processes, "count"]).arg(&model).args(["--json", "-q", "--every", "50ms"]);
        command.arg("--checkpoint").arg(&saved).args(more);
        if saved.join("search").exists() {
            command.arg("--resume").arg(&saved);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let (mut killed, mut processes) = (0, ["2", "4", "3"].into_iter().cycle());
    for delay in [200, 350, 500, 650] {
        let mut leader = run(processes.next().expect("more"), &[]).spawn().expect("it runs");
        std::thread::sleep(Duration::from_millis(delay));
        let all = children(leader.id());
        let Some(victim) = all.first() else {
            assert!(ends_within(&mut leader, Duration::from_secs(30)).is_some());
            continue;
        };
        let _ = Command::new("kill").args(["-9", &victim.to_string()]).status();
        let code = ends_within(&mut leader, Duration::from_secs(10));
        let (mut out, mut err) = (String::new(), String::new());
        leader.stdout.take().expect("piped").read_to_string(&mut out).expect("text");
        leader.stderr.take().expect("piped").read_to_string(&mut err).expect("text");
        assert!(matches!(code, Some(3 | 2 | 0)), "{code:?} {out}{err}");
        if code == Some(3) {
            killed += 1;
            let answer: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"));
            assert_eq!(answer["limits"]["reached"], "gone", "{out}");
            let remarks = answer["plan"]["decisions"].to_string() + &answer.to_string();
            assert!(remarks.contains(&format!("process id {victim}")), "{remarks}");
        }
        // Nobody is left behind.
        std::thread::sleep(Duration::from_millis(300));
        let left: Vec<&u32> = all.iter().filter(|child| Path::new(&format!("/proc/{child}/stat")).exists()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
    assert!(killed > 0, "nobody was killed in time");
    let last = run("2", &[]).output().expect("it runs");
    assert_eq!(last.status.code(), Some(0), "{}", text(&last));
    let answer = json(&last);
    assert_eq!(answer["states"], states);
    assert_eq!(answer["transitions"], states / 16 * 15 * 5);
    assert_eq!(answer["levels"], 15 * 5 + 1);
    assert_eq!(answer["visits"], states);
    // A search that was cut by its time is taken up, too.
    let _ = std::fs::remove_dir_all(&saved);
    let cut = run("2", &["--time", "400ms"]).output().expect("it runs");
    assert_eq!(cut.status.code(), Some(3), "{}", text(&cut));
    assert_eq!(json(&cut)["limits"]["reached"], "time");
    let last = run("3", &[]).output().expect("it runs");
    assert_eq!((last.status.code(), &json(&last)["states"]), (Some(0), &states.into()), "{}", text(&last));
    // What was damaged is not believed.
    let part = std::fs::read_dir(&saved).expect("a folder").flatten().map(|entry| entry.path());
    let part = part.into_iter().find(|path| path.to_string_lossy().contains("part-"));
    if let Some(part) = part {
        let mut bytes = std::fs::read(&part).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&part, bytes).expect("a file");
        let output = run("2", &[]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[cfg(target_os = "linux")]
pub fn signal(signal: &str, to: &str) {
    assert!(Command::new("kill").args([signal, "--", to]).status().expect("kill runs").success(), "{signal} {to}");
}

/// Waits until a process has started so many others.
#[cfg(target_os = "linux")]
pub fn children_of(parent: &Child, count: usize) -> Vec<u32> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let all = children(parent.id());
        if all.len() == count {
            return all;
        }
        assert!(Instant::now() < end, "{all:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a process has used so much processor time that it must be at work: starting takes much less.
#[cfg(target_os = "linux")]
pub fn at_work(process: u32) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number of ticks")).sum();
        if ticks >= 20 {
            return;
        }
        assert!(Instant::now() < end, "{stat}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ctrl-C at a terminal goes to the process and all of its group.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_all_in_order() {
    use std::os::unix::process::CommandExt;
    let folder = folder("interrupted");
    let (model, states) = counters(&folder, 6, 11);
    let saved = folder.join("saved");
    let mut command = scrimp();
    command.args(["cluster", "-n", "3", "count"]).arg(&model).args(["--json", "-q", "--checkpoint"]).arg(&saved);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let leader = command.process_group(0).spawn().expect("it runs");
    let all = children_of(&leader, 2);
    all.iter().for_each(|child| at_work(*child));
    signal("-INT", &format!("-{}", leader.id()));
    let begun = Instant::now();
    let output = leader.wait_with_output().expect("it ends");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let cut = json(&output);
    assert_eq!(cut["limits"]["reached"], "interrupt", "{cut}");
    assert!(!text(&output).contains("is gone"), "{}", text(&output));
    assert!(all.iter().all(|child| !Path::new(&format!("/proc/{child}")).exists()));
    let output = command.arg("--resume").arg(&saved).output().expect("it runs");
    assert_eq!((output.status.code(), &json(&output)["states"]), (Some(0), &states.into()), "{}", text(&output));
    let _ = std::fs::remove_dir_all(folder);
}

/// A batch system sends SIGTERM to every process of a job, and whoever logs in on a host to that one alone.
#[cfg(target_os = "linux")]
#[test]
fn a_host_that_is_told_to_end_ends_all_in_order() {
    let folder = folder("terminated");
    let (model, _) = counters(&folder, 7, 15);
    let (file, _) = hosts(&folder, 2);
    let saved = folder.join("saved");
    let host = |index: &str| {
        let mut command = scrimp();
        command.env("SCRIMP_SECRET", "the secret of this test").args(["cluster", "--hosts"]).arg(&file);
        command.args(["--index", index, "count"]).arg(&model).args(["--json", "-q", "--checkpoint"]).arg(&saved);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
    };
    let (leader, follower) = (host("0"), host("1"));
    at_work(follower.id());
    signal("-TERM", &follower.id().to_string());
    let (leader, follower) = (leader.wait_with_output().expect("it ends"), follower.wait_with_output());
    assert_eq!(leader.status.code(), Some(3), "{}", text(&leader));
    assert_eq!(json(&leader)["limits"]["reached"], "interrupt", "{}", text(&leader));
    assert!(saved.join("search").exists());
    assert_eq!(follower.expect("it ends").status.code(), Some(3));
    // Who waits for others ends at once.
    let waits = host("1");
    std::thread::sleep(Duration::from_millis(300));
    signal("-INT", &waits.id().to_string());
    let begun = Instant::now();
    assert_eq!(waits.wait_with_output().expect("it ends").status.code(), Some(3));
    assert!(begun.elapsed() < Duration::from_secs(2));
    let _ = std::fs::remove_dir_all(folder);
}

/// A process that gets a small part of the time, as on a machine that has other work to do.
#[cfg(target_os = "linux")]
#[test]
fn a_slow_process_is_named() {
    let folder = folder("slow");
    let (model, states) = counters(&folder, 6, 12);
    let mut command = scrimp();
    command.args(["cluster", "-n", "3", "count"]).arg(&model).args(["--json", "-q"]);
    let mut leader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let child = children_of(&leader, 2)[1];
    at_work(child);
    let stat = format!("/proc/{child}/stat");
    while Path::new(&stat).exists() && leader.try_wait().expect("a state").is_none() {
        for (what, millis) in [("-STOP", 100), ("-CONT", 20)] {
            let _ = Command::new("kill").args([what, &child.to_string()]).stderr(Stdio::null()).status();
            std::thread::sleep(Duration::from_millis(millis));
        }
    }
    let output = leader.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), &json(&output)["states"]), (Some(0), &states.into()), "{}", text(&output));
    let expected = format!("process id {child}) is slow: each of the others waited");
    assert!(text(&output).contains(&expected), "{expected}: {}", text(&output));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn memory_is_a_promise_and_no_wrong_count() {
    let folder = folder("memory");
    let (model, states) = counters(&folder, 5, 15);
    for memory in ["24M", "40M", "1G"] {
        let mut command = scrimp();
        command.args(["cluster", "-n", "2", "count"]).arg(&model).args(["--json", "-q", "--memory", memory]);
        let output = command.output().expect("it runs");
        let answer = json(&output);
        match output.status.code() {
            Some(0) => assert_eq!(answer["states"], states, "{memory}"),
            Some(3) => {
                assert_eq!(answer["limits"]["reached"], "memory", "{memory}");
                assert!(answer["states"].as_u64() < Some(states), "{memory}");
            }
            code => panic!("{code:?}: {}", text(&output)),
        }
        let limit = memory.trim_end_matches(['M', 'G']).parse::<u64>().expect("a number")
            << if memory == "1G" { 30 } else { 20 };
        assert!(answer["cluster"]["process_peak_bytes"].as_u64() <= Some(limit), "{memory}: {}", answer["cluster"]);
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// One host of two has little memory: it moves its states to a tree, and where even that is too little the search ends, and goes on
/// from what was saved when there is more.
#[test]
fn one_host_may_have_less_memory() {
    let folder = folder("less");
    let model = folder.join("wide.dve");
    let process = |p| {
        format!(
            "process P_{p} {{ byte x, p[2]; state s; init s; trans s -> s {{ guard x < 15; effect x = x + 1, p[x % 2] = x * 11; }}; }}\n"
        )
    };
    std::fs::write(&model, (0..5).map(process).collect::<String>() + "system async;\n").expect("a model");
    let (states, transitions) = (16u64.pow(5), 16u64.pow(4) * 15 * 5);
    let saved = folder.join("saved");
    let count = |memory: &str, more: &[&str]| {
        let (file, _) = hosts(&folder, 2);
        let host = |index: usize| {
            let memory = if index == 1 { memory } else { "1G" };
            let mut command = scrimp();
            command.env("SCRIMP_SECRET", "the secret of this test").args(["cluster", "--wait", "20s", "--hosts"]);
            command.arg(&file).args(["--index", &index.to_string(), "count"]).arg(&model);
            command.args(["--json", "-q", "--memory", memory, "--checkpoint"]).arg(&saved).args(more);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
        };
        let [first, _] = [host(0), host(1)].map(|host| host.wait_with_output().expect("it ends"));
        first
    };
    let exact = |output: &Output| {
        assert_eq!(output.status.code(), Some(0), "{}", text(output));
        let answer = json(output);
        assert_eq!((&answer["states"], &answer["transitions"]), (&states.into(), &transitions.into()), "{answer}");
        answer["cluster"]["processes_in_trees"].as_u64().expect("a number")
    };
    // How much is little depends on how much the program itself takes.
    let (mut least, mut most) = (10_000_u64, 40_000);
    let (mut in_tree, mut taken_up) = (false, false);
    while !(in_tree && taken_up) {
        assert!(most - least > 100, "no memory between the two is little: {least} {most}");
        let memory = (least + most) / 2;
        let _ = std::fs::remove_dir_all(&saved);
        let output = count(&format!("{memory}K"), &[]);
        match output.status.code() {
            Some(0) if exact(&output) == 0 => most = memory,
            Some(0) => {
                in_tree = true;
                most = memory;
            }
            Some(3) if json(&output)["limits"]["reached"] == "memory" => {
                let answer = json(&output);
                assert!(answer["states"].as_u64() <= Some(states), "{answer}");
                if saved.join("search").exists() && !taken_up {
                    assert!(answer.to_string().contains("what was saved before, with"), "{answer}");
                    exact(&count("1G", &["--resume", &saved.to_string_lossy()]));
                    taken_up = true;
                }
                least = memory;
            }
            _ => least = memory,
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// A hosts file with ports that nobody uses now.
pub fn hosts(folder: &Path, processes: usize) -> (PathBuf, Vec<String>) {
    let held: Vec<TcpListener> = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let all: Vec<String> = held.iter().map(|held| held.local_addr().expect("an address").to_string()).collect();
    let path = folder.join("hosts.txt");
    std::fs::write(&path, all.join("\n")).expect("a file");
    (path, all)
}

#[test]
fn strangers_are_turned_away() {
    let folder = folder("strangers");
    let (file, addresses) = hosts(&folder, 3);
    let (secret, wrong) = (folder.join("secret"), folder.join("wrong"));
    std::fs::write(&secret, "the secret of this test\n").expect("a file");
    std::fs::write(&wrong, "another secret than that\n").expect("a file");
    let host = |index: usize, secret: &Path| {
        let mut command = scrimp();
        command.args(["cluster", "--wait", "30s", "--hosts"]).arg(&file).arg("--secret").arg(secret);
        // Only process 0 has the model.
        command.args(["--index", &index.to_string(), "count", "peterson4.dve", "--json", "-q"]);
        command.current_dir(format!("{}/models", env!("CARGO_MANIFEST_DIR")));
        if index > 0 {
            command.current_dir(&folder);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
    };
    let leader = host(0, &secret);
    let connect = |address: &str| {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            match TcpStream::connect(address) {
                Ok(stream) => return stream,
                Err(e) => assert!(Instant::now() < end, "{e}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    // Nothing, noise, the beginning of a handshake, and a lot.
    let _silent: Vec<TcpStream> = (0..600).map(|_| connect(&addresses[0])).collect();
    let mut noisy = connect(&addresses[0]);
    let _ = noisy.write_all(b"GET / HTTP/1.0\r\n\r\nand so on, and so on, and so on, and so on, and so on, and so on");
    let mut nearly = connect(&addresses[0]);
    let _ = nearly.write_all(b"scrimp\x01c\x01\x01\0\0\0");
    let mut slow = connect(&addresses[0]);
    let drips = std::thread::spawn(move || {
        let hello = b"scrimp\x01c\x01\x01\0\0\0and so on, and so on, and so on, and so on, and so on";
        hello.iter().position(|byte| {
            std::thread::sleep(Duration::from_millis(300));
            slow.write_all(&[*byte]).is_err()
        })
    });
    let mut long = connect(&addresses[0]);
    let _ = long.write_all(&vec![0xff; 1 << 20]);
    let mut stranger = host(1, &wrong);
    assert_eq!(ends_within(&mut stranger, Duration::from_secs(20)), Some(2));
    let mut said = String::new();
    stranger.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    assert!(said.contains("secret"), "{said}");
    let others = [host(1, &secret), host(2, &secret)];
    let output = leader.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(drips.join().expect("no panic").is_some(), "a byte now and then is turned away");
    let alone = scrimp().args(["count", &model("peterson4.dve"), "--json", "-q"]).output().expect("it runs");
    assert_eq!(json(&output)["states"], json(&alone)["states"]);
    assert!(json(&output).to_string().contains("turned away"), "{}", text(&output));
    for other in others {
        let output = other.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn options_are_compared() {
    let folder = folder("options");
    let (file, _) = hosts(&folder, 2);
    let host = |index: &str, more: &[&str]| {
        let mut command = scrimp();
        command
            .env("SCRIMP_SECRET", "the secret of this test")
            .args(["cluster", "--wait", "20s", "--hosts"])
            .arg(&file);
        command.args(["--index", index, "count", &model("peterson3.dve"), "-q"]).args(more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
    };
    let (leader, other) = (host("0", &[]), host("1", &["--threads", "2"]));
    for process in [leader, other] {
        let output = process.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains("other options"), "{}", text(&output));
    }
    let output = scrimp().args(["cluster", "--hosts"]).arg(&file).args(["--index", "0", "count", "x"]).output();
    assert!(text(&output.expect("it runs")).contains("there is no secret"));
    let _ = std::fs::remove_dir_all(folder);
}

/// What a program of its own does with a cluster.
#[test]
fn a_program_asks_a_cluster() {
    use scrimp::Checker;
    use scrimp::cluster::Cluster;
    let cluster =
        || Cluster::here(Path::new(env!("CARGO_BIN_EXE_scrimp")), 2, 1, 1 << 30).unwrap_or_else(|why| panic!("{why}"));
    let ask = |name: &str| Checker::open(model(name)).expect("a model").memory("1G");
    let counted = ask("peterson4.dve").cluster(cluster()).count().expect("it counts");
    assert_eq!(counted.states(), ask("peterson4.dve").count().expect("it counts").states());
    let search = counted.searches().next().expect("a search");
    assert_eq!(search.report.cluster.as_ref().map(|cluster| cluster.processes), Some(2));
    // Several searches, one after the other, by the same processes.
    let answer = ask("naive_lock.dve").property("deadlock").property("ltl: [] !(P_0@cs && P_1@cs)").cluster(cluster());
    let (answer, alone) = (answer.check().expect("an answer"), ask("naive_lock.dve"));
    let alone = alone.property("deadlock").property("ltl: [] !(P_0@cs && P_1@cs)").check().expect("an answer");
    assert_eq!(answer.overall(), alone.overall(), "{answer}");
    assert_eq!(answer.verdict("deadlock"), alone.verdict("deadlock"));
    let open = ask("klotski.dve").property("reach: c[13] == 6").cluster(cluster()).check().expect("an answer");
    assert_eq!(open.searches().filter(|search| search.report.cluster.is_some()).count(), 1);
    assert!(open.to_string().contains("2 processes of 1 thread"), "{open}");
    // Without processes there is no cluster, and what it cannot do is refused before anything is searched.
    let nobody = ask("peterson3.dve").engine("cluster:2").check().expect_err("refused").to_string();
    assert!(nobody.contains("FileChecker::cluster"), "{nobody}");
    let refused = ask("peterson3.dve").store("bitstate").cluster(cluster()).check().expect_err("refused").to_string();
    assert!(refused.contains("packed table"), "{refused}");
}
