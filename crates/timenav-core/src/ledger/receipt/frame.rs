//! The bytes that all receipts have in common: a `COSE_Sign1` with one proof, and with one header parameter more.

use super::super::Hash;
use super::super::note::{NoteKeyId, VerifierKey};
use super::super::proof::PROOF_HASHES_MAX;
use super::cbor::{ARRAY, BYTES, Reader, TEXT, UINT, put, put_head};
use super::{RECEIPT_BYTES_MAX, ReceiptError};

/// A tagged `COSE_Sign1` (RFC 9052 §4.2): tag 18, an array of four.
pub(super) const SIGN1: [u8; 2] = [0xd2, 0x84];
/// Protected: a map of four; `alg` (1) is `EdDSA` (-8); `kid` (4) follows.
const ALG_KID: [u8; 4] = [0xa4, 0x01, 0x27, 0x04];
/// Protected: CWT claims (15, RFC 9597), a map of two; `iss` (1) follows.
const CLAIMS_ISS: [u8; 3] = [0x0f, 0xa2, 0x01];
/// Protected: `sub` (2) follows.
const SUB: [u8; 1] = [0x02];
/// Protected: `vds` (395) is `RFC9162_SHA256` (1).
const VDS: [u8; 4] = [0x19, 0x01, 0x8b, 0x01];
/// Unprotected: a map of two; `vdp` (396) is a map of one, whose key follows.
const VDP: [u8; 5] = [0xa2, 0x19, 0x01, 0x8c, 0xa1];
/// The proofs of that kind: an array of one.
const PROOFS: [u8; 1] = [0x81];
/// A proof: an array of two numbers and the hashes.
const PROOF: [u8; 1] = [0x83];
/// The payload, which is the root, is detached.
const DETACHED: [u8; 1] = [0xf6];
/// What is signed (RFC 9052 §4.4): an array of four, of which the first is the context.
const SIGNED: [u8; 12] = *b"\x84\x6aSignature1";

/// What tells one kind of receipt from another.
pub(super) struct Kind {
    /// The key of its proofs in `vdp`, as CBOR (RFC 9942 §5.2).
    proofs: u8,
    /// The header parameter for what the proof starts from. RFC 9942 leaves to others how that comes to a verifier.
    beside: &'static str,
}

/// Shows that an entry is in a tree: `inclusion proofs` (-1), and the entry.
pub(super) const INCLUSION: Kind = Kind { proofs: 0x20, beside: "timenav-leaf" };
/// Shows that a tree continues an older one: `consistency proofs` (-2), and the root of the older one.
pub(super) const CONSISTENCY: Kind = Kind { proofs: 0x21, beside: "timenav-from-root" };

/// What is in a receipt of either kind.
pub(super) struct Parts<'a> {
    pub(super) signer: Signer<'a>,
    /// The two numbers of the proof, in the order of RFC 9942.
    pub(super) numbers: [u64; 2],
    pub(super) hashes: Vec<Hash>,
    /// What the proof starts from.
    pub(super) beside: &'a [u8],
    pub(super) signature: [u8; 64],
}

/// Who has signed a receipt.
#[derive(Clone, Copy)]
pub(super) struct Signer<'a> {
    /// The name of the ledger, and of the key.
    pub(super) origin: &'a str,
    pub(super) key_id: NoteKeyId,
}

impl<'a> Parts<'a> {
    /// Returns the bytes of the receipt.
    pub(super) fn to_bytes(&self, kind: &Kind) -> Vec<u8> {
        let mut proof = PROOF.to_vec();
        for number in self.numbers {
            put_head(&mut proof, UINT, number);
        }
        put_head(&mut proof, ARRAY, self.hashes.len() as u64);
        for hash in &self.hashes {
            put(&mut proof, BYTES, hash.as_bytes());
        }
        let mut bytes = SIGN1.to_vec();
        put(&mut bytes, BYTES, &self.signer.protected());
        bytes.extend(VDP);
        bytes.push(kind.proofs);
        bytes.extend(PROOFS);
        put(&mut bytes, BYTES, &proof);
        put(&mut bytes, TEXT, kind.beside.as_bytes());
        put(&mut bytes, BYTES, self.beside);
        bytes.extend(DETACHED);
        put(&mut bytes, BYTES, &self.signature);
        bytes
    }

