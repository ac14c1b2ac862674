//! Files compressed with gzip (RFC 1952).

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use timenav_core::named;

use crate::limits::{UNPACKED_BYTES_FREE, UNPACKED_RATIO_MAX};

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Packing {
        Gzip = "gzip",
    }
}

impl Packing {
    /// The packing for a file extension without its dot.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            _ => None,
        }
    }
}

/// Decompresses all members of the input.
///
/// Memory use is constant. The reader fails if the output is more than [`UNPACKED_RATIO_MAX`] times as large as the
/// input.
pub fn unpacked<'i>(packing: Packing, input: impl Read + 'i) -> impl Read + 'i {
    let packed_bytes = Rc::new(Cell::new(0));
    let counted = Counted { input, bytes: Rc::clone(&packed_bytes) };
    let members = match packing {
        Packing::Gzip => MultiGzDecoder::new(counted),
    };
    Unpacked { members, packed_bytes, bytes: 0 }
}

struct Unpacked<R> {
    members: MultiGzDecoder<Counted<R>>,
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

impl<R: Read> Read for Unpacked<R> {
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
