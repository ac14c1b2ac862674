use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use timenav_import::Format;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Records {
    /// At the end of a line.
    Lines,
    /// At the end of a line outside quotation marks.
    Rows,
    /// Only the service knows. A file that ends early is reported as malformed, and the records before are counted.
    Unknown,
}

impl Records {
    pub(super) const fn of(format: Format, is_packed: bool) -> Self {
        match format {
            Format::Ndjson if !is_packed => Self::Lines,
            Format::Csv if !is_packed => Self::Rows,
            _ => Self::Unknown,
        }
    }
}

/// A file that appears to end on an interrupt. Records are never cut: half a row might look complete.
pub(super) struct Cut<R> {
    file: R,
    records: Records,
    interrupted: Arc<AtomicBool>,
    is_in_quotes: bool,
    /// Whether the data read so far ends with a complete record.
    is_whole: bool,
}

impl<R: Read> Cut<R> {
    pub(super) const fn new(file: R, records: Records, interrupted: Arc<AtomicBool>) -> Self {
        Self { file, records, interrupted, is_in_quotes: false, is_whole: true }
    }
}

impl<R: Read> Read for Cut<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.interrupted.load(Ordering::Relaxed) && self.is_whole {
            return Ok(0);
        }
        let length = self.file.read(out)?;
        if self.records == Records::Unknown {
            return Ok(length);
        }
        // The interrupt may have come while reading blocked.
        let is_ending = self.interrupted.load(Ordering::Relaxed);
        for (index, byte) in out[..length].iter().enumerate() {
            self.is_in_quotes ^= *byte == b'"' && self.records == Records::Rows;
            self.is_whole = *byte == b'\n' && !self.is_in_quotes;
            if is_ending && self.is_whole {
                return Ok(index + 1);
            }
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, records: Records, after: usize) -> String {
        let interrupted = Arc::new(AtomicBool::new(false));
        let mut file = Cut::new(text.as_bytes(), records, Arc::clone(&interrupted));
        let (mut begin, mut rest) = (vec![0; after], String::new());
        file.read_exact(&mut begin).unwrap();
        interrupted.store(true, Ordering::Relaxed);
        file.read_to_string(&mut rest).unwrap();
        String::from_utf8(begin).unwrap() + &rest
    }

    #[test]
    fn import_is_cut_after_a_complete_record() {
        let lines = "{\"a\":1}\n{\"a\":\"\\\"\"}\n{\"a\":3}\n";
        for (after, expected) in [(0, 0), (1, 8), (8, 8), (9, 19), (19, 19), (20, lines.len())] {
            assert_eq!(cut(lines, Records::Lines, after), lines[..expected], "{after}");
        }
        let rows = "time,name\n1,\"a \"\"b\n c\"\n2,d\n";
        for (after, expected) in [(3, 10), (12, 23), (17, 23), (20, 23), (24, rows.len())] {
            assert_eq!(cut(rows, Records::Rows, after), rows[..expected], "{after}");
        }
        assert_eq!(cut("{\"type\":", Records::Unknown, 3), "{\"t");
    }
}
