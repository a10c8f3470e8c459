//! What the search needs of the machine that it runs on: memory, and kernels over it.

use crate::compiler::Stop;
use crate::source::Target;
use std::ffi::CStr;
use std::io;

/// A function of the generated text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    Begin,
    Expand,
    Settle,
    MoveKeys,
}

impl Kernel {
    pub const ALL: [Kernel; 4] = [Kernel::Begin, Kernel::Expand, Kernel::Settle, Kernel::MoveKeys];

    /// Its name in the text.
    pub fn symbol(self) -> &'static CStr {
        match self {
            Kernel::Begin => c"begin",
            Kernel::Expand => c"expand",
            Kernel::Settle => c"settle",
            Kernel::MoveKeys => c"move_keys",
        }
    }
}

/// What a kernel works on, as the text declares it; what is a pointer there is an address of the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Job {
    pub slots: u64,
    pub nodes: u64,
    pub log: u64,
    pub node_log: u64,
    pub now: u64,
    pub begin: u64,
    pub length: u64,
    pub groups: u64,
    pub next: u64,
    pub capacity: u64,
    pub degree: u64,
    pub counts: u64,
    pub found: u64,
    pub target: u64,
    pub old: u64,
    pub old_log: u64,
}

/// A card, or what stands for one.
pub trait Device {
    /// What it is, for people.
    fn name(&self) -> String;

    /// The kind of text that it takes.
    fn target(&self) -> Target;

    /// Bytes that can be allocated.
    fn free_bytes(&self) -> usize;

    /// Bytes of the table to begin with, of so many in all.
    fn first_table(&self, memory: usize) -> usize;

    /// States of a level that are expanded together, at most.
    fn part(&self) -> u64;

    /// How many of so many groups of events each thread tries in so many states.
    fn groups(&self, states: u64, groups: u32) -> u32;

    /// Makes the kernels of a text ready, instead of those before. What is to stop before that was interrupted.
    fn load(&mut self, text: &str, stop: Stop) -> io::Result<()>;

    /// Memory of its own, all zero.
    fn allocate(&self, bytes: usize) -> io::Result<u64>;

    /// Gives back what was allocated.
    fn free(&self, at: u64, bytes: usize);

    fn zero(&self, at: u64, bytes: usize) -> io::Result<()>;

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Waits for all that was started before.
    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()>;

    fn copy(&self, from: u64, to: u64, bytes: usize) -> io::Result<()>;

    /// Starts a kernel for so many things, each of them in so many groups.
    fn launch(&self, kernel: Kernel, job: &Job, things: u64, groups: u32) -> io::Result<()>;
}

/// Memory of a device, given back when it is dropped.
pub struct Memory<'d> {
    device: &'d dyn Device,
    at: u64,
    bytes: usize,
}

impl<'d> Memory<'d> {
    pub fn new(device: &'d dyn Device, bytes: usize) -> io::Result<Memory<'d>> {
        Ok(Memory { device, at: device.allocate(bytes)?, bytes })
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.device.free(self.at, self.bytes);
    }
}
