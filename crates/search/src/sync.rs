//! What threads share: the standard library's atomics and, in tests of concurrency (feature `shuttle`), the same with a point
//! before each operation at which another thread may go on, so that a scheduler decides who is next.
//!
//! These lie in memory that is mapped and cleared, so they have the layout of the standard ones.

#[cfg(not(feature = "shuttle"))]
pub use std::{
    hint::spin_loop,
    sync::{Mutex, atomic},
};

#[cfg(feature = "shuttle")]
pub use scheduled::{atomic, spin_loop};
#[cfg(feature = "shuttle")]
pub use shuttle::sync::Mutex;

#[cfg(feature = "shuttle")]
mod scheduled {
    /// Another thread must go on before this one can.
    pub fn spin_loop() {
        shuttle::thread::yield_now();
    }

    pub mod atomic {
        pub use std::sync::atomic::Ordering;
        use std::sync::atomic as plain;

        macro_rules! scheduled {
            ($($name:ident: $value:ty),*) => {$(
                #[derive(Debug, Default)]
                #[repr(transparent)]
                pub struct $name(plain::$name);

                impl $name {
                    pub const fn new(value: $value) -> $name {
                        $name(plain::$name::new(value))
                    }

                    fn point(&self) -> &plain::$name {
                        shuttle::thread::yield_now();
                        &self.0
                    }

                    pub fn load(&self, ordering: Ordering) -> $value {
                        self.point().load(ordering)
                    }

                    pub fn store(&self, value: $value, ordering: Ordering) {
                        self.point().store(value, ordering);
                    }

                    pub fn swap(&self, value: $value, ordering: Ordering) -> $value {
                        self.point().swap(value, ordering)
                    }

                    pub fn compare_exchange(&self, old: $value, new: $value, set: Ordering, failed: Ordering) -> Result<$value, $value> {
                        self.point().compare_exchange(old, new, set, failed)
                    }

                    pub fn compare_exchange_weak(&self, old: $value, new: $value, set: Ordering, failed: Ordering) -> Result<$value, $value> {
                        self.point().compare_exchange_weak(old, new, set, failed)
                    }

                    pub fn fetch_or(&self, value: $value, ordering: Ordering) -> $value {
                        self.point().fetch_or(value, ordering)
                    }

                    pub fn fetch_and(&self, value: $value, ordering: Ordering) -> $value {
                        self.point().fetch_and(value, ordering)
                    }

                    pub fn get_mut(&mut self) -> &mut $value {
                        self.0.get_mut()
                    }

                    pub fn into_inner(self) -> $value {
                        self.0.into_inner()
                    }
                }
            )*};
        }

        macro_rules! counting {
            ($($name:ident: $value:ty),*) => {$(
                impl $name {
                    pub fn fetch_add(&self, value: $value, ordering: Ordering) -> $value {
                        self.point().fetch_add(value, ordering)
                    }

                    pub fn fetch_sub(&self, value: $value, ordering: Ordering) -> $value {
                        self.point().fetch_sub(value, ordering)
                    }

                    pub fn fetch_max(&self, value: $value, ordering: Ordering) -> $value {
                        self.point().fetch_max(value, ordering)
                    }
                }
            )*};
        }

        scheduled!(AtomicBool: bool, AtomicU32: u32, AtomicU64: u64, AtomicUsize: usize);
        counting!(AtomicU32: u32, AtomicU64: u64, AtomicUsize: usize);
    }
}
