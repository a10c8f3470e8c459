//! All schedules with few preemptions, one after the other. Most errors need one or two (Musuvathi and Qadeer, "Iterative
//! context bounding for systematic testing of multithreaded programs", 2007).
//!
//! A thread that waits, yields or ends leaves the choice among all others; to take another one while it could go on is a
//! preemption.

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

pub struct Preemptions {
    most: usize,
    /// How many may follow in the present schedule.
    left: usize,
    /// The choices of the present schedule: which one is taken, and of how many.
    choices: Vec<(usize, usize)>,
    step: usize,
}

impl Preemptions {
    /// Schedules with at most so many preemptions.
    pub fn at_most(most: usize) -> Preemptions {
        Preemptions { most, left: most, choices: Vec::new(), step: 0 }
    }
}

impl Scheduler for Preemptions {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.step > 0 {
            // The last choice that can be made otherwise is.
            while self.choices.pop_if(|(taken, of)| *taken + 1 == *of).is_some() {}
            self.choices.last_mut()?.0 += 1;
        }
        (self.left, self.step) = (self.most, 0);
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        let present = current.filter(|id| runnable.iter().any(|task| task.id() == *id));
        let mut options: Vec<TaskId> =
            runnable.iter().map(|task| task.id()).filter(|id| Some(*id) != present).collect();
        let goes_on = present.filter(|_| !is_yielding || options.is_empty());
        if let Some(present) = goes_on {
            options.truncate(if self.left > 0 { options.len() } else { 0 });
            options.insert(0, present);
        }
        if self.step == self.choices.len() {
            self.choices.push((0, options.len()));
        }
        let (taken, of) = self.choices[self.step];
        assert_eq!(of, options.len(), "the same choices lead to the same place");
        self.step += 1;
        self.left -= (goes_on.is_some() && taken > 0) as usize;
        Some(options[taken])
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
