//! The `scrimp` command.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Models may nest expressions deeply; passes over them recurse. Only the stack that is used costs memory.
    let stack = 64 << 20;
    let run = std::thread::Builder::new().stack_size(stack).spawn(cli::main).map(|thread| thread.join());
    match run {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(_)) => ExitCode::from(2),
        Err(_) => ExitCode::from(cli::main()),
    }
}
