//! The stored form of a head statement: its text and, for each signing key, the key's id, the signature, and an
//! authentication code that is faster to verify.
//!
//! The text is stored so that the signed state can be compared with the rows by anyone who has only the public key.

use timenav_core::ledger::{Checkpoint, HeadStatement, NoteKeyId, TrustedKeys};
use timenav_core::scan::{FindingKind, Unsigned, open_signed};

use crate::ledger::head::Head;

const LINES: usize = 6;
const ID_BYTES: usize = 4;
const SIGNATURE_BYTES: usize = 64;
const SEAL_BYTES: usize = 32;
const SIGNED_BYTES: usize = ID_BYTES + SIGNATURE_BYTES + SEAL_BYTES;
/// The form of earlier versions, per key: only signature and code.
const FORMER_BYTES: usize = SIGNATURE_BYTES + SEAL_BYTES;

pub(crate) struct SignedBy<'a> {
    /// The id of the key; unknown in the form of earlier versions.
    pub(crate) id: Option<NoteKeyId>,
    pub(crate) signature: &'a [u8; SIGNATURE_BYTES],
    /// An authentication code over the text under a key derived from the signing key.
    pub(crate) seal: &'a [u8; SEAL_BYTES],
}

pub(crate) struct StoredStatement<'a> {
    pub(crate) statement: HeadStatement,
    signed: &'a [u8],
}

impl<'a> StoredStatement<'a> {
    /// Parses a stored statement with its text; `None` if it was stored by an earlier version, or is invalid.
    pub(crate) fn read(stored: &'a [u8]) -> Option<Self> {
        let (end, _) = stored.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(LINES - 1)?;
        let (text, signed) = stored.split_at(end + 1);
        let statement = HeadStatement::parse(std::str::from_utf8(text).ok()?).ok()?;
        (!signed.is_empty() && signed.len().is_multiple_of(SIGNED_BYTES)).then_some(Self { statement, signed })
    }

    /// Returns the checkpoint of the tree, if the current key has signed the statement.
    fn open(
        &self,
        keys: &TrustedKeys,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Checkpoint, Unsigned> {
        let current = &keys.current;
        let statement = &self.statement;
        let unsigned = |kind, evidence| Err(Unsigned { kind, size: Some(statement.size), evidence });
        if statement.origin != current.name() {
            let evidence = format!("it is the head of `{}`, not `{}`", statement.origin, current.name());
            return unsigned(FindingKind::OriginMismatch, evidence);
        }
        let own = all(self.signed).find(|signed| signed.id == Some(current.id()));
        match own.map(|signed| statement.verify(signed.signature, current, ed25519)) {
            Some(Ok(())) => Ok(statement.checkpoint()),
            Some(Err(error)) => unsigned(FindingKind::BadSignature, error.to_string()),
            None => {
                let is_retired = |id| keys.retired.iter().any(|key| Some(key.id()) == id);
                let named = |signed: SignedBy<'_>| {
                    let which = if is_retired(signed.id) { "the retired key" } else { "the key" };
                    signed.id.map_or_else(String::new, |id| format!("{which} with the id {id}"))
                };
                let signers: Vec<String> = all(self.signed).map(named).collect();
                let (expected, signers) = (current.id(), signers.join(", "));
                let evidence = format!("it is not signed by the key with the id {expected}, but by {signers}");
                unsigned(FindingKind::UnknownKey, evidence)
            }
        }
    }
}

pub(crate) fn encode_statement(
    statement: &HeadStatement,
    signed: impl IntoIterator<Item = (NoteKeyId, [u8; SIGNATURE_BYTES], [u8; SEAL_BYTES])>,
) -> Vec<u8> {
    let mut stored = statement.to_text().into_bytes();
    for (id, signature, seal) in signed {
        stored.extend([&id.as_bytes()[..], &signature, &seal].concat());
    }
    stored
}

/// Includes the signature of the last key. Empty for a statement by an earlier version, without text.
pub(crate) fn signed_text(stored: &[u8]) -> String {
    let last = signed_by(stored).last();
    let text = |stated: StoredStatement<'_>| Some(stated.statement.to_signed_text(last?.signature));
    StoredStatement::read(stored).and_then(text).unwrap_or_default()
}

