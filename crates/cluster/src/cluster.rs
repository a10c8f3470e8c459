//! The side of process 0: brings a cluster together, gives all processes the same search, and tells what came of it.

use crate::control::{BEAT, Beat, ToFirst, ToOthers, Voice, hear_any, silence};
use crate::crew::{Crew, Done};
use crate::door::Door;
use crate::hosts::{Hosts, resolve};
use crate::job::Job;
use crate::meeting::{Company, Terms, gather};
use crate::secret::{Secret, VARIABLE};
use crate::signals::{Loss, Signals, number_of};
use scrimp_core::Control;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long processes of this machine may take to begin.
const BEGINNING: Duration = Duration::from_secs(30);
/// How often process 0 looks whether it is time to stop.
const GLANCE: Duration = Duration::from_millis(5);
/// How long those that were told that it is over may take to end.
const ENDING: Duration = Duration::from_secs(3);

/// A process of the cluster, as process 0 knows it.
struct Other {
    voice: Voice,
    beat: Arc<Mutex<Beat>>,
}

/// Several processes that search together, led by this one.
pub struct Cluster {
    /// There until the end.
    crew: Mutex<Option<Crew>>,
    others: Vec<Other>,
    /// Where each process is.
    names: Vec<String>,
    threads: usize,
    signals: Arc<Signals>,
    over: Arc<AtomicBool>,
    children: Mutex<Vec<Child>>,
    turned_away: Option<String>,
    /// What another process could not do.
    failed: Arc<Mutex<Option<String>>>,
}

/// What came of a search: what all workers agree on, or who is gone.
pub enum Came {
    Out(Box<Done>),
    Lost { loss: Loss, name: String, beats: Vec<Beat> },
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a cluster of {} processes", self.names.len())
    }
}

impl Cluster {
    /// Starts so many processes of this machine: `program`, which must be the command line's, joins with the arguments that
    /// [`joining`](Cluster::joining) says.
    pub fn here(program: &Path, processes: usize, threads: usize, memory: usize) -> Result<Cluster, String> {
        let text = Secret::text()?;
        let secret = Secret::new(text.as_bytes())?;
        let door = Door::open(&resolve("127.0.0.1:0")?, &secret).map_err(|e| format!("no port can be opened: {e}"))?;
        let mut children = Vec::new();
        for index in 1..processes {
            let mut command = Command::new(program);
            // Ctrl-C is for this process, which tells the others.
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let child = command
                .args(Cluster::joining(&door.address.to_string(), index, processes, memory))
                .env(VARIABLE, &text)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn();
            match child {
                Ok(child) => children.push(child),
                Err(e) => {
                    end(&mut children);
                    return Err(format!("process {index} cannot be started: {e}"));
                }
            }
        }
        let terms = Terms { processes, threads, command: None };
        let here = door.address.to_string();
        let mut ended = || {
            let gone = children.iter_mut().position(|child| !matches!(child.try_wait(), Ok(None)));
            gone.map(|at| format!("process {} ended", at + 1))
        };
        let company = gather(&door, &terms, here, Instant::now() + BEGINNING, &mut ended);
        match company {
            Ok(company) => {
                let mut cluster = Cluster::of(company, &door, &terms)?;
                for (index, name) in cluster.names.iter_mut().enumerate() {
                    *name = match index.checked_sub(1).and_then(|at| children.get(at)) {
                        Some(child) => format!("this machine, process id {}", child.id()),
                        None => "this machine".to_string(),
                    };
                }
                cluster.children = Mutex::new(children);
                Ok(cluster)
            }
            Err(why) => {
                end(&mut children);
                Err(why)
            }
        }
    }

    /// The arguments of a process that was started by another one on this machine.
    pub fn joining(first: &str, index: usize, processes: usize, memory: usize) -> Vec<String> {
        let words = ["cluster", "--join", first, "--index", &index.to_string(), "-n", &processes.to_string()];
        words.into_iter().map(String::from).chain(["--memory".to_string(), memory.to_string()]).collect()
    }

