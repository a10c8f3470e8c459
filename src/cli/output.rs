//! Standard output and standard error: one answer, remarks beside it, and what went wrong although there is an answer.

use super::failure::Failure;
use scrimp::report::Style;
use serde_json::Value;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Wrong usage or a wrong model.
pub const WRONG: u8 = 2;
/// Bytes of an answer that are written at once.
const BLOCK: usize = 1 << 16;

/// Standard output: was something written to it?
static OUTPUT: Mutex<bool> = Mutex::new(false);
/// What went wrong although there is an answer.
static OWED: Mutex<Option<Failure>> = Mutex::new(None);

/// Lets the command fail when the answer has been told.
pub fn fail_later(failure: Failure) {
    OWED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
}

fn output() -> MutexGuard<'static, bool> {
    OUTPUT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What went wrong although there is an answer, once.
pub fn owed() -> Option<Failure> {
    OWED.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Was an answer given?
pub fn said_something() -> bool {
    *output()
}

/// Writes to standard output. A reader that has gone away (`scrimp … | head`) is no failure; a full disk is: the answer
/// is lost.
pub fn print(text: &str) -> Result<(), Failure> {
    print_to_reader(text).map(drop)
}

/// The same for who has more to say later: is there still a reader?
pub fn print_to_reader(text: &str) -> Result<bool, Failure> {
    print_by(|out| out.write_all(text.as_bytes()))
}

/// The same with an object, piece by piece: it may be large.
pub fn print_json(value: &Value) -> Result<(), Failure> {
    let write = |out: &mut dyn Write| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    };
    print_by(write).map(drop)
}

/// Answers whether there is a reader.
fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<bool, Failure> {
    let mut answered = output();
    *answered = true;
    let mut out = BufWriter::with_capacity(BLOCK, io::stdout());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::because(format!("the answer cannot be written: {error}")))
        }
        written => Ok(written.is_ok()),
    }
}

/// Writes to standard output where nobody has, and lets nobody write after that. Says whether somebody has.
pub fn print_last(text: &str) -> bool {
    // Where it is being written to, that may take for ever.
    let Ok(answered) = OUTPUT.try_lock() else { return true };
    if !*answered {
        let _ = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    }
    **std::mem::ManuallyDrop::new(answered)
}

/// Writes a line to standard error, where there is one: errors, warnings and remarks, in colour on a terminal.
pub fn remark(text: &str) {
    let text = text.trim_end();
    let _ = match has_colour(io::stderr().is_terminal()) {
        true => writeln!(io::stderr(), "{}", coloured(text)),
        false => writeln!(io::stderr(), "{text}"),
    };
}

/// How standard output is written to.
pub fn style() -> Style {
    style_of(&io::stdout())
}

/// How standard error is written to.
pub fn style_of_errors() -> Style {
    style_of(&io::stderr())
}

/// With colours on a terminal, unless `NO_COLOR` is set, and in lines of its width.
fn style_of(output: &(impl IsTerminal + AsFd)) -> Style {
    // A narrower line has no room for anything.
    const NARROWEST: u16 = 60;
    let terminal = output.is_terminal();
    let size = terminal_size::terminal_size_of(output).filter(|_| terminal);
    Style {
        colour: has_colour(terminal),
        width: size.map_or(Style::PLAIN.width, |(width, _)| width.0.max(NARROWEST).into()),
        ..Style::PLAIN
    }
}

fn has_colour(is_terminal: bool) -> bool {
    is_terminal
        && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// A message with its parts in colours: where, what kind, what; what stands below the line of the source; what helps.
fn coloured(text: &str) -> String {
    let (bold, red, yellow, green, end) = ("\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;32m", "\x1b[0m");
    let line = |line: &str| {
        if let Some(help) = line.strip_prefix("help: ") {
            return format!("{green}help:{end} {help}");
        }
        let marks = line.trim();
        if marks.starts_with('^') && marks.chars().skip(1).all(|c| c == '~') {
            return line.replace(marks, &format!("{red}{marks}{end}"));
        }
        for (kind, colour) in [("error:", red), ("warning:", yellow)] {
            let (place, message) = match (line.strip_prefix(kind), line.split_once(&format!(": {kind}"))) {
                (Some(message), _) => (String::new(), message),
                (None, Some((place, message))) => (format!("{bold}{place}:{end} "), message),
                (None, None) => continue,
            };
            return format!("{place}{colour}{kind}{end}{bold}{message}{end}");
        }
        line.to_string()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn the_parts_of_a_message_have_colours() {
        let plain = "m.dve:1:2: error: wrong\n  x y\n    ^\nhelp: do that";
        let told = coloured(plain);
        assert_eq!(
            told,
            "\x1b[1mm.dve:1:2:\x1b[0m \x1b[1;31merror:\x1b[0m\x1b[1m wrong\x1b[0m\n  x y\n    \x1b[1;31m^\x1b[0m\n\x1b[1;32mhelp:\x1b[0m do that"
        );
        assert_eq!(coloured("open this address"), "open this address");
    }
}
