//! Records on their way to other workers, in parcels, and those that come: for searches that send more than states.
//!
//! A record is a state, with a few bytes behind it where a search needs them. Whoever waits for room takes in what comes meanwhile.

use crate::coding::{self, Collected};
use crate::exchange::Exchange;
use crate::parcel::Kind;
use crate::signals::Gone;
use scrimp_system::Batch;

/// Records that are taken in at once.
const AT_ONCE: usize = 256;

/// Who takes in what a worker sent.
pub trait Takes {
    fn take(&mut self, from: usize, records: &Batch);
}

pub struct Mail<'s, 'w> {
    pub exchange: &'s mut Exchange<'w>,
    collected: Vec<Collected>,
    own: Batch,
    come: Batch,
    record: Vec<u8>,
    /// Somebody has said that this round need not be finished.
    pub enough: bool,
}

impl<'s, 'w> Mail<'s, 'w> {
    pub fn new(exchange: &'s mut Exchange<'w>, record_bytes: usize) -> Mail<'s, 'w> {
        let mut mail = Mail {
            exchange,
            collected: Vec::new(),
            own: Batch::new(0),
            come: Batch::new(0),
            record: Vec::new(),
            enough: false,
        };
        mail.carry(record_bytes);
        mail
    }

    /// From now on records have so many bytes, for everybody. Nothing may be under way.
    pub fn carry(&mut self, record_bytes: usize) {
        self.collected = (0..self.exchange.peers()).map(|_| Collected::new(record_bytes)).collect();
        (self.own, self.come) = (Batch::new(record_bytes), Batch::new(record_bytes));
    }

    /// To a worker, as soon as he has room for it.
    pub fn post(&mut self, to: usize, state: &[u8], beside: &[u8], taker: &mut impl Takes) -> Result<(), Gone> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        record.extend_from_slice(state);
        record.extend_from_slice(beside);
        let sent = self.post_record(to, &record, taker);
        self.record = record;
        sent
    }

    fn post_record(&mut self, to: usize, record: &[u8], taker: &mut impl Takes) -> Result<(), Gone> {
        if to == self.exchange.me() {
            self.own.push(record, 0);
            if self.own.len() >= AT_ONCE {
                self.take_own(taker);
            }
            return Ok(());
        }
        self.collected[to].push(record);
        if self.collected[to].bytes() >= Exchange::full(self.exchange.peers()) {
            self.ship(to, taker)?;
        }
        Ok(())
    }

    fn ship(&mut self, to: usize, taker: &mut impl Takes) -> Result<(), Gone> {
        while !self.exchange.may_send(to) {
            self.exchange.wait()?;
            self.take_come(taker)?;
        }
        let (count, bytes) = self.collected[to].take();
        if count > 0 {
            self.exchange.send(to, count, bytes);
        }
        Ok(())
    }

    fn take_own(&mut self, taker: &mut impl Takes) {
        taker.take(self.exchange.me(), &self.own);
        self.own.clear();
    }

    fn take_come(&mut self, taker: &mut impl Takes) -> Result<(), Gone> {
        while let Some(parcel) = self.exchange.next() {
            if parcel.is(Kind::Enough) {
                self.enough = true;
                continue;
            }
            self.come.clear();
            if !parcel.is(Kind::States) || coding::read(&parcel.bytes, parcel.count, &mut self.come).is_none() {
                let process = self.exchange.process_of(parcel.from as usize);
                self.exchange.signals().lose(process, "it sent what are no states");
                return Err(Gone);
            }
            self.exchange.took(parcel.from);
            taker.take(parcel.from as usize, &self.come);
        }
        Ok(())
    }

    /// Brings parcels on their way, and takes in what has come.
    pub fn look(&mut self, taker: &mut impl Takes) -> Result<(), Gone> {
        self.exchange.work()?;
        self.take_come(taker)
    }

    /// Sends what is collected, and takes in everything that was sent to this worker in this round. All must
    /// [meet](Exchange::meet) before the next.
    pub fn finish(&mut self, taker: &mut impl Takes) -> Result<(), Gone> {
        for to in 0..self.exchange.peers() {
            self.ship(to, taker)?;
        }
        self.take_own(taker);
        self.exchange.advance();
        loop {
            self.take_come(taker)?;
            if self.exchange.is_over() {
                self.enough = false;
                return Ok(());
            }
            self.exchange.wait()?;
        }
    }
}
