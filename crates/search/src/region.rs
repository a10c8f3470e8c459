//! A stretch of memory that grows in place.
//!
//! Address space is reserved once, memory is committed step by step, so a structure can grow without a second copy of
//! itself and without its address changing. Fresh memory is zero. Large regions ask for huge pages: a hash table touches
//! memory at random, and with small pages every touch would also miss the TLB.

use std::io;
use std::ptr::NonNull;

/// Size of a huge page, and the step in which large regions are committed.
pub const HUGE: usize = 2 << 20;

/// From this size on a region uses huge pages.
const LARGE: usize = 4 * HUGE;

pub struct Region {
    base: NonNull<u8>,
    reserved: usize,
    committed: usize,
}

// SAFETY: a region is plain memory with one owner; who may touch which bytes is the business of the structure built on it.
unsafe impl Send for Region {}
// SAFETY: as above; `Region` itself gives out only a pointer.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves up to `bytes` of address space, less where the system refuses that much.
    pub fn reserve(bytes: usize) -> io::Result<Region> {
        let mut want = bytes.max(HUGE).next_multiple_of(HUGE);
        loop {
            match system::reserve(want) {
                Ok(base) => return Ok(Region { base, reserved: want, committed: 0 }),
                Err(error) if want <= 16 * HUGE => return Err(error),
                Err(_) => want = (want / 2).next_multiple_of(HUGE),
            }
        }
    }

    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    pub fn reserved(&self) -> usize {
        self.reserved
    }

    /// Bytes that may be touched, counted as used whether they were touched or not.
    pub fn committed(&self) -> usize {
        self.committed
    }

    /// The pages in which a region of this size is committed: huge ones once it is large.
    pub fn page(bytes: usize) -> usize {
        if bytes >= LARGE { HUGE } else { 1 << 12 }
    }

    /// What committing at least `bytes` will make of [`committed`](Region::committed): whole pages.
    pub fn rounded(bytes: usize) -> usize {
        bytes.next_multiple_of(Region::page(bytes))
    }

    /// Makes the first `bytes` usable. The address does not change.
    pub fn commit(&mut self, bytes: usize) -> io::Result<()> {
        let bytes = Region::rounded(bytes).min(self.reserved);
        if bytes > self.committed {
            system::commit(self.base, self.committed, bytes)?;
            self.committed = bytes;
        }
        Ok(())
    }
}

impl Region {
    /// The step in which what is no longer needed of this region should be [released](Region::release).
    pub fn release_step(&self) -> usize {
        if self.committed >= LARGE { HUGE } else { 1 << 16 }
    }

    /// Gives the bytes from `from` to `to` back to the system for good: they may not be touched again. Both are multiples of
    /// a page.
    pub fn release(&mut self, from: usize, to: usize) {
        assert!(from.is_multiple_of(1 << 12) && to.is_multiple_of(1 << 12) && from <= to && to <= self.reserved);
        system::decommit(self.base, from, to);
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        system::release(self.base, self.reserved);
    }
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::ptr::NonNull;

    pub fn reserve(bytes: usize) -> io::Result<NonNull<u8>> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping touches no memory of ours. One huge page more is mapped than asked for, so
        // that the base can be aligned to one; what is cut off is unmapped again.
        unsafe {
            let map = libc::mmap(std::ptr::null_mut(), bytes + super::HUGE, libc::PROT_NONE, flags, -1, 0);
            if map == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let start = map as usize;
            let base = start.next_multiple_of(super::HUGE);
            if base > start {
                libc::munmap(map, base - start);
            }
            let tail = start + super::HUGE - base;
            if tail > 0 {
                libc::munmap((base + bytes) as *mut libc::c_void, tail);
            }
            Ok(NonNull::new_unchecked(base as *mut u8))
        }
    }

    pub fn commit(base: NonNull<u8>, from: usize, to: usize) -> io::Result<()> {
        // SAFETY: the range lies inside the reservation made by `reserve`.
        unsafe {
            let start = base.as_ptr().add(from) as *mut libc::c_void;
            if libc::mprotect(start, to - from, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return Err(io::Error::last_os_error());
            }
            #[cfg(target_os = "linux")]
            if to >= super::LARGE {
                // Only advice: without it everything works, more slowly.
                libc::madvise(base.as_ptr() as *mut libc::c_void, to, libc::MADV_HUGEPAGE);
                super::nodes::spread(start, to - from);
            }
        }
        Ok(())
    }

    pub fn decommit(base: NonNull<u8>, from: usize, to: usize) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: a part of the reservation, which its owner does not touch any more, is replaced by untouched pages.
        unsafe {
            libc::mmap(base.as_ptr().add(from) as *mut libc::c_void, to - from, libc::PROT_NONE, flags, -1, 0);
        }
    }

    pub fn release(base: NonNull<u8>, bytes: usize) {
        // SAFETY: exactly the mapping that `reserve` kept.
        unsafe {
            libc::munmap(base.as_ptr() as *mut libc::c_void, bytes);
        }
    }
}

