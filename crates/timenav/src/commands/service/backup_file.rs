//! A tar of the database, the checkpoints, optionally the keys, and a signed manifest. It can be unpacked without
//! timenav. The manifest comes last because it has the digests of the other members; a file without one is truncated.

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

const MANIFEST_NAME: &str = "manifest";
pub(crate) const PUBLIC_NAMES: [&str; 2] = [DATABASE_FILE, CHECKPOINTS_FILE];
pub(crate) const KEY_NAMES: [&str; 3] = [SIGNING_KEY_FILE, NEXT_SIGNING_KEY_FILE, ADMIN_KEY_FILE];
const KEY_BYTES_MAX: u64 = 64 << 10;

/// Hashes everything that is read through it.
struct Digested<R> {
    inner: R,
    context: Context,
    bytes: u64,
}

impl<R: Read> Digested<R> {
    fn new(inner: R) -> Self {
        Self { inner, context: Context::new(&SHA256), bytes: 0 }
    }

    /// Returns the number of bytes and their SHA-256 in hexadecimal.
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
