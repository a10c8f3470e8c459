//! Numbers of tokens as documents write them.

use super::counted::At;
use super::wrong::Wrong;

/// A number of tokens from zero to 2^63 - 1. Some tools write the class of tokens before it, as in `Default,1`.
pub(super) fn tokens(text: &str, at: At, what: &str) -> Result<u64, Wrong> {
    let number = match text.rsplit_once(',') {
        Some((class, _)) if class.contains(',') => {
            return Err(Wrong::new(
                at,
                format!("{what} with several classes of tokens: \"{text}\"; use a coloured net"),
            ));
        }
        Some((_, number)) => number.trim(),
        None => text.trim(),
    };
    let digits = number.strip_prefix('+').unwrap_or(number);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return match digits.parse::<u64>() {
            Ok(n) if n <= i64::MAX as u64 => Ok(n),
            _ => Err(Wrong::new(at, format!("{what} is {digits}; numbers up to 2^63 - 1 are supported"))),
        };
    }
    let problem = match number.parse::<f64>() {
        Ok(n) if n < 0.0 => "is negative",
        Ok(n) if n.is_finite() => "is not a whole number",
        _ => "is not a number",
    };
    Err(Wrong::new(at, format!("{what} {problem}: \"{text}\"")))
}

/// An arc's weight: a number of tokens above zero.
pub(super) fn weight(text: &str, at: At) -> Result<u64, Wrong> {
    match tokens(text, at, "the arc's weight")? {
        0 => Err(Wrong::new(at, "the arc's weight is zero").help("weights begin at one; leave the arc out")),
        n => Ok(n),
    }
}