pub(crate) fn signed_by(stored: &[u8]) -> impl Iterator<Item = SignedBy<'_>> {
    let with_ids = StoredStatement::read(stored).map_or(&[][..], |stated| stated.signed);
    let former = if with_ids.is_empty() { stored } else { &[] };
    let former = former.chunks_exact(FORMER_BYTES).filter_map(|signed| signed_of(None, signed));
    all(with_ids).chain(former)
}

/// Returns who has signed a statement, if it is stored with exactly this text. Saves parsing it.
pub(crate) fn signed_with_text<'a>(stored: &'a [u8], text: &str) -> Option<impl Iterator<Item = SignedBy<'a>>> {
    let signed = stored.strip_prefix(text.as_bytes())?;
    (!signed.is_empty() && signed.len().is_multiple_of(SIGNED_BYTES)).then(|| all(signed))
}

fn all(signed: &[u8]) -> impl Iterator<Item = SignedBy<'_>> {
    signed.chunks_exact(SIGNED_BYTES).filter_map(|one| {
        let (id, signed) = one.split_first_chunk::<ID_BYTES>()?;
        signed_of(Some(NoteKeyId::from_bytes(*id)), signed)
    })
}

fn signed_of(id: Option<NoteKeyId>, signed: &[u8]) -> Option<SignedBy<'_>> {
    let (signature, seal) = signed.split_first_chunk()?;
    Some(SignedBy { id, signature, seal: seal.try_into().ok()? })
}

/// Returns the tree signed with the newest entries of a timeline: by its head statement, or by the note of an earlier
/// version.
///
/// # Errors
/// It is of another ledger, signed by another key, damaged, or has an invalid signature.
pub(crate) fn open_newest(
    head: &Head,
    keys: &TrustedKeys,
    ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
) -> Result<Checkpoint, Unsigned> {
    match StoredStatement::read(&head.statement) {
        Some(stated) => stated.open(keys, ed25519),
        None if head.statement.is_empty() && head.carried_note.is_empty() => {
            let (kind, evidence) = (FindingKind::BadSignature, "there is no head statement".to_owned());
            Err(Unsigned { kind, size: None, evidence })
        }
        None => open_signed(&head.carried_note, keys, ed25519),
    }
}

/// An earlier version's note next to a head statement must be empty, or of the same tree.
pub(crate) fn carried_fault(
    head: &Head,
    stated: &Checkpoint,
    keys: &TrustedKeys,
    ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
) -> Option<String> {
    if head.carried_note.is_empty() {
        return None;
    }
    let fault = match open_signed(&head.carried_note, keys, ed25519) {
        Ok(carried) if (carried.size, carried.root) == (stated.size, stated.root) => return None,
        Ok(carried) => format!("it is of another tree, of {} entries", carried.size),
        Err(unsigned) => unsigned.evidence,
    };
    Some(format!("table timelines, {}: the checkpoint in the row is not of the tree that is signed: {fault}", head.id))
}

#[cfg(test)]
mod tests {
    use timenav_core::ledger::Hash;

    use super::*;

    #[test]
    fn stored_head_statement_is_read_back() {
        let hash = Hash::from_bytes;
        let statement = HeadStatement {
            origin: "a/b".to_owned(),
            size: 7,
            root: hash([1; 32]),
            state_hash: hash([2; 32]),
            index_root: None,
        };
        let keys = [3, 4].map(|byte| (NoteKeyId::from_bytes([byte; 4]), [byte; 64], [byte + 10; 32]));
        for count in [1, 2] {
            let stored = encode_statement(&statement, keys[..count].iter().copied());
            assert_eq!(StoredStatement::read(&stored).unwrap().statement, statement);
            let read: Vec<_> = signed_by(&stored).map(|one| (one.id.unwrap(), *one.signature, *one.seal)).collect();
            assert_eq!(read, keys[..count]);
            assert!(StoredStatement::read(&stored[1..]).is_none());
            let former: Vec<u8> =
                keys[..count].iter().flat_map(|(_, signature, seal)| [&signature[..], seal].concat()).collect();
            assert!(StoredStatement::read(&former).is_none());
            let read: Vec<_> = signed_by(&former).map(|one| (one.id, *one.signature, *one.seal)).collect();
            assert_eq!(
                read,
                keys[..count].iter().map(|(_, signature, seal)| (None, *signature, *seal)).collect::<Vec<_>>()
            );
        }
        assert!(StoredStatement::read(&[]).is_none());
        assert_eq!(signed_by(&[]).count(), 0);
    }
}