    /// Waits for the other hosts to join, at most so long, or until `stopped` says that there is no use in it. `command` is what must be the
    /// same on all hosts.
    pub fn lead(
        hosts: &Hosts,
        threads: usize,
        secret: &Secret,
        command: Vec<String>,
        wait: Duration,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<Cluster, String> {
        let first = &hosts.0[0];
        let cannot = |e: io::Error| format!("{}: no port can be opened there: {e}", first.listens);
        let door = Door::open(&resolve(&first.listens)?, secret).map_err(cannot)?;
        let terms = Terms { processes: hosts.0.len(), threads, command: Some(command) };
        let company = gather(&door, &terms, first.reached.clone(), Instant::now() + wait, stopped)?;
        let mut cluster = Cluster::of(company, &door, &terms)?;
        cluster.names = hosts.0.iter().map(|host| host.name.clone()).collect();
        Ok(cluster)
    }

    fn of(company: Company, door: &Door, terms: &Terms) -> Result<Cluster, String> {
        let Company { control, data, addresses } = company;
        let signals = Arc::new(Signals::default());
        let (over, failed) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
        let crew = Crew::new(data, 0, terms.threads, &signals)?;
        let mut others = Vec::new();
        for (stream, process) in control.into_iter().zip(1..) {
            let voice = Voice::new(&stream).map_err(|e| e.to_string())?;
            let beat = Arc::new(Mutex::new(Beat::default()));
            listen(stream, process, &signals, &beat, &over, &failed);
            others.push(Other { voice, beat });
        }
        let voices: Vec<Voice> = others.iter().map(|other| other.voice.clone()).collect();
        let (shared, is_over) = (signals.clone(), over.clone());
        let beats = move || {
            while !is_over.load(Ordering::Acquire) {
                for (voice, process) in voices.iter().zip(1..) {
                    if let Err(e) = voice.say(&ToOthers::Beat)
                        && !is_over.load(Ordering::Acquire)
                    {
                        shared.lose(process, silence(&e));
                    }
                }
                thread::sleep(BEAT);
            }
        };
        thread::Builder::new().name("beat".into()).spawn(beats).map_err(|e| e.to_string())?;
        Ok(Cluster {
            crew: Mutex::new(Some(crew)),
            others,
            names: addresses,
            threads: terms.threads,
            signals,
            over,
            children: Mutex::default(),
            turned_away: door.turned_away.told(),
            failed,
        })
    }

    pub fn processes(&self) -> usize {
        self.names.len()
    }

    /// Threads of each process.
    pub fn threads(&self) -> usize {
        self.threads
    }

    pub fn name(&self, process: usize) -> String {
        match self.names.get(process) {
            Some(name) => format!("process {process} ({name})"),
            None => "process 0 itself".to_string(),
        }
    }

    /// Connections that were turned away before all were here.
    pub fn turned_away(&self) -> Option<&str> {
        self.turned_away.as_deref()
    }

    fn tell(&self, message: &ToOthers) {
        for (other, process) in self.others.iter().zip(1..) {
            if let Err(e) = other.voice.say(message) {
                self.signals.lose(process, silence(&e));
            }
        }
    }

    /// Gives all processes a search, and waits for what comes of it.
    pub(crate) fn search(&self, job: Job, memory: usize, control: &Control) -> io::Result<Came> {
        let crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner);
        let crew = crew.as_ref().ok_or_else(|| io::Error::other("the cluster is no more"))?;
        if let Some(loss) = self.signals.loss() {
            return Ok(self.lost(loss));
        }
        self.signals.reset();
        let saves = job.saves();
        let text = bincode::serialize(&job).map_err(io::Error::other)?;
        let task = Arc::new(job.task(memory).map_err(|why| {
            // Where there is no memory for it here, the answer is that of a limit.
            io::Error::new(io::ErrorKind::OutOfMemory, why)
        })?);
        self.tell(&ToOthers::Job(text));
        crew.begin(&task);
        drop(task);
        let (mut outcome, mut running, mut told_to_stop) = (None, crew.threads(), false);
        while running > 0 {
            if let Some((number, came)) = crew.outcome(GLANCE) {
                running -= 1;
                if let (0, Ok(came)) = (number, came) {
                    outcome = Some(came);
                }
            }
            if let Some(limit) = control.stopped(0).filter(|_| !told_to_stop) {
                told_to_stop = true;
                // Whoever ends the program waits until the search is saved.
                control.save(saves);
                self.signals.stop(limit);
                self.tell(&ToOthers::Stop(number_of(limit)));
            }
            self.show(control);
            if let Some(loss) = self.signals.loss() {
                control.save(false);
                let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
                let lost = self.lost(loss);
                return failed.map_or(Ok(lost), |why| Err(io::Error::other(why)));
            }
        }
        outcome
            .map(|outcome| Came::Out(Box::new(outcome)))
            .ok_or_else(|| io::Error::other("internal error: no outcome"))
    }

