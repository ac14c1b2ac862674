//! The bytes of an entry, and the hash that stands in them for its payload.

use std::borrow::Cow;
use std::fmt;
use std::io::Write as _;

use data_encoding::HEXLOWER;

use super::{Hash, parse_decimal, sha256};

#[cfg(test)]
mod tests;

/// The version that [`Leaf::encode`] writes, as `v`.
pub const LEAF_VERSION: u64 = 1;

/// The largest `seq`: beyond 2^53 − 1, RFC 8785 has no exact integers.
pub const SEQ_MAX: u64 = (1 << 53) - 1;

/// An entry with every text empty and without its payload hash and `seq`.
const BLANK: &str = r#"{"action":"","actor":"","clock_time":"","payload_hash":"","recorded_at":"","seq":,"subject":"","timeline_id":"","v":1}"#;

/// Digits in a hash.
const HEX_DIGITS: usize = 2 * Hash::BYTES;

/// Digits in [`SEQ_MAX`].
const SEQ_DIGITS_MAX: usize = 16;

/// How RFC 8785 §3.2.2.2 writes each character below U+0020.
const CONTROL_ESCAPES: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t", "\\n",
    "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015",
    "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f",
];

/// An entry to be written. The hash of its bytes is a leaf of the timeline's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// The timeline whose ledger this is.
    pub timeline_id: &'a str,
    /// The position in that ledger, counted from 0; at most [`SEQ_MAX`].
    pub seq: u64,
    /// Host time of the recording, as a timestamp.
    pub recorded_at: &'a str,
    /// What the timeline's clock showed then, as a timestamp.
    pub clock_time: &'a str,
    /// Who did it.
    pub actor: &'a str,
    /// What was done.
    pub action: &'a str,
    /// What it was done to.
    pub subject: &'a str,
    /// What [`payload_hash`] returned for the payload.
    pub payload_hash: Hash,
}

/// An entry that was read. Borrows from the bytes it was read from, except texts with escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafRecord<'a> {
    /// The timeline whose ledger this is.
    pub timeline_id: Cow<'a, str>,
    /// The position in that ledger, counted from 0.
    pub seq: u64,
    /// Host time of the recording, as a timestamp.
    pub recorded_at: Cow<'a, str>,
    /// What the timeline's clock showed then, as a timestamp.
    pub clock_time: Cow<'a, str>,
    /// Who did it.
    pub actor: Cow<'a, str>,
    /// What was done.
    pub action: Cow<'a, str>,
    /// What it was done to.
    pub subject: Cow<'a, str>,
    /// The hash that binds the payload.
    pub payload_hash: Hash,
}

/// Why bytes are not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeafError {
    /// The bytes say that they are of a version that this code does not know.
    #[error("the entry has format version {v}, and only {LEAF_VERSION} is known")]
    UnknownFormat {
        /// The version they claim.
        v: u64,
    },
    /// The bytes are not what [`Leaf::encode`] writes.
    #[error("the entry does not have {expected} at byte {offset}")]
    Malformed {
        /// Where reading stopped.
        offset: usize,
        /// What should stand there.
        expected: &'static str,
    },
}

impl Leaf<'_> {
    /// Returns the entry's bytes: RFC 8785 JSON with sorted keys. Allocates once, unless texts
    /// need escapes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        debug_assert!(self.seq <= SEQ_MAX, "no ledger has 2^53 entries");
        let texts = [self.action, self.actor, self.clock_time, self.recorded_at, self.subject, self.timeline_id];
        let texts_bytes: usize = texts.iter().map(|text| text.len()).sum();
        let mut out = Vec::with_capacity(BLANK.len() + HEX_DIGITS + SEQ_DIGITS_MAX + texts_bytes);
        push_member(&mut out, "{\"action\":\"", self.action);
        push_member(&mut out, "\",\"actor\":\"", self.actor);
        push_member(&mut out, "\",\"clock_time\":\"", self.clock_time);
        out.extend_from_slice(b"\",\"payload_hash\":\"");
        push_hex(&mut out, &self.payload_hash);
        push_member(&mut out, "\",\"recorded_at\":\"", self.recorded_at);
        write!(out, "\",\"seq\":{}", self.seq).expect("a vector takes every byte");
        push_member(&mut out, ",\"subject\":\"", self.subject);
        push_member(&mut out, "\",\"timeline_id\":\"", self.timeline_id);
        out.extend_from_slice(b"\",\"v\":1}");
        out
    }
}

fn push_member(out: &mut Vec<u8>, before: &str, text: &str) {
    out.extend_from_slice(before.as_bytes());
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| needs_escape(*byte)) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(escape(rest[at]).unwrap_or_default().as_bytes());
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn push_hex(out: &mut Vec<u8>, hash: &Hash) {
    let mut digits = [0; HEX_DIGITS];
    HEXLOWER.encode_mut(hash.as_bytes(), &mut digits);
    out.extend_from_slice(&digits);
}

const fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Returns how that character stands in a text, or `None` if it stands there as it is.
fn escape(byte: u8) -> Option<&'static str> {
    match byte {
        b'"' => Some("\\\""),
        b'\\' => Some("\\\\"),
        _ => CONTROL_ESCAPES.get(usize::from(byte)).copied(),
    }
}

