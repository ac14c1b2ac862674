//! Signed notes and their keys, as in C2SP signed-note 1.0.0 and Go's `sumdb/note`.
//!
//! This module defines what is signed and by which key. The caller provides the Ed25519 operations.

use std::fmt;

use data_encoding::{BASE64, HEXLOWER};
use zeroize::Zeroize;

use crate::ledger::{decode_base64, sha256};

#[cfg(test)]
mod tests;

pub const ED25519: u8 = 0x01;

/// Largest note that is parsed, in bytes. Notes come from untrusted senders.
pub const NOTE_BYTES_MAX: usize = 1024 * 1024;

/// Most signatures on a note; C2SP requires at least 16. Each one by a known key costs a verification.
pub const NOTE_SIGNATURES_MAX: usize = 64;

const SIGNATURE_START: &str = "\u{2014} ";

const SIGNER_START: &str = "PRIVATE+KEY+";

/// The first four bytes of a hash over a key. Distinguishes keys with the same name, and proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteKeyId([u8; 4]);

impl NoteKeyId {
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }

    fn from_hex(text: &str) -> Option<Self> {
        let bytes = HEXLOWER.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for NoteKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for NoteKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the id of a key: the start of SHA-256(name ‖ 0x0A ‖ signature type ‖ public key).
#[must_use]
pub fn key_id(name: &str, signature_type: u8, public_key: &[u8]) -> NoteKeyId {
    let hash = sha256(&[name.as_bytes(), b"\n", &[signature_type], public_key]);
    let [a, b, c, d, ..] = *hash.as_bytes();
    NoteKeyId([a, b, c, d])
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    #[error("a note can have at most {NOTE_BYTES_MAX} bytes")]
    TooLong,
    #[error("the note is not UTF-8")]
    NotUtf8,
    #[error("a note cannot contain control characters other than line ends")]
    ControlCharacter,
    #[error("the text of a note must end with a line end")]
    UnfinishedText,
    #[error("the text of a note must be followed by an empty line and at least one signature")]
    NoSignatures,
    #[error("a signature line must be a dash, a key name, and a key id and signature in base64")]
    SignatureLine,
    #[error("a note can have at most {NOTE_SIGNATURES_MAX} signatures")]
    TooManySignatures,
    #[error("a key name cannot be empty or contain spaces, plus signs or control characters")]
    KeyName,
    #[error("the key must be written as `{0}`")]
    KeyText(&'static str),
    #[error("keys of signature type {0:#04x} are not supported")]
    SignatureType(u8),
    #[error("the key `{name}` has the id {found}, but its text says {claimed}")]
    KeyIdMismatch { name: String, claimed: NoteKeyId, found: NoteKeyId },
    #[error("the signature of the key `{name}` with the id {id} is wrong")]
    BadSignature { name: String, id: NoteKeyId },
    #[error("no known key has signed the note")]
    NoKnownKey,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSignature {
    name: String,
    id: NoteKeyId,
    signature: Vec<u8>,
}

impl NoteSignature {
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub const fn id(&self) -> NoteKeyId {
        self.id
    }

    /// Returns the signature, in the format of its type.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    pub(in crate::ledger) const fn new(name: String, id: NoteKeyId, signature: Vec<u8>) -> Self {
        Self { name, id, signature }
    }

    pub(in crate::ledger) fn parse(line: &str) -> Result<Self, NoteError> {
        let rest = line.strip_prefix(SIGNATURE_START).ok_or(NoteError::SignatureLine)?;
        let (name, base64) = rest.split_once(' ').ok_or(NoteError::SignatureLine)?;
        check_name(name)?;
        let bytes = decode_base64(base64).ok_or(NoteError::SignatureLine)?;
        match bytes.split_first_chunk() {
            Some((id, signature)) if !signature.is_empty() => {
                Ok(Self { name: name.to_owned(), id: NoteKeyId(*id), signature: signature.to_vec() })
            }
            Some(_) | None => Err(NoteError::SignatureLine),
        }
    }
}

impl fmt::Display for NoteSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [self.id.as_bytes(), self.signature()].concat();
        write!(f, "{SIGNATURE_START}{} {}", self.name, BASE64.encode(&bytes))
    }
}

/// A text with signature lines. The signatures are unverified until [`Note::verify`] succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<NoteSignature>,
}

