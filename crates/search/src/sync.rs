//! What threads share: the standard library's atomics and, in tests of concurrency (feature `shuttle`), the same with a point
//! before each operation at which another thread may go on, so that a scheduler decides who is next.
//!
//! Many of them lie in memory that is mapped and cleared, so they keep the layout of the standard ones.

#[cfg(not(feature = "shuttle"))]
pub use std::{
    hint::spin_loop,
    sync::{Mutex, atomic},
};

#[cfg(feature = "shuttle")]
pub use shuttle::{sync::Mutex, thread::yield_now as spin_loop};

#[cfg(feature = "shuttle")]
pub mod atomic {
    use shuttle::thread::yield_now;
    use std::ops::{Deref, DerefMut};
    pub use std::sync::atomic::Ordering;

    macro_rules! scheduled {
        ($($name:ident),*) => {$(
            #[repr(transparent)]
            pub struct $name(std::sync::atomic::$name);

            impl Deref for $name {
                type Target = std::sync::atomic::$name;

                fn deref(&self) -> &Self::Target {
                    yield_now();
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

    scheduled!(AtomicU32, AtomicU64, AtomicUsize);

    impl AtomicU32 {
        pub fn new(value: u32) -> AtomicU32 {
            AtomicU32(value.into())
        }
    }

    impl AtomicUsize {
        pub fn new(value: usize) -> AtomicUsize {
            AtomicUsize(value.into())
        }
    }
}
