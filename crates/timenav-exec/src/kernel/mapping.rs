//! The clock page in the memory of the process that writes it.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::sync::atomic::AtomicU64;

use crate::page::PAGE_BYTES;

const WORDS: usize = PAGE_BYTES / 8;

/// A page of shared memory, mapped until the process ends.
#[derive(Clone, Copy)]
pub(crate) struct SharedWords {
    words: &'static [AtomicU64; WORDS],
}

impl SharedWords {
    /// Maps the first page of a file for reading and writing.
    pub(crate) fn map(file: BorrowedFd<'_>) -> io::Result<Self> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address chosen by the kernel, unknown to anything else in this process.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), PAGE_BYTES, protection, flags, file.as_raw_fd(), 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping is one page long, page-aligned, and never unmapped, and any bytes are valid words. All
        // writers use atomic words.
        Ok(Self { words: unsafe { &*at.cast::<[AtomicU64; WORDS]>() } })
    }

    pub(crate) const fn words(self) -> &'static [AtomicU64] {
        self.words
    }
}