/// Machines whose memory is in several parts (NUMA nodes), each near to some of the cores.
#[cfg(target_os = "linux")]
mod nodes {
    use std::ffi::c_void;
    use std::ptr::null_mut;
    use std::sync::OnceLock;

    /// As many nodes as the kernel may have at most.
    type Mask = [libc::c_ulong; 1024 / libc::c_ulong::BITS as usize];

    const BITS: usize = 1024;
    const MPOL_DEFAULT: libc::c_int = 0;
    const MPOL_INTERLEAVE: libc::c_long = 3;
    const MPOL_F_MEMS_ALLOWED: libc::c_long = 4;

    /// Lets the pages of memory that all threads touch at random, and none has touched yet, lie on all nodes in turn: else they lie
    /// where the thread is that touched them first, and all threads wait for one node. Only advice; where the user has decided
    /// otherwise, as `numactl` does, that stands.
    pub fn spread(start: *mut c_void, bytes: usize) {
        static NODES: OnceLock<Option<Mask>> = OnceLock::new();
        if let Some(mask) = NODES.get_or_init(several) {
            interleave(start, bytes, mask);
        }
    }

    pub fn interleave(start: *mut c_void, bytes: usize, mask: &Mask) -> bool {
        // SAFETY: the kernel reads the mask, and decides where pages will lie that are not there yet.
        unsafe { libc::syscall(libc::SYS_mbind, start, bytes, MPOL_INTERLEAVE, mask.as_ptr(), BITS + 1, 0usize) == 0 }
    }

    /// The nodes that this process may use, if they are several and nobody has said how.
    fn several() -> Option<Mask> {
        (policy()? == MPOL_DEFAULT).then(allowed)?.filter(|mask| count(mask) > 1)
    }

    fn policy() -> Option<libc::c_int> {
        let mut mode: libc::c_int = 0;
        // SAFETY: the kernel writes one number.
        let told = unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut mode,
                null_mut::<c_void>(),
                0usize,
                null_mut::<c_void>(),
                0usize,
            )
        };
        (told == 0).then_some(mode)
    }

    pub fn allowed() -> Option<Mask> {
        let (mut mask, mode) = (Mask::default(), null_mut::<libc::c_int>());
        let at = mask.as_mut_ptr();
        // SAFETY: the kernel writes as many bits as the mask has.
        let told = unsafe {
            libc::syscall(libc::SYS_get_mempolicy, mode, at, BITS, null_mut::<c_void>(), MPOL_F_MEMS_ALLOWED)
        };
        (told == 0).then_some(mask)
    }

    pub fn count(mask: &Mask) -> u32 {
        mask.iter().map(|word| word.count_ones()).sum()
    }
}

/// Where there is no `mmap`: zeroed memory from the allocator, all of it at once; systems hand it out lazily.
#[cfg(not(unix))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::io;
    use std::ptr::NonNull;

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 64).expect("a region's size is a multiple of a huge page")
    }

    pub fn reserve(bytes: usize) -> io::Result<NonNull<u8>> {
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc_zeroed(layout(bytes)) }).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    pub fn commit(_: NonNull<u8>, _: usize, _: usize) -> io::Result<()> {
        Ok(())
    }

    pub fn decommit(_: NonNull<u8>, _: usize, _: usize) {}

    pub fn release(base: NonNull<u8>, bytes: usize) {
        // SAFETY: allocated by `reserve` with the same layout.
        unsafe { dealloc(base.as_ptr(), layout(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_in_place_and_is_zero() {
        let mut region = Region::reserve(1 << 30).unwrap();
        let base = region.base();
        region.commit(100).unwrap();
        // SAFETY: within what was committed.
        unsafe { *base.add(99) = 7 };
        region.commit(100 << 20).unwrap();
        assert_eq!(base, region.base());
        assert!(region.committed() >= 100 << 20);
        // SAFETY: within what was committed.
        unsafe {
            assert_eq!(*base.add(99), 7);
            assert_eq!(*base.add((100 << 20) - 1), 0);
        }
    }

    /// On a machine of one node, too, pages can be told to lie on all nodes that there are.
    #[test]
    #[cfg(target_os = "linux")]
    fn pages_lie_on_all_nodes() {
        let Some(mask) = nodes::allowed() else {
            return eprintln!("skipped: the system does not tell its nodes");
        };
        assert!(nodes::count(&mask) >= 1);
        let mut region = Region::reserve(64 << 20).unwrap();
        region.commit(64 << 20).unwrap();
        if !nodes::interleave(region.base().cast(), 64 << 20, &mask) {
            return eprintln!("skipped: the system does not let pages be placed");
        }
        for at in (0..64 << 20).step_by(1 << 12) {
            // SAFETY: within what was committed.
            unsafe {
                assert_eq!(*region.base().add(at), 0);
                *region.base().add(at) = 1;
            }
        }
    }
}
