//! Handing out an input line by line.
//!
//! A CSV reader asks for bytes and tells nothing of lines. Handed no more than the rest of a line
//! at a time, it never holds a byte of the line after the record that it has just read. So the
//! lines handed out tell where a record stands, how long it is, and whether the end of the file
//! came within it.

use std::io::{self, BufRead, BufReader, Read};

use crate::limits::{BUFFER_BYTES, RECORD_BYTES_MAX};

/// An input that is read a line at a time, and no further than a record may go.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// The byte handed out last; a line end if none was.
    last_byte: u8,
    /// The number of the line handed out last, 0 if none was.
    line: u64,
    /// Where the record began, 0 while only blank lines were handed out for it.
    record_line: u64,
    /// How much of the record was handed out.
    record_bytes: usize,
    is_record_too_large: bool,
    is_record_open: bool,
}

impl<R: Read> Lines<R> {
    /// Begins to read behind so many lines.
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

    /// Says that the record before has been read.
    pub(super) fn begin_record(&mut self) {
        self.record_line = 0;
        self.record_bytes = 0;
    }

    /// Returns the line on which the record begins, counted from 1.
    pub(super) fn record_line(&self) -> u64 {
        self.record_line
    }

    /// Returns the line that was handed out last.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns whether the record went on after [`RECORD_BYTES_MAX`].
    pub(super) fn is_record_too_large(&self) -> bool {
        self.is_record_too_large
    }

    /// Returns whether the record went on after the last line end of the file: inside quotation
    /// marks.
    pub(super) fn is_record_open(&self) -> bool {
        self.is_record_open
    }

    /// Hands out a line end for a last line that has none, then nothing.
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
        // The second half of `\r\n` may come alone; it is no line.
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

/// Passes over a line, and returns its length, or none at the end of the input.
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
            // The second half of `\r\n` may not have come yet.
            b'\r' => is_after_return = true,
            _ => {}
        }
    }
}

/// Reads as far as the end of the first line that is neither blank nor begins with `comment`, and returns that line.
/// What was read is in `head`, and never more than a record may have and a buffer.
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

/// Returns how many bytes there are to the end of the first line, which is included: `\n`, `\r\n`
/// or, as old programs for the Mac write it, `\r`.
fn line_bytes(bytes: &[u8]) -> usize {
    let through_line_feed = through(bytes, b'\n');
    let line = &bytes[..through_line_feed];
    let through_return = through(line, b'\r');
    let is_pair = line[through_return..] == *b"\n";
    if is_pair { through_line_feed } else { through_return }
}

/// Returns how many bytes there are to the first such byte, which is included, or to the end.
fn through(bytes: &[u8], byte: u8) -> usize {
    let mut rest = bytes;
    // A slice is searched faster than a loop here would do it, and never fails.
    rest.skip_until(byte).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_handed_out_one_by_one() {
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
    fn a_line_may_come_in_pieces() {
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
    fn a_record_ends_at_its_limit() {
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
