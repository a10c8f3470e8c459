//! The records of all logs, in sequences within which their order is known.
//!
//! Of one log, or of several each of which is in order, records are read when they are needed and dropped behind the run.
//! Where the order is that of processes or of clocks, all have to be known first.

use crate::clock::{Bad, Behind, Chain, behind};
use crate::log::{Log, Reader};
use crate::mapping::Order;
use crate::observed::{Observed, Observer};
use crate::place::wrong;
use scrimp_checker::CheckError;
use scrimp_system::{Cause, Rounds, Stop};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Where a record stands: the number of its log, and its line.
pub type Source = (usize, u64);

pub(crate) struct Sequences {
    readers: Vec<Reader>,
    all: Vec<Sequence>,
    /// Whether a log has come to its end.
    ended: Vec<bool>,
    pub records: u64,
    /// For the records of each sequence, those of others that come before; nothing where there are no clocks.
    behind: Vec<Vec<Behind>>,
}

#[derive(Default)]
struct Sequence {
    /// How many records were dropped.
    dropped: u64,
    records: VecDeque<Rc<Observed>>,
    /// For each record, its log and its line.
    lines: Vec<(u32, u32)>,
}

/// Why records cannot be read.
pub(crate) enum Unread {
    Wrong(CheckError),
    Stopped(Cause),
}

impl From<CheckError> for Unread {
    fn from(error: CheckError) -> Unread {
        Unread::Wrong(error)
    }
}

impl Sequences {
    pub fn open(logs: &[Log], order: &Order, observer: &mut Observer, stop: &Stop) -> Result<Sequences, Unread> {
        let readers = logs.iter().map(Log::read).collect::<Result<Vec<Reader>, _>>()?;
        let count = readers.len();
        let mut sequences =
            Sequences { readers, all: Vec::new(), ended: vec![false; count], records: 0, behind: Vec::new() };
        match order {
            Order::File => sequences.all.resize_with(count, Sequence::default),
            Order::Process | Order::Clock(_) => sequences.sort(*order == Order::Process, observer, stop)?,
        }
        Ok(sequences)
    }

    /// Reads everything, and sorts it by process; records that name none are sorted by their log.
    fn sort(&mut self, one_log_each: bool, observer: &mut Observer, stop: &Stop) -> Result<(), Unread> {
        let rounds = Rounds::new(stop, 256);
        let mut known: HashMap<String, (usize, usize)> = HashMap::new();
        for log in 0..self.readers.len() {
            while let Some(line) = self.readers[log].next()? {
                rounds.next().map_err(Unread::Stopped)?;
                let process = observer.sequence(&line);
                let name = self.readers[log].name.clone();
                let Some(observed) = observer.observe(&name, line)? else { continue };
                let key = process.clone().unwrap_or_else(|| format!("\0{log}"));
                let next = self.all.len();
                let (number, first) = *known.entry(key).or_insert((next, log));
                if number == next {
                    self.all.push(Sequence::default());
                }
                if one_log_each && first != log {
                    let process = process.unwrap_or_default();
                    let message = format!("process `{process}` has records in {} too", self.readers[first].name);
                    let help = "in which order they are is said by vector clocks: `order clock FIELD`";
                    return Err(self.refused(log, &observed, message, help).into());
                }
                self.add(number, log, observed);
            }
            self.ended[log] = true;
        }
        if !one_log_each {
            let chains = self.chains(known, observer);
            self.behind = behind(&chains).map_err(|bad| self.bad_clock(bad))?;
        }
        Ok(())
    }

