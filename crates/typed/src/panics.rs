//! Panics of a model's own code, which are answers and not the end of the program.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Is the code of a model running, whose panics are told in the answer?
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of the model; fails with what it says when it panics.
#[inline]
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    hush();
    let before = CAUGHT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    CAUGHT.set(before);
    result.map_err(|panic| said(&*panic))
}

/// From now on nothing is printed of a panic that is told in the answer.
#[inline]
fn hush() {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                usual(info);
            }
        }));
    });
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for a reason that is not told").to_string()
}
