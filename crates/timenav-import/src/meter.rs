//! Bounding what belongs together in a stream.
//!
//! The JSON reader keeps a record, a name or a depth of brackets in memory until it ends. The
//! meter ends the input when one of them goes on for too long.

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use crate::limits::BUFFER_BYTES;

/// Room for the comma and the blanks between two records.
const BLANKS_BYTES_MAX: usize = 4 * 1024;

/// Counts the bytes of what is being read.
pub(crate) struct Meter {
    bytes_max: usize,
    bytes_left: Cell<usize>,
    is_used_up: Cell<bool>,
    line_ends: Cell<u64>,
}

/// An input that ends with an error when the meter is used up.
pub(crate) struct Metered<'m, R> {
    input: BufReader<R>,
    meter: &'m Meter,
}

impl Meter {
    /// Returns a meter for records of at most so many bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        let bytes_left = Cell::new(bytes_max + BLANKS_BYTES_MAX);
        Self { bytes_max, bytes_left, is_used_up: Cell::new(false), line_ends: Cell::new(0) }
    }

    /// Returns the input under this meter.
    pub(crate) fn input<R: Read>(&self, input: R) -> Metered<'_, R> {
        Metered { input: BufReader::with_capacity(BUFFER_BYTES, input), meter: self }
    }

    /// Says that the next record begins.
    pub(crate) fn begin(&self) {
        self.bytes_left.set(self.bytes_max + BLANKS_BYTES_MAX);
    }

    /// Returns the line that is being read, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line_ends.get() + 1
    }

    /// Says that what was read is too long.
    pub(crate) fn use_up(&self) {
        self.is_used_up.set(true);
    }

    /// Returns whether something was too long.
    pub(crate) fn is_used_up(&self) -> bool {
        self.is_used_up.get()
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.meter.bytes_left.get();
        if left == 0 {
            self.meter.use_up();
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let room = out.len().min(left);
        let bytes = self.input.read(&mut out[..room])?;
        self.meter.bytes_left.set(left - bytes);
        let line_ends = out[..bytes].iter().filter(|byte| **byte == b'\n').map(|_| 1_u64).sum::<u64>();
        self.meter.line_ends.set(self.meter.line_ends.get() + line_ends);
        Ok(bytes)
    }
}
