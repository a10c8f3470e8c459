//! One command at a time: who comes first is served first, and who goes away leaves the queue.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often somebody who waits looks whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(100);

/// Those who run or wait, by numbers; the first one runs.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Mutex<(u64, VecDeque<u64>)>,
    moved: Condvar,
}

/// The right to run a command, until it is dropped.
#[derive(Debug)]
pub struct Turn<'a> {
    queue: &'a Queue,
    number: u64,
}

impl Queue {
    /// Waits for a turn as long as `wanted` says so, which is told how many are before.
    pub fn turn(&self, wanted: impl Fn(usize) -> bool) -> Option<Turn<'_>> {
        let mut waiting = self.lock();
        let number = waiting.0;
        waiting.0 += 1;
        waiting.1.push_back(number);
        // From here on, whoever leaves makes room.
        let turn = Turn { queue: self, number };
        loop {
            let before = waiting.1.iter().position(|other| *other == number).unwrap_or(0);
            drop(waiting);
            // Asked without the lock: it may take its time.
            if !wanted(before) {
                return None;
            }
            if before == 0 {
                return Some(turn);
            }
            waiting = self.moved.wait_timeout(self.lock(), GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, (u64, VecDeque<u64>)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.queue.lock().1.retain(|other| *other != self.number);
        self.queue.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn turns_come_one_after_the_other() {
        let queue = Queue::default();
        let (running, most, gone) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let first = queue.turn(|_| true).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _turn = queue.turn(|_| true).unwrap();
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(5));
                    running.fetch_sub(1, Ordering::SeqCst);
                });
            }
            let left = scope.spawn(|| queue.turn(|_| !gone.load(Ordering::SeqCst)).is_none());
            gone.store(true, Ordering::SeqCst);
            assert!(left.join().unwrap(), "who goes away does not wait");
            drop(first);
        });
        assert_eq!(most.load(Ordering::SeqCst), 1);
        assert!(queue.turn(|before| before == 0).is_some());
    }
}
