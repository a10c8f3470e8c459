//! A connection between two processes as timely has it: one that breaks says so to us, and not to timely, which would panic.
//!
//! A session ends with a heading of zeros on each connection. Where one ends without, the other process is gone: all workers are told, and
//! what timely still wants to write goes nowhere. The thread that reads sleeps from then on, until the program ends.

use crate::signals::Signals;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use timely::communication::allocator::zero_copy::stream::Stream;

/// Zeros at the end of a session.
const FAREWELL: usize = 48;

pub struct Link {
    stream: TcpStream,
    /// The process at the other end.
    process: usize,
    signals: Arc<Signals>,
    /// Zeros that came last.
    zeros: usize,
}

impl Link {
    pub fn new(stream: TcpStream, process: usize, signals: &Arc<Signals>) -> Link {
        notice_silence(&stream);
        Link { stream, process, signals: signals.clone(), zeros: 0 }
    }

    fn lose(&self, why: &str) {
        if !self.signals.over.load(Ordering::Acquire) {
            self.signals.lose(self.process, why);
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn sleep(&self) -> ! {
        loop {
            std::thread::park();
        }
    }
}

/// What was sent and is not acknowledged for some seconds is lost, and so is a connection that does not answer.
#[cfg(target_os = "linux")]
fn notice_silence(stream: &TcpStream) {
    use std::os::fd::AsRawFd;
    let set = |level: i32, option: i32, value: i32| {
        // SAFETY: the value lives as long as the call, and its size is said.
        unsafe {
            let size = size_of::<i32>() as libc::socklen_t;
            libc::setsockopt(stream.as_raw_fd(), level, option, (&raw const value).cast(), size);
        }
    };
    set(libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, 8_000);
    set(libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1);
    set(libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, 3);
    set(libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, 2);
    set(libc::IPPROTO_TCP, libc::TCP_KEEPCNT, 2);
}

#[cfg(not(target_os = "linux"))]
fn notice_silence(_: &TcpStream) {}

impl Read for Link {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(bytes) {
                Ok(0) if self.zeros >= FAREWELL => return Ok(0),
                Ok(0) => {
                    self.lose("it closed the connection");
                    self.sleep()
                }
                Ok(read) => {
                    let last = bytes[..read].iter().rev().take_while(|byte| **byte == 0).count();
                    self.zeros = if last == read { self.zeros + read } else { last };
                    return Ok(read);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.lose(&format!("the connection broke: {e}"));
                    self.sleep()
                }
            }
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.signals.is_lost() {
            return Ok(bytes.len());
        }
        match self.stream.write(bytes) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                self.lose(&format!("the connection broke: {e}"));
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Link {
    fn try_clone(&self) -> io::Result<Link> {
        let stream = self.stream.try_clone()?;
        Ok(Link { stream, process: self.process, signals: self.signals.clone(), zeros: 0 })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // Who is gone need not be told.
        let _ = self.stream.shutdown(how);
        Ok(())
    }
}
