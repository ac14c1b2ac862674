//! The proof of an entry as a COSE receipt (RFC 9942), for verifiers that know COSE and not the forms of this ledger.
//!
//! A receipt is written in one way: deterministic CBOR (RFC 8949 §4.2.1) with these header parameters and no others. So
//! what is read is compared with literal bytes, and written once more. `docs/ledger-format-2.md` §11 has the bytes.

use super::note::{NoteKeyId, VerifierKey};
use super::proof::{PROOF_HASHES_MAX, ProofError, root_by_inclusion, verify_inclusion};
use super::{Hash, leaf_hash};

#[cfg(test)]
mod tests;

/// Longest receipt that is read, in bytes: an entry has less than 64 KiB.
pub const RECEIPT_BYTES_MAX: usize = 128 * 1_024;

/// The header parameter with the entry. RFC 9942 leaves to others how an entry comes to a verifier.
const LEAF_LABEL: &str = "timenav-leaf";

/// A tagged `COSE_Sign1` (RFC 9052 §4.2): tag 18, an array of four.
const SIGN1: [u8; 2] = [0xd2, 0x84];
/// Protected: a map of four; `alg` (1) is `EdDSA` (-8); `kid` (4) follows.
const ALG_KID: [u8; 4] = [0xa4, 0x01, 0x27, 0x04];
/// Protected: CWT claims (15, RFC 9597), a map of two; `iss` (1) follows.
const CLAIMS_ISS: [u8; 3] = [0x0f, 0xa2, 0x01];
/// Protected: `sub` (2) follows.
const SUB: [u8; 1] = [0x02];
/// Protected: `vds` (395) is `RFC9162_SHA256` (1).
const VDS: [u8; 4] = [0x19, 0x01, 0x8b, 0x01];
/// Unprotected: a map of two; `vdp` (396) is a map of one, in which `inclusion proofs` (-1) is an array of one.
const VDP_INCLUSION: [u8; 7] = [0xa2, 0x19, 0x01, 0x8c, 0xa1, 0x20, 0x81];
/// An inclusion proof: an array of three.
const PROOF: [u8; 1] = [0x83];
/// The payload, which is the root, is detached.
const DETACHED: [u8; 1] = [0xf6];
/// What is signed (RFC 9052 §4.4): an array of four, of which the first is the context.
const SIGNED: [u8; 12] = *b"\x84\x6aSignature1";

/// Major types of CBOR (RFC 8949 §3.1).
const UINT: u8 = 0;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;

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
    #[error("the bytes are not a COSE receipt of an entry, as timenav writes it")]
    Form,
    /// It is of another ledger, or of another key.
    #[error("the receipt is of `{found}`, and the key of `{expected}`")]
    OtherKey {
        /// The name and the id of the key.
        expected: String,
        /// Those in the receipt.
        found: String,
    },
    /// Its hashes are not of an entry there.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// The key has not signed the root to which the hashes lead.
    #[error("the key did not sign the root to which the entry and the hashes lead")]
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
        let signature = [0; 64];
        let unsigned = Self { origin: key.name().to_owned(), key_id: key.id(), index, size, hashes, leaf, signature };
        Ok(Self { signature: sign(&unsigned.signed(root)), ..unsigned })
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
        if (self.origin.as_str(), self.key_id) != (key.name(), key.id()) {
            let (expected, found) =
                (format!("{}+{}", key.name(), key.id()), format!("{}+{}", self.origin, self.key_id));
            return Err(ReceiptError::OtherKey { expected, found });
        }
        let root = root_by_inclusion(self.index, self.size, &leaf_hash(&self.leaf), &self.hashes)?;
        let is_signed = ed25519(key.public_key(), &self.signed(&root), &self.signature);
        if is_signed { Ok(root) } else { Err(ReceiptError::Signature) }
    }

    /// Returns the bytes of the receipt.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut proof = PROOF.to_vec();
        put_head(&mut proof, UINT, self.size);
        put_head(&mut proof, UINT, self.index);
        put_head(&mut proof, ARRAY, self.hashes.len() as u64);
        for hash in &self.hashes {
            put(&mut proof, BYTES, hash.as_bytes());
        }
        let mut bytes = SIGN1.to_vec();
        put(&mut bytes, BYTES, &self.protected());
        bytes.extend(VDP_INCLUSION);
        put(&mut bytes, BYTES, &proof);
        put(&mut bytes, TEXT, LEAF_LABEL.as_bytes());
        put(&mut bytes, BYTES, &self.leaf);
        bytes.extend(DETACHED);
        put(&mut bytes, BYTES, &self.signature);
        bytes
    }

    /// Reads what [`Receipt::to_bytes`] writes, and nothing else.
    ///
    /// # Errors
    /// The bytes are not such a receipt.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        if bytes.len() > RECEIPT_BYTES_MAX {
            return Err(ReceiptError::TooLong);
        }
        let receipt = Self::read(bytes).ok_or(ReceiptError::Form)?;
        if receipt.to_bytes() == bytes { Ok(receipt) } else { Err(ReceiptError::Form) }
    }

    /// Returns whether bytes begin as a receipt does.
    #[must_use]
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&SIGN1)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        rest.literal(&SIGN1)?;
        let (key_id, origin) = read_protected(rest.string(BYTES)?)?;
        rest.literal(&VDP_INCLUSION)?;
        let (size, index, hashes) = read_proof(rest.string(BYTES)?)?;
        rest.string(TEXT).filter(|label| *label == LEAF_LABEL.as_bytes())?;
        let leaf = rest.string(BYTES)?.to_vec();
        rest.literal(&DETACHED)?;
        let signature = rest.string(BYTES)?.try_into().ok()?;
        rest.0.is_empty().then_some(Self { origin, key_id, index, size, hashes, leaf, signature })
    }

    /// The issuer is the service's name, the subject the ledger's: a root alone does not name the ledger it belongs to.
    fn protected(&self) -> Vec<u8> {
        let issuer = self.origin.rsplit_once('/').map_or(self.origin.as_str(), |(issuer, _)| issuer);
        let mut protected = ALG_KID.to_vec();
        put(&mut protected, BYTES, self.key_id.as_bytes());
        protected.extend(CLAIMS_ISS);
        put(&mut protected, TEXT, issuer.as_bytes());
        protected.extend(SUB);
        put(&mut protected, TEXT, self.origin.as_bytes());
        protected.extend(VDS);
        protected
    }

    /// Returns the bytes that are signed: context, protected header, nothing from outside, and the root.
    fn signed(&self, root: &Hash) -> Vec<u8> {
        let mut signed = SIGNED.to_vec();
        put(&mut signed, BYTES, &self.protected());
        put(&mut signed, BYTES, &[]);
        put(&mut signed, BYTES, root.as_bytes());
        signed
    }
}

