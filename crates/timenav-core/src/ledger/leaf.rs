use std::borrow::Cow;

use super::canonical::{HEX_DIGITS, INTEGER_MAX, Malformed, Scanner, Writer};
use super::{Hash, parse_decimal};

#[cfg(test)]
mod tests;

/// The first format version, which [`Leaf::encode`] writes as `v`.
pub const LEAF_VERSION: u64 = 1;

/// The second format version, which [`Leaf::encode_v2`] writes as `v`.
pub const LEAF_VERSION_2: u64 = 2;

/// The largest `seq`, and the largest `directory`.
pub const SEQ_MAX: u64 = INTEGER_MAX;

/// An entry of version 1 with empty texts, without its payload hash and `seq`.
const BLANK: &str = r#"{"action":"","actor":"","clock_time":"","payload_hash":"","recorded_at":"","seq":,"subject":"","timeline_id":"","v":1}"#;

/// The additional members of version 2, without their numbers.
const BLANK_AUTHORITY: &str = r#","directory":,"key":"""#;

const INTEGER_DIGITS_MAX: usize = 16;

/// An entry to write. The hash of its bytes is a leaf of the timeline's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf<'a> {
    pub timeline_id: &'a str,
    /// The position in the ledger, from 0; at most [`SEQ_MAX`].
    pub seq: u64,
    pub recorded_at: &'a str,
    /// The timeline's clock at that time, as a timestamp.
    pub clock_time: &'a str,
    pub actor: &'a str,
    pub action: &'a str,
    /// The object of the action.
    pub subject: &'a str,
    /// The result of [`payload_hash`](super::payload_hash) for the payload.
    pub payload_hash: Hash,
}

/// A parsed entry. Borrows from the bytes it was parsed from, except texts with escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafRecord<'a> {
    pub timeline_id: Cow<'a, str>,
    pub seq: u64,
    pub recorded_at: Cow<'a, str>,
    pub clock_time: Cow<'a, str>,
    pub actor: Cow<'a, str>,
    pub action: Cow<'a, str>,
    pub subject: Cow<'a, str>,
    pub payload_hash: Hash,
    /// The authority under which it was written; `None` in version 1, which does not record it.
    pub authority: Option<Authority<'a>>,
}

/// The authority under which an entry was written. Added by version 2.
///
/// Replaying the directory's entries up to `directory` shows whether `key` had the permission at that point. The host
/// times of two ledgers would not define an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority<'a> {
    /// The id of the API key or session of the request; empty if there was none.
    pub key: Cow<'a, str>,
    /// The directory version that the entry was decided against: the number of changes of users, keys, passwords,
    /// sessions and restrictions. At most [`SEQ_MAX`]; never decreases within a ledger.
    pub directory: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeafError {
    #[error("the entry has format version {v}; this program knows only {LEAF_VERSION} and {LEAF_VERSION_2}")]
    UnknownFormat { v: u64 },
    /// The bytes are not an output of [`Leaf::encode`] or [`Leaf::encode_v2`].
    #[error("the entry does not have {expected} at byte {offset}")]
    Malformed { offset: usize, expected: &'static str },
}

impl From<Malformed> for LeafError {
    fn from(Malformed { offset, expected }: Malformed) -> Self {
        Self::Malformed { offset, expected }
    }
}

impl Leaf<'_> {
    /// Returns version 1: RFC 8785 JSON with sorted keys. Allocates once, unless texts need escapes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        self.write(None)
    }

    /// Returns the entry's bytes in version 2, which includes the authority. Allocates once, unless texts need escapes.
    #[must_use]
    pub fn encode_v2(&self, authority: &Authority<'_>) -> Vec<u8> {
        self.write(Some(authority))
    }

    fn write(&self, authority: Option<&Authority<'_>>) -> Vec<u8> {
        let mut writer = Writer::with_capacity(self.capacity(authority));
        writer.raw("{\"action\":\"").escaped(self.action);
        writer.raw("\",\"actor\":\"").escaped(self.actor);
        writer.raw("\",\"clock_time\":\"").escaped(self.clock_time);
        if let Some(Authority { key, directory }) = authority {
            writer.raw("\",\"directory\":").integer(*directory).raw(",\"key\":\"").escaped(key);
        }
        writer.raw("\",\"payload_hash\":\"").hex(&self.payload_hash);
        writer.raw("\",\"recorded_at\":\"").escaped(self.recorded_at);
        writer.raw("\",\"seq\":").integer(self.seq);
        writer.raw(",\"subject\":\"").escaped(self.subject);
        writer.raw("\",\"timeline_id\":\"").escaped(self.timeline_id);
        writer.raw(if authority.is_some() { "\",\"v\":2}" } else { "\",\"v\":1}" });
        writer.into_bytes()
    }

    fn capacity(&self, authority: Option<&Authority<'_>>) -> usize {
        let texts = [self.action, self.actor, self.clock_time, self.recorded_at, self.subject, self.timeline_id];
        let texts_bytes: usize = texts.iter().map(|text| text.len()).sum();
        let more = |authority: &Authority<'_>| BLANK_AUTHORITY.len() + INTEGER_DIGITS_MAX + authority.key.len();
        BLANK.len() + HEX_DIGITS + INTEGER_DIGITS_MAX + texts_bytes + authority.map_or(0, more)
    }
}

