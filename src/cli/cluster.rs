//! `cluster`: several processes, on this machine or on several hosts.
//!
//! What is set up here is how the processes come together; `check` and `count` are the same as without. They meet when the first search begins.

use super::args::{CheckArgs, CountArgs};
use super::failure::Failure;
use super::limits::{TOGETHER, stop};
use super::output::{WRONG, remark};
use super::{check, search};
use clap::{Args, Subcommand, ValueHint};
use scrimp::cluster::{At, Cluster, Followed, Follower, Gathering, Hosts, Secret};
use scrimp::report::Overall;
use scrimp::report::number::{parse_duration, parse_size};
use scrimp::{Options, Stop};
use scrimp_core::budget::default_memory;
use scrimp_search::plan::EngineChoice;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long hosts wait for each other, unless it is said.
const WAIT: Duration = Duration::from_secs(600);
/// How long a process waits for the one that has started it.
const BEGINNING: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
#[command(subcommand_precedence_over_arg = true)]
pub struct ClusterArgs {
    /// Start N processes on this machine
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "hosts")]
    pub processes: Option<u32>,

    /// A file with a line ADDRESS:PORT for each host
    ///
    /// One process a line; the first one reads the model and gives the answer.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "index")]
    pub hosts: Option<PathBuf>,

    /// Which line of it this process is, from 0
    #[arg(long, value_name = "I")]
    pub index: Option<usize>,

    /// A file with the secret that all hosts share
    ///
    /// At least 16 bytes. Without this flag, the variable SCRIMP_SECRET has it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "hosts")]
    pub secret: Option<PathBuf>,

    /// Wait this long for the others [default: 10m]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, requires = "hosts")]
    pub wait: Option<Duration>,

    /// The address of the process that started this one
    #[arg(long, hide = true, value_name = "ADDRESS", requires_all = ["index", "processes", "memory"])]
    pub join: Option<String>,

    #[arg(long, hide = true, value_parser = parse_size, requires = "join")]
    pub memory: Option<usize>,

    #[command(subcommand)]
    pub command: Option<Work>,
}

/// What a cluster does.
#[derive(Debug, Subcommand)]
pub enum Work {
    /// Check properties of a model
    Check(Box<CheckArgs>),
    /// Visit the whole state space and say how large it is
    Count(Box<CountArgs>),
}

impl ClusterArgs {
    pub fn wants_json(&self) -> bool {
        match &self.command {
            Some(Work::Check(a)) => a.search.json,
            Some(Work::Count(a)) => a.search.json,
            None => false,
        }
    }
}

/// Where hosts meet.
#[derive(Debug)]
struct Meeting {
    hosts: Hosts,
    secret: Secret,
    wait: Duration,
    command: Vec<String>,
}

/// Said by the command line once; without it, processes are started on this machine.
static MEETING: OnceLock<Meeting> = OnceLock::new();
/// There until the answer is given: taking leave of a process that is slow takes time.
static GATHERED: Mutex<Option<Arc<Gathering>>> = Mutex::new(None);

pub fn run(args: ClusterArgs) -> Result<u8, Failure> {
    let ClusterArgs { processes, hosts, index, secret, wait, join, memory, command } = args;
    if let (Some(first), Some(index), Some(processes), Some(memory)) = (join, index, processes, memory) {
        let secret = Secret::find(None).map_err(Failure::because)?;
        let at = At::Here { first: &first, processes: processes as usize };
        return follow(at, index, &secret, memory, BEGINNING);
    }
    let Some(mut work) = command else {
        return Err(Failure::because("expected check or count\nhelp: scrimp cluster -n 4 check MODEL"));
    };
    let search = match &mut work {
        Work::Check(args) => &mut args.search,
        Work::Count(args) => &mut args.search,
    };
    if search.engine != "auto" {
        return Err(Failure::because(format!(
            "--engine {} is not supported with scrimp cluster\nhelp: leave out --engine",
            search.engine
        )));
    }
    let processes = match (&hosts, processes) {
        (None, Some(processes)) => {
            if index.is_some() {
                return Err(Failure::because("--index needs --hosts FILE"));
            }
            processes
        }
        (Some(file), _) => {
            let hosts = Hosts::read(file).map_err(Failure::because)?;
            let secret = Secret::find(secret.as_deref()).map_err(Failure::because)?;
            let (index, wait, command) = (index.unwrap_or(0), wait.unwrap_or(WAIT), same_for_all());
            if index > 0 {
                let memory = search.memory.unwrap_or_else(default_memory);
                return follow(At::Hosts { hosts: &hosts, command }, index, &secret, memory, wait);
            }
            let processes = hosts.0.len() as u32;
            MEETING
                .set(Meeting { hosts, secret, wait, command })
                .map_err(|_| Failure::because("internal error: two clusters"))?;
            processes
        }
        (None, None) => {
            return Err(Failure::because(
                "expected -n N, or --hosts FILE with --index I\nhelp: scrimp cluster -n 4 check MODEL",
            ));
        }
    };
    search.engine = format!("cluster:{processes}");
    match work {
        Work::Check(args) => check::check(&args),
        Work::Count(args) => search::count(&args),
    }
}

