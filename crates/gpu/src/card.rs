//! A graphics card of NVIDIA's, by the driver and the run-time compiler that are found when it is asked for: nothing of either is
//! needed to build.

use crate::device::{Device, Job, Kernel};
use cudarc::driver::sys::{CUcontext, CUdevice_attribute, CUfunction, CUmodule, CUresult};
use cudarc::driver::{DriverError, result, sys};
use cudarc::nvrtc;
use std::ffi::{CStr, CString, c_void};
use std::io;

/// Threads of a block, and blocks for each processor of the card.
const BLOCK: u32 = 256;
const BLOCKS: u32 = 16;

/// One card, with the kernels that are loaded.
pub struct Card {
    name: String,
    processors: u32,
    /// What code is made for, as in `sm_90`.
    architecture: u32,
    /// Holds all that is on the card.
    _context: CUcontext,
    module: Option<CUmodule>,
    functions: Vec<CUfunction>,
}

impl Card {
    /// The card with this number; says why there is none.
    pub fn new(number: usize) -> Result<Card, String> {
        // SAFETY: asks for a library, and loads it.
        if !unsafe { sys::is_culib_present() } {
            return Err("there is no driver of NVIDIA's on this machine (libcuda)".to_string());
        }
        // SAFETY: as above.
        if !unsafe { nvrtc::sys::is_culib_present() } {
            return Err("the run-time compiler of CUDA is missing (libnvrtc, part of the CUDA toolkit)".to_string());
        }
        let failed = |error: DriverError| format!("the card cannot be used: {error}");
        result::init().map_err(failed)?;
        let count = result::device::get_count().map_err(failed)?;
        if number as i64 >= count as i64 {
            return Err(match count {
                0 => "there is no card on this machine".to_string(),
                count => format!("there is no card {number}: {count} are there"),
            });
        }
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
            architecture: (10 * major + minor) as u32,
            _context: context,
            module: None,
            functions: Vec::new(),
        })
    }

    /// Machine code of the card for a text.
    fn compile(&self, text: &str) -> io::Result<Vec<u8>> {
        let source = CString::new(text)?;
        let program = nvrtc::result::create_program(&source, Some(c"scrimp.cu")).map_err(refused)?;
        let options = [format!("--gpu-architecture=sm_{}", self.architecture), "--std=c++17".to_string()];
        // SAFETY: the program was just made, and is destroyed at the end.
        let compiled = unsafe { nvrtc::result::compile_program(program, &options) };
        let code = match compiled {
            Err(_) => {
                // SAFETY: as above.
                let log = unsafe { nvrtc::result::get_program_log(program) }.unwrap_or_default();
                let log: Vec<u8> = log.into_iter().map(|c| c as u8).take_while(|c| *c != 0).collect();
                let said: Vec<String> = String::from_utf8_lossy(&log).lines().take(20).map(String::from).collect();
                Err(io::Error::other(format!("the run-time compiler does not take the text: {}", said.join("\n"))))
            }
            Ok(()) => {
                let mut bytes = 0;
                // SAFETY: as above; the code is written into as many bytes as it was said to have.
                unsafe { nvrtc::sys::nvrtcGetCUBINSize(program, &mut bytes) }.result().map_err(refused)?;
                let mut code = vec![0u8; bytes];
                // SAFETY: as above.
                unsafe { nvrtc::sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()) }.result().map_err(refused)?;
                Ok(code)
            }
        };
        // SAFETY: as above; nothing uses it any more.
        let _ = unsafe { nvrtc::result::destroy_program(program) };
        code
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

fn refused(error: impl std::fmt::Debug) -> io::Error {
    io::Error::other(format!("the run-time compiler of the card failed: {error:?}"))
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

    fn free_bytes(&self) -> usize {
        result::mem_get_info().map_or(0, |(free, _)| free)
    }

    fn part(&self) -> u64 {
        1 << 20
    }

    fn load(&mut self, text: &str) -> io::Result<()> {
        self.unload();
        let code = self.compile(text)?;
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
        // SAFETY: as above.
        unsafe { result::memcpy_dtod_sync(to, from, bytes) }.map_err(failed)
    }

    fn launch(&self, kernel: Kernel, job: &Job, things: u64, groups: u32) -> io::Result<()> {
        let function = *self.functions.get(kernel as usize).ok_or_else(|| io::Error::other("no kernels are loaded"))?;
        let blocks = things.div_ceil(BLOCK as u64).clamp(1, (self.processors * BLOCKS) as u64) as u32;
        let mut job = *job;
        let mut parameters = [(&raw mut job).cast::<c_void>()];
        let stream = std::ptr::null_mut();
        // SAFETY: the kernel takes one job, which is copied before the call returns, and the job says where its memory is, which is
        // freed only after results were waited for.
        unsafe {
            result::launch_kernel(function, (blocks, groups, 1), (BLOCK, 1, 1), 0, stream, &mut parameters)
        }
        .map_err(failed)
    }
}
