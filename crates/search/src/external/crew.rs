//! Threads that do one piece of work together, and end together.

use super::Halt;
use crate::outcome::Ended;
use crate::panics::Panics;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Mutex, start, thread};
use scrimp_core::Control;
use std::sync::PoisonError;

/// Ranges of keys that each thread should find: what one takes longer for, others make up for.
const RANGES_EACH: usize = 4;

#[derive(Clone, Copy)]
pub struct Crew<'a> {
    pub threads: usize,
    /// The fewest states for which one more thread is worth its while.
    pub share: u64,
    /// What may end the work, where something can.
    pub control: Option<&'a Control>,
}

impl Crew<'_> {
    /// One thread, which nothing stops.
    pub const ALONE: Crew<'static> = Crew { threads: 1, share: 1, control: None };

    /// For work on one thread.
    pub fn watch(&self) -> Watch<'_> {
        Watch { control: self.control, stop: None, tick: 0 }
    }

    /// How many threads are worth their while for so many states?
    pub fn threads_for(&self, states: u64) -> usize {
        (states / self.share.max(1)).clamp(1, self.threads as u64) as usize
    }

    /// Into how many ranges should so many states be cut?
    pub fn ranges_for(&self, states: u64) -> usize {
        if self.threads == 1 {
            return 1;
        }
        (states / self.share.max(1)).clamp(1, (self.threads * RANGES_EACH) as u64) as usize
    }

    /// Lets each member do its work on a thread of its own. When one halts, or panics, the others do soon.
    ///
    /// Where the system has no more threads some members do nothing, so there must be no work that only one of them does.
    pub fn together<T: Send>(
        &self,
        members: &mut [T],
        work: impl Fn(&mut T, &mut Watch) -> Result<(), Halt> + Sync,
    ) -> Result<(), Halt> {
        let (stop, halted, panics) = (AtomicBool::new(false), Mutex::new(None), Panics::default());
        let one = |member: &mut T| {
            let mut watch = Watch { stop: Some(&stop), ..self.watch() };
            match panics.catch(|| work(member, &mut watch)) {
                Some(Ok(()) | Err(Halt::Followed)) => {}
                Some(Err(halt)) => {
                    stop.store(true, Ordering::Relaxed);
                    let mut halted = halted.lock().unwrap_or_else(PoisonError::into_inner);
                    // What was found counts, whatever else went wrong.
                    if halted.is_none() || matches!(halt, Halt::Ended(Ended::Decided)) {
                        *halted = Some(halt);
                    }
                }
                None => stop.store(true, Ordering::Relaxed),
            }
        };
        thread::scope(|scope| {
            let Some((first, others)) = members.split_first_mut() else { return };
            for other in others {
                let one = &one;
                if start(scope, move || one(other)).is_err() {
                    break;
                }
            }
            one(first);
        });
        panics.pass_on();
        halted.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Does some work for each of several ranges: is told which of so many threads it is on, and which range it is for. The
    /// results come in the order of the ranges.
    pub fn each_range<T: Send>(
        &self,
        ranges: usize,
        work: impl Fn(usize, usize, &mut Watch) -> Result<T, Halt> + Sync,
    ) -> Result<Vec<T>, Halt> {
        let next = AtomicUsize::new(0);
        let mut members: Vec<(usize, Vec<(usize, T)>)> =
            (0..self.threads.min(ranges)).map(|thread| (thread, Vec::new())).collect();
        self.together(&mut members, |(thread, done), watch| {
            loop {
                let range = next.fetch_add(1, Ordering::Relaxed);
                if range >= ranges {
                    return Ok(());
                }
                done.push((range, work(*thread, range, watch)?));
            }
        })?;
        let mut done: Vec<(usize, T)> = members.into_iter().flat_map(|(_, done)| done).collect();
        done.sort_unstable_by_key(|&(range, _)| range);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }
}

/// Tells a thread when to end.
pub struct Watch<'a> {
    control: Option<&'a Control>,
    /// Has another thread ended?
    stop: Option<&'a AtomicBool>,
    tick: u64,
}

impl Watch<'_> {
    /// May the work go on?
    pub fn go_on(&mut self) -> Result<(), Halt> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Halt::Followed);
        }
        self.tick += 1;
        let limit = self.control.and_then(|control| control.stopped(self.tick));
        limit.map_or(Ok(()), |limit| Err(Halt::Ended(Ended::Limit(limit))))
    }
}
