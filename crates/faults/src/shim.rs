//! The library that lets calls fail: compiled where there is a C compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    NoSpace,
    Broken,
    /// Nothing bad: the call is to be made again, or moves fewer bytes than it was asked to.
    Interrupted,
    Short,
    NoMemory,
    /// The program is killed before the call, or after half of it.
    Kill,
    Half,
    Terminate,
    Interrupt,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            How::NoSpace => "ENOSPC",
            How::Broken => "EIO",
            How::Interrupted => "EINTR",
            How::Short => "SHORT",
            How::NoMemory => "ENOMEM",
            How::Kill => "KILL",
            How::Half => "HALF",
            How::Terminate => "TERM",
            How::Interrupt => "INT",
        }
    }

    /// Is it something that a careful program does not even notice?
    pub fn is_harmless(self) -> bool {
        matches!(self, How::Interrupted | How::Short)
    }
}

/// A call that fails, and how.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Which calls are counted, and on which files.
    pub calls: &'static str,
    pub path: String,
    /// The first that fails, from 1 on, and how many do; 0 for all that follow.
    pub at: u64,
    pub on: u64,
    pub how: How,
}

impl Fault {
    /// Lets a command run with it; calls are counted in a file.
    pub fn burden(&self, command: &mut Command, shim: &Path, count: &Path) -> std::io::Result<()> {
        std::fs::write(count, [0; 8])?;
        command.env("LD_PRELOAD", shim).env("FAULT_CALLS", self.calls).env("FAULT_PATH", &self.path);
        command.env("FAULT_AT", self.at.to_string()).env("FAULT_ON", self.on.to_string());
        command.env("FAULT_HOW", self.how.word()).env("FAULT_COUNT", count);
        Ok(())
    }
}

/// How many calls were counted.
pub fn counted(count: &Path) -> u64 {
    let bytes = std::fs::read(count).ok().and_then(|bytes| bytes.try_into().ok());
    u64::from_le_bytes(bytes.unwrap_or_default())
}

/// Makes the library; `None` where there is no C compiler.
pub fn build(folder: &Path) -> Result<Option<PathBuf>, String> {
    let (source, library) = (folder.join("shim.c"), folder.join("shim.so"));
    std::fs::write(&source, include_str!("shim.c")).map_err(|e| e.to_string())?;
    for compiler in ["cc", "gcc", "clang"] {
        let mut compiler = Command::new(compiler);
        compiler.args(["-O1", "-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
        match compiler.output() {
            Err(_) => continue,
            Ok(output) if output.status.success() => return Ok(Some(library)),
            Ok(output) => return Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
    Ok(None)
}