impl Note {
    /// Returns a note with that text and the signature that `sign` creates.
    ///
    /// # Errors
    /// The text does not end with a line end, or has other control characters.
    pub fn sign(text: String, key: &VerifierKey, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<Self, NoteError> {
        check_characters(&text)?;
        if !text.ends_with('\n') {
            return Err(NoteError::UnfinishedText);
        }
        let unsigned = Self { text, signatures: Vec::new() };
        unsigned.countersign(key, sign)
    }

    /// Adds a signature over the same text, for example during key rotation.
    ///
    /// # Errors
    /// There are [`NOTE_SIGNATURES_MAX`] signatures already.
    pub fn countersign(mut self, key: &VerifierKey, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<Self, NoteError> {
        if self.signatures.len() >= NOTE_SIGNATURES_MAX {
            return Err(NoteError::TooManySignatures);
        }
        let signature = sign(self.text.as_bytes()).to_vec();
        self.signatures.push(NoteSignature { name: key.name.clone(), id: key.id, signature });
        Ok(self)
    }

    /// Adds an existing signature, replacing those of the same key. The signature is not verified.
    ///
    /// # Errors
    /// There are [`NOTE_SIGNATURES_MAX`] signatures already.
    pub fn with_signature(self, line: NoteSignature) -> Result<Self, NoteError> {
        let mut note = self.retaining(|own| (&own.name, own.id) != (&line.name, line.id));
        note.signatures.push(line);
        if note.signatures.len() > NOTE_SIGNATURES_MAX { Err(NoteError::TooManySignatures) } else { Ok(note) }
    }

    #[must_use]
    pub fn retaining(mut self, is_match: impl FnMut(&NoteSignature) -> bool) -> Self {
        self.signatures.retain(is_match);
        self
    }

    /// Parses a note. Its text ends before the last empty line.
    ///
    /// # Errors
    /// The bytes break a rule of signed notes, or exceed a limit.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        if bytes.len() > NOTE_BYTES_MAX {
            return Err(NoteError::TooLong);
        }
        let note = std::str::from_utf8(bytes).map_err(|_| NoteError::NotUtf8)?;
        check_characters(note)?;
        let end = note.rfind("\n\n").ok_or(NoteError::NoSignatures)?;
        let (text, rest) = note.split_at(end + 1);
        let lines = rest[1..].strip_suffix('\n').ok_or(NoteError::NoSignatures)?;
        if lines.split('\n').count() > NOTE_SIGNATURES_MAX {
            return Err(NoteError::TooManySignatures);
        }
        let signatures = lines.split('\n').map(NoteSignature::parse).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), signatures })
    }

    /// Returns the text, including its last line end.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the signatures, in the order of their lines.
    #[must_use]
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// Checks that at least one known key has signed, and that all signatures of known keys are valid. Signatures of
    /// other keys are ignored. `ed25519` verifies a public key's signature over a message (RFC 8032).
    ///
    /// # Errors
    /// No known key has signed, or a signature of a known key is not valid.
    pub fn verify(
        &self,
        known: &[VerifierKey],
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<(), NoteError> {
        self.signers(known, ed25519).map(|_| ())
    }

    /// Performs the checks of [`Note::verify`], and returns the known keys that have signed, in the order of their
    /// lines.
    ///
    /// # Errors
    /// Those of [`Note::verify`].
    pub fn signers<'a>(
        &self,
        known: &'a [VerifierKey],
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Vec<&'a VerifierKey>, NoteError> {
        let mut signers = Vec::new();
        for line in &self.signatures {
            let key = known.iter().find(|key| key.id == line.id && key.name == line.name);
            let Some(key) = key else { continue };
            let signature = line.signature.as_slice().try_into();
            let signed = signature.is_ok_and(|signature| ed25519(&key.public_key, self.text.as_bytes(), signature));
            if !signed {
                return Err(NoteError::BadSignature { name: line.name.clone(), id: line.id });
            }
            signers.push(key);
        }
        if signers.is_empty() { Err(NoteError::NoKnownKey) } else { Ok(signers) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for signature in &self.signatures {
            writeln!(f, "{signature}")?;
        }
        Ok(())
    }
}

fn check_characters(text: &str) -> Result<(), NoteError> {
    let control = text.bytes().any(|byte| byte < 0x20 && byte != b'\n');
    if control { Err(NoteError::ControlCharacter) } else { Ok(()) }
}

pub(in crate::ledger) fn check_name(name: &str) -> Result<(), NoteError> {
    let ends_name = |c: char| c.is_whitespace() || c == '+' || c < ' ';
    if name.is_empty() || name.contains(ends_name) { Err(NoteError::KeyName) } else { Ok(()) }
}

/// The public half of an Ed25519 key, with the name it signs under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: NoteKeyId,
    public_key: [u8; 32],
}