impl<'a> LeafRecord<'a> {
    /// Reads an entry. Takes exactly the bytes that [`Leaf::encode`] writes, so that an entry
    /// has one spelling only.
    ///
    /// # Errors
    /// The bytes are of another version, or no entry.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, LeafError> {
        if let Some(v) = claimed_version(bytes)
            && v != LEAF_VERSION
        {
            return Err(LeafError::UnknownFormat { v });
        }
        let mut scanner = Scanner::new(bytes)?;
        scanner.expect("{\"action\":\"")?;
        let action = scanner.text()?;
        scanner.expect(",\"actor\":\"")?;
        let actor = scanner.text()?;
        scanner.expect(",\"clock_time\":\"")?;
        let clock_time = scanner.text()?;
        scanner.expect(",\"payload_hash\":\"")?;
        let payload_hash = scanner.hash()?;
        scanner.expect(",\"recorded_at\":\"")?;
        let recorded_at = scanner.text()?;
        scanner.expect(",\"seq\":")?;
        let seq = scanner.seq()?;
        scanner.expect(",\"subject\":\"")?;
        let subject = scanner.text()?;
        scanner.expect(",\"timeline_id\":\"")?;
        let timeline_id = scanner.text()?;
        scanner.expect(",\"v\":1}")?;
        scanner.end()?;
        Ok(Self { timeline_id, seq, recorded_at, clock_time, actor, action, subject, payload_hash })
    }

    /// Returns the entry as it would be written.
    #[must_use]
    pub fn as_leaf(&self) -> Leaf<'_> {
        Leaf {
            timeline_id: &self.timeline_id,
            seq: self.seq,
            recorded_at: &self.recorded_at,
            clock_time: &self.clock_time,
            actor: &self.actor,
            action: &self.action,
            subject: &self.subject,
            payload_hash: self.payload_hash,
        }
    }

    /// Returns the entry, free of the bytes it was read from.
    #[must_use]
    pub fn into_owned(self) -> LeafRecord<'static> {
        LeafRecord {
            timeline_id: self.timeline_id.into_owned().into(),
            seq: self.seq,
            recorded_at: self.recorded_at.into_owned().into(),
            clock_time: self.clock_time.into_owned().into(),
            actor: self.actor.into_owned().into(),
            action: self.action.into_owned().into(),
            subject: self.subject.into_owned().into(),
            payload_hash: self.payload_hash,
        }
    }
}

/// Returns the version at the end of the bytes. `v` is the last key in every version of the
/// format, so that a reader of one version can tell a later one from damage.
fn claimed_version(bytes: &[u8]) -> Option<u64> {
    let inside = bytes.strip_suffix(b"}")?;
    let digits = inside.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, number) = inside.split_at(inside.len() - digits);
    let number = std::str::from_utf8(number).ok()?;
    if number.is_empty() || !before.ends_with(b",\"v\":") {
        return None;
    }
    parse_decimal(number)
}

/// Reads an entry from left to right.
struct Scanner<'a> {
    rest: &'a str,
    bytes_total: usize,
}

impl<'a> Scanner<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, LeafError> {
        let rest = std::str::from_utf8(bytes)
            .map_err(|error| LeafError::Malformed { offset: error.valid_up_to(), expected: "UTF-8" })?;
        Ok(Self { rest, bytes_total: bytes.len() })
    }

    fn malformed(&self, expected: &'static str) -> LeafError {
        LeafError::Malformed { offset: self.bytes_total - self.rest.len(), expected }
    }

    fn expect(&mut self, literal: &'static str) -> Result<(), LeafError> {
        match self.rest.strip_prefix(literal) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.malformed(literal)),
        }
    }

    fn end(&self) -> Result<(), LeafError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed("its end")) }
    }

    /// Reads up to a closing quote, and over it.
    fn text(&mut self) -> Result<Cow<'a, str>, LeafError> {
        let mut text = Cow::Borrowed("");
        loop {
            let stop = self.rest.bytes().position(needs_escape);
            let (plain, rest) = self.rest.split_at(stop.unwrap_or(self.rest.len()));
            // Adding to an empty text borrows.
            text += plain;
            self.rest = rest;
            if let Some(rest) = rest.strip_prefix('"') {
                self.rest = rest;
                return Ok(text);
            }
            text.to_mut().push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Result<char, LeafError> {
        for byte in 0..=b'\\' {
            if let Some(rest) = escape(byte).and_then(|escape| self.rest.strip_prefix(escape)) {
                self.rest = rest;
                return Ok(char::from(byte));
            }
        }
        Err(self.malformed("a closing quote or an escape of RFC 8785"))
    }

    fn hash(&mut self) -> Result<Hash, LeafError> {
        let digits = self.rest.get(..HEX_DIGITS);
        let Some(hash) = digits.and_then(Hash::from_hex) else {
            return Err(self.malformed("64 lower-case hexadecimal digits"));
        };
        self.rest = &self.rest[HEX_DIGITS..];
        self.expect("\"")?;
        Ok(hash)
    }

    fn seq(&mut self) -> Result<u64, LeafError> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        match parse_decimal(digits) {
            Some(seq) if seq <= SEQ_MAX => {
                self.rest = rest;
                Ok(seq)
            }
            Some(_) | None => Err(self.malformed("an integer from 0 to 2^53 - 1")),
        }
    }
}

/// Sixteen random bytes, kept beside a payload and erased with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt([u8; 16]);

impl Salt {
    /// Length in bytes.
    pub const BYTES: usize = 16;

    /// Returns the salt with those bytes. They must be fresh from a secure random source.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl fmt::Debug for Salt {
    // A salt in a log would outlive its erasure, and let an erased payload be guessed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(..)")
    }
}

/// Returns SHA-256(salt ‖ payload): what an entry says of its payload.
///
/// Without the salt, the hash of an erased payload does not help to guess it.
#[must_use]
pub fn payload_hash(salt: &Salt, payload: &[u8]) -> Hash {
    sha256(&[salt.as_bytes(), payload])
}
