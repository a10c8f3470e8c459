//! Infinite runs of random Promela programs, against SPIN: formulas, never claims, acceptance and progress labels, with and
//! without weak fairness.
//!
//! Needs `spin` and `gcc`, and is faster with `tcc`. `SCRIMP_TEST_PROGRAMS=1000` takes more programs than usual, and
//! `SCRIMP_TEST_SEED=7` begins at another seed. Programs that differ are left in the folder `temporal_spin/wrong` of Cargo's folder
//! for tests, with what both tools say, the first one as small as it can be.

mod common;
mod promela_random;

use common::command::scrimp;
use promela_random::features::{Feature, Features};
use promela_random::shrink::shrink;
use promela_random::spin::Spin;
use promela_random::temporal::{Asked, Question, asked};
use promela_random::tree::Program;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Formulas for each program: making a verifier takes longer than running it.
const FORMULAS: usize = 6;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("temporal_spin").join(name)
}

/// What both tools say of each property of a program, by its name: is it violated?
type Verdicts = Vec<(String, Result<bool, String>)>;

/// The verdicts of SPIN; an error where a search does not go through.
fn theirs(
    spin: &Spin,
    asked: &Asked,
    program: &Program,
    question: Question,
    fair: bool,
    name: &str,
) -> Option<Verdicts> {
    let options: &[&str] = if question == Question::Progress { &["-DNP"] } else { &[] };
    let verifier = spin.verifier(&asked.text(program, question), scratch(name), options).ok()?;
    let ask = |words: &[&str]| {
        let mut words = words.to_vec();
        words.extend(fair.then_some("-f"));
        verifier.violated(&words)
    };
    Some(match question {
        Question::Formulas => {
            let names = (0..asked.formulas.len()).map(|i| format!("f{i}"));
            names.map(|name| (format!("ltl {name}"), ask(&["-a", "-N", &name]))).collect()
        }
        Question::Claim => vec![("never".into(), ask(&["-a"]))],
        Question::Acceptance => vec![("accepting".into(), ask(&["-a"]))],
        Question::Progress => vec![("progress".into(), ask(&["-l"]))],
    })
}

/// Said of a run that comes to an end and stays there.
const ENDS: &str = "ends";

/// Our verdicts.
fn ours(asked: &Asked, program: &Program, question: Question, fair: bool, name: &str) -> Result<Verdicts, String> {
    let path = scratch(&format!("{name}.pml"));
    std::fs::create_dir_all(scratch("")).expect("a folder can be made");
    std::fs::write(&path, asked.text(program, question)).expect("a file can be written");
    let file = path.to_string_lossy();
    let mut words = vec!["check", &*file, "--json", "--keep-going", "--memory", "1G", "--time", "30s"];
    words.extend(fair.then_some(["--fair", "weak"]).into_iter().flatten());
    match question {
        Question::Formulas | Question::Claim => {}
        Question::Acceptance => words.extend(["--property", "accepting"]),
        Question::Progress => words.extend(["--property", "progress"]),
    }
    let answer = scrimp(&words);
    let _ = std::fs::remove_file(&path);
    if question == Question::Acceptance && answer.stderr.contains("the model says nothing of accepting places") {
        return Ok(vec![("accepting".into(), Ok(false))]);
    }
    if !matches!(answer.code, Some(0 | 1 | 3)) {
        return Err(format!("{}{}", answer.stdout, answer.stderr));
    }
    let json = answer.json();
    let verdict = |property: &serde_json::Value| match property["verdict"].as_str() {
        // Under fairness SPIN does not see all runs that come to an end.
        Some("violated") if fair && property["trace"]["loop"] == property["trace"]["length"] => Err(ENDS.into()),
        Some("violated") => Ok(true),
        Some("verified") => Ok(false),
        other => Err(format!("{other:?}")),
    };
    let all = json["properties"].as_array().cloned().unwrap_or_default();
    Ok(all.iter().map(|p| (p["name"].as_str().unwrap_or_default().to_string(), verdict(p))).collect())
}

/// Where both differ in the answer to a question, one line each; `None` where they cannot be compared. Counts what agrees.
fn compare(case: &Case, program: &Program, agreed: &mut [usize; 2]) -> Option<Vec<String>> {
    let Case { spin, asked, question, fair, name } = case;
    let theirs = theirs(spin, asked, program, *question, *fair, name)?;
    let ours = ours(asked, program, *question, *fair, name);
    let mut wrong = Vec::new();
    for (name, expected) in theirs {
        let Ok(expected) = expected else { continue };
        let found = match &ours {
            Err(error) => Err(error.clone()),
            // A claim is two questions: whether it ends, and what it accepts.
            Ok(all) => {
                let about: Vec<_> = all.iter().filter(|(ours, _)| ours.starts_with(&name)).map(|(_, v)| v).collect();
                match about.iter().find(|verdict| ***verdict != Ok(false)) {
                    None if about.is_empty() => Err(format!("no verdict among {all:?}")),
                    None => Ok(false),
                    Some(verdict) => (*verdict).clone(),
                }
            }
        };
        match found {
            Err(why) if why == ENDS => {}
            Ok(found) if found == expected => agreed[found as usize] += 1,
            found => wrong.push(format!("{name}: SPIN says violated = {expected}, Scrimp {found:?}")),
        }
    }
    Some(wrong)
}