    /// Tells the others who is gone, so that they end, and what all had found by then.
    fn lost(&self, loss: Loss) -> Came {
        let name = self.name(loss.process);
        let why = ToOthers::Lost(format!("{name} is gone: {}", loss.why));
        for other in &self.others {
            let _ = other.voice.say(&why);
        }
        Came::Lost { name, beats: self.beats(), loss }
    }

    /// How far each process has come.
    fn beats(&self) -> Vec<Beat> {
        let others = self.others.iter().map(|other| *other.beat.lock().unwrap_or_else(PoisonError::into_inner));
        std::iter::once(beat(&self.signals)).chain(others).collect()
    }

    fn show(&self, control: &Control) {
        let beats = self.beats();
        let sum = |figure: fn(&Beat) -> u64| beats.iter().map(figure).sum::<u64>();
        let (states, visits) = (sum(|beat| beat.states), sum(|beat| beat.visits));
        control.states.store(states, Ordering::Relaxed);
        control.visits.store(visits, Ordering::Relaxed);
        control.transitions.store(sum(|beat| beat.transitions), Ordering::Relaxed);
        control.open.store(states.saturating_sub(visits), Ordering::Relaxed);
        let depth = beats.iter().map(|beat| beat.depth).max().unwrap_or(0);
        control.depth.store(depth, Ordering::Relaxed);
    }
}

/// How far this process has come.
pub(crate) fn beat(signals: &Signals) -> Beat {
    Beat {
        states: signals.states.load(Ordering::Relaxed),
        visits: signals.visits.load(Ordering::Relaxed),
        transitions: signals.transitions.load(Ordering::Relaxed),
        depth: signals.depth.load(Ordering::Relaxed),
    }
}

/// Hears what a process says until it is gone, or the work is done.
fn listen(
    mut stream: std::net::TcpStream,
    process: usize,
    signals: &Arc<Signals>,
    beat: &Arc<Mutex<Beat>>,
    over: &Arc<AtomicBool>,
    failed: &Arc<Mutex<Option<String>>>,
) {
    let (signals, beat, over, failed) = (signals.clone(), beat.clone(), over.clone(), failed.clone());
    thread::spawn(move || {
        loop {
            match hear_any(&mut stream) {
                Ok(ToFirst::Beat(its)) => *beat.lock().unwrap_or_else(PoisonError::into_inner) = its,
                Ok(ToFirst::Lost { process: other, why }) => {
                    let other = if other == u32::MAX { process } else { other as usize };
                    signals.lose(other, format!("process {process} says: {why}"));
                }
                Ok(ToFirst::Failed(why)) => {
                    let why = format!("process {process}: {why}");
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why.clone());
                    signals.lose(process, why);
                }
                Ok(_) => return signals.lose(process, "it says what was not asked"),
                Err(_) if over.load(Ordering::Acquire) => return,
                Err(e) => return signals.lose(process, silence(&e)),
            }
        }
    });
}

/// Ends processes that were started here.
fn end(children: &mut [Child]) {
    for child in children {
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        self.signals.over.store(true, Ordering::Release);
        let lost = self.signals.is_lost();
        for other in self.others.iter().filter(|_| !lost) {
            let _ = other.voice.say(&ToOthers::Done);
        }
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = Instant::now() + ENDING;
        let runs = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        // They end when this process leaves them, which its threads do when these are dropped.
        drop(self.crew.lock().unwrap_or_else(PoisonError::into_inner).take());
        while children.iter_mut().any(runs) && Instant::now() < deadline {
            thread::sleep(GLANCE);
        }
        end(&mut children);
    }
}
