//! What workers send each other: a few bytes of heading, and a content that they alone understand.
//!
//! For timely a parcel is a container of one record. It is never opened or divided on the way.

use std::io::Write;
use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};

/// Bytes of the heading.
const HEADING: usize = 16;
/// The heading of a parcel of which nothing is known.
const EMPTY: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// States for their owner.
    States = 1,
    /// So many parcels of states were taken in.
    Taken = 2,
    /// What a worker has to say where all wait for each other.
    Word = 3,
    /// There is nothing more to be found out on this level.
    Enough = 4,
}

#[derive(Debug, Clone)]
pub struct Parcel {
    /// Workers.
    pub to: u32,
    pub from: u32,
    pub kind: u32,
    /// States, or parcels that were taken in.
    pub count: u32,
    pub bytes: Vec<u8>,
}

impl Parcel {
    pub fn is(&self, kind: Kind) -> bool {
        self.kind == kind as u32
    }
}

/// No parcel at all: what timely leaves where one was.
impl Default for Parcel {
    fn default() -> Parcel {
        Parcel { to: EMPTY, from: EMPTY, kind: 0, count: 0, bytes: Vec::new() }
    }
}

impl Accountable for Parcel {
    fn record_count(&self) -> i64 {
        (self.to != EMPTY) as i64
    }
}

impl ContainerBytes for Parcel {
    fn from_bytes(bytes: Bytes) -> Parcel {
        let number = |at: usize| {
            let four = bytes.get(4 * at..4 * at + 4).and_then(|four| four.try_into().ok());
            four.map_or(0, u32::from_le_bytes)
        };
        let content = bytes.get(HEADING..).unwrap_or_default().to_vec();
        Parcel { to: number(0), from: number(1), kind: number(2), count: number(3), bytes: content }
    }

    fn length_in_bytes(&self) -> usize {
        HEADING + self.bytes.len()
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        let Parcel { to, from, kind, count, bytes } = self;
        // Timely writes to memory that it has made room in, which cannot fail.
        for number in [to, from, kind, count] {
            let _ = writer.write_all(&number.to_le_bytes());
        }
        let _ = writer.write_all(bytes);
    }
}

/// To each worker what is addressed to it.
pub struct ByAddress;

impl Distributor<Parcel> for ByAddress {
    fn partition<T: Clone, P: Push<Message<T, Parcel>>>(&mut self, parcel: &mut Parcel, time: &T, pushers: &mut [P]) {
        if let Some(pusher) = pushers.get_mut(parcel.to as usize) {
            Message::push_at(parcel, time.clone(), pusher);
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Parcel>>>(&mut self, _: &T, _: &mut [P]) {}
}
