//! `test`: every model of a folder is a test.

use super::failure::Failure;
use super::output::{print, remark, style};
use super::outputs;
use clap::{Args, ValueHint};
use scrimp_core::budget::default_memory;
use scrimp_core::cores;
use scrimp_search::replace;
use scrimp_suite::testing::runner::{Runner, Tested, tests};
use scrimp_suite::testing::{files, told};
use serde_json::Value;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const HELP: &str = "\
A model declares in its leading comments, one a line (docs/testing.md):

  // states: 1050           also transitions, levels, deadlocks, faults
  // expect: violated assertion at 12 events
                            what `scrimp check MODEL` says
  // property: deadlock -> fails at 16
                            what `scrimp check MODEL -p deadlock` says
  // time: 10s              limits of each run; memory: 64M
  // flags: --reduce por    further flags of each run

Models that passed and have not changed since are not run again. A model
without declarations is named, and nothing else is done with it.

Examples:
  scrimp test models
  scrimp test models/peterson.pml --all
  scrimp test models --jobs 4 --junit tests.xml --sarif tests.sarif

Exit codes: 0 everything is as declared, 1 something is not, 2 a declaration
cannot be read, 3 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct TestArgs {
    /// Models, or folders whose models are tested
    ///
    /// Not those of folders within.
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,

    /// Models tested side by side [default: half the cores]
    ///
    /// They share memory and cores.
    #[arg(short = 'j', long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Memory of all jobs together, such as 4G
    ///
    /// [default: most of what is free]
    #[arg(short, long, value_name = "SIZE", value_parser = scrimp_report::number::parse_size)]
    memory: Option<usize>,

    /// Run also what has passed and is unchanged
    #[arg(long)]
    all: bool,

    /// Write the results as JUnit's XML, for pipelines
    #[arg(long, value_name = "FILE.xml", value_hint = ValueHint::FilePath)]
    junit: Option<PathBuf>,

    /// Write what differs as SARIF, for code reviews
    ///
    /// With the lines of the runs that show it.
    #[arg(long, value_name = "FILE.sarif", value_hint = ValueHint::FilePath)]
    sarif: Option<PathBuf>,

    /// Only what differs, and the summary
    #[arg(short, long)]
    quiet: bool,
}

/// Interrupted.
const STOPPED: u8 = 3;

pub fn run(args: &TestArgs) -> Result<u8, Failure> {
    let models = models(&args.paths)?;
    let inputs: Vec<&Path> = models.iter().map(PathBuf::as_path).collect();
    outputs::admit(&[("--junit", args.junit.as_deref()), ("--sarif", args.sarif.as_deref())], &inputs)?;
    let tests = match tests(&models) {
        Ok(tests) => tests,
        Err(wrong) => {
            // Those of an earlier time would tell of other models.
            args.write(|| files::junit_of_unread(&wrong), || files::sarif_of_unread(&wrong))?;
            return Err(Failure::because(wrong.into_iter().map(|one| one.message).collect::<Vec<_>>().join("\n")));
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    let _ = ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed));
    let style = style();
    let tell = |tested: &Tested| {
        if !args.quiet || !tested.passed() {
            // The summary says how all went; a reader who has gone away misses that too.
            let _ = print(&told::model(tested, style));
        }
    };
    let jobs = args.jobs.map_or((cores() / 2).max(1), NonZeroUsize::get);
    let runner = Runner {
        program: std::env::current_exe()?,
        jobs,
        memory: args.memory.unwrap_or_else(default_memory) as u64,
        memory_is_given: args.memory.is_some(),
        threads: (jobs > 1).then(|| (cores() / jobs).max(1)),
        all: args.all,
        stop: &stop,
        tell: &tell,
    };
    let Some((results, unsaved)) = runner.go(&tests)? else {
        remark("interrupted; what has passed is remembered");
        return Ok(STOPPED);
    };
    if let Some(error) = unsaved {
        remark(&format!("what has passed cannot be remembered: {error}"));
    }
    args.write(|| files::junit(&results), || files::sarif(&results))?;
    print(&format!("{}\n", told::summary(&results)))?;
    Ok(!results.iter().all(Tested::passed) as u8)
}

/// The models that are named, and those of the folders that are named.
fn models(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut models: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !path.is_dir() {
            path.metadata().map_err(|e| Failure::at(path.display(), scrimp_lang::why_unreadable(path, &e)))?;
            models.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let entries = entries.map_err(|e| Failure::at(path.display(), e))?;
        let mut found: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
        found.retain(|path| path.is_file() && scrimp_lang::is_model_name(path));
        if found.is_empty() {
            return Err(Failure::at(path.display(), "there is no model in this folder"));
        }
        found.sort();
        models.extend(found);
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    models.retain(|path| {
        let new = !seen.contains(path);
        seen.extend(new.then(|| path.clone()));
        new
    });
    Ok(models)
}

impl TestArgs {
    /// Writes the files that are asked for.
    fn write(&self, junit: impl Fn() -> String, sarif: impl Fn() -> Value) -> Result<(), Failure> {
        if let Some(path) = &self.junit {
            write("--junit", path, &junit())?;
        }
        if let Some(path) = &self.sarif {
            write("--sarif", path, &format!("{:#}\n", sarif()))?;
        }
        Ok(())
    }
}

fn write(flag: &str, path: &Path, text: &str) -> Result<(), Failure> {
    replace(path, |out| out.write_all(text.as_bytes())).map_err(|e| Failure::with(flag, path.display(), e))
}