/// Returns the id of the key and the name of the ledger.
fn read_protected(bytes: &[u8]) -> Option<(NoteKeyId, String)> {
    let mut rest = Reader(bytes);
    rest.literal(&ALG_KID)?;
    let key_id = NoteKeyId::from_bytes(rest.string(BYTES)?.try_into().ok()?);
    rest.literal(&CLAIMS_ISS)?;
    rest.string(TEXT)?;
    rest.literal(&SUB)?;
    let origin = String::from_utf8(rest.string(TEXT)?.to_vec()).ok()?;
    rest.literal(&VDS)?;
    rest.0.is_empty().then_some((key_id, origin))
}

/// Returns the size of the tree, the position of the entry, and the hashes.
fn read_proof(bytes: &[u8]) -> Option<(u64, u64, Vec<Hash>)> {
    let mut rest = Reader(bytes);
    rest.literal(&PROOF)?;
    let (size, index) = (rest.head(UINT)?, rest.head(UINT)?);
    let count = usize::try_from(rest.head(ARRAY)?).ok().filter(|count| *count <= PROOF_HASHES_MAX)?;
    let hashes = (0..count).map(|_| Hash::from_slice(rest.string(BYTES)?)).collect::<Option<Vec<_>>>()?;
    rest.0.is_empty().then_some((size, index, hashes))
}

/// Appends a string of bytes or of text.
fn put(to: &mut Vec<u8>, major: u8, string: &[u8]) {
    put_head(to, major, string.len() as u64);
    to.extend(string);
}

/// Appends a major type and its argument, in the fewest bytes.
fn put_head(to: &mut Vec<u8>, major: u8, argument: u64) {
    let (first, bytes) = (major << 5, argument.to_be_bytes());
    let (form, skipped) = match argument {
        0..=23 => return to.push(first | bytes[7]),
        24..=0xff => (24, 7),
        0x100..=0xffff => (25, 6),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 0),
    };
    to.push(first | form);
    to.extend(&bytes[skipped..]);
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn literal(&mut self, bytes: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(bytes)?;
        Some(())
    }

    /// Reads a major type and its argument.
    fn head(&mut self, major: u8) -> Option<u64> {
        let first = *self.take(1)?.first()?;
        if first >> 5 != major {
            return None;
        }
        let count = match first & 0x1f {
            small @ 0..=23 => return Some(u64::from(small)),
            form @ 24..=27 => 1 << (form - 24),
            _ => return None,
        };
        Some(self.take(count)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn string(&mut self, major: u8) -> Option<&'a [u8]> {
        let length = usize::try_from(self.head(major)?).ok()?;
        self.take(length)
    }
}
