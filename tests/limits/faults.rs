//! Runs of the command that are killed, told to stop, and let down by files and memory: a minute of `scrimp-faults`, and what it
//! has shown once.

use scrimp_faults::program::{Ended, Program};
use scrimp_faults::shim::{self, Fault, How};
use scrimp_faults::{Settings, models, run};
use std::path::PathBuf;

#[test]
fn whatever_fails_no_answer_is_wrong_and_no_checkpoint_lost() {
    let program = env!("CARGO_BIN_EXE_scrimp").into();
    let settings = Settings { program, seed: 1, kills: 60, trials: 90, jobs: 2, only: None, progress: false };
    let summary = run(&settings).unwrap_or_else(|error| panic!("{error}"));
    println!("{summary}");
    assert!(summary.findings.is_empty(), "{}", summary.findings.join("\n"));
}

const OLD: &str = "what was there before";

/// A folder with a model, and the command in it.
struct Ground {
    folder: PathBuf,
    program: Program,
}

impl Ground {
    /// `None` where there is no C compiler, which is said.
    fn new(name: &str, processes: usize, most: usize) -> Option<Ground> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        std::fs::write(folder.join("model.dve"), models::counters(processes, most)).expect("a model can be written");
        let shim = shim::build(&folder).expect("the library can be made");
        if shim.is_none() {
            println!("skipped: there is no C compiler");
        }
        Some(Ground { program: Program { path: env!("CARGO_BIN_EXE_scrimp").into(), shim: Some(shim?) }, folder })
    }

    /// Runs `count` on the model, with a call on a file that fails from some time on.
    fn count(&self, more: &[&str], fault: Option<(&'static str, &str, u64, How)>) -> Ended {
        let words = [&["count", "model.dve", "--json"], more].concat();
        let words: Vec<String> = words.into_iter().map(String::from).collect();
        let fault = fault.map(|(calls, path, at, how)| Fault { calls, path: path.into(), at, on: 0, how });
        let fails = fault.is_some();
        let ended = self.program.run(&words, fault, &self.folder).expect("the command runs and ends");
        assert_eq!(ended.struck, fails, "{words:?}: {}", ended.stderr);
        ended
    }

    /// The names of files that are not whole.
    fn parts(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).expect("a folder").flatten().map(|entry| entry.path());
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "part")).collect()
    }
}

/// What is asked for and cannot be written is an error, whatever the answer is, and what was there before stays.
#[test]
fn a_file_that_cannot_be_written_is_an_error_and_the_old_one_stays() {
    let Some(ground) = Ground::new("faults_outputs", 3, 9) else { return };
    for (flag, name) in
        [("--graph", "o.aut"), ("--graph", "o.scg"), ("--dot", "o.dot"), ("--report", "o.html"), ("--plot", "o.svg")]
    {
        // The first of all opens is that of a file which is made to see whether one can be.
        for (calls, at, how) in [
            ("open", 1, How::Broken),
            ("open", 2, How::Broken),
            ("write", 1, How::NoSpace),
            ("sync", 1, How::Broken),
            ("rename", 1, How::NoSpace),
        ] {
            let file = ground.folder.join(name);
            std::fs::write(&file, OLD).expect("a file can be written");
            let ended = ground.count(&[flag, name], Some((calls, name, at, how)));
            let context = format!("{flag} {name}, {calls} {at} fails: {}", ended.stderr);
            assert_eq!(ended.code, Some(2), "{context}");
            assert!(ended.stderr.contains("error: ") && ended.stderr.contains(name), "{context}");
            assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), Some(OLD), "{context}");
            assert_eq!(ground.parts(), Vec::<PathBuf>::new(), "{context}");
        }
    }
}

/// A search whose checkpoints cannot be written goes on and says so; the last one that was written can be taken up.
#[test]
fn a_checkpoint_that_cannot_be_written_costs_neither_the_search_nor_the_old_one() {
    let Some(ground) = Ground::new("faults_checkpoint", 4, 25) else { return };
    let all = ground.count(&[], None);
    let saved = ground.folder.join("save");
    let saving = ["--checkpoint", "save", "--every", "5ms"];
    // Killed in the middle, when it has been saved twice.
    let killed = ground.count(&saving, Some(("rename", "save.", 3, How::Kill)));
    assert_eq!(killed.signal, Some(9), "{}", killed.stderr);
    let old = std::fs::read(&saved).expect("it was saved");
    for (calls, how) in [("write", How::NoSpace), ("sync", How::Broken), ("rename", How::Broken)] {
        let ended = ground.count(&[&saving[..], &["--resume", "save"]].concat(), Some((calls, "save.", 1, how)));
        assert_eq!(ended.code, Some(0), "{calls}: {}", ended.stderr);
        assert!(ended.stdout.contains("could not be written"), "{calls}: {}", ended.stdout);
        assert_eq!(std::fs::read(&saved).ok().as_ref(), Some(&old), "{calls}");
        assert_eq!(ground.parts(), Vec::<PathBuf>::new(), "{calls}");
    }
    let states = |ended: &Ended| scrimp_faults::answer::json(ended).map(|json| json["states"].clone());
    let resumed = ground.count(&["--resume", "save"], None);
    assert_eq!((resumed.code, states(&resumed)), (Some(0), states(&all)));
}
