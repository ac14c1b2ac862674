//! Canonical JSON (RFC 8785) for the hashed shapes: written from left to right, and accepted only in that form.

use std::borrow::Cow;
use std::io::Write as _;

use data_encoding::HEXLOWER;

use super::{Hash, parse_decimal};
use crate::time::Instant;

#[cfg(test)]
mod tests;

/// The largest whole number: RFC 8785 has no exact integers beyond 2^53 − 1.
pub(crate) const INTEGER_MAX: u64 = (1 << 53) - 1;

pub(super) const HEX_DIGITS: usize = 2 * Hash::BYTES;

/// The encoding of each character below U+0020 (RFC 8785 §3.2.2.2).
const CONTROL_ESCAPES: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t", "\\n",
    "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015",
    "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes do not have {expected} at byte {offset}")]
pub struct Malformed {
    /// Where parsing stopped, in bytes.
    pub offset: usize,
    pub expected: &'static str,
}

/// Writes JSON from left to right. The caller writes members in the order of RFC 8785 §3.2.3.
#[derive(Default)]
pub(crate) struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { out: Vec::with_capacity(bytes) }
    }

    pub(super) fn raw(&mut self, json: &str) -> &mut Self {
        self.out.extend_from_slice(json.as_bytes());
        self
    }

    /// Writes the contents of a string, without quotes.
    pub(super) fn escaped(&mut self, text: &str) -> &mut Self {
        let mut rest = text.as_bytes();
        while let Some(at) = rest.iter().position(|byte| needs_escape(*byte)) {
            self.out.extend_from_slice(&rest[..at]);
            self.out.extend_from_slice(escape(rest[at]).unwrap_or_default().as_bytes());
            rest = &rest[at + 1..];
        }
        self.out.extend_from_slice(rest);
        self
    }

    /// Writes a string with its quotes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.raw("\"").escaped(text).raw("\"")
    }

    pub(super) fn text_or_null(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.text(text),
            None => self.raw("null"),
        }
    }

    pub(super) fn hex(&mut self, hash: &Hash) -> &mut Self {
        let mut digits = [0; HEX_DIGITS];
        HEXLOWER.encode_mut(hash.as_bytes(), &mut digits);
        self.out.extend_from_slice(&digits);
        self
    }

    pub(super) fn hash(&mut self, hash: &Hash) -> &mut Self {
        self.raw("\"").hex(hash).raw("\"")
    }

    pub(super) fn hex_text(&mut self, bytes: &[u8]) -> &mut Self {
        self.raw("\"").raw(&HEXLOWER.encode(bytes)).raw("\"")
    }

    /// Writes an integer of at most [`INTEGER_MAX`].
    pub(super) fn integer(&mut self, number: u64) -> &mut Self {
        debug_assert!(number <= INTEGER_MAX, "JSON has no exact integers beyond 2^53");
        write!(self.out, "{number}").expect("writing to a vector does not fail");
        self
    }

    pub(super) fn instant<S>(&mut self, at: Instant<S>) -> &mut Self {
        write!(self.out, "\"{at}\"").expect("writing to a vector does not fail");
        self
    }

    pub(super) fn boolean(&mut self, is_so: bool) -> &mut Self {
        self.raw(if is_so { "true" } else { "false" })
    }

    pub(super) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        self.raw("[");
        for (number, item) in items.into_iter().enumerate() {
            if number > 0 {
                self.raw(",");
            }
            write(self, item);
        }
        self.raw("]")
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }
}

const fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Returns the encoding of a character in a string, or `None` if it needs no escape.
fn escape(byte: u8) -> Option<&'static str> {
    match byte {
        b'"' => Some("\\\""),
        b'\\' => Some("\\\\"),
        _ => CONTROL_ESCAPES.get(usize::from(byte)).copied(),
    }
}

