//! The stored reads of an entry: all of them, or the remaining ones after some were erased.

use super::super::canonical::{Malformed, Scanner, Writer};
use super::super::merkle::{leaf_hash, tree_root};
use super::super::proof::inclusion_hashes;
use super::proof::ReadProof;
use super::{Hash, READS_MAX, READS_OPENED_BYTES_MAX, READS_PAYLOAD_BYTES_MAX, Read, Salt, digest};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadsError {
    #[error("the salt of reads must have {} bytes, or none if some were erased, not {found}", Salt::BYTES)]
    Salt { found: usize },
    #[error("the reads of an entry can have at most {max} bytes")]
    TooLong {
        /// [`READS_PAYLOAD_BYTES_MAX`], or [`READS_OPENED_BYTES_MAX`] after some were erased.
        max: usize,
    },
    #[error("an entry must have 1 to {READS_MAX} reads")]
    Count,
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

#[derive(Clone, Debug)]
struct RemainingRead<'a> {
    digest: Hash,
    /// The read and its salt; `None` if it was erased.
    read: Option<(Read<'a>, Salt)>,
}

/// The reads of one entry.
///
/// While all reads are present, the payload is an array of reads, stored with a salt of 16 bytes from which the salts
/// of the reads are derived. Erasing a read requires destroying this salt: otherwise the salt of the erased read could
/// be derived, and its content guessed. The payload is then replaced by an array of another form, with the salt of each
/// remaining read and the digest of each erased one, and the stored salt is empty.
#[derive(Clone, Debug)]
pub struct RemainingReads<'a> {
    reads: Vec<RemainingRead<'a>>,
}

/// Returns the reads of a payload of either form, `None` for each erased one. Verifies nothing: for callers that have
/// compared the payload with its entry, and do not have the salt.
///
/// # Errors
/// The payload has neither form.
pub fn reads_in(payload: &[u8]) -> Result<Vec<Option<Read<'_>>>, Malformed> {
    let mut scanner = Scanner::new(payload)?;
    scanner.expect("[")?;
    let reads = scanner.array(|scanner| {
        if scanner.skip("{\"erased\":\"") {
            scanner.hash()?;
            scanner.expect("}")?;
            return Ok::<_, Malformed>(None);
        }
        if !scanner.skip("{\"read\":") {
            return Read::scan(scanner).map(Some);
        }
        let read = Read::scan(scanner)?;
        scanner.expect(",\"salt\":\"")?;
        scanner.hex_text::<{ Salt::BYTES }>()?;
        scanner.expect("}")?;
        Ok(Some(read))
    })?;
    scanner.end()?;
    Ok(reads)
}

impl<'a> RemainingReads<'a> {
    /// Parses the stored reads of an entry: the salt, of 16 bytes or none, and the payload.
    ///
    /// # Errors
    /// They have neither form, or exceed a limit.
    pub fn parse(salt: &[u8], payload: &'a [u8]) -> Result<Self, ReadsError> {
        let master = match salt.len() {
            0 => None,
            Salt::BYTES => salt.try_into().ok().map(Salt::from_bytes),
            found => return Err(ReadsError::Salt { found }),
        };
        let max = if master.is_some() { READS_PAYLOAD_BYTES_MAX } else { READS_OPENED_BYTES_MAX };
        if payload.len() > max {
            return Err(ReadsError::TooLong { max });
        }
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("[")?;
        let derive = master.map(|master| master.deriving());
        let mut number = 0;
        let reads = scanner.array(|scanner| {
            if number as usize == READS_MAX {
                return Err(ReadsError::Count);
            }
            let salt = derive.as_ref().map(|derive| derive(number));
            number += 1;
            RemainingRead::scan(scanner, salt).map_err(ReadsError::from)
        })?;
        scanner.end()?;
        if reads.is_empty() { Err(ReadsError::Count) } else { Ok(Self { reads }) }
    }

    /// Returns the root over all reads, which must equal the payload hash of the entry.
    #[must_use]
    pub fn root(&self) -> Hash {
        tree_root(&self.leaves())
    }

    /// Returns the reads in their order, `None` for each erased one.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&Read<'a>>> {
        self.reads.iter().map(|remaining_read| remaining_read.read.as_ref().map(|(read, _)| read))
    }

    /// Returns the number of reads, including erased ones; at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an entry has at least one read")]
    pub fn len(&self) -> usize {
        self.reads.len()
    }

    /// Returns a proof that discloses one read and no other. `None` if there is no such read, or it was erased.
    #[must_use]
    pub fn prove(&self, index: usize) -> Option<ReadProof> {
        let (read, salt) = self.reads.get(index)?.read.as_ref()?;
        let (number, count) = (index as u64, self.reads.len() as u64);
        let hashes = inclusion_hashes(&self.leaves(), number).ok()?;
        Some(ReadProof { index: number, count, salt: *salt, read: read.encode(), hashes })
    }

    /// Returns the payload that replaces this one, with an empty salt, after erasing the reads for which `erase`
    /// returns true. It is called with the index, from 0, and the read.
    #[must_use]
    pub fn without(&self, mut erase: impl FnMut(usize, &Read<'a>) -> bool) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.array(self.reads.iter().enumerate(), |writer, (number, remaining_read)| {
            match remaining_read.read.as_ref().filter(|(read, _)| !erase(number, read)) {
                Some((read, salt)) => {
                    writer.raw("{\"read\":");
                    read.write(writer);
                    writer.raw(",\"salt\":").hex_text(salt.as_bytes()).raw("}");
                }
                None => _ = writer.raw("{\"erased\":").hash(&remaining_read.digest).raw("}"),
            }
        });
        writer.into_bytes()
    }

    fn leaves(&self) -> Vec<Hash> {
        self.reads.iter().map(|remaining_read| leaf_hash(remaining_read.digest.as_bytes())).collect()
    }
}

impl<'a> RemainingRead<'a> {
    /// Parses one item: a read if its salt is derived, otherwise a read with its salt or a digest.
    fn scan(scanner: &mut Scanner<'a>, derived: Option<Salt>) -> Result<Self, Malformed> {
        if let Some(salt) = derived {
            let (read, bytes) = Self::read(scanner)?;
            return Ok(Self { digest: digest(&salt, bytes), read: Some((read, salt)) });
        }
        if scanner.skip("{\"erased\":\"") {
            let digest = scanner.hash()?;
            scanner.expect("}")?;
            return Ok(Self { digest, read: None });
        }
        scanner.expect("{\"read\":")?;
        let (read, bytes) = Self::read(scanner)?;
        scanner.expect(",\"salt\":\"")?;
        let salt = Salt::from_bytes(scanner.hex_text()?);
        scanner.expect("}")?;
        Ok(Self { digest: digest(&salt, bytes), read: Some((read, salt)) })
    }

    /// Parses a read, and also returns its bytes. These are its canonical encoding, because no other is accepted.
    fn read(scanner: &mut Scanner<'a>) -> Result<(Read<'a>, &'a [u8]), Malformed> {
        let before = scanner.rest();
        let read = Read::scan(scanner)?;
        Ok((read, scanner.since(before).as_bytes()))
    }
}
