//! Files that were packed with gzip (RFC 1952) or zstd (RFC 8878).

mod zstd_frames;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use crate::limits::{BUFFER_BYTES, UNPACKED_BYTES_FREE, UNPACKED_RATIO_MAX};
use zstd_frames::Frames;

/// A way of packing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Packing {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    /// Returns the word for it in `Content-Encoding`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Returns how files are packed with that extension, given without its dot.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Returns what is packed in the input, member after member.
///
/// Nothing of it is kept but the window that the packing asks for, so that a small input that unpacks into a large one
/// costs time only; it ends with an error where it is more than [`UNPACKED_RATIO_MAX`] times as large.
pub fn unpacked<'i>(packing: Packing, input: impl Read + 'i) -> impl Read + 'i {
    let packed_bytes = Rc::new(Cell::new(0));
    let counted = Counted { input, bytes: Rc::clone(&packed_bytes) };
    let members: Box<dyn Read + 'i> = match packing {
        Packing::Gzip => Box::new(MultiGzDecoder::new(counted)),
        Packing::Zstd => Box::new(Frames::new(BufReader::with_capacity(BUFFER_BYTES, counted))),
    };
    Unpacked { members, packed_bytes, bytes: 0 }
}

struct Unpacked<'i> {
    members: Box<dyn Read + 'i>,
    packed_bytes: Rc<Cell<u64>>,
    bytes: u64,
}

struct Counted<R> {
    input: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(out)?;
        self.bytes.set(self.bytes.get() + bytes as u64);
        Ok(bytes)
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.members.read(out)?;
        self.bytes += bytes as u64;
        if self.bytes > UNPACKED_BYTES_FREE + self.packed_bytes.get() * UNPACKED_RATIO_MAX {
            let detail = format!("it unpacks to more than {UNPACKED_RATIO_MAX} times its size");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, detail));
        }
        Ok(bytes)
    }
}
