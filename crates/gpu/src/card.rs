//! A graphics card of NVIDIA's, by the driver and the run-time compiler that are found when it is asked for: nothing of either is
//! needed to build.

use crate::compiler::Compiler;
use crate::device::{Device, Job, Kernel};
use crate::source::Target;
use cudarc::driver::sys::{CUcontext, CUdevice_attribute, CUfunction, CUmodule, CUresult};
use cudarc::driver::{DriverError, result, sys};
use std::ffi::{CStr, c_void};
use std::io;

/// Threads of a block, and blocks for each processor of the card.
const BLOCK: u32 = 256;
const BLOCKS: u32 = 16;

/// One card, with the kernels that are loaded.
pub struct Card {
    name: String,
    processors: u32,
    compiler: Compiler,
    /// What code is made for, as in `sm_90`.
    architecture: u32,
    /// Holds all that is on the card.
    _context: CUcontext,
    module: Option<CUmodule>,
    functions: Vec<CUfunction>,
}

impl Card {
    /// Is there a card with this number, and what it takes to use it? Says what is missing.
    pub fn find(number: usize) -> Result<(), String> {
        // SAFETY: asks for a library, and loads it.
        if !unsafe { sys::is_culib_present() } {
            return Err("there is no driver of NVIDIA's on this machine (libcuda)".to_string());
        }
        Compiler::find()?;
        let failed = |error: DriverError| format!("the card cannot be used: {error}");
        result::init().map_err(failed)?;
        let count = result::device::get_count().map_err(failed)?;
        if number as i64 >= count as i64 {
            return Err(match count {
                0 => "there is no card on this machine".to_string(),
                count => format!("there is no card {number}: {count} are there"),
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
            compiler: Compiler::find()?,
            architecture: (10 * major + minor) as u32,
            _context: context,
            module: None,
            functions: Vec::new(),
        })
    }

    fn unload(&mut self) {
        self.functions.clear();
        if let Some(module) = self.module.take() {
            // SAFETY: loaded by `load`, and no kernel of it is running: results were waited for.
            let _ = unsafe { result::module::unload(module) };
        }
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        self.unload();
    }
}

fn failed(error: DriverError) -> io::Error {
    match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => io::ErrorKind::OutOfMemory.into(),
        _ => io::Error::other(format!("the card failed: {error}")),
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
        memory / 16
    }

    fn part(&self) -> u64 {
        1 << 21
    }

    fn load(&mut self, text: &str) -> io::Result<()> {
        self.unload();
        let code = self.compiler.compile(text, &format!("sm_{}", self.architecture))?;
        // SAFETY: an image that the compiler has made for this card.
        let module = unsafe { result::module::load_data(code.as_ptr().cast()) }.map_err(failed)?;
        self.module = Some(module);
        for kernel in Kernel::ALL {
            let name: &CStr = kernel.symbol();
            // SAFETY: the module was just loaded.
            let function = unsafe { result::module::get_function(module, name.to_owned()) }.map_err(failed)?;
            self.functions.push(function);
        }
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
        let function = *self.functions.get(kernel as usize).ok_or_else(|| io::Error::other("no kernels are loaded"))?;
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