impl VerifierKey {
    /// # Errors
    /// The name is not a valid key name.
    pub fn new(name: &str, public_key: [u8; 32]) -> Result<Self, NoteError> {
        check_name(name)?;
        let id = key_id(name, ED25519, &public_key);
        Ok(Self { name: name.to_owned(), id, public_key })
    }

    /// Parses `<name>+<id in hex>+<base64 of type and public key>`.
    ///
    /// # Errors
    /// The format differs, the type is not Ed25519, or the id is wrong.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let (name, claimed, public_key) = parse_key(text).ok_or(NoteError::KeyText("<name>+<id>+<base64>"))?;
        let key = Self::new(name, ed25519_key(&public_key)?)?;
        key.check_id(claimed)?;
        Ok(key)
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

    fn check_id(&self, claimed: NoteKeyId) -> Result<(), NoteError> {
        if self.id == claimed {
            return Ok(());
        }
        Err(NoteError::KeyIdMismatch { name: self.name.clone(), claimed, found: self.id })
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&key_text(&self.name, self.id, ED25519, &self.public_key))
    }
}

/// The keys that a verifier trusts for one ledger, all with the name of that ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKeys {
    /// The current signing key. The newest checkpoint must be signed by it.
    pub current: VerifierKey,
    /// Keys that were replaced. They are valid for checkpoints stored in their time.
    pub retired: Vec<VerifierKey>,
}

impl TrustedKeys {
    /// Returns the current key, followed by the retired ones.
    #[must_use]
    pub fn all(&self) -> Vec<VerifierKey> {
        std::iter::once(&self.current).chain(&self.retired).cloned().collect()
    }
}

impl From<VerifierKey> for TrustedKeys {
    fn from(current: VerifierKey) -> Self {
        Self { current, retired: Vec::new() }
    }
}

/// The private half of an Ed25519 key. Its holder can sign any history.
#[derive(Clone, PartialEq, Eq)]
pub struct SignerKey {
    name: String,
    id: NoteKeyId,
    seed: [u8; 32],
}

impl Drop for SignerKey {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}

impl SignerKey {
    /// Returns the key with that seed (RFC 8032 §5.1.5), which belongs to `public`.
    #[must_use]
    pub fn new(seed: [u8; 32], public: &VerifierKey) -> Self {
        Self { name: public.name.clone(), id: public.id, seed }
    }

    /// Parses `PRIVATE+KEY+<name>+<id in hex>+<base64 of type and seed>`. The id is checked by
    /// [`SignerKey::verifier_key`].
    ///
    /// # Errors
    /// The format differs, or the type is not Ed25519.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let (name, id, seed) = text
            .strip_prefix(SIGNER_START)
            .and_then(parse_key)
            .ok_or(NoteError::KeyText("PRIVATE+KEY+<name>+<id>+<base64>"))?;
        check_name(name)?;
        Ok(Self { name: name.to_owned(), id, seed: ed25519_key(&seed)? })
    }

    /// Returns the text, which must be kept secret.
    #[must_use]
    pub fn to_secret_text(&self) -> String {
        format!("{SIGNER_START}{}", key_text(&self.name, self.id, ED25519, &self.seed))
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the seed, which must be kept secret.
    #[must_use]
    pub const fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// Returns the public half, given the public key that the caller derived from the seed.
    ///
    /// # Errors
    /// The id in the text belongs to another key.
    pub fn verifier_key(&self, public_key: [u8; 32]) -> Result<VerifierKey, NoteError> {
        let key = VerifierKey::new(&self.name, public_key)?;
        key.check_id(self.id)?;
        Ok(key)
    }
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignerKey").field("name", &self.name).finish_non_exhaustive()
    }
}

pub(in crate::ledger) fn key_text(name: &str, id: NoteKeyId, signature_type: u8, key: &[u8; 32]) -> String {
    format!("{name}+{id}+{}", BASE64.encode(&[&[signature_type], key.as_slice()].concat()))
}

/// Splits a key at the first two plus signs, because base64 may contain more.
pub(in crate::ledger) fn parse_key(text: &str) -> Option<(&str, NoteKeyId, Vec<u8>)> {
    let (name, rest) = text.split_once('+')?;
    let (id, key) = rest.split_once('+')?;
    let id = NoteKeyId::from_hex(id)?;
    Some((name, id, decode_base64(key)?))
}

fn ed25519_key(typed: &[u8]) -> Result<[u8; 32], NoteError> {
    const FORM: &str = "base64 of a type and 32 bytes";
    match typed.split_first() {
        Some((&ED25519, key)) => key.try_into().map_err(|_| NoteError::KeyText(FORM)),
        Some((&other, _)) => Err(NoteError::SignatureType(other)),
        None => Err(NoteError::KeyText(FORM)),
    }
}
