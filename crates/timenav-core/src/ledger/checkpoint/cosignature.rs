//! Witness cosignatures (C2SP tlog-cosignature): a witness states that, at a given time, this was the largest
//! consistent tree of the log that it had seen.
//!
//! Ed25519 cosignatures are created and verified. ML-DSA-44 cosignatures are treated like signatures of unknown keys,
//! and are ignored.

use std::fmt;

use crate::ledger::checkpoint::note::{
    Note, NoteError, NoteKeyId, NoteSignature, check_name, key_id, key_text, parse_key,
};

#[cfg(test)]
mod tests;

pub const COSIGNATURE: u8 = 0x04;

pub const COSIGNATURE_ML_DSA_44: u8 = 0x06;

/// Largest allowed difference between the time of a fresh cosignature and the local clock, in seconds. The time states
/// when the tree was the largest one, so a time that is far off proves nothing.
pub const COSIGNATURE_AHEAD_SECONDS_MAX: u64 = 5 * 60;

/// The largest time that the format allows, in seconds since 1970.
const TIME_MAX: u64 = i64::MAX.unsigned_abs();

/// The public half of a witness's Ed25519 key, with the name of the witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessKey {
    name: String,
    id: NoteKeyId,
    public_key: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CosignatureError {
    #[error("the response must be signature lines: {0}")]
    Lines(NoteError),
    #[error("the witness `{0}` has not cosigned the checkpoint")]
    Missing(String),
    /// A line of the key is not 8 bytes of time and a valid 64-byte signature over this checkpoint.
    #[error("the cosignature of the witness `{0}` is not over this checkpoint")]
    Wrong(String),
    #[error("the cosignature of the witness `{name}` has the invalid time {time}")]
    Time { name: String, time: u64 },
}

impl WitnessKey {
    /// # Errors
    /// The name is not a valid key name.
    pub fn new(name: &str, public_key: [u8; 32]) -> Result<Self, NoteError> {
        check_name(name)?;
        Ok(Self { name: name.to_owned(), id: key_id(name, COSIGNATURE, &public_key), public_key })
    }

    /// Parses `<name>+<id in hex>+<base64 of type and public key>`.
    ///
    /// # Errors
    /// The format differs, the type is not that of Ed25519 cosignatures, or the id is wrong.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        const FORM: NoteError = NoteError::KeyText("<name>+<id>+<base64 of a type and 32 bytes>");
        let (name, claimed, typed) = parse_key(text).ok_or(FORM)?;
        let public_key = match typed.split_first() {
            Some((&COSIGNATURE, key)) => key.try_into().map_err(|_| FORM)?,
            Some((&other, _)) => return Err(NoteError::SignatureType(other)),
            None => return Err(FORM),
        };
        let key = Self::new(name, public_key)?;
        if key.id == claimed {
            return Ok(key);
        }
        Err(NoteError::KeyIdMismatch { name: key.name, claimed, found: key.id })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub const fn id(&self) -> NoteKeyId {
        self.id
    }

    #[must_use]
    pub const fn public_key(&self) -> &[u8; 32] {
        &self.public_key
    }

    /// Cosigns the text of a checkpoint that is the largest consistent one at `time`, in seconds since 1970. `sign`
    /// creates the Ed25519 signature of a message.
    ///
    /// # Errors
    /// The time is 0, or larger than the format allows.
    pub fn cosign(
        &self,
        text: &str,
        time: u64,
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Result<NoteSignature, CosignatureError> {
        self.check_time(time)?;
        let signature = sign(message(text, time).as_bytes());
        let signature = [time.to_be_bytes().as_slice(), &signature].concat();
        Ok(NoteSignature::new(self.name.clone(), self.id, signature))
    }

    /// Returns the time of this key's cosignature on a note, in seconds since 1970, and its line. `ed25519` is as for
    /// [`Note::verify`]. If the key has several, all must be valid, and the latest is returned.
    ///
    /// # Errors
    /// The key has not cosigned, or a line with its name and id is not valid.
    pub fn cosigned_at<'n>(
        &self,
        note: &'n Note,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<(u64, &'n NoteSignature), CosignatureError> {
        let own = note.signatures().iter().filter(|line| self.is_of(line));
        let checked = own.map(|line| self.check(note.text(), line, &ed25519).map(|time| (time, line)));
        let mut checked = checked.collect::<Result<Vec<_>, _>>()?;
        checked.sort_by_key(|(time, _)| *time);
        checked.pop().ok_or_else(|| CosignatureError::Missing(self.name.clone()))
    }

    /// Returns whether a line has the name and id of this key.
    #[must_use]
    pub fn is_of(&self, line: &NoteSignature) -> bool {
        line.id() == self.id && line.name() == self.name
    }

    /// Verifies a cosignature by this key over a text, and returns its time.
    ///
    /// # Errors
    /// The signature is not valid for this text, or the time is not valid.
    pub fn check(
        &self,
        text: &str,
        line: &NoteSignature,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<u64, CosignatureError> {
        let wrong = || CosignatureError::Wrong(self.name.clone());
        let (time, signature) = line.signature().split_first_chunk::<8>().ok_or_else(wrong)?;
        let signature: &[u8; 64] = signature.try_into().map_err(|_| wrong())?;
        let time = u64::from_be_bytes(*time);
        self.check_time(time)?;
        if self.is_of(line) && ed25519(&self.public_key, message(text, time).as_bytes(), signature) {
            return Ok(time);
        }
        Err(wrong())
    }

    fn check_time(&self, time: u64) -> Result<(), CosignatureError> {
        if (1..=TIME_MAX).contains(&time) {
            return Ok(());
        }
        Err(CosignatureError::Time { name: self.name.clone(), time })
    }
}

impl fmt::Display for WitnessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&key_text(&self.name, self.id, COSIGNATURE, &self.public_key))
    }
}

/// Returns the message that is signed. Its first line separates it from other messages signed by the same key.
fn message(text: &str, time: u64) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}

/// Parses the response of a witness: signature lines, possibly of unknown keys.
///
/// # Errors
/// There are no lines, more than a note may have, or a line is not a signature line.
pub fn cosignatures_in(answer: &[u8]) -> Result<Vec<NoteSignature>, CosignatureError> {
    // Parsed as a note with a dummy text, so that the rules of notes apply.
    let note = Note::parse(&[b"answer\n\n", answer].concat()).map_err(CosignatureError::Lines)?;
    if note.text() != "answer\n" {
        return Err(CosignatureError::Lines(NoteError::SignatureLine));
    }
    Ok(note.signatures().to_vec())
}