struct Case<'a> {
    spin: &'a Spin,
    asked: &'a Asked,
    question: Question,
    fair: bool,
    name: &'a str,
}

/// Asks both tools about so many random programs.
fn same_as_spin(question: Question, fair: bool, programs: u64, allowed: Features) {
    let spin = match Spin::find() {
        Ok(spin) => spin,
        Err(problem) => return eprintln!("skipped: {problem}"),
    };
    let (first, programs) = (number("SCRIMP_TEST_SEED", 0), number("SCRIMP_TEST_PROGRAMS", programs));
    let kind = format!("{question:?}{}", if fair { "-fair" } else { "" });
    let (next, seen) = (AtomicU64::new(first), Mutex::new((Vec::new(), [0, 0], 0)));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + programs {
                return;
            }
            let asked = asked(seed, allowed, FORMULAS);
            let program = asked.prepared(question, seed);
            let case = Case { spin: &spin, asked: &asked, question, fair, name: &format!("{kind}-{seed}") };
            let mut agreed = [0, 0];
            let wrong = compare(&case, &program, &mut agreed);
            let mut seen = seen.lock().expect("no thread fails");
            seen.1 = [seen.1[0] + agreed[0], seen.1[1] + agreed[1]];
            match wrong {
                None => seen.2 += 1,
                Some(wrong) if wrong.is_empty() => {}
                Some(wrong) => {
                    let text = format!("/*\n{}\n*/\n{}", wrong.join("\n"), asked.text(&program, question));
                    std::fs::create_dir_all(scratch("wrong")).expect("a folder can be made");
                    std::fs::write(scratch(&format!("wrong/{kind}-{seed}.pml")), text).expect("a file can be written");
                    seen.0.push(seed);
                }
            }
        }
    };
    // The tools' start takes longer than the searches, and two of them fit on any machine.
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let (mut wrong, [holds, violated], incomparable) = seen.into_inner().expect("no thread fails");
    println!("{kind}: {holds} hold, {violated} are violated, {incomparable} programs are not taken by SPIN");
    wrong.sort_unstable();
    if let Some(&seed) = wrong.first() {
        let asked = asked(seed, allowed, FORMULAS);
        let name = format!("{kind}-{seed}-smaller");
        let case = Case { spin: &spin, asked: &asked, question, fair, name: &name };
        let differs = |program: &Program| compare(&case, program, &mut [0, 0]).is_some_and(|wrong| !wrong.is_empty());
        let smaller = shrink(&asked.prepared(question, seed), &mut |program| differs(program));
        let lines = compare(&case, &smaller, &mut [0, 0]).unwrap_or_default().join("\n");
        panic!("{} programs differ: {wrong:?}\n{}{lines}", wrong.len(), asked.text(&smaller, question));
    }
    if programs >= 20 && first == 0 {
        assert!(incomparable < programs / 5, "{incomparable} programs are not taken");
        assert!(holds > 0 && violated > 0, "always the same answer");
    }
}

#[test]
fn formulas() {
    same_as_spin(Question::Formulas, false, 90, without_assertions());
}

#[test]
fn formulas_with_fairness() {
    same_as_spin(Question::Formulas, true, 30, without_assertions());
}

#[test]
fn claims() {
    same_as_spin(Question::Claim, false, 40, without_assertions());
}

#[test]
fn acceptance() {
    same_as_spin(Question::Acceptance, false, 40, without_assertions());
}

#[test]
fn progress() {
    same_as_spin(Question::Progress, false, 40, without_numbers());
}

#[test]
fn progress_with_fairness() {
    same_as_spin(Question::Progress, true, 30, without_numbers());
}

/// SPIN takes formulas such as `[] p` for assertions, so that the programs must have none.
fn without_assertions() -> Features {
    // To SPIN a claim is one more process, which `_nr_pr` counts.
    Features::ALL.without(Feature::Assert).without(Feature::ProcessCount)
}

/// A verifier of progress counts its own claim among the processes.
fn without_numbers() -> Features {
    without_assertions().without(Feature::ProcessCount).without(Feature::Pid)
}
