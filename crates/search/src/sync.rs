//! What threads share: the standard library's atomics, locks and threads and, in tests of concurrency (feature `shuttle`), the
//! same with a point before each operation at which another thread may go on, so that a scheduler decides who is next.
//!
//! Many atomics lie in memory that is mapped and cleared, so they keep the layout of the standard ones.

use std::io;
use thread::{Scope, ScopedJoinHandle};

#[cfg(not(feature = "shuttle"))]
pub use std::{
    hint::spin_loop,
    sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread,
};

#[cfg(feature = "shuttle")]
pub use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard},
    thread,
    thread::yield_now as spin_loop,
};

/// A size that is as `usual`, or `small` in tests of concurrency, so that few states fill blocks, batches and tables.
pub const fn size(usual: usize, small: usize) -> usize {
    if cfg!(feature = "shuttle") { small } else { usual }
}

/// Something in cache lines of its own: what all threads write is not beside what all threads read.
#[repr(align(128))]
#[derive(Default)]
pub struct Apart<T>(pub T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Starts a thread. Fails where the system has no more of them.
pub fn start<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    work: impl FnOnce() -> T + Send + 's,
) -> io::Result<ScopedJoinHandle<'s, T>> {
    #[cfg(not(feature = "shuttle"))]
    return thread::Builder::new().spawn_scoped(scope, work);
    #[cfg(feature = "shuttle")]
    Ok(scope.spawn(work))
}

#[cfg(feature = "shuttle")]
pub mod atomic {
    use std::ops::{Deref, DerefMut};
    pub use std::sync::atomic::Ordering;

    /// Another thread may go on here. Unlike one that yields, this one does not say that it can do nothing else.
    fn point() {
        shuttle::sync::atomic::AtomicBool::new(false).load(Ordering::SeqCst);
    }

    macro_rules! scheduled {
        ($($name:ident),*) => {$(
            #[repr(transparent)]
            pub struct $name(std::sync::atomic::$name);

            impl Deref for $name {
                type Target = std::sync::atomic::$name;

                fn deref(&self) -> &Self::Target {
                    point();
                    &self.0
                }
            }

            impl DerefMut for $name {
                fn deref_mut(&mut self) -> &mut Self::Target {
                    &mut self.0
                }
            }
        )*};
    }

    macro_rules! made {
        ($($name:ident of $value:ty),*) => {$(
            impl $name {
                pub const fn new(value: $value) -> $name {
                    $name(std::sync::atomic::$name::new(value))
                }
            }

            impl Default for $name {
                fn default() -> $name {
                    $name::new(<$value>::default())
                }
            }
        )*};
    }

    scheduled!(AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize);
    made!(AtomicBool of bool, AtomicU32 of u32, AtomicU64 of u64, AtomicUsize of usize);
}
