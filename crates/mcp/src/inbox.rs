//! What comes in: the lines of a client, and the wish to end, from wherever it comes.

use crate::message::{self, Wrong};
use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;

/// Lines that are read ahead.
const AHEAD: usize = 8;

pub(crate) enum Heard {
    Line(Result<Vec<u8>, Wrong>),
    /// Nothing more will come.
    End(io::Result<()>),
}

/// Where a server hears its client.
#[derive(Debug)]
pub struct Inbox(Receiver<Heard>);

/// Ends a server in order.
#[derive(Debug, Clone)]
pub struct Ending(SyncSender<Heard>);

impl Ending {
    pub fn end(&self) {
        // Nobody is there any more where this fails.
        let _ = self.0.send(Heard::End(Ok(())));
    }

    /// The same from the one who hears it, who must not wait for himself.
    pub(crate) fn end_soon(&self) {
        let _ = self.0.try_send(Heard::End(Ok(())));
    }
}

impl Inbox {
    /// Reads a client's lines from now on.
    pub fn of(mut input: impl BufRead + Send + 'static) -> io::Result<(Inbox, Ending)> {
        let (sender, receiver) = sync_channel(AHEAD);
        let ending = Ending(sender.clone());
        Builder::new().spawn(move || {
            loop {
                let heard = match message::line(&mut input) {
                    Ok(Some(line)) => Heard::Line(line),
                    Ok(None) => Heard::End(Ok(())),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Heard::End(Err(error)),
                };
                let is_last = matches!(heard, Heard::End(_));
                if sender.send(heard).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok((Inbox(receiver), ending))
    }

    pub(crate) fn next(&self) -> Heard {
        self.0.recv().unwrap_or(Heard::End(Ok(())))
    }
}