/// Joins the others and works for them. Ctrl-C ends a process that still waits for them; later it ends the search of all, in order, and
/// only the second time this process.
fn follow(at: At, index: usize, secret: &Secret, memory: usize, wait: Duration) -> Result<u8, Failure> {
    let (stop, works) = (Stop::default(), Arc::new(AtomicBool::new(false)));
    let (asked, has_begun, first) = (stop.clone(), works.clone(), OnceLock::new());
    // Without a handler Ctrl-C just kills the process, as usual.
    let _ = ctrlc::set_handler(move || {
        let again = first.get_or_init(Instant::now).elapsed() > TOGETHER;
        if again || !has_begun.load(Ordering::Acquire) {
            std::process::exit(Overall::Incomplete.exit_code().into());
        }
        asked.ask();
    });
    let followed = Follower::join(at, index, secret, wait).and_then(|follower| {
        works.store(true, Ordering::Release);
        follower.work(memory, &stop)
    });
    Ok(match followed {
        Ok(Followed::All) => 0,
        Ok(Followed::Cut) => Overall::Incomplete.exit_code(),
        Ok(Followed::Lost(why)) => {
            remark(&format!("incomplete: {why}"));
            Overall::Incomplete.exit_code()
        }
        Err(why) => {
            remark(&why);
            WRONG
        }
    })
}

/// The command line from `check` or `count` on, as far as it must be the same on all hosts: each has a memory of its own.
fn same_for_all() -> Vec<String> {
    let mut words = std::env::args().skip(1).skip_while(|word| word != "check" && word != "count");
    let mut same = Vec::new();
    while let Some(word) = words.next() {
        // Short flags without a value may stand before it in the same word.
        let short = word.strip_prefix('-').and_then(|rest| rest.split_once('m'));
        let short = short.filter(|(before, _)| before.chars().all(|flag| "kqvh".contains(flag)));
        if word == "--memory" || short.is_some_and(|(_, value)| value.is_empty()) {
            words.next();
        }
        match short {
            Some(("", _)) => {}
            Some((before, _)) => same.push(format!("-{before}")),
            None if word == "--memory" || word.starts_with("--memory=") => {}
            None => same.push(word),
        }
    }
    same
}

/// The memory of each process: those of this machine share what is free.
pub fn memory_of_each(asked: Option<usize>, engine: EngineChoice) -> Option<usize> {
    match engine {
        EngineChoice::Cluster(processes) if MEETING.get().is_none() => {
            Some(asked.unwrap_or_else(|| default_memory() / processes.max(1) as usize))
        }
        _ => asked,
    }
}

/// How the cluster of a search comes together, where one is to search.
pub fn gathering(options: &Options) -> Option<Arc<Gathering>> {
    let EngineChoice::Cluster(processes) = options.engine else { return None };
    let (threads, memory) = (options.threads, options.memory.unwrap_or_else(default_memory));
    let gathering = Arc::new(Gathering::new(move || match MEETING.get() {
        Some(Meeting { hosts, secret, wait, command }) => {
            let mut stopped = || stop().due().map(|cause| cause.to_string());
            Cluster::lead(hosts, threads, secret, command.clone(), *wait, &mut stopped)
        }
        None => {
            let program = std::env::current_exe().map_err(|e| format!("this program is not found: {e}"))?;
            Cluster::here(&program, processes as usize, threads, memory)
        }
    }));
    *GATHERED.lock().unwrap_or_else(PoisonError::into_inner) = Some(gathering.clone());
    Some(gathering)
}

/// Takes leave of the processes of a cluster.
pub fn leave() {
    drop(GATHERED.lock().unwrap_or_else(PoisonError::into_inner).take());
}
