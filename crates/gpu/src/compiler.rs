//! The run-time compiler of CUDA (NVRTC), which makes machine code of a text. It is looked for when it is needed, under the names and in
//! the folders that its versions have.

use libloading::{Library, Symbol};
use std::ffi::{CString, c_char, c_int, c_void};
use std::io;
use std::path::PathBuf;
use std::ptr::{null, null_mut};

#[cfg(not(windows))]
const NAMES: [&str; 5] = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.14"];
#[cfg(windows)]
const NAMES: [&str; 3] = ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"];
/// Where it is if the system does not look there.
const FOLDERS: [&str; 2] = ["/usr/local/cuda/lib64", "/opt/cuda/lib64"];
/// Lines of what it has to say that are shown.
const LINES: usize = 20;

/// Compile in a fraction of the time what will run in several times the time: compilers before version 12.9 do not know this.
const QUICK: &str = "--Ofast-compile=max";

/// The compiler as a library.
pub struct Compiler(Library);

/// How much to make of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    Quick,
    Full,
}

type Program = *mut u8;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Fill = unsafe extern "C" fn(Program, *mut u8) -> c_int;
type Callback = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
/// Compilers before version 12.8 do not have it, and go on to the end.
type SetFlowCallback = unsafe extern "C" fn(Program, Callback, *mut c_void) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;

/// Is a compilation to stop?
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// What the compiler calls now and then.
unsafe extern "C" fn asked(stop: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: set by `compile` together with this function.
    unsafe { (*stop.cast::<Stop>())() as c_int }
}

impl Compiler {
    /// Says so where it is missing.
    pub fn find() -> Result<Compiler, String> {
        let own = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os);
        let own = own.flat_map(|home| ["lib64", "lib", "bin"].map(|folder| PathBuf::from(&home).join(folder)));
        let folders = std::iter::once(PathBuf::new()).chain(own).chain(FOLDERS.map(PathBuf::from));
        let paths = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
        // SAFETY: a library of functions; nothing of it is called here.
        let mut found = paths.filter_map(|path| unsafe { Library::new(path) }.ok());
        let missing = "the run-time compiler of CUDA is missing (libnvrtc, part of the CUDA toolkit; CUDA_HOME says where that is)";
        found.next().map(Compiler).ok_or_else(|| missing.to_string())
    }

    /// Machine code for an architecture, as in `sm_90`, unless it is to stop before. Several threads may ask at the same time.
    pub fn compile(&self, text: &str, architecture: &str, effort: Effort, mut stop: Stop) -> io::Result<Vec<u8>> {
        let source = CString::new(text)?;
        let mut options = vec![format!("--gpu-architecture={architecture}"), "--std=c++17".to_string()];
        if effort == Effort::Quick {
            options.push(QUICK.to_string());
        }
        let options = options.into_iter().map(CString::new).collect::<Result<Vec<CString>, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program: Program = null_mut();
        let (create, compile) =
            (self.function::<Create>("nvrtcCreateProgram")?, self.function::<Compile>("nvrtcCompileProgram")?);
        // SAFETY: the functions have these types in all versions, and what they are given lives longer than the calls.
        let created = unsafe { create(&mut program, source.as_ptr(), c"scrimp.cu".as_ptr(), 0, null(), null()) };
        if created != 0 {
            return Err(refused(created));
        }
        if let Ok(set_flow_callback) = self.function::<SetFlowCallback>("nvrtcSetFlowCallback") {
            // SAFETY: the callback takes what is given along, which lives longer than the compilation.
            unsafe { set_flow_callback(program, asked, (&raw mut stop).cast()) };
        }
        // SAFETY: as above.
        let code = match unsafe { compile(program, pointers.len() as c_int, pointers.as_ptr()) } {
            0 => self.read(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN"),
            _ if stop() => Err(io::ErrorKind::Interrupted.into()),
            _ => Err(self.explained(program)),
        };
        let destroy = self.function::<Destroy>("nvrtcDestroyProgram")?;
        // SAFETY: made above, and not used any more.
        unsafe { destroy(&mut program) };
        code
    }

    /// Why it does not take a text.
    fn explained(&self, program: Program) -> io::Error {
        let said = self.read(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog").unwrap_or_default();
        let said: Vec<u8> = said.into_iter().take_while(|byte| *byte != 0).collect();
        let said: Vec<String> = String::from_utf8_lossy(&said).lines().take(LINES).map(String::from).collect();
        io::Error::other(format!("the run-time compiler of CUDA refused the kernel: {}", said.join("\n")))
    }

    /// What one function says the size of, and another one writes.
    fn read(&self, program: Program, size: &str, fill: &str) -> io::Result<Vec<u8>> {
        let (size, fill) = (self.function::<Size>(size)?, self.function::<Fill>(fill)?);
        let mut bytes = 0;
        // SAFETY: a program that was made and not yet destroyed; as many bytes are written as were said.
        let (first, bytes, second) = unsafe {
            let first = size(program, &mut bytes);
            let mut all = vec![0; bytes];
            let second = fill(program, all.as_mut_ptr());
            (first, all, second)
        };
        if first != 0 || second != 0 { Err(refused(first.max(second))) } else { Ok(bytes) }
    }

    fn function<T>(&self, name: &str) -> io::Result<Symbol<'_, T>> {
        // SAFETY: the types above are those of the functions.
        unsafe { self.0.get(name.as_bytes()) }.map_err(io::Error::other)
    }
}

fn refused(code: c_int) -> io::Error {
    io::Error::other(format!("the run-time compiler of CUDA failed (error {code})"))
}