    /// The clocks, which are needed once, with how they may call who wrote them.
    fn chains(&mut self, known: HashMap<String, (usize, usize)>, observer: &Observer) -> Vec<Chain> {
        let empty = || Chain { names: Vec::new(), clocks: Vec::new() };
        let mut chains: Vec<Chain> = self.all.iter().map(|_| empty()).collect();
        for (process, (number, _)) in known {
            if !process.starts_with('\0') {
                chains[number].names.push(process);
            }
        }
        for (chain, sequence) in chains.iter_mut().zip(&mut self.all) {
            if let (Some(first), false) = (sequence.records.front(), chain.names.is_empty())
                && let [lane] = observer.kinds[first.kind as usize].lanes[..]
            {
                chain.names.extend(observer.subject.lanes.get(lane).cloned());
            }
            let taken = sequence.records.iter_mut().map(|record| Rc::get_mut(record)?.clock.take());
            chain.clocks = taken.map(Option::unwrap_or_default).collect();
        }
        chains
    }

    fn bad_clock(&self, bad: Bad) -> CheckError {
        let source = |(sequence, at): (usize, usize)| self.source(sequence, at as u64);
        let (log, _) = source((bad.sequence, bad.at));
        let message = match bad.other.map(source) {
            None => bad.why,
            Some((other, line)) if other == log => format!("{} (line {line})", bad.why),
            Some((other, line)) => format!("{} ({}:{line})", bad.why, self.readers[other].name),
        };
        let help = "the entry of who writes a record grows with each, and a record that knows of another knows all that it did";
        self.refused(log, &self.all[bad.sequence].records[bad.at], message, help)
    }

    /// Have all records that come before this one been followed?
    pub fn is_next(&self, number: usize, at: u64, far: &[u64]) -> bool {
        let behind = self.behind.get(number).and_then(|records| records.get(at as usize));
        behind.is_none_or(|behind| behind.iter().all(|(other, count)| far[*other as usize] >= u64::from(*count)))
    }

    /// Was everything read?
    pub fn are_read(&self) -> bool {
        self.ended.iter().all(|ended| *ended)
    }

    fn refused(&self, log: usize, observed: &Observed, message: String, help: &str) -> CheckError {
        wrong(&self.readers[log].name, observed.line, &observed.text, 0..1, message, Some(help.into())).into()
    }

    fn add(&mut self, sequence: usize, log: usize, observed: Observed) {
        self.records += 1;
        let sequence = &mut self.all[sequence];
        sequence.lines.push((log as u32, u32::try_from(observed.line).unwrap_or(u32::MAX)));
        sequence.records.push_back(Rc::new(observed));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The record at a place of a sequence; nothing behind its last.
    pub fn get(&mut self, number: usize, at: u64, observer: &mut Observer) -> Result<Option<Rc<Observed>>, CheckError> {
        let index = (at - self.all[number].dropped) as usize;
        while self.all[number].records.len() <= index && !self.ended.get(number).is_none_or(|ended| *ended) {
            let Some(line) = self.readers[number].next()? else {
                self.ended[number] = true;
                break;
            };
            let name = self.readers[number].name.clone();
            if let Some(observed) = observer.observe(&name, line)? {
                self.add(number, number, observed);
            }
        }
        Ok(self.all[number].records.get(index).cloned())
    }

    /// Records before this one of a sequence are not asked for any more.
    pub fn drop_before(&mut self, number: usize, at: u64) {
        let sequence = &mut self.all[number];
        let old = (at.saturating_sub(sequence.dropped) as usize).min(sequence.records.len());
        sequence.records.drain(..old);
        sequence.dropped += old as u64;
    }

    /// Where a record stands.
    pub fn source(&self, number: usize, at: u64) -> Source {
        let (log, line) = self.all[number].lines[at as usize];
        (log as usize, u64::from(line))
    }

    /// Bytes held, about: of records that wait, and for where each stands.
    pub fn bytes(&self) -> usize {
        let waiting: usize = self.all.iter().map(|sequence| sequence.records.len()).sum();
        waiting * 2 * size_of::<Observed>() + self.records as usize * 8
    }

    /// The logs whose last line is cut, with that line.
    pub fn cut(&self) -> Vec<(String, u64)> {
        self.readers.iter().filter_map(|reader| Some((reader.name.clone(), reader.cut?))).collect()
    }
}
