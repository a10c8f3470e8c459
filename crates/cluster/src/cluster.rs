//! The side of process 0: brings a cluster together, gives all processes the same search, and tells what came of it.

use crate::control::{BEAT, Beat, SHORT, SILENCE, ToFirst, ToOthers, Voice, hear_within, silence};
use crate::crew::{Crew, Done};
use crate::door::Door;
use crate::hosts::{Hosts, resolve};
use crate::job::Job;
use crate::meeting::{Company, Terms, gather};
use crate::secret::{Secret, VARIABLE};
use crate::signals::{Kind, Loss, Signals, limit_of, number_of};
use crate::word::Finding;
use scrimp_core::{Control, Limit};
use std::io;
use std::net::TcpStream;
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
/// Whoever is told to stop does so within this time, and this part of what has passed: the program itself has little more to give its
/// answer.
const LATE: Duration = Duration::from_millis(350);
const LATE_SHARE: u32 = 50;
/// A process whose others waited so long for it, and that part of all time, is slow.
const LONG: Duration = Duration::from_secs(2);
const PART: f64 = 0.2;
/// How long those that were told that it is over may take to end.
const ENDING: Duration = Duration::from_secs(3);
/// A process that another one has lost is there where so many more messages of it come within this time.
const SIGNS: u64 = 2;
const WITNESS: Duration = Duration::from_secs(2);

/// A process of the cluster, as process 0 knows it.
struct Other {
    voice: Voice,
    /// For questions about the connection.
    stream: TcpStream,
    heard: Arc<Mutex<Heard>>,
}

/// What was heard of a process.
#[derive(Debug, Default)]
struct Heard {
    beat: Beat,
    /// How many messages, or more where one shows that it is there.
    messages: u64,
    /// When it last said something.
    last: Option<Instant>,
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
    /// What another process could not do, and why one asked to end the search.
    failed: Arc<Mutex<Option<String>>>,
    asked: Arc<Mutex<Option<Limit>>>,
}