impl<'a> LeafRecord<'a> {
    /// Parses an entry of either version. Accepts exactly the bytes that [`Leaf::encode`] and [`Leaf::encode_v2`]
    /// write, so that the encoding of an entry is unique.
    ///
    /// # Errors
    /// The bytes are of another version, or not an entry.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, LeafError> {
        let v = claimed_version(bytes).unwrap_or(LEAF_VERSION);
        if !matches!(v, LEAF_VERSION | LEAF_VERSION_2) {
            return Err(LeafError::UnknownFormat { v });
        }
        let mut scanner = Scanner::new(bytes)?;
        scanner.expect("{\"action\":\"")?;
        let action = scanner.text()?;
        scanner.expect(",\"actor\":\"")?;
        let actor = scanner.text()?;
        scanner.expect(",\"clock_time\":\"")?;
        let clock_time = scanner.text()?;
        let authority = (v == LEAF_VERSION_2).then(|| Authority::scan(&mut scanner)).transpose()?;
        scanner.expect(",\"payload_hash\":\"")?;
        let payload_hash = scanner.hash()?;
        scanner.expect(",\"recorded_at\":\"")?;
        let recorded_at = scanner.text()?;
        scanner.expect(",\"seq\":")?;
        let seq = scanner.integer()?;
        scanner.expect(",\"subject\":\"")?;
        let subject = scanner.text()?;
        scanner.expect(",\"timeline_id\":\"")?;
        let timeline_id = scanner.text()?;
        scanner.expect(if authority.is_some() { ",\"v\":2}" } else { ",\"v\":1}" })?;
        scanner.end()?;
        Ok(Self { timeline_id, seq, recorded_at, clock_time, actor, action, subject, payload_hash, authority })
    }

    #[must_use]
    pub const fn version(&self) -> u64 {
        if self.authority.is_some() { LEAF_VERSION_2 } else { LEAF_VERSION }
    }

    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        self.as_leaf().write(self.authority.as_ref())
    }

    /// Returns the members that both versions have.
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
            authority: self.authority.map(Authority::into_owned),
        }
    }
}

impl<'a> Authority<'a> {
    #[must_use]
    pub fn into_owned(self) -> Authority<'static> {
        Authority { key: self.key.into_owned().into(), directory: self.directory }
    }

    fn scan(scanner: &mut Scanner<'a>) -> Result<Self, Malformed> {
        scanner.expect(",\"directory\":")?;
        let directory = scanner.integer()?;
        scanner.expect(",\"key\":\"")?;
        Ok(Self { key: scanner.text()?, directory })
    }
}

/// `v` is the last key in every version, so that older code can distinguish a later version from damage.
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
