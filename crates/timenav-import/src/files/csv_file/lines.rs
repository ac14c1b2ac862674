//! Reads an input line by line.
//!
//! A CSV reader requests bytes and does not report lines. If it is given at most the rest of a line at a time, it never
//! buffers bytes after the current record. The lines given to it therefore show where a record starts, how long it is,
//! and whether the file ended within it.

use std::io::{self, BufRead, BufReader, Read};

use crate::limits::{BUFFER_BYTES, RECORD_BYTES_MAX};

/// An input that is read one line at a time, up to the limit of a record.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// The last byte returned; initially a line end.
    last_byte: u8,
    /// The number of the last line returned; initially 0.
    line: u64,
    /// The first line of the record; 0 while there were only blank lines.
    record_line: u64,
    /// Bytes of the record returned so far.
    record_bytes: usize,
    is_record_too_large: bool,
    is_record_open: bool,
}

impl<R: Read> Lines<R> {
    /// Starts reading after that many lines.
    pub(super) fn new(input: R, line: u64) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            last_byte: b'\n',
            line,
            record_line: 0,
            record_bytes: 0,
            is_record_too_large: false,
            is_record_open: false,
        }
    }

    pub(super) fn begin_record(&mut self) {
        self.record_line = 0;
        self.record_bytes = 0;
    }

    pub(super) fn record_line(&self) -> u64 {
        self.record_line
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn is_record_too_large(&self) -> bool {
        self.is_record_too_large
    }

    /// Returns whether the file ended within the record, inside quotation marks.
    pub(super) fn is_record_open(&self) -> bool {
        self.is_record_open
    }

    /// Returns a line end if the last line has none, then nothing.
    fn end(&mut self, out: &mut [u8]) -> usize {
        if is_line_end(self.last_byte) || out.is_empty() {
            self.is_record_open = self.record_line != 0;
            return 0;
        }
        out[0] = b'\n';
        self.last_byte = b'\n';
        1
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = loop {
            match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if available.is_empty() {
            return Ok(self.end(out));
        }
        let available = &available[..available.len().min(out.len())];
        let bytes = line_bytes(available);
        let chunk = &available[..bytes];
        let text_bytes = chunk.iter().rposition(|byte| !is_line_end(*byte)).map_or(0, |last| last + 1);
        // The second half of `\r\n` may come separately; it is not a line.
        let is_new_line = is_line_end(self.last_byte) && !(self.last_byte == b'\r' && chunk == b"\n");
        self.line += u64::from(is_new_line);
        if self.record_line == 0 && text_bytes > 0 {
            self.record_line = self.line;
        }
        if self.record_line != 0 {
            if self.record_bytes + text_bytes > RECORD_BYTES_MAX {
                self.is_record_too_large = true;
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            self.record_bytes += bytes;
        }
        out[..bytes].copy_from_slice(chunk);
        self.last_byte = chunk.last().copied().unwrap_or(b'\n');
        self.input.consume(bytes);
        Ok(bytes)
    }
}

/// Skips a line, and returns its length; `None` at the end of the input.
pub(super) fn skip_line(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut bytes = 0;
    let mut is_after_return = false;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if is_after_return {
            let is_pair = available.first() == Some(&b'\n');
            input.consume(usize::from(is_pair));
            return Ok(Some(bytes));
        }
        if available.is_empty() {
            return Ok((bytes > 0).then_some(bytes));
        }
        let taken = line_bytes(available);
        let last = available[taken - 1];
        input.consume(taken);
        bytes += taken as u64;
        match last {
            b'\n' => return Ok(Some(bytes)),
            // The second half of `\r\n` may follow.
            b'\r' => is_after_return = true,
            _ => {}
        }
    }
}

/// Reads through the first line that is neither blank nor starts with `comment`, and returns that line. All bytes read
/// are in `head`, at most the limit of a record plus a buffer.
pub(super) fn first_line<'h>(input: &mut impl BufRead, comment: &str, head: &'h mut Vec<u8>) -> io::Result<&'h [u8]> {
    let mut start = 0;
    while head.len() <= RECORD_BYTES_MAX {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            break;
        }
        let taken = line_bytes(available);
        let is_ended = is_line_end(available[taken - 1]);
        head.extend_from_slice(&available[..taken]);
        input.consume(taken);
        if is_ended {
            let line = head[start..].trim_ascii();
            let unquoted = line.strip_prefix(b"\"").unwrap_or(line);
            let is_comment = !comment.is_empty() && unquoted.starts_with(comment.as_bytes());
            if !line.is_empty() && !is_comment {
                break;
            }
            start = head.len();
        }
    }
    Ok(&head[start.min(head.len())..])
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns the length of the first line including its end: `\n`, `\r\n`, or the `\r` of old Mac programs.
fn line_bytes(bytes: &[u8]) -> usize {
    let through_line_feed = through(bytes, b'\n');
    let line = &bytes[..through_line_feed];
    let through_return = through(line, b'\r');
    let is_pair = line[through_return..] == *b"\n";
    if is_pair { through_line_feed } else { through_return }
}

