//! A graphics card of NVIDIA's, by the driver and the run-time compiler that are found when it is asked for: nothing of either is
//! needed to build.

use crate::compiler::{Compiler, Stop};
use crate::device::{Device, Job, Kernel};
use crate::kernels::{Kernels, failed};
use crate::source::Target;
use cudarc::driver::sys::{CUcontext, CUdevice_attribute};
use cudarc::driver::{DriverError, result, sys};
use std::ffi::c_void;
use std::io;
use std::sync::Arc;

/// Threads of a block, and blocks for each processor of the card.
const BLOCK: u32 = 128;
const BLOCKS: u32 = 32;
/// Threads that a processor of a card has at work.
const RESIDENT: u64 = 2048;

/// One card, with the kernels that are loaded.
pub struct Card {
    name: String,
    processors: u32,
    compiler: Arc<Compiler>,
    /// What code is made for, as in `sm_90`.
    architecture: u32,
    /// Holds all that is on the card.
    _context: CUcontext,
    kernels: Kernels,
}

impl Card {
    /// Is there a card with this number, and what it takes to use it? Says what is missing.
    pub fn find(number: usize) -> Result<(), String> {
        // SAFETY: asks for a library, and loads it.
        if !unsafe { sys::is_culib_present() } {
            return Err("this machine has no NVIDIA driver (libcuda)".to_string());
        }
        Compiler::find()?;
        let failed = |error: DriverError| format!("the card cannot be used: {error}");
        result::init().map_err(failed)?;
        let count = result::device::get_count().map_err(failed)?;
        if number as i64 >= count as i64 {
            return Err(match count {
                0 => "this machine has no graphics card".to_string(),
                count => format!("there is no card {number}; this machine has {count}"),
            });
        }
        Ok(())
    }

    /// The card with this number; says why there is none.
    pub fn new(number: usize) -> Result<Card, String> {
        Card::find(number)?;
        let failed = |error: DriverError| format!("the card cannot be used: {error}");
        let device = result::device::get(number as i32).map_err(failed)?;
        // SAFETY: a device that the driver has just named.
        let ask = |what| unsafe { result::device::get_attribute(device, what) }.map_err(failed);
        let major = ask(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = ask(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let processors = ask(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        // SAFETY: as above; the context stays until the program ends.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(failed)?;
        // SAFETY: the context just retained.
        unsafe { result::ctx::set_current(context) }.map_err(failed)?;
        Ok(Card {
            name: result::device::get_name(device).map_err(failed)?,
            processors: processors as u32,
            compiler: Arc::new(Compiler::find()?),
            architecture: (10 * major + minor) as u32,
            _context: context,
            kernels: Kernels::default(),
        })
    }
}

impl Device for Card {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn target(&self) -> Target {
        Target::Card
    }

    fn free_bytes(&self) -> usize {
        result::mem_get_info().map_or(0, |(free, _)| free / 10 * 9)
    }

    fn first_table(&self, memory: usize) -> usize {
        memory / 64
    }

    fn part(&self) -> u64 {
        1 << 21
    }

    fn groups(&self, states: u64, groups: u32) -> u32 {
        // One thread for each state does least, but a narrow level would leave most of the card with nothing to do.
        let enough = self.processors as u64 * RESIDENT;
        (states * groups as u64 / enough).clamp(1, groups as u64) as u32
    }

    fn load(&mut self, text: &str, stop: Stop) -> io::Result<()> {
        self.kernels = Kernels::default();
        self.kernels = Kernels::of(text, &format!("sm_{}", self.architecture), &self.compiler, stop)?;
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> io::Result<u64> {
        // SAFETY: memory that is filled before anybody reads it.
        let at = unsafe { result::malloc_sync(bytes.max(1)) }.map_err(failed)?;
        self.zero(at, bytes)?;
        Ok(at)
    }

    fn free(&self, at: u64, _: usize) {
        // SAFETY: allocated by `allocate`, and freed once: by the `Memory` that owns it.
        let _ = unsafe { result::free_sync(at) };
    }

    fn zero(&self, at: u64, bytes: usize) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: memory of the caller's, which lives until it frees it.
        unsafe { result::memset_d8_sync(at, 0, bytes) }.map_err(failed)
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: as above.
        unsafe { result::memcpy_htod_sync(at, bytes) }.map_err(failed)
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        // SAFETY: as above; it waits for the kernels before it.
        unsafe { result::memcpy_dtoh_sync(bytes, at) }.map_err(failed)
    }

    fn copy(&self, from: u64, to: u64, bytes: usize) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { result::memcpy_dtod_sync(to, from, bytes) }.map_err(failed)
    }

    fn launch(&self, kernel: Kernel, job: &Job, things: u64, groups: u32) -> io::Result<()> {
        let function = self.kernels.function(kernel)?;
        let most = (self.processors * BLOCKS / groups.max(1)).max(self.processors);
        let blocks = things.div_ceil(BLOCK as u64).clamp(1, most as u64) as u32;
        let mut job = *job;
        let mut parameters = [(&raw mut job).cast::<c_void>()];
        let stream = std::ptr::null_mut();
        // SAFETY: the kernel takes one job, which is copied before the call returns, and the job says where its memory is, which is
        // freed only after results were waited for.
        unsafe { result::launch_kernel(function, (blocks, groups, 1), (BLOCK, 1, 1), 0, stream, &mut parameters) }
            .map_err(failed)
    }
}
