//! The file of a backup: a tar of the database, the checkpoints, the keys if they were asked for, and a signed
//! manifest.
//!
//! A tar, so that a backup can be taken apart where there is no timenav. The manifest comes last, when the digests of
//! the others are known; a file without one was cut off.

mod contents;
mod manifest;
mod packing;

use std::io::{self, Read};

use aws_lc_rs::digest::{Context, SHA256};
use data_encoding::HEXLOWER;

pub(crate) use contents::Contents;
pub(crate) use manifest::Manifest;
pub(crate) use packing::{Source, pack};

use crate::data_folder::{ADMIN_KEY_FILE, CHECKPOINTS_FILE, DATABASE_FILE, NEXT_SIGNING_KEY_FILE, SIGNING_KEY_FILE};

/// The member that says what the others are.
const MANIFEST_NAME: &str = "manifest";
/// Members of every backup.
pub(crate) const PUBLIC_NAMES: [&str; 2] = [DATABASE_FILE, CHECKPOINTS_FILE];
/// Members of a backup with keys.
pub(crate) const KEY_NAMES: [&str; 3] = [SIGNING_KEY_FILE, NEXT_SIGNING_KEY_FILE, ADMIN_KEY_FILE];
/// Most bytes of a key's file.
const KEY_BYTES_MAX: u64 = 64 << 10;

/// Takes the digest of what is read through it.
struct Digested<R> {
    inner: R,
    context: Context,
    bytes: u64,
}

impl<R: Read> Digested<R> {
    fn new(inner: R) -> Self {
        Self { inner, context: Context::new(&SHA256), bytes: 0 }
    }

    /// Returns how many bytes there were, and their SHA-256 in hexadecimal digits.
    fn finish(self) -> (u64, String) {
        (self.bytes, HEXLOWER.encode(self.context.finish().as_ref()))
    }
}

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.context.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
