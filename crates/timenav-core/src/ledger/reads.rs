//! Entries of reads. One entry records the reads of some interval.
//!
//! Its payload hash is the root of a tree over the reads, each with its own salt. A single read can therefore be
//! disclosed or erased without the others.

use std::borrow::Cow;

use super::canonical::{Malformed, Scanner, Writer};
use super::{Hash, Salt, sha256};
use crate::time::{Instant, Virtual, Wall};

mod draft;
mod entry;
mod remaining;
mod proof;

#[cfg(test)]
mod tests;

pub use draft::{ReadsDraft, ReadsFull};
pub use entry::{ReadsEntry, rebuilt_leaf};
pub use proof::{ReadProof, ReadProofError};
pub use remaining::{ReadsError, RemainingReads, reads_in};

/// The action of an entry of reads. Its actor, subject and key are empty, because each read has its own.
pub const READS_ACTION: &str = "reads";

pub const READS_MAX: usize = 512;

/// Longest original payload of an entry of reads, in bytes.
pub const READS_PAYLOAD_BYTES_MAX: usize = 64 * 1024;

/// Longest payload after some reads were erased, in bytes: each remaining read is stored with its salt.
pub const READS_OPENED_BYTES_MAX: usize = READS_PAYLOAD_BYTES_MAX + READS_MAX * OPENED_BYTES;

/// Parameters of a read up to this length are kept completely, longer ones are cut to it, in bytes.
pub const READ_PARAMETERS_BYTES_MAX: usize = 256;

/// The bytes around a read after others were erased: `{"read":`, `,"salt":"`, 32 digits and `"}`.
const OPENED_BYTES: usize = 8 + 9 + 2 * Salt::BYTES + 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<'a> {
    /// The operation, such as `clock` or `monitor_events`.
    pub action: Cow<'a, str>,
    pub clock_time: Instant<Virtual>,
    pub host_time: Instant<Wall>,
    /// The id of the API key or session.
    pub key: Cow<'a, str>,
    pub parameters: ReadParameters<'a>,
    pub user: Cow<'a, str>,
}

/// The parameters of a read, as kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadParameters<'a> {
    /// All of them: at most [`READ_PARAMETERS_BYTES_MAX`] bytes.
    Whole(Cow<'a, str>),
    /// The beginning of longer parameters, and a hash that verifies the rest.
    Cut {
        /// As many whole characters as fit into [`READ_PARAMETERS_BYTES_MAX`] bytes.
        begin: Cow<'a, str>,
        /// The full length, in bytes.
        bytes: u64,
        /// SHA-256 of the full text.
        sha256: Hash,
    },
}

impl<'a> ReadParameters<'a> {
    /// Returns the form in which these parameters are kept. They are text, in practice JSON.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        if text.len() <= READ_PARAMETERS_BYTES_MAX {
            return Self::Whole(text.into());
        }
        let begin = &text[..text.floor_char_boundary(READ_PARAMETERS_BYTES_MAX)];
        Self::Cut { begin: begin.into(), bytes: text.len() as u64, sha256: sha256(&[text.as_bytes()]) }
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Whole(text) => writer.text(text),
            Self::Cut { begin, bytes, sha256 } => {
                writer.text(begin).raw(",\"parameters_bytes\":").integer(*bytes);
                writer.raw(",\"parameters_sha256\":").hash(sha256)
            }
        };
    }

    fn scan(scanner: &mut Scanner<'a>) -> Result<Self, Malformed> {
        scanner.expect("\"")?;
        let text = scanner.text()?;
        let wrong = scanner.malformed("truncated parameters");
        if !scanner.skip(",\"parameters_bytes\":") {
            return if text.len() <= READ_PARAMETERS_BYTES_MAX { Ok(Self::Whole(text)) } else { Err(wrong) };
        }
        let bytes = scanner.integer()?;
        scanner.expect(",\"parameters_sha256\":\"")?;
        let sha256 = scanner.hash()?;
        // The character that did not fit can have at most four bytes.
        let is_cut = (READ_PARAMETERS_BYTES_MAX - 3..=READ_PARAMETERS_BYTES_MAX).contains(&text.len());
        if is_cut && bytes > READ_PARAMETERS_BYTES_MAX as u64 {
            Ok(Self::Cut { begin: text, bytes, sha256 })
        } else {
            Err(wrong)
        }
    }

    fn into_owned(self) -> ReadParameters<'static> {
        match self {
            Self::Whole(text) => ReadParameters::Whole(text.into_owned().into()),
            Self::Cut { begin, bytes, sha256 } => {
                ReadParameters::Cut { begin: begin.into_owned().into(), bytes, sha256 }
            }
        }
    }
}

impl<'a> Read<'a> {
    /// Returns the bytes that are hashed: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        self.write(&mut writer);
        writer.into_bytes()
    }

    /// Parses the output of [`Read::encode`], and nothing else.
    ///
    /// # Errors
    /// The encoding differs, or the parameters are longer than allowed.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(bytes)?;
        let read = Self::scan(&mut scanner)?;
        scanner.end()?;
        Ok(read)
    }

    #[must_use]
    pub fn into_owned(self) -> Read<'static> {
        Read {
            action: self.action.into_owned().into(),
            clock_time: self.clock_time,
            host_time: self.host_time,
            key: self.key.into_owned().into(),
            parameters: self.parameters.into_owned(),
            user: self.user.into_owned().into(),
        }
    }

    fn write(&self, writer: &mut Writer) {
        writer.raw("{\"action\":").text(&self.action);
        writer.raw(",\"clock_time\":").instant(self.clock_time);
        writer.raw(",\"host_time\":").instant(self.host_time);
        writer.raw(",\"key\":").text(&self.key);
        writer.raw(",\"parameters\":");
        self.parameters.write(writer);
        writer.raw(",\"user\":").text(&self.user).raw("}");
    }

    fn scan(scanner: &mut Scanner<'a>) -> Result<Self, Malformed> {
        scanner.expect("{\"action\":\"")?;
        let action = scanner.text()?;
        scanner.expect(",\"clock_time\":\"")?;
        let clock_time = scanner.instant()?;
        scanner.expect(",\"host_time\":\"")?;
        let host_time = scanner.instant()?;
        scanner.expect(",\"key\":\"")?;
        let key = scanner.text()?;
        scanner.expect(",\"parameters\":")?;
        let parameters = ReadParameters::scan(scanner)?;
        scanner.expect(",\"user\":\"")?;
        let user = scanner.text()?;
        scanner.expect("}")?;
        Ok(Self { action, clock_time, host_time, key, parameters, user })
    }
}

/// Returns SHA-256(salt ‖ read). It represents a read in the tree, even after the read is erased.
fn digest(salt: &Salt, read: &[u8]) -> Hash {
    sha256(&[salt.as_bytes(), read])
}