/// Returns the number of bytes through the first such byte, or all.
fn through(bytes: &[u8], byte: u8) -> usize {
    let mut rest = bytes;
    // The implementation for slices is faster than a loop, and cannot fail.
    rest.skip_until(byte).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_returned_one_at_a_time() {
        let check = |text: &str, expected: &[(&str, u64)]| {
            let mut lines = Lines::new(text.as_bytes(), 0);
            let mut out = [0; 64];
            for (chunk, line) in expected {
                let bytes = lines.read(&mut out).unwrap();
                assert_eq!((str::from_utf8(&out[..bytes]).unwrap(), lines.line()), (*chunk, *line));
            }
            assert_eq!(lines.read(&mut out).unwrap(), 0, "{text:?}");
        };
        check("", &[]);
        check("a", &[("a", 1), ("\n", 1)]);
        check("a\n", &[("a\n", 1)]);
        check("a\nb", &[("a\n", 1), ("b", 2), ("\n", 2)]);
        check("a\r\n\r\nb\r\n", &[("a\r\n", 1), ("\r\n", 2), ("b\r\n", 3)]);
        check("a\rb\r\rc\r", &[("a\r", 1), ("b\r", 2), ("\r", 3), ("c\r", 4)]);
        check("\n\n\n", &[("\n", 1), ("\n", 2), ("\n", 3)]);
    }

    #[test]
    fn long_line_is_returned_in_pieces() {
        let mut lines = Lines::new(&b"abc\r\nd\r\n"[..], 0);
        let mut out = [0; 4];
        let mut seen = Vec::new();
        loop {
            let bytes = lines.read(&mut out).unwrap();
            if bytes == 0 {
                break;
            }
            seen.push((String::from_utf8_lossy(&out[..bytes]).into_owned(), lines.line()));
        }
        let expected = [("abc\r", 1), ("\n", 1), ("d\r\n", 2)];
        assert_eq!(seen, expected.map(|(chunk, line)| (chunk.to_owned(), line)));
    }

    #[test]
    fn record_size_is_limited() {
        let check = |text_bytes: usize, too_large: bool| {
            let mut text = vec![b'\n'; 3];
            text.resize(3 + text_bytes, b'x');
            text.push(b'\n');
            let mut lines = Lines::new(text.as_slice(), 0);
            let outcome = io::copy(&mut lines, &mut io::sink());
            assert_eq!(outcome.is_err(), too_large);
            assert_eq!(lines.is_record_too_large(), too_large);
            assert_eq!(lines.record_line(), 4);
        };
        check(RECORD_BYTES_MAX, false);
        check(RECORD_BYTES_MAX + 1, true);
    }
}
