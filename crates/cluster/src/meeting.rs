//! How processes come together: all connect to process 0 and introduce themselves, it tells them when everybody is here, and then each
//! connects to those before it.

use crate::control::{Introduction, SHORT, SILENCE, ToFirst, ToOthers, Voice, hear, hear_within};
use crate::door::Door;
use crate::handshake::{Caller, Purpose, Session, call};
use crate::hosts::resolve;
use crate::secret::{Secret, random};
use scrimp_search::{hash, hash_words};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long connections to those who are there may take.
const LINKING: Duration = Duration::from_secs(20);
const AGAIN: Duration = Duration::from_millis(100);
const CONNECTING: Duration = Duration::from_secs(3);

/// What must be the same for all.
#[derive(Debug, Clone)]
pub struct Terms {
    pub processes: usize,
    pub threads: usize,
    pub command: Option<Vec<String>>,
}

/// The version, and which build of it this is, where the others may have another one.
fn version(terms: &Terms) -> String {
    let version = format!("{} {}", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_NAME"));
    // Whoever was started by process 0 is the same program.
    match terms.command.as_ref().and_then(|_| build()) {
        Some(build) => format!("{version} (build {build:016x})"),
        None => version,
    }
}

/// A hash of the program's own file.
fn build() -> Option<u64> {
    let own = Path::new("/proc/self/exe");
    let own = if own.exists() { own.to_path_buf() } else { std::env::current_exe().ok()? };
    let (mut file, mut block, mut all) = (File::open(own).ok()?, vec![0; 1 << 16], 0);
    loop {
        let count = file.read(&mut block).ok()?;
        if count == 0 {
            return Some(all);
        }
        all = hash_words(2, |i| [all, hash(&block[..count])][i]);
    }
}

/// Process 0 with all others: a conversation with each, and a connection for states.
pub struct Company {
    pub control: Vec<TcpStream>,
    pub data: Vec<Option<TcpStream>>,
    /// Where each process is.
    pub addresses: Vec<String>,
}

/// Process 0 waits for all others until then. `here` is where it is reached; `gone` says whether there is no use in waiting any more.
pub fn gather(
    door: &Door,
    terms: &Terms,
    here: String,
    deadline: Instant,
    gone: &mut dyn FnMut() -> Option<String>,
) -> Result<Company, String> {
    let others = terms.processes - 1;
    let mut addresses: Vec<String> = vec![here];
    addresses.resize(terms.processes, String::new());
    let mut control: BTreeMap<usize, TcpStream> = BTreeMap::new();
    let refuse = |control: &BTreeMap<usize, TcpStream>, why: &str| {
        for stream in control.values() {
            let _ = Voice::new(stream).and_then(|voice| voice.say(&ToOthers::Refused(why.to_string())));
        }
    };
    while control.len() < others {
        let missing = || -> Vec<String> {
            (1..terms.processes).filter(|i| !control.contains_key(i)).map(|i| i.to_string()).collect()
        };
        let over = (Instant::now() >= deadline).then(|| "they did not come in time".to_string());
        if let Some(why) = over.or_else(&mut *gone) {
            let many = if others - control.len() == 1 { "process" } else { "processes" };
            let away = door.turned_away.told().map_or(String::new(), |told| format!(" ({told})"));
            let why = format!("{many} {} of the cluster missing: {why}{away}", missing().join(", "));
            refuse(&control, &why);
            return Err(why);
        }
        let Some((caller, stream)) = door.next(Instant::now() + AGAIN) else { continue };
        // One that was ended may be started again.
        control.retain(|_, stream| !is_closed(stream));
        let index = caller.index as usize;
        if caller.purpose != Purpose::Control {
            continue;
        }
        match introduced(&stream, index, terms, control.contains_key(&index)) {
            Ok(introduction) => {
                addresses[index] = introduction.address;
                control.insert(index, stream);
            }
            Err(why) => {
                let _ = Voice::new(&stream).and_then(|voice| voice.say(&ToOthers::Refused(why.clone())));
                let why = format!("process {index}: {why}");
                refuse(&control, &why);
                return Err(why);
            }
        }
    }
    let failed = |e: io::Error| format!("a process is gone: {e}");
    let mut session: Session = [0; 16];
    session.copy_from_slice(&random()?[..16]);
    let control: Vec<TcpStream> = control.into_values().collect();
    for stream in &control {
        let welcome = ToOthers::Welcome { addresses: addresses.clone(), session, threads: terms.threads as u32 };
        Voice::new(stream).and_then(|voice| voice.say(&welcome)).map_err(failed)?;
    }
    let data = awaited(door, 0, terms.processes, session)?;
    for (stream, index) in control.iter().zip(1..) {
        match hear_within(stream, SHORT, LINKING) {
            Ok(ToFirst::Ready) => {}
            Ok(ToFirst::Failed(why)) => return Err(format!("process {index}: {why}")),
            Ok(_) => return Err(format!("process {index} says what was not asked")),
            Err(e) => return Err(format!("process {index} is gone: {e}")),
        }
    }
    Ok(Company { control, data, addresses })
}

/// Has the other side left?
fn is_closed(stream: &TcpStream) -> bool {
    let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let blocks = stream.set_nonblocking(false);
    match looked {
        Ok(bytes) => bytes == 0 || blocks.is_err(),
        Err(e) => e.kind() != io::ErrorKind::WouldBlock,
    }
}

fn introduced(stream: &TcpStream, index: usize, terms: &Terms, known: bool) -> Result<Introduction, String> {
    let said = hear_within(stream, SHORT, SILENCE).map_err(|e| format!("it did not introduce itself: {e}"))?;
    let ToFirst::Introduction(introduction) = said else {
        return Err("it did not introduce itself".to_string());
    };
    let Introduction { version: its, processes, command, .. } = &introduction;
    let mine = version(terms);
    if *its != mine {
        return Err(format!("it is version {its}, and process 0 is version {mine}"));
    }
    if *processes as usize != terms.processes {
        let why = format!("its hosts file has {processes} processes, and that of process 0 has {}", terms.processes);
        return Err(why);
    }
    if index == 0 || index >= terms.processes {
        return Err(format!("there is no process {index} to join; expected --index 1 to {}", terms.processes - 1));
    }
    if known {
        return Err("it is there already; each host needs an --index of its own".to_string());
    }
    if command.is_some() && *command != terms.command {
        let text = |words: &Option<Vec<String>>| words.as_ref().map_or(String::new(), |words| words.join(" "));
        return Err(format!(
            "it was started with other options: `{}`, and process 0 with `{}`",
            text(command),
            text(&terms.command)
        ));
    }
    Ok(introduction)
}

/// Connections for states that those behind this process make.
fn awaited(door: &Door, me: usize, processes: usize, session: Session) -> Result<Vec<Option<TcpStream>>, String> {
    let deadline = Instant::now() + LINKING;
    let mut data: Vec<Option<TcpStream>> = (0..processes).map(|_| None).collect();
    let mut missing = processes - me - 1;
    while missing > 0 {
        let Some((caller, stream)) = door.next(deadline) else {
            let who = (me + 1..processes).find(|i| data[*i].is_none()).unwrap_or(me);
            return Err(format!("process {who} did not connect to process {me} in time"));
        };
        let index = caller.index as usize;
        let expected = caller.purpose == Purpose::Data && caller.session == session && index > me;
        if let Some(place) = data.get_mut(index).filter(|place| expected && place.is_none()) {
            *place = Some(stream);
            missing -= 1;
        }
    }
    Ok(data)
}

/// Connects, again and again until then.
pub fn connect(address: &str, secret: &Secret, caller: Caller, deadline: Instant) -> Result<TcpStream, String> {
    loop {
        let why = match resolve(address).map(|all| connect_once(&all, secret, caller)) {
            Ok(Ok(stream)) => return Ok(stream),
            // Who does not know the secret will not learn it.
            Ok(Err(e)) if e.kind() == io::ErrorKind::PermissionDenied => return Err(format!("{address}: {e}")),
            Ok(Err(e)) => format!("{address}: {e}"),
            Err(why) => why,
        };
        if Instant::now() >= deadline {
            return Err(why);
        }
        std::thread::sleep(AGAIN);
    }
}

fn connect_once(addresses: &[SocketAddr], secret: &Secret, caller: Caller) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(address, CONNECTING) {
            Ok(stream) => return call(&stream, secret, caller).map(|()| stream),
            Err(e) => last = e,
        }
    }
    Err(last)
}

