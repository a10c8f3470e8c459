//! Calling machine code.
//!
//! A function of [`compile`](crate::compile) is `extern "C" fn(state, states, events, faults) -> events_end`. It writes
//! successors at `states` and event numbers at `events`, both upwards, and fault records of eight bytes downwards from
//! where `*faults` points. One area serves for successors and faults: an area for as many successors as there can be
//! successors and faults, counted together, never overflows.

use crate::compile::Compiled;
use crate::partition::Step;
use crate::program::{Program, Rules};
use scrimp_system::{Batch, Fault, ProcessId};

type Expand = unsafe extern "C" fn(*const u8, *mut u8, *mut u32, *mut *mut u8) -> *mut u32;
type Evaluate = unsafe extern "C" fn(*const u8) -> u64;

/// Room for the numbers of enabled events that are not states, on the stack for all but monstrous claims.
const NUMBERS: usize = 64;

/// Where successors go, how far apart, and where their events go.
struct Room {
    states: *mut u8,
    events: *mut u32,
    stride: usize,
}

impl Compiled {
    /// Appends the successors of `state` and the faults. This must be the code of `rules` with states as output, and if
    /// only one process is to be run, with one step for each.
    #[inline]
    pub fn expand(&self, program: &Program, rules: &Rules, only: Option<ProcessId>, state: &[u8], out: &mut Batch) {
        assert!(state.len() == program.layout.bytes() && out.state_bytes() == state.len());
        let room = rules.bound_of(only).max(1);
        let steps = only.map_or(&self.steps[..], |process| &self.steps[process.index()..=process.index()]);
        out.reserve(room);
        let stride = out.stride();
        let (states, events) = out.spare();
        // SAFETY: `room` states and events fit behind `states` and `events`, and `room` bounds what can be enabled or
        // at fault. The state has the length the code was made for.
        let (count, faults) = unsafe {
            let end = states.add(room * stride);
            let mut faults = end;
            let last = self.run(program, steps, state, Room { states, events, stride }, &mut faults);
            (last.offset_from_unsigned(events), records(faults, end))
        };
        // SAFETY: the code has written that many states and events, into room reserved above.
        unsafe { out.commit(count) };
        for (number, fault) in faults {
            out.push_fault(number, fault);
        }
    }

    /// The numbers of the events enabled in `state`, and the faults of guards. This must be the code of `rules` with
    /// numbers as output.
    pub fn select(
        &self,
        program: &Program,
        rules: &Rules,
        state: &[u8],
        enabled: &mut Vec<u32>,
        faults: &mut Vec<(u32, Fault)>,
    ) {
        assert!(state.len() == program.layout.bytes());
        let (mut near_numbers, mut near_records) = ([0u32; NUMBERS], [0u64; NUMBERS]);
        let (mut far_numbers, mut far_records) = (vec![], vec![]);
        let (numbers, area) = if rules.bound <= NUMBERS {
            (&mut near_numbers[..], &mut near_records[..])
        } else {
            far_numbers.resize(rules.bound, 0);
            far_records.resize(rules.bound, 0);
            (&mut far_numbers[..], &mut far_records[..])
        };
        let start = numbers.as_mut_ptr();
        // SAFETY: both areas have room for `bound` entries, and as many events at most are enabled or at fault. This
        // code makes no successors, so nothing is written where they would go.
        let (count, found) = unsafe {
            let end = area.as_mut_ptr().add(area.len()).cast::<u8>();
            let mut top = end;
            let room = Room { states: std::ptr::null_mut(), events: start, stride: 0 };
            let last = self.run(program, &self.steps, state, room, &mut top);
            (last.offset_from_unsigned(start), records(top, end))
        };
        enabled.extend_from_slice(&numbers[..count]);
        faults.extend(found);
    }

    /// # Safety
    /// There is room in `room` and below `*faults` for what the code writes there.
    unsafe fn run(
        &self,
        program: &Program,
        steps: &[Step],
        state: &[u8],
        room: Room,
        faults: &mut *mut u8,
    ) -> *mut u32 {
        let Room { states, events, stride } = room;
        let mut at = events;
        let mut call = |unit: usize| {
            // SAFETY: the address is that of a function with this signature, alive as long as `self.code` is. How far
            // `at` has come says how many states are written, so both stay within the caller's room.
            unsafe {
                let function = std::mem::transmute::<usize, Expand>(self.code.entries()[unit]);
                let next = states.wrapping_add(at.offset_from_unsigned(events) * stride);
                at = function(state.as_ptr(), next, at, faults);
            }
        };
        for step in steps {
            match step {
                Step::Run(unit) => call(*unit),
                Step::Select { process, units } => {
                    let control = program.system.processes[process.index()].control;
                    let location = program.layout.read(state, control, 0).unwrap_or(-1);
                    let units = usize::try_from(location).ok().and_then(|location| units.get(location));
                    units.cloned().into_iter().flatten().for_each(&mut call);
                }
            }
        }
        at
    }
}

/// Reads the fault records between `top` and `end`, the last written first.
///
/// # Safety
/// The code has written them there.
unsafe fn records(top: *mut u8, end: *mut u8) -> Vec<(u32, Fault)> {
    let mut found = Vec::new();
    let mut at = end;
    while at > top {
        // SAFETY: `at` is above `top`, and records are eight bytes each from `end` down to `top`.
        let record = unsafe {
            at = at.sub(8);
            at.cast::<u64>().read_unaligned()
        };
        if let Some(fault) = Fault::from_code((record >> 32) as u32) {
            found.push((record as u32, fault));
        }
    }
    found
}

/// Calls a function that makes one number of a state.
///
/// # Safety
/// `address` is such a function, of code that is alive, made for states of this length.
pub unsafe fn evaluate(address: usize, state: &[u8]) -> u64 {
    // SAFETY: the caller promises it; the function reads the state's bytes and nothing else.
    unsafe { std::mem::transmute::<usize, Evaluate>(address)(state.as_ptr()) }
}
