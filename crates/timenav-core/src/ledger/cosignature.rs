//! Cosignatures of witnesses, as in C2SP tlog-cosignature: at that time this was the largest consistent tree of the log
//! that the witness had seen.
//!
//! Ed25519 cosignatures are made and checked. Those by ML-DSA-44 are lines of a note like others, of keys that are not
//! known, and are passed over.

use std::fmt;

use super::note::{Note, NoteError, NoteKeyId, NoteSignature, check_name, key_id, key_text, parse_key};

#[cfg(test)]
mod tests;

/// The signature type of Ed25519 cosignatures.
pub const COSIGNATURE: u8 = 0x04;

/// The signature type of ML-DSA-44 cosignatures.
pub const COSIGNATURE_ML_DSA_44: u8 = 0x06;

/// How far the time of a cosignature may be from one's own clock while it is fresh, in seconds. It says when the tree was
/// the largest, so a time that is far off says nothing.
pub const COSIGNATURE_AHEAD_SECONDS_MAX: u64 = 5 * 60;

/// The largest time that the format allows, in seconds since 1970.
const TIME_MAX: u64 = i64::MAX.unsigned_abs();

/// The public half of a witness's Ed25519 key, under the name of the witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessKey {
    name: String,
    id: NoteKeyId,
    public_key: [u8; 32],
}

/// Why a cosignature is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CosignatureError {
    /// The witness's answer is no list of signature lines.
    #[error("the answer must be signature lines: {0}")]
    Lines(NoteError),
    /// The key has not cosigned.
    #[error("the witness `{0}` has not cosigned the checkpoint")]
    Missing(String),
    /// A line is the key's, and what is in it is not 8 bytes of time and 64 of a signature over this checkpoint.
    #[error("the cosignature of the witness `{0}` is not over this checkpoint")]
    Wrong(String),
    /// The time is 0, or larger than the format allows.
    #[error("the cosignature of the witness `{name}` has the time {time}, which is none")]
    Time {
        /// The witness.
        name: String,
        /// The time in the cosignature.
        time: u64,
    },
}

impl WitnessKey {
    /// Returns the key of that name.
    ///
    /// # Errors
    /// The name breaks the rule for key names.
    pub fn new(name: &str, public_key: [u8; 32]) -> Result<Self, NoteError> {
        check_name(name)?;
        Ok(Self { name: name.to_owned(), id: key_id(name, COSIGNATURE, &public_key), public_key })
    }

    /// Reads `<name>+<id in hex>+<base64 of type and public key>`.
    ///
    /// # Errors
    /// The text is written otherwise, of another type than Ed25519 cosignatures, or names a wrong id.
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

    /// Returns the name of the witness.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id of the key.
    #[must_use]
    pub const fn id(&self) -> NoteKeyId {
        self.id
    }

    /// Returns the public key.
    #[must_use]
    pub const fn public_key(&self) -> &[u8; 32] {
        &self.public_key
    }

    /// Cosigns the text of a checkpoint that is the largest consistent one at `time`, in seconds since 1970. `sign` makes
    /// the Ed25519 signature of a message.
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
    /// [`Note::verify`]. Where there are several of the same key, each must be right, and the latest counts.
    ///
    /// # Errors
    /// The key has not cosigned, or a line says that it has and it did not.
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

    /// Returns whether a line of a note says that this key has made it.
    #[must_use]
    pub fn is_of(&self, line: &NoteSignature) -> bool {
        line.id() == self.id && line.name() == self.name
    }

    /// Returns the time of a cosignature by this key over a text.
    ///
    /// # Errors
    /// It is not over this text, or has no time.
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

/// Returns what an Ed25519 cosignature is over. Its first line keeps it apart from all else that a key signs.
fn message(text: &str, time: u64) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}

/// Reads the answer of a witness: signature lines, of keys that may be unknown.
///
/// # Errors
/// There are none, or more than a note may have, or something else stands there.
pub fn cosignatures_in(answer: &[u8]) -> Result<Vec<NoteSignature>, CosignatureError> {
    // As a note with a text of its own, so that the rules of notes are those that count.
    let note = Note::parse(&[b"answer\n\n", answer].concat()).map_err(CosignatureError::Lines)?;
    if note.text() != "answer\n" {
        return Err(CosignatureError::Lines(NoteError::SignatureLine));
    }
    Ok(note.signatures().to_vec())
}
