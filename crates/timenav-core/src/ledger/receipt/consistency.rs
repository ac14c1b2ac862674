//! The proof that a ledger has only grown, as a COSE receipt (RFC 9942 §5.2, "Receipt of Consistency").

use super::super::Hash;
use super::super::note::{NoteKeyId, VerifierKey};
use super::super::proof::{ProofError, root_by_consistency};
use super::ReceiptError;
use super::frame::{CONSISTENCY, Parts, Signer};

#[cfg(test)]
mod tests;

/// Shows that the ledger that a key signs continues an earlier state of it.
///
/// The signature is over the newer root alone, as RFC 9942 has it. The older root is bound to it by the hashes. The two
/// sizes are not: a verifier knows the older one from the checkpoint that it kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsistencyReceipt {
    /// The name of the ledger, and of the key that signs it.
    pub origin: String,
    /// The id of the key.
    pub key_id: NoteKeyId,
    /// Entries in the older tree.
    pub from: u64,
    /// Its root.
    pub from_root: Hash,
    /// Entries in the newer tree.
    pub size: u64,
    /// What has to be hashed to get from one root to the other (RFC 9162 §2.1.4).
    pub hashes: Vec<Hash>,
    /// The Ed25519 signature over the newer root and the protected header.
    pub signature: [u8; 64],
}

impl ConsistencyReceipt {
    /// Returns the receipt that the tree of `size` entries with `root` continues the one of `from` entries with
    /// `from_root`. `sign` makes the Ed25519 signature of a message. Never to be called for a tree that is not committed.
    ///
    /// # Errors
    /// The older tree is empty or not the smaller one, or the hashes do not lead from one root to the other.
    pub fn sign(
        key: &VerifierKey,
        (from, from_root): (u64, Hash),
        (size, root, hashes): (u64, &Hash, Vec<Hash>),
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Result<Self, ReceiptError> {
        let unsigned =
            Self { origin: key.name().to_owned(), key_id: key.id(), from, from_root, size, hashes, signature: [0; 64] };
        if unsigned.root()? != *root {
            return Err(ProofError::NewRootMismatch.into());
        }
        Ok(Self { signature: sign(&Signer::of(key).signed(root)), ..unsigned })
    }

    /// Checks that a key has signed a tree that continues the older one. Returns its root. `ed25519` is as for
    /// [`crate::ledger::Note::signers`].
    ///
    /// # Errors
    /// The receipt is of another key, or shows nothing.
    pub fn verify(
        &self,
        key: &VerifierKey,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Hash, ReceiptError> {
        let signer = self.signer();
        signer.must_be(key)?;
        let root = self.root()?;
        let is_signed = ed25519(key.public_key(), &signer.signed(&root), &self.signature);
        if is_signed { Ok(root) } else { Err(ReceiptError::Signature) }
    }

    /// Returns the root of the newer tree, as the hashes have it. Nothing shows that a key has signed it.
    ///
    /// # Errors
    /// The older tree is empty or not the smaller one, or the hashes are not of such trees.
    pub fn root(&self) -> Result<Hash, ReceiptError> {
        let Self { from, size, .. } = *self;
        if from == 0 || from >= size {
            return Err(ReceiptError::NoGrowth { from, size });
        }
        Ok(root_by_consistency(from, &self.from_root, size, &self.hashes)?)
    }

    /// Returns the bytes of the receipt.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (signer, hashes) = (self.signer(), self.hashes.clone());
        let (numbers, beside) = ([self.from, self.size], &self.from_root.as_bytes()[..]);
        Parts { signer, numbers, hashes, beside, signature: self.signature }.to_bytes(&CONSISTENCY)
    }

    /// Reads what [`ConsistencyReceipt::to_bytes`] writes, and nothing else.
    ///
    /// # Errors
    /// The bytes are not such a receipt.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let Parts { signer, numbers: [from, size], hashes, beside, signature } = Parts::parse(bytes, &CONSISTENCY)?;
        let from_root = Hash::from_slice(beside).ok_or(ReceiptError::Form)?;
        let (origin, key_id) = (signer.origin.to_owned(), signer.key_id);
        Ok(Self { origin, key_id, from, from_root, size, hashes, signature })
    }

    fn signer(&self) -> Signer<'_> {
        Signer { origin: &self.origin, key_id: self.key_id }
    }
}
