use super::super::canonical::{Malformed, Scanner, Writer};
use super::super::merkle::leaf_hash;
use super::super::proof::{PROOF_HASHES_MAX, ProofError, verify_inclusion};
use super::{Hash, Read, Salt, digest};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadProofError {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Proof(#[from] ProofError),
}

/// Proves that a read is part of an entry, without disclosing the others.
///
/// `index` and `count` determine how the hashes are combined. The entry does not contain them: a valid proof shows that
/// the read is present, but not its index or the number of reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProof {
    /// The index of the read, from 0.
    pub index: u64,
    pub count: u64,
    pub salt: Salt,
    /// The result of [`Read::encode`].
    pub read: Vec<u8>,
    /// The inclusion proof, from the leaf upward.
    pub hashes: Vec<Hash>,
}

impl ReadProof {
    /// Returns RFC 8785 JSON with sorted keys. The bytes of the read are embedded unchanged and must be valid.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"count\":").integer(self.count).raw(",\"hashes\":");
        writer.array(&self.hashes, |writer, hash| _ = writer.hash(hash)).raw(",\"index\":").integer(self.index);
        writer.raw(",\"read\":").raw(&String::from_utf8_lossy(&self.read));
        writer.raw(",\"salt\":").hex_text(self.salt.as_bytes()).raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`ReadProof::encode`], and nothing else, without verifying it. Use [`ReadProof::verify`]
    /// for that.
    ///
    /// # Errors
    /// The encoding differs.
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

    /// Verifies that the read is part of the entry with that payload hash, and returns it.
    ///
    /// # Errors
    /// The bytes are not a read, or the proof is not valid.
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