/// A process that is not the first, among all others.
pub struct Place {
    pub control: TcpStream,
    pub data: Vec<Option<TcpStream>>,
    pub threads: usize,
}

/// Joins the others. `reached` says where others are, if that is not what process 0 says.
pub fn join(
    first: &str,
    index: usize,
    terms: &Terms,
    door: Door,
    secret: &Secret,
    reached: Option<Vec<String>>,
    deadline: Instant,
) -> Result<Place, String> {
    let failed = |e: io::Error| format!("process 0 is gone: {e}");
    let caller = Caller { purpose: Purpose::Control, index: index as u32, session: [0; 16] };
    let mut control = connect(first, secret, caller, deadline)?;
    let voice = Voice::new(&control).map_err(failed)?;
    let introduction = Introduction {
        version: version(terms),
        processes: terms.processes as u32,
        command: terms.command.clone(),
        address: door.address.to_string(),
    };
    voice.say(&ToFirst::Introduction(introduction)).map_err(failed)?;
    let left = deadline.saturating_duration_since(Instant::now()) + SILENCE;
    control.set_read_timeout(Some(left)).map_err(failed)?;
    let said = hear(&mut control, SHORT).map_err(failed)?;
    let (addresses, session, threads) = match said {
        ToOthers::Welcome { addresses, session, threads } => (addresses, session, threads),
        ToOthers::Refused(why) => return Err(format!("process 0: {why}")),
        _ => return Err("process 0 says what was not asked".to_string()),
    };
    if addresses.len() != terms.processes {
        return Err("process 0 says what makes no sense".to_string());
    }
    let addresses = reached.unwrap_or(addresses);
    let linked = (|| {
        let caller = Caller { purpose: Purpose::Data, index: index as u32, session };
        let before = addresses.iter().take(index);
        let before = before.map(|address| connect(address, secret, caller, Instant::now() + LINKING));
        let before: Vec<TcpStream> = before.collect::<Result<_, _>>()?;
        let mut data = awaited(&door, index, terms.processes, session)?;
        data.iter_mut().zip(before).for_each(|(place, stream)| *place = Some(stream));
        Ok::<_, String>(data)
    })();
    match linked {
        Ok(data) => {
            voice.say(&ToFirst::Ready).map_err(failed)?;
            control.set_read_timeout(Some(SILENCE)).map_err(failed)?;
            Ok(Place { control, data, threads: threads as usize })
        }
        Err(why) => {
            let _ = voice.say(&ToFirst::Failed(why.clone()));
            Err(why)
        }
    }
}
