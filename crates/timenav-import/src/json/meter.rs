//! Bounds the memory of the streaming JSON reader.
//!
//! The reader buffers a record, a name or nested brackets until they end. The meter ends the input with an error if one
//! of them is too long.

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use crate::limits::BUFFER_BYTES;

/// Allowance for the comma and blanks between two records.
const BLANKS_BYTES_MAX: usize = 4 * 1024;

pub(crate) struct Meter {
    bytes_max: usize,
    bytes_left: Cell<usize>,
    is_used_up: Cell<bool>,
    line_ends: Cell<u64>,
}

/// An input that fails when the meter's budget is used up.
pub(crate) struct Metered<'m, R> {
    input: BufReader<R>,
    meter: &'m Meter,
}

impl Meter {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let bytes_left = Cell::new(bytes_max + BLANKS_BYTES_MAX);
        Self { bytes_max, bytes_left, is_used_up: Cell::new(false), line_ends: Cell::new(0) }
    }

    pub(crate) fn input<R: Read>(&self, input: R) -> Metered<'_, R> {
        Metered { input: BufReader::with_capacity(BUFFER_BYTES, input), meter: self }
    }

    /// Restores the budget for the next record.
    pub(crate) fn begin(&self) {
        self.bytes_left.set(self.bytes_max + BLANKS_BYTES_MAX);
    }

    /// The current line, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line_ends.get() + 1
    }

    /// Marks the input as too long.
    pub(crate) fn use_up(&self) {
        self.is_used_up.set(true);
    }

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
