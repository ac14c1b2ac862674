//! The clock page in the memory of the process that writes it.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::sync::atomic::AtomicU64;

use crate::page::PAGE_BYTES;

/// How many words a page has.
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
        // SAFETY: a new mapping, at an address that the kernel chooses, that nothing else in this process knows.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), PAGE_BYTES, protection, flags, file.as_raw_fd(), 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping is a page long, aligned to one, never unmapped, and its bytes are valid words whatever
        // they are. All who write to it do so by atomic words.
        Ok(Self { words: unsafe { &*at.cast::<[AtomicU64; WORDS]>() } })
    }

    /// Returns the words.
    pub(crate) const fn words(self) -> &'static [AtomicU64] {
        self.words
    }
}
