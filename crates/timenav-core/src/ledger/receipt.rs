//! Proofs as COSE receipts (RFC 9942), for verifiers that know COSE and not the forms of this ledger: here that of an
//! entry, in [`consistency`] that a ledger has only grown.
//!
//! A receipt is written in one way: deterministic CBOR (RFC 8949 §4.2.1) with these header parameters and no others. So
//! what is read is compared with literal bytes, and written once more. `docs/ledger-format-2.md` §11 has the bytes.

mod cbor;
mod consistency;
mod frame;

use self::frame::{INCLUSION, Parts, SIGN1, Signer};
use super::note::{NoteKeyId, VerifierKey};
use super::proof::{ProofError, root_by_inclusion, verify_inclusion};
use super::{Hash, leaf_hash};

pub use self::consistency::ConsistencyReceipt;

#[cfg(test)]
mod tests;

/// Longest receipt that is read, in bytes: an entry has less than 64 KiB.
pub const RECEIPT_BYTES_MAX: usize = 128 * 1_024;

/// Shows that an entry is in the ledger that a key signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The name of the ledger, and of the key that signs it.
    pub origin: String,
    /// The id of the key.
    pub key_id: NoteKeyId,
    /// Position of the entry.
    pub index: u64,
    /// Entries in the tree.
    pub size: u64,
    /// The hashes beside the way from the leaf to the root (RFC 9162 §2.1.3).
    pub hashes: Vec<Hash>,
    /// The entry.
    pub leaf: Vec<u8>,
    /// The Ed25519 signature over the root and the protected header.
    pub signature: [u8; 64],
}

/// Why a receipt is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    /// It is longer than [`RECEIPT_BYTES_MAX`].
    #[error("a receipt can have at most {RECEIPT_BYTES_MAX} bytes")]
    TooLong,
    /// It is not CBOR as the service writes it.
    #[error("the bytes are not a COSE receipt, as timenav writes it")]
    Form,
    /// It is of another ledger, or of another key.
    #[error("the receipt is of `{found}`, and the key of `{expected}`")]
    OtherKey {
        /// The name and the id of the key.
        expected: String,
        /// Those in the receipt.
        found: String,
    },
    /// Its hashes are not of such trees.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// The older tree is empty, or not the smaller one: RFC 9942 has no consistency proof without hashes.
    #[error("a receipt shows how a ledger of 1 to {last} entries grew into one of {size}, not one of {from}", last = size.saturating_sub(1))]
    NoGrowth {
        /// The size of the older tree.
        from: u64,
        /// The size of the newer tree.
        size: u64,
    },
    /// The key has not signed the root to which the hashes lead.
    #[error("the key did not sign the root to which the hashes lead")]
    Signature,
}

impl Receipt {
    /// Returns the receipt of the entry at `index` in the tree of `size` entries with that root. `sign` makes the Ed25519
    /// signature of a message. Never to be called for a tree that is not committed.
    ///
    /// # Errors
    /// The hashes do not lead from the entry to the root.
    pub fn sign(
        key: &VerifierKey,
        (index, leaf): (u64, Vec<u8>),
        (size, root, hashes): (u64, &Hash, Vec<Hash>),
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Result<Self, ProofError> {
        verify_inclusion(index, size, &leaf_hash(&leaf), &hashes, root)?;
        let signature = sign(&Signer::of(key).signed(root));
        Ok(Self { origin: key.name().to_owned(), key_id: key.id(), index, size, hashes, leaf, signature })
    }

    /// Checks that a key has signed a tree that has the entry. Returns the root. `ed25519` is as for
    /// [`super::Note::signers`].
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
        let root = root_by_inclusion(self.index, self.size, &leaf_hash(&self.leaf), &self.hashes)?;
        let is_signed = ed25519(key.public_key(), &signer.signed(&root), &self.signature);
        if is_signed { Ok(root) } else { Err(ReceiptError::Signature) }
    }

    /// Returns the bytes of the receipt.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (signer, hashes) = (self.signer(), self.hashes.clone());
        let numbers = [self.size, self.index];
        Parts { signer, numbers, hashes, beside: &self.leaf, signature: self.signature }.to_bytes(&INCLUSION)
    }

    /// Reads what [`Receipt::to_bytes`] writes, and nothing else.
    ///
    /// # Errors
    /// The bytes are not such a receipt.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let Parts { signer, numbers: [size, index], hashes, beside, signature } = Parts::parse(bytes, &INCLUSION)?;
        let (origin, key_id, leaf) = (signer.origin.to_owned(), signer.key_id, beside.to_vec());
        Ok(Self { origin, key_id, index, size, hashes, leaf, signature })
    }

    /// Returns whether bytes begin as a receipt of either kind does.
    #[must_use]
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&SIGN1)
    }

    fn signer(&self) -> Signer<'_> {
        Signer { origin: &self.origin, key_id: self.key_id }
    }
}
