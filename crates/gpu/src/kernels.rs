//! Kernels of a text, as a card gets them. Where it takes long to make good ones, quickly made ones begin, and the good ones
//! take their place when they are ready: a search does not wait for its compiler.

use crate::compiler::{Compiler, Effort, Stop};
use crate::device::Kernel;
use cudarc::driver::sys::{CUfunction, CUmodule, CUresult};
use cudarc::driver::{DriverError, result};
use std::cell::RefCell;
use std::ffi::CStr;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long good kernels are waited for before quick ones are made.
const PATIENCE: Duration = Duration::from_millis(600);
/// How often it is asked meanwhile whether to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What the driver says, as an error of ours.
pub fn failed(error: DriverError) -> io::Error {
    match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => io::ErrorKind::OutOfMemory.into(),
        _ => io::Error::other(format!("the card failed: {error}")),
    }
}

type Code = io::Result<Vec<u8>>;

/// The kernels of one text.
#[derive(Default)]
pub struct Kernels {
    /// Machine code on the card, the newest last. What was begun with older code ends with it.
    modules: RefCell<Vec<CUmodule>>,
    functions: RefCell<Vec<CUfunction>>,
    /// Where the good ones will come from.
    better: RefCell<Option<Receiver<Code>>>,
    /// Set when nobody waits for them any more.
    unwanted: Arc<AtomicBool>,
}

impl Kernels {
    /// Has a text compiled for an architecture, and returns as soon as there is something to run.
    pub fn of(text: &str, architecture: &str, compiler: &Arc<Compiler>, stop: Stop) -> io::Result<Kernels> {
        let kernels = Kernels::default();
        let better = kernels.compile_well(text, architecture, compiler)?;
        if let Some(code) = wait(&better, PATIENCE, stop)? {
            return kernels.with(&code);
        }
        let quick = compiler.compile(text, architecture, Effort::Quick, stop);
        match (better.try_recv(), quick) {
            (Ok(code), _) => kernels.with(&code?),
            (Err(_), Ok(code)) => {
                kernels.better.replace(Some(better));
                kernels.with(&code)
            }
            // A compiler that cannot be quick is waited for, and says what is wrong with a text.
            (Err(_), Err(_)) => match wait(&better, Duration::MAX, stop)? {
                Some(code) => kernels.with(&code),
                None => Err(gone()),
            },
        }
    }

    /// Begins to make good code, on a thread of its own.
    fn compile_well(&self, text: &str, architecture: &str, compiler: &Arc<Compiler>) -> io::Result<Receiver<Code>> {
        let (send, receive) = channel();
        let (compiler, unwanted) = (compiler.clone(), self.unwanted.clone());
        let (text, architecture) = (text.to_string(), architecture.to_string());
        thread::Builder::new().name("kernels".to_string()).spawn(move || {
            let stop = || unwanted.load(Ordering::Relaxed);
            // Nobody may be left to take it.
            let _ = send.send(compiler.compile(&text, &architecture, Effort::Full, &stop));
        })?;
        Ok(receive)
    }

    fn with(self, code: &[u8]) -> io::Result<Kernels> {
        self.load(code)?;
        Ok(self)
    }

    /// The kernel to run now.
    pub fn function(&self, kernel: Kernel) -> io::Result<CUfunction> {
        let ready = self.better.borrow().as_ref().and_then(|better| better.try_recv().ok());
        if let Some(code) = ready {
            self.better.replace(None);
            // Those that run will do otherwise.
            if let Ok(code) = code {
                self.load(&code)?;
            }
        }
        let function = self.functions.borrow().get(kernel as usize).copied();
        function.ok_or_else(|| io::Error::other("no kernels are loaded"))
    }

    fn load(&self, code: &[u8]) -> io::Result<()> {
        // SAFETY: an image that the compiler has made for this card.
        let module = unsafe { result::module::load_data(code.as_ptr().cast()) }.map_err(failed)?;
        self.modules.borrow_mut().push(module);
        let function = |kernel: Kernel| {
            let name: &CStr = kernel.symbol();
            // SAFETY: the module was just loaded.
            unsafe { result::module::get_function(module, name.to_owned()) }.map_err(failed)
        };
        self.functions.replace(Kernel::ALL.into_iter().map(function).collect::<io::Result<_>>()?);
        Ok(())
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        self.unwanted.store(true, Ordering::Relaxed);
        for module in self.modules.take() {
            // SAFETY: loaded by `load`, and no kernel of it is running: results were waited for.
            let _ = unsafe { result::module::unload(module) };
        }
    }
}

/// Waits for code, so long at most.
fn wait(from: &Receiver<Code>, most: Duration, stop: Stop) -> io::Result<Option<Vec<u8>>> {
    let begun = Instant::now();
    while begun.elapsed() < most {
        match from.recv_timeout(LOOK) {
            Ok(code) => return code.map(Some),
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            Err(RecvTimeoutError::Timeout) if stop() => return Err(io::ErrorKind::Interrupted.into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Ok(None)
}

fn gone() -> io::Error {
    io::Error::other("the thread that makes kernels has ended")
}
