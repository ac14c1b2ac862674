//! Bounding what belongs together in a stream.
//!
//! The JSON reader keeps a feature, a name or a depth of brackets in memory until it ends. The
//! meter ends the input when one of them goes on for too long.

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use crate::limits::{BUFFER_BYTES, FEATURE_BYTES_MAX};

/// Room for the comma and the blanks between two features.
const BLANKS_BYTES_MAX: usize = 4 * 1024;

/// Counts the bytes of what is being read.
#[derive(Default)]
pub(super) struct Meter {
    bytes_left: Cell<usize>,
    is_used_up: Cell<bool>,
}

/// An input that ends with an error when the meter is used up.
pub(super) struct Metered<'m, R> {
    input: BufReader<R>,
    meter: &'m Meter,
}

impl Meter {
    /// Returns the input under this meter.
    pub(super) fn input<R: Read>(&self, input: R) -> Metered<'_, R> {
        Metered { input: BufReader::with_capacity(BUFFER_BYTES, input), meter: self }
    }

    /// Says that the next feature or member begins.
    pub(super) fn begin(&self) {
        self.bytes_left.set(FEATURE_BYTES_MAX + BLANKS_BYTES_MAX);
    }

    /// Says that what was read is too long.
    pub(super) fn use_up(&self) {
        self.is_used_up.set(true);
    }

    /// Returns whether something was too long.
    pub(super) fn is_used_up(&self) -> bool {
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
        Ok(bytes)
    }
}