/// What came of a search: what all workers agree on, or who is gone.
pub enum Came {
    Out(Box<Done>),
    /// Somebody is gone, or did not come to an end in time; and how far all had come.
    Lost {
        what: String,
        limit: Limit,
        beats: Vec<Beat>,
    },
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
        let (over, failed, asked) = (Arc::new(AtomicBool::new(false)), Arc::default(), Arc::default());
        let crew = Crew::new(data, 0, terms.threads, &signals)?;
        let (mut others, mut streams) = (Vec::new(), Vec::new());
        for (stream, process) in control.into_iter().zip(1..) {
            let voice = Voice::new(&stream).map_err(|e| e.to_string())?;
            let own = stream.try_clone().map_err(|e| e.to_string())?;
            others.push(Other { voice, stream: own, heard: Arc::default() });
            streams.push((stream, process));
        }
        let heard: Vec<Arc<Mutex<Heard>>> = others.iter().map(|other| other.heard.clone()).collect();
        for (stream, process) in streams {
            let (signals, over) = (signals.clone(), over.clone());
            let (failed, asked) = (Arc::clone(&failed), Arc::clone(&asked));
            let ear = Ear { process, heard: heard.clone(), signals, over, failed, asked };
            thread::Builder::new().name("ear".into()).spawn(move || ear.listen(&stream)).map_err(|e| e.to_string())?;
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
            asked,
        })
    }

    pub fn processes(&self) -> usize {
        self.names.len()
    }

    /// Threads of each process.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// How many processes there are, of how many threads.
    pub fn size(&self) -> (usize, usize) {
        (self.processes(), self.threads())
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
        let task = Arc::new(job.task(memory, (self.processes(), crew.threads()))?);
        self.tell(&ToOthers::Job(text));
        crew.begin(&task);
        drop(task);
        let (mut outcome, mut running, mut told_to_stop) = (None, crew.threads(), None);
        while running > 0 {
            if let Some((number, came)) = crew.outcome(GLANCE) {
                running -= 1;
                if let (0, Ok(came)) = (number, came) {
                    outcome = Some(came);
                }
            }
            let stopped = || control.stopped(0).or_else(|| *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
            if let Some((limit, since)) = told_to_stop
                && !saves
                && Instant::elapsed(&since) > LATE + control.elapsed() / LATE_SHARE
            {
                return Ok(self.late(limit, control.elapsed()));
            }
            if let Some(limit) = told_to_stop.is_none().then(stopped).flatten() {
                told_to_stop = Some((limit, Instant::now()));
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
        let (name, why) = (self.name(loss.process), &loss.why);
        let what = match loss.kind {
            Kind::Apart(other) => format!("{name} and {} do not reach each other: {why}", self.name(other)),
            _ => format!("{name} is gone: {why}"),
        };
        self.tell_lost(&what);
        Came::Lost { what, limit: Limit::Gone, beats: self.beats() }
    }

    /// Ends a search that somebody is too slow to end.
    fn late(&self, limit: Limit, elapsed: Duration) -> Came {
        let beats = self.beats();
        let waited = |beat: &Beat| Duration::from_micros(beat.waited_us) / self.threads as u32;
        let waited: Vec<Duration> = beats.iter().map(waited).collect();
        let mut what = "not every process came to its end in time".to_string();
        for who in self.slow(&waited, elapsed).into_iter().chain(self.silent()) {
            what = format!("{what}; {who}");
        }
        self.tell_lost(&what);
        self.signals.lose(usize::MAX, what.as_str());
        Came::Lost { what, limit, beats }
    }

    /// The processes that have missed several beats.
    fn silent(&self) -> Vec<String> {
        let silent = |(process, other): (usize, &Other)| {
            let last = other.heard.lock().unwrap_or_else(PoisonError::into_inner).last?.elapsed();
            let (name, secs) = (self.name(process), last.as_secs_f64());
            (last > 2 * BEAT).then(|| format!("nothing was heard of {name} for {secs:.1} s"))
        };
        (1..).zip(&self.others).filter_map(silent).collect()
    }

    /// What all knew, for each goal, when they last met.
    pub(crate) fn found(&self) -> Vec<Option<Finding>> {
        self.signals.found()
    }

    /// The process for which the others waited, where they did for long: how long each of them `waited`.
    pub(crate) fn slow(&self, waited: &[Duration], elapsed: Duration) -> Option<String> {
        let (slow, least) = waited.iter().enumerate().min_by_key(|(_, waited)| **waited)?;
        let count = waited.len().checked_sub(1).filter(|count| *count > 0)?;
        let others = waited.iter().sum::<Duration>().saturating_sub(*least) / count as u32;
        let long = others.saturating_sub(*least);
        (long > LONG && long > elapsed.mul_f64(PART)).then(|| {
            let name = self.name(slow);
            format!("{name} is slow: each of the others waited {:.1} s longer than it did", long.as_secs_f64())
        })
    }

    fn tell_lost(&self, what: &str) {
        for other in &self.others {
            let _ = other.voice.say(&ToOthers::Lost(what.to_string()));
        }
    }

    /// The process to which packets take longest, and how long they take there and back; nothing where that is not known.
    pub fn farthest(&self) -> Option<(usize, Duration)> {
        let ways =
            (1..).zip(&self.others).filter_map(|(process, other)| Some((process, there_and_back(&other.stream)?)));
        ways.max_by_key(|(_, time)| *time)
    }

    /// How far each process has come.
    fn beats(&self) -> Vec<Beat> {
        let others = self.others.iter().map(|other| other.heard.lock().unwrap_or_else(PoisonError::into_inner).beat);
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
        waited_us: signals.waited_us.load(Ordering::Relaxed),
    }
}

/// How long a packet takes there and back at least, as the system has measured it.
#[cfg(target_os = "linux")]
fn there_and_back(stream: &TcpStream) -> Option<Duration> {
    use std::os::fd::AsRawFd;
    /// Where `tcpi_min_rtt`, in microseconds, is in `tcp_info`.
    const SHORTEST: usize = 148;
    let mut known = [0u8; 256];
    let mut length = known.len() as libc::socklen_t;
    // SAFETY: the system writes at most so many bytes as it is told there are, and both live as long as the call.
    let told = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            known.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let bytes = known.get(SHORTEST..SHORTEST + 4).filter(|_| told == 0 && length as usize >= SHORTEST + 4)?;
    let micros = u32::from_ne_bytes(bytes.try_into().ok()?);
    (micros != u32::MAX).then(|| Duration::from_micros(micros.into()))
}

#[cfg(not(target_os = "linux"))]
fn there_and_back(_: &TcpStream) -> Option<Duration> {
    None
}

/// Hears what a process says.
struct Ear {
    process: usize,
    /// Of all but process 0.
    heard: Vec<Arc<Mutex<Heard>>>,
    signals: Arc<Signals>,
    over: Arc<AtomicBool>,
    failed: Arc<Mutex<Option<String>>>,
    asked: Arc<Mutex<Option<Limit>>>,
}

impl Ear {
    /// Until the process is gone, or the work is done.
    fn listen(&self, stream: &TcpStream) {
        let (signals, process) = (&self.signals, self.process);
        loop {
            let said = hear_within(stream, SHORT, SILENCE);
            if let (Ok(said), Some(heard)) = (&said, self.heard.get(process - 1)) {
                // Who tells of a loss is there; nobody hears it while it is found out what became of the other.
                let signs = if matches!(said, ToFirst::Lost { .. }) { SIGNS } else { 1 };
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                heard.messages += signs;
                heard.last = Some(Instant::now());
            }
            match said {
                Ok(ToFirst::Beat(beat)) => {
                    if let Some(heard) = self.heard.get(process - 1) {
                        heard.lock().unwrap_or_else(PoisonError::into_inner).beat = beat;
                    }
                }
                Ok(ToFirst::Lost { process: other, why, broke }) => {
                    // One that does not know whom means itself.
                    let other = Some(other as usize).filter(|other| *other <= self.heard.len()).unwrap_or(process);
                    let why = format!("process {process} says: {why}");
                    let kind = if broke && other != process { self.what_became_of(other) } else { Kind::Gone };
                    signals.lose_as(kind, other, why);
                }
                Ok(ToFirst::Stop(limit)) => {
                    let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                    *asked = asked.or(limit_of(limit));
                }
                Ok(ToFirst::Failed(why)) => {
                    let why = format!("process {process}: {why}");
                    self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why.clone());
                    signals.lose(process, why);
                }
                Ok(_) => return signals.lose(process, "it says what was not asked"),
                Err(_) if self.over.load(Ordering::Acquire) => return,
                Err(e) => return signals.lose(process, silence(&e)),
            }
        }
    }

    /// A process that this one has lost may be there all the same, and cannot be reached from here. Waits for signs of that; where
    /// it is gone, whoever listens to it notices first, and knows why.
    fn what_became_of(&self, other: usize) -> Kind {
        let Some(heard) = other.checked_sub(1).map(|at| self.heard.get(at)) else { return Kind::Apart(self.process) };
        let messages = || heard.map_or(0, |heard| heard.lock().unwrap_or_else(PoisonError::into_inner).messages);
        let (before, deadline) = (messages(), Instant::now() + WITNESS);
        while Instant::now() < deadline && !self.signals.is_lost() {
            if messages() >= before + SIGNS {
                return Kind::Apart(self.process);
            }
            thread::sleep(GLANCE);
        }
        Kind::Gone
    }
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
        // Where the search was given up, what they still do is of no use, and what they would say has been said.
        let deadline = Instant::now() + if lost { Duration::ZERO } else { ENDING };
        let runs = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        // They end when this process leaves them, which its threads do when these are dropped.
        drop(self.crew.lock().unwrap_or_else(PoisonError::into_inner).take());
        while children.iter_mut().any(runs) && Instant::now() < deadline {
            thread::sleep(GLANCE);
        }
        end(&mut children);
    }
}
