//! The threads of a processor in place of a card: the same text, compiled as C++. It is what tests run on, everywhere.

use crate::compiler::Stop;
use crate::device::{Device, Job, Kernel};
use crate::source::Target;
use libloading::Library;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often it is asked whether to stop while a text is compiled.
const LOOK: Duration = Duration::from_millis(5);

type Entry = unsafe extern "C" fn(*const Job, u64, u64, u32);

/// A processor with a compiler for C++.
pub struct Host {
    compiler: PathBuf,
    threads: u64,
    loaded: Option<Library>,
}

impl Host {
    /// Is there a compiler? Says so where there is none.
    pub fn find() -> Result<(), String> {
        Host::compiler().map(|_| ())
    }

    /// With so many threads.
    pub fn new(threads: usize) -> Result<Host, String> {
        Ok(Host { compiler: Host::compiler()?, threads: threads.max(1) as u64, loaded: None })
    }

    fn compiler() -> Result<PathBuf, String> {
        let chosen = std::env::var_os("CXX").map(PathBuf::from);
        let usual = ["c++", "g++", "clang++"].map(PathBuf::from);
        let runs = |compiler: &PathBuf| {
            let quiet = Command::new(compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            quiet.is_ok_and(|status| status.success())
        };
        let mut compilers = chosen.into_iter().chain(usual);
        compilers
            .find(runs)
            .ok_or_else(|| "no C++ compiler was found (c++, g++, clang++, or the variable CXX)".to_string())
    }

    fn compile(&self, text: &Path, library: &Path, said: &Path, stop: Stop) -> io::Result<()> {
        let mut command = Command::new(&self.compiler);
        command.args(["-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-x", "c++"]).arg(text).arg("-o").arg(library);
        let mut child = command.stdout(Stdio::null()).stderr(File::create(said)?).spawn()?;
        loop {
            match child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(_) => break,
                None if stop() => {
                    child.kill()?;
                    child.wait()?;
                    return Err(io::ErrorKind::Interrupted.into());
                }
                None => std::thread::sleep(LOOK),
            }
        }
        let said = String::from_utf8_lossy(&std::fs::read(said)?).lines().take(20).collect::<Vec<_>>().join("\n");
        Err(io::Error::other(format!("{} refused the kernel: {said}", self.compiler.display())))
    }
}

/// Memory begins at a line.
fn layout(bytes: usize) -> io::Result<Layout> {
    Layout::from_size_align(bytes.max(1), 128).map_err(io::Error::other)
}

impl Device for Host {
    fn name(&self) -> String {
        format!("{} threads of the processor", self.threads)
    }

    fn target(&self) -> Target {
        Target::Host
    }

    fn free_bytes(&self) -> usize {
        usize::MAX / 4
    }

    fn first_table(&self, _: usize) -> usize {
        0
    }

    fn part(&self) -> u64 {
        1 << 12
    }

    fn groups(&self, _: u64, groups: u32) -> u32 {
        // Both ways of sharing them out are tested.
        groups.div_ceil(2)
    }

    fn load(&mut self, text: &str, stop: Stop) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        self.loaded = None;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let stem = std::env::temp_dir().join(format!("scrimp-{}-{number}", std::process::id()));
        let (source, library, said) =
            (stem.with_extension("cpp"), stem.with_extension("so"), stem.with_extension("log"));
        std::fs::write(&source, text)?;
        let loaded = self.compile(&source, &library, &said, stop).and_then(|()| {
            // SAFETY: the library is the text just made; it has nothing that runs when it is loaded.
            unsafe { Library::new(&library) }.map_err(io::Error::other)
        });
        // What is loaded stays when its file is gone.
        for file in [&source, &library, &said] {
            let _ = std::fs::remove_file(file);
        }
        self.loaded = Some(loaded?);
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> io::Result<u64> {
        // SAFETY: the layout is not empty.
        let at = unsafe { alloc_zeroed(layout(bytes)?) };
        if at.is_null() { Err(io::ErrorKind::OutOfMemory.into()) } else { Ok(at as u64) }
    }

    fn free(&self, at: u64, bytes: usize) {
        if let Ok(layout) = layout(bytes) {
            // SAFETY: allocated with this layout, and freed once: by the `Memory` that owns it.
            unsafe { dealloc(at as *mut u8, layout) };
        }
    }

    fn zero(&self, at: u64, bytes: usize) -> io::Result<()> {
        // SAFETY: the caller's memory, and no kernel is running: `launch` waits for its threads.
        unsafe { std::ptr::write_bytes(at as *mut u8, 0, bytes) };
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
        Ok(())
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(at as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn copy(&self, from: u64, to: u64, bytes: usize) -> io::Result<()> {
        // SAFETY: as above; the two are different allocations.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) };
        Ok(())
    }

    fn launch(&self, kernel: Kernel, job: &Job, things: u64, groups: u32) -> io::Result<()> {
        let library = self.loaded.as_ref().ok_or_else(|| io::Error::other("no kernels are loaded"))?;
        // SAFETY: the text declares all kernels with this type.
        let entry = unsafe { library.get::<Entry>(kernel.symbol()) }.map_err(io::Error::other)?;
        let entry = *entry;
        let threads = self.threads.min(things.div_ceil(64)).max(1);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    for group in 0..groups {
                        // SAFETY: the job says where its memory is, which lives as long as the call; what threads share they
                        // touch by atomic operations.
                        unsafe { entry(job, thread, threads, group) };
                    }
                });
            }
        });
        Ok(())
    }
}
