//! Unfolding of lines (RFC 5545 §3.1).

use std::io::{BufRead, BufReader, Read};

use crate::limits::{BUFFER_BYTES, RECORD_BYTES_MAX};
use crate::{ImportError, RecordError};

pub(super) struct Line {
    /// The number of its first line, from 1.
    pub(super) number: u64,
    /// The text without its line end.
    pub(super) text: Result<String, RecordError>,
}

pub(super) struct Lines<R> {
    input: BufReader<R>,
    next: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(BUFFER_BYTES, input), next: 1 }
    }

    /// Returns the next line that is not blank.
    pub(super) fn next_line(&mut self) -> Result<Option<Line>, ImportError> {
        loop {
            let number = self.next;
            let mut bytes = Vec::new();
            let mut is_too_long = false;
            if !self.physical_line(&mut bytes)? {
                return Ok(None);
            }
            while self.is_folded()? {
                let mut more = Vec::new();
                self.physical_line(&mut more)?;
                // A line that is too long is read to its end, but not kept.
                is_too_long |= bytes.len() + more.len() > RECORD_BYTES_MAX + 1;
                if !is_too_long {
                    bytes.extend_from_slice(&more[1..]);
                }
            }
            if is_too_long || bytes.len() > RECORD_BYTES_MAX {
                return Ok(Some(Line { number, text: Err(too_long()) }));
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(Line { number, text: text(bytes) }));
            }
        }
    }

    /// Reads a line without its line end, and returns whether there was one.
    fn physical_line(&mut self, line: &mut Vec<u8>) -> Result<bool, ImportError> {
        let number = self.next;
        let at = |source| ImportError::Io { line: number, source };
        // Fits the longest line and its end, `\r\n`.
        let bytes_max = u64::try_from(RECORD_BYTES_MAX + 2).unwrap_or(u64::MAX);
        let bytes = self.input.by_ref().take(bytes_max).read_until(b'\n', line).map_err(at)?;
        if bytes == 0 {
            return Ok(false);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else {
            // At the end of the file there is nothing to skip.
            self.input.skip_until(b'\n').map_err(at)?;
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        self.next += 1;
        Ok(true)
    }

    /// Returns whether the next line continues the previous one.
    fn is_folded(&mut self) -> Result<bool, ImportError> {
        let number = self.next;
        loop {
            match self.input.fill_buf() {
                Ok(available) => return Ok(matches!(available.first(), Some(b' ' | b'\t'))),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(ImportError::Io { line: number, source }),
            }
        }
    }
}

fn too_long() -> RecordError {
    RecordError::whole(RecordError::TOO_LARGE, format!("a line can have at most {RECORD_BYTES_MAX} bytes"))
}

/// Decodes a line. Only possible after unfolding, because lines may be folded within a character.
fn text(bytes: Vec<u8>) -> Result<String, RecordError> {
    String::from_utf8(bytes).map_err(|_| super::malformed("a line is not UTF-8; save the file in that encoding"))
}
