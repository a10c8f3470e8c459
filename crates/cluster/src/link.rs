//! A connection between two processes as timely has it: one that breaks says so to us, and not to timely, which would panic.
//!
//! What comes are frames: a heading of six numbers, and as many bytes as it says. A session ends with a heading of zeros. Where a connection
//! ends without, or a frame makes no sense, the other process is gone: all workers are told, and what timely still wants to write goes
//! nowhere. The thread that reads sleeps from then on, until the program ends.

use crate::control::SILENCE;
use crate::signals::{Kind, Signals};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use timely::communication::allocator::zero_copy::stream::Stream;

/// Bytes of a heading: channel, source, first target, the one behind the last, length, number.
const HEADING: usize = 48;
/// Bytes of a frame.
const MOST: u64 = 1 << 30;

/// What a connection carries: frames from these workers to those.
#[derive(Debug, Clone)]
struct Frames {
    from: Range<u64>,
    to: Range<u64>,
    heading: [u8; HEADING],
    /// Bytes of a heading that have come, and those of the content that are still to come.
    begun: usize,
    left: u64,
    /// The session is over.
    ended: bool,
}

impl Frames {
    fn new(from: Range<usize>, to: Range<usize>) -> Frames {
        let range = |range: Range<usize>| range.start as u64..range.end as u64;
        Frames { from: range(from), to: range(to), heading: [0; HEADING], begun: 0, left: 0, ended: false }
    }

    /// Is this what comes next of such frames?
    fn take(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.ended {
                return false;
            }
            let content = self.left.min(bytes.len() as u64) as usize;
            self.left -= content as u64;
            bytes = &bytes[content..];
            let more = bytes.len().min(HEADING - self.begun);
            self.heading[self.begun..self.begun + more].copy_from_slice(&bytes[..more]);
            self.begun += more;
            bytes = &bytes[more..];
            if self.begun == HEADING {
                self.begun = 0;
                if !self.begin() {
                    return false;
                }
            }
        }
        true
    }

    fn begin(&mut self) -> bool {
        let mut numbers = self.heading.as_chunks::<8>().0.iter().map(|number| u64::from_be_bytes(*number));
        let mut number = || numbers.next().unwrap_or(0);
        let (_channel, source, first, end, length) = (number(), number(), number(), number(), number());
        (self.left, self.ended) = (length, self.heading == [0; HEADING]);
        let targets = self.to.start <= first && first < end && end <= self.to.end;
        self.ended || self.from.contains(&source) && targets && (1..=MOST).contains(&length)
    }
}

pub struct Link {
    stream: TcpStream,
    /// The process at the other end.
    process: usize,
    signals: Arc<Signals>,
    frames: Frames,
}

impl Link {
    /// Between process `me` and another one, of so many threads each.
    pub fn new(stream: TcpStream, me: usize, process: usize, threads: usize, signals: &Arc<Signals>) -> Link {
        notice_silence(&stream);
        let workers = |process: usize| process * threads..(process + 1) * threads;
        Link { stream, process, signals: signals.clone(), frames: Frames::new(workers(process), workers(me)) }
    }

    fn lose(&self, kind: Kind, why: &str) {
        if !self.signals.over.load(Ordering::Acquire) {
            self.signals.lose_as(kind, self.process, why);
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
    set(libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, SILENCE.as_millis() as i32);
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
                Ok(0) if self.frames.ended => return Ok(0),
                Ok(0) => {
                    self.lose(Kind::Broke, "it closed the connection");
                    self.sleep()
                }
                Ok(read) if self.frames.take(&bytes[..read]) => return Ok(read),
                Ok(_) => {
                    self.lose(Kind::Gone, "it sent what makes no sense");
                    self.sleep()
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.lose(Kind::Broke, &format!("the connection broke: {e}"));
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
                self.lose(Kind::Broke, &format!("the connection broke: {e}"));
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
        Ok(Link { stream, process: self.process, signals: self.signals.clone(), frames: self.frames.clone() })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // Where somebody is gone, others hear of it from process 0, and not by connections that close. Who is gone need not be told.
        if !self.signals.is_lost() {
            let _ = self.stream.shutdown(how);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(numbers: [u64; 6]) -> Vec<u8> {
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        bytes.resize(HEADING + numbers[4].min(100) as usize, 7);
        bytes
    }

    #[test]
    fn frames_make_sense_or_not() {
        let frames = || Frames::new(4..6, 2..4);
        let some = [frame([1, 4, 2, 3, 100, 1]), frame([1, 5, 2, 4, 1, 9]), frame([0; 6])].concat();
        for at_once in [1, 7, 48, 49, 1000] {
            let mut frames = frames();
            assert!(some.chunks(at_once).all(|bytes| frames.take(bytes)) && frames.ended, "{at_once}");
            assert!(!frames.take(&[0]), "nothing comes behind the end");
        }
        // From or to others, to nobody, without end, empty.
        for wrong in [
            [1, 3, 2, 3, 9, 1],
            [1, 6, 2, 3, 9, 1],
            [1, 4, 1, 3, 9, 1],
            [1, 4, 2, 5, 9, 1],
            [1, 4, 3, 3, 9, 1],
            [1, 4, 2, 3, MOST + 1, 1],
            [1, 4, 2, 3, u64::MAX, 1],
            [1, 4, 2, 3, 0, 1],
        ] {
            assert!(!frames().take(&frame(wrong)), "{wrong:?}");
        }
        assert!(!frames().take(&[0xff; 300]));
    }
}
