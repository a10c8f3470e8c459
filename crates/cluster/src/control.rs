//! What process 0 and the others say to each other beside the states: what is to be done, that somebody is alive, that somebody is gone.
//!
//! A message is its length and its text. Whoever says nothing for some seconds is gone, and so is one who says what makes no sense.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often everybody says that he is alive, and how long somebody may say nothing.
pub const BEAT: Duration = Duration::from_millis(500);
pub const SILENCE: Duration = Duration::from_secs(6);
/// Bytes of a message, and of one that is short, as all are that process 0 hears.
const MOST: u32 = 1 << 30;
pub const SHORT: u32 = 1 << 20;

/// How one process introduces itself to process 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduction {
    pub version: String,
    pub processes: u32,
    /// What its command line says, as far as it must be the same for all; nothing where it was started by process 0.
    pub command: Option<Vec<String>>,
    /// Where it listens.
    pub address: String,
}

/// How far a process has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    pub states: u64,
    pub visits: u64,
    pub transitions: u64,
    pub depth: u64,
    /// How long its threads waited for others, all together.
    pub waited_us: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToOthers {
    /// All are here: where each is reached, the number of the session, and threads of a process.
    Welcome {
        addresses: Vec<String>,
        session: [u8; 16],
        threads: u32,
    },
    /// This process cannot take part.
    Refused(String),
    /// What is to be done, as a text of its own.
    Job(Vec<u8>),
    /// The present search ends, because of this limit.
    Stop(u8),
    Beat,
    /// The work is done; or it cannot go on.
    Done,
    Lost(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToFirst {
    Introduction(Introduction),
    /// It is connected to all others.
    Ready,
    Beat(Beat),
    /// It has lost a process; the connection `broke`, or that one cannot go on.
    Lost {
        process: u32,
        why: String,
        broke: bool,
    },
    /// It was asked to end the search, because of this limit.
    Stop(u8),
    /// It cannot do what is to be done.
    Failed(String),
}

/// One side of a conversation; several threads may speak.
#[derive(Clone)]
pub struct Voice(Arc<Mutex<TcpStream>>);

impl Voice {
    pub fn new(stream: &TcpStream) -> io::Result<Voice> {
        stream.set_write_timeout(Some(SILENCE))?;
        Ok(Voice(Arc::new(Mutex::new(stream.try_clone()?))))
    }

    pub fn say(&self, message: &impl Serialize) -> io::Result<()> {
        let text = bincode::serialize(message).map_err(io::Error::other)?;
        let length = u32::try_from(text.len()).ok().filter(|length| *length <= MOST);
        let length = length.ok_or_else(|| io::Error::other("the model is too large to be sent"))?;
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_all(&length.to_le_bytes())?;
        stream.write_all(&text)
    }
}

/// Reads from a stream until a point in time, however little comes at once.
pub struct Until<'s> {
    pub stream: &'s TcpStream,
    pub deadline: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

/// The next message of at most so many bytes, where all of it comes within this time.
pub fn hear_within<M: DeserializeOwned>(stream: &TcpStream, most: u32, time: Duration) -> io::Result<M> {
    hear(&mut Until { stream, deadline: Instant::now() + time }, most)
}

/// The next message of at most so many bytes. Fails where a read fails, such as one that takes too long.
pub fn hear<M: DeserializeOwned>(stream: &mut impl Read, most: u32) -> io::Result<M> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if length > most {
        return Err(wrong(format!("a message of {length} bytes is too long")));
    }
    // Memory is taken as it is filled: a length is only said.
    let mut text = Vec::new();
    stream.take(length.into()).read_to_end(&mut text)?;
    if text.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bincode::deserialize(&text).map_err(|_| wrong("a message that makes no sense".to_string()))
}

/// The same from process 0, whose messages may be long and take their time.
pub fn hear_any<M: DeserializeOwned>(stream: &mut impl Read) -> io::Result<M> {
    hear(stream, MOST)
}

/// Why nothing came, in words.
pub fn silence(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("nothing was heard of it for {} seconds", SILENCE.as_secs())
        }
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "its connection was closed".to_string()
        }
        _ => error.to_string(),
    }
}
