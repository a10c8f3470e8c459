//! Two processes prove to each other that they know the secret, before either believes anything the other says.
//!
//! Who connects says who he is, with a random number; the other answers with one of his own. Then each proves, with a keyed hash of both and
//! of what was said, that he knows the secret: who connects first, so that a stranger gets nothing to work on. All of it has a fixed
//! length, and all of it must come in time.

use crate::control::Until;
use crate::secret::{Nonce, Proof, Secret, random};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What both say first, with the version of what follows.
const MAGIC: [u8; 8] = *b"scrimp\x01c";
/// How long it may take.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Magic, purpose, index, session, nonce.
const HELLO: usize = 8 + 1 + 4 + 16 + 32;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Between process 0 and another one: what is to be done, and that all are alive.
    Control = 1,
    /// Between any two: states.
    Data = 2,
}

/// A cluster that has come together once has this number, which those who are of it are told.
pub type Session = [u8; 16];

/// Who connects, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    pub purpose: Purpose,
    pub index: u32,
    pub session: Session,
}

/// Reads all of it before a point in time.
fn read_by(stream: &TcpStream, bytes: &mut [u8], deadline: Instant) -> io::Result<()> {
    Until { stream, deadline }.read_exact(bytes)
}

fn refuse<T>(why: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why.to_string()))
}

/// Both sides of a handshake leave a stream without limits of time.
fn begin(stream: &TcpStream) -> io::Result<Instant> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(Instant::now() + PATIENCE)
}

fn end(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)
}

/// The part of who connects.
pub fn call(mut stream: &TcpStream, secret: &Secret, caller: Caller) -> io::Result<()> {
    let deadline = begin(stream)?;
    let mine: Nonce = random().map_err(io::Error::other)?;
    let mut hello = Vec::with_capacity(HELLO);
    hello.extend(MAGIC);
    hello.push(caller.purpose as u8);
    hello.extend(caller.index.to_le_bytes());
    hello.extend(caller.session);
    hello.extend(mine);
    stream.write_all(&hello)?;
    let (mut theirs, mut proof): (Nonce, Proof) = ([0; 32], [0; 32]);
    read_by(stream, &mut theirs, deadline)?;
    stream.write_all(&secret.proof("who calls", &hello, &theirs))?;
    match read_by(stream, &mut proof, deadline) {
        Err(e) if matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            return refuse("it does not take this secret");
        }
        read => read?,
    }
    match secret.accepts(&proof, "who is called", &hello, &theirs) {
        true => end(stream),
        false => refuse("it does not know the secret"),
    }
}

/// The part of who is called: answers who connects, once that is certain.
pub fn answer(mut stream: &TcpStream, secret: &Secret) -> io::Result<Caller> {
    let deadline = begin(stream)?;
    let mut hello = [0; HELLO];
    read_by(stream, &mut hello, deadline)?;
    if hello[..8] != MAGIC {
        return refuse("it is no process of this program, or of another version");
    }
    let mine: Nonce = random().map_err(io::Error::other)?;
    stream.write_all(&mine)?;
    let mut proof: Proof = [0; 32];
    read_by(stream, &mut proof, deadline)?;
    if !secret.accepts(&proof, "who calls", &hello, &mine) {
        return refuse("it does not know the secret");
    }
    stream.write_all(&secret.proof("who is called", &hello, &mine))?;
    let purpose = match hello[8] {
        1 => Purpose::Control,
        2 => Purpose::Data,
        _ => return refuse("it wants something unknown"),
    };
    let (mut index, mut session) = ([0; 4], [0; 16]);
    index.copy_from_slice(&hello[9..13]);
    session.copy_from_slice(&hello[13..29]);
    end(stream)?;
    Ok(Caller { purpose, index: u32::from_le_bytes(index), session })
}
