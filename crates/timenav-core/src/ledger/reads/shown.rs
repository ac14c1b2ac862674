//! One read of an entry, for somebody who may not see the others.

use super::super::canonical::{Malformed, Scanner, Writer};
use super::super::merkle::leaf_hash;
use super::super::proof::{PROOF_HASHES_MAX, ProofError, verify_inclusion};
use super::{Hash, Read, Salt, digest};

/// Why a read is not shown to be among those of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadProofError {
    /// The bytes are not a read.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The hashes do not lead to the payload hash.
    #[error(transparent)]
    Proof(#[from] ProofError),
}

/// Shows that a read is among those of an entry, and tells nothing of the others.
///
/// `index` and `count` say which way the hashes go. They are not in the entry: a proof that holds shows
/// that the read is there, not at which place among how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProof {
    /// The number of the read, counted from 0.
    pub index: u64,
    /// How many reads the entry has.
    pub count: u64,
    /// The salt of this read.
    pub salt: Salt,
    /// What [`Read::encode`] returned.
    pub read: Vec<u8>,
    /// The inclusion proof, from the leaf upward.
    pub hashes: Vec<Hash>,
}

impl ReadProof {
    /// Returns how the proof is handed around: RFC 8785 JSON with sorted keys. The bytes of the read stand
    /// in it as they are, so they must be those of a read.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"count\":").integer(self.count).raw(",\"hashes\":");
        writer.array(&self.hashes, |writer, hash| _ = writer.hash(hash)).raw(",\"index\":").integer(self.index);
        writer.raw(",\"read\":").raw(&String::from_utf8_lossy(&self.read));
        writer.raw(",\"salt\":").hex_text(self.salt.as_bytes()).raw("}");
        writer.into_bytes()
    }

    /// Reads what [`ReadProof::encode`] writes, and nothing else. Whether it is true is for
    /// [`ReadProof::verify`] to say.
    ///
    /// # Errors
    /// The bytes are written otherwise.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(bytes)?;
        scanner.expect("{\"count\":")?;
        let count = scanner.integer()?;
        scanner.expect(",\"hashes\":[")?;
        let hashes = scanner.array(|scanner| {
            scanner.expect("\"")?;
            scanner.hash()
        })?;
        scanner.expect(",\"index\":")?;
        let index = scanner.integer()?;
        scanner.expect(",\"read\":")?;
        let read = Read::scan(&mut scanner)?.encode();
        scanner.expect(",\"salt\":\"")?;
        let salt = Salt::from_bytes(scanner.hex_text()?);
        scanner.expect("}")?;
        scanner.end()?;
        Ok(Self { index, count, salt, read, hashes })
    }

    /// Checks that the read is among those of the entry with that payload hash, and returns it.
    ///
    /// # Errors
    /// It is not a read, or the proof does not show it.
    pub fn verify(&self, payload_hash: &Hash) -> Result<Read<'_>, ReadProofError> {
        if self.hashes.len() > PROOF_HASHES_MAX {
            return Err(ProofError::TooLong.into());
        }
        let read = Read::decode(&self.read)?;
        let leaf = leaf_hash(digest(&self.salt, &self.read).as_bytes());
        verify_inclusion(self.index, self.count, &leaf, &self.hashes, payload_hash)?;
        Ok(read)
    }
}