/// Parses JSON from left to right, in the form that [`Writer`] produces.
pub(crate) struct Scanner<'a> {
    rest: &'a str,
    bytes_total: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let rest =
            std::str::from_utf8(bytes).map_err(|error| Malformed { offset: error.valid_up_to(), expected: "UTF-8" })?;
        Ok(Self { rest, bytes_total: bytes.len() })
    }

    pub(super) const fn malformed(&self, expected: &'static str) -> Malformed {
        Malformed { offset: self.bytes_total - self.rest.len(), expected }
    }

    /// Returns what was parsed since `before` was the rest.
    pub(super) fn since(&self, before: &'a str) -> &'a str {
        &before[..before.len() - self.rest.len()]
    }

    pub(super) const fn rest(&self) -> &'a str {
        self.rest
    }

    /// Skips a literal if it is next. Returns whether it was.
    pub(super) fn skip(&mut self, literal: &str) -> bool {
        let rest = self.rest.strip_prefix(literal);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn expect(&mut self, literal: &'static str) -> Result<(), Malformed> {
        if self.skip(literal) { Ok(()) } else { Err(self.malformed(literal)) }
    }

    pub(super) fn end(&self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed("its end")) }
    }

    /// Parses a string through the closing quote. The opening one has been consumed.
    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let mut text = Cow::Borrowed("");
        loop {
            let stop = self.rest.bytes().position(needs_escape);
            let (plain, rest) = self.rest.split_at(stop.unwrap_or(self.rest.len()));
            // Adding to an empty `Cow` borrows.
            text += plain;
            self.rest = rest;
            if let Some(rest) = rest.strip_prefix('"') {
                self.rest = rest;
                return Ok(text);
            }
            text.to_mut().push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Result<char, Malformed> {
        for byte in 0..=b'\\' {
            if let Some(rest) = escape(byte).and_then(|escape| self.rest.strip_prefix(escape)) {
                self.rest = rest;
                return Ok(char::from(byte));
            }
        }
        Err(self.malformed("a closing quote or an escape of RFC 8785"))
    }

    pub(super) fn boolean(&mut self) -> Result<bool, Malformed> {
        if self.skip("true") {
            return Ok(true);
        }
        self.expect("false").map_err(|_| self.malformed("`true` or `false`")).map(|()| false)
    }

    /// Parses a hash and its closing quote.
    pub(super) fn hash(&mut self) -> Result<Hash, Malformed> {
        let digits = self.rest.get(..HEX_DIGITS);
        let Some(hash) = digits.and_then(Hash::from_hex) else {
            return Err(self.malformed("64 lower-case hexadecimal digits"));
        };
        self.rest = &self.rest[HEX_DIGITS..];
        self.expect("\"")?;
        Ok(hash)
    }

    /// Parses `N` bytes in hexadecimal digits, and the closing quote.
    pub(super) fn hex_text<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let digits = self.rest.get(..2 * N).map(str::as_bytes);
        let bytes = digits.and_then(|digits| HEXLOWER.decode(digits).ok()?.try_into().ok());
        let Some(bytes) = bytes else {
            return Err(self.malformed("bytes in lower-case hexadecimal digits"));
        };
        self.rest = &self.rest[2 * N..];
        self.expect("\"")?;
        Ok(bytes)
    }

    pub(super) fn integer(&mut self) -> Result<u64, Malformed> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        match parse_decimal(digits) {
            Some(number) if number <= INTEGER_MAX => {
                self.rest = rest;
                Ok(number)
            }
            Some(_) | None => Err(self.malformed("an integer from 0 to 2^53 - 1")),
        }
    }

    /// Parses an instant and its closing quote, in the form that entries have. API callers may use other forms.
    pub(super) fn instant<S>(&mut self) -> Result<Instant<S>, Malformed> {
        let wrong = self.malformed("a timestamp as entries write it");
        Instant::written(&self.text()?).ok_or(wrong)
    }

    /// Parses an array through its end, each item with `read`. The opening bracket has been consumed.
    pub(super) fn array<T, E: From<Malformed>>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let mut items = Vec::new();
        if self.skip("]") {
            return Ok(items);
        }
        loop {
            items.push(read(self)?);
            if !self.skip(",") {
                self.expect("]")?;
                return Ok(items);
            }
        }
    }
}