    /// Reads what [`Parts::to_bytes`] writes for that kind, and nothing else.
    pub(super) fn parse(bytes: &'a [u8], kind: &Kind) -> Result<Self, ReceiptError> {
        if bytes.len() > RECEIPT_BYTES_MAX {
            return Err(ReceiptError::TooLong);
        }
        let parts = Self::read(bytes, kind).ok_or(ReceiptError::Form)?;
        if parts.to_bytes(kind) == bytes { Ok(parts) } else { Err(ReceiptError::Form) }
    }

    fn read(bytes: &'a [u8], kind: &Kind) -> Option<Self> {
        let mut rest = Reader(bytes);
        rest.literal(&SIGN1)?;
        let signer = Signer::read(rest.string(BYTES)?)?;
        rest.literal(&VDP)?;
        rest.literal(&[kind.proofs])?;
        rest.literal(&PROOFS)?;
        let (numbers, hashes) = read_proof(rest.string(BYTES)?)?;
        rest.string(TEXT).filter(|label| *label == kind.beside.as_bytes())?;
        let beside = rest.string(BYTES)?;
        rest.literal(&DETACHED)?;
        let signature = rest.string(BYTES)?.try_into().ok()?;
        rest.0.is_empty().then_some(Self { signer, numbers, hashes, beside, signature })
    }
}

impl<'a> Signer<'a> {
    pub(super) fn of(key: &'a VerifierKey) -> Self {
        Self { origin: key.name(), key_id: key.id() }
    }

    /// Checks that this is a key.
    ///
    /// # Errors
    /// It is another key, or one of another ledger.
    pub(super) fn must_be(self, key: &VerifierKey) -> Result<(), ReceiptError> {
        if (self.origin, self.key_id) == (key.name(), key.id()) {
            return Ok(());
        }
        let (expected, found) = (format!("{}+{}", key.name(), key.id()), format!("{}+{}", self.origin, self.key_id));
        Err(ReceiptError::OtherKey { expected, found })
    }

    /// Returns the bytes that are signed: context, protected header, nothing from outside, and the root.
    pub(super) fn signed(self, root: &Hash) -> Vec<u8> {
        let mut signed = SIGNED.to_vec();
        put(&mut signed, BYTES, &self.protected());
        put(&mut signed, BYTES, &[]);
        put(&mut signed, BYTES, root.as_bytes());
        signed
    }

    /// The issuer is the service's name, the subject the ledger's: a root alone does not name the ledger it belongs to.
    fn protected(self) -> Vec<u8> {
        let issuer = self.origin.rsplit_once('/').map_or(self.origin, |(issuer, _)| issuer);
        let mut protected = ALG_KID.to_vec();
        put(&mut protected, BYTES, self.key_id.as_bytes());
        protected.extend(CLAIMS_ISS);
        put(&mut protected, TEXT, issuer.as_bytes());
        protected.extend(SUB);
        put(&mut protected, TEXT, self.origin.as_bytes());
        protected.extend(VDS);
        protected
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        rest.literal(&ALG_KID)?;
        let key_id = NoteKeyId::from_bytes(rest.string(BYTES)?.try_into().ok()?);
        rest.literal(&CLAIMS_ISS)?;
        rest.string(TEXT)?;
        rest.literal(&SUB)?;
        let origin = std::str::from_utf8(rest.string(TEXT)?).ok()?;
        rest.literal(&VDS)?;
        rest.0.is_empty().then_some(Self { origin, key_id })
    }
}

/// Returns the two numbers of a proof, and its hashes.
fn read_proof(bytes: &[u8]) -> Option<([u64; 2], Vec<Hash>)> {
    let mut rest = Reader(bytes);
    rest.literal(&PROOF)?;
    let numbers = [rest.head(UINT)?, rest.head(UINT)?];
    let count = usize::try_from(rest.head(ARRAY)?).ok().filter(|count| *count <= PROOF_HASHES_MAX)?;
    let hashes = (0..count).map(|_| Hash::from_slice(rest.string(BYTES)?)).collect::<Option<Vec<_>>>()?;
    rest.0.is_empty().then_some((numbers, hashes))
}
