//! The reads of an entry as they are kept: all of them, or what is left once some were erased.

use super::super::canonical::{Malformed, Scanner, Writer};
use super::super::merkle::{leaf_hash, tree_root};
use super::super::proof::inclusion_hashes;
use super::shown::ReadProof;
use super::{Hash, READS_MAX, READS_OPENED_BYTES_MAX, READS_PAYLOAD_BYTES_MAX, Read, Salt, digest};

/// Why bytes are not the reads of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadsError {
    /// The salt has neither 16 bytes nor none.
    #[error("the salt of reads has {} bytes, or none once some were erased, not {found}", Salt::BYTES)]
    Salt {
        /// How many it has.
        found: usize,
    },
    /// There are more bytes than reads may have.
    #[error("the reads of an entry have at most {max} bytes")]
    TooLong {
        /// [`READS_PAYLOAD_BYTES_MAX`], or [`READS_OPENED_BYTES_MAX`] once some were erased.
        max: usize,
    },
    /// There is no read, or there are more than [`READS_MAX`].
    #[error("an entry has from 1 to {READS_MAX} reads")]
    Count,
    /// The payload is written otherwise.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// One read, or what is left of it.
#[derive(Clone, Debug)]
struct KeptRead<'a> {
    digest: Hash,
    /// The read and its salt; `None` once it was erased.
    read: Option<(Read<'a>, Salt)>,
}

/// The reads of one entry.
///
/// As long as all are there, the payload is an array of reads, and a salt of 16 bytes beside it is
/// what theirs are derived from. To erase one, that salt must go: who has it can derive the salt of the
/// erased read, and guess. So an array of another form takes the place of the payload, which has the
/// salt of each read that is left, and the digest of each that is not; the salt beside it is empty.
#[derive(Clone, Debug)]
pub struct KeptReads<'a> {
    reads: Vec<KeptRead<'a>>,
}

/// Returns the reads that a payload of either form tells of, `None` for each that was erased. Compares nothing: for who
/// has compared the payload with its entry, and has no salt.
///
/// # Errors
/// It is of neither form.
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

impl<'a> KeptReads<'a> {
    /// Reads what stands beside an entry of reads: its salt, of 16 bytes or none, and its payload.
    ///
    /// # Errors
    /// They are not of either form, or break a limit.
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
            KeptRead::scan(scanner, salt).map_err(ReadsError::from)
        })?;
        scanner.end()?;
        if reads.is_empty() { Err(ReadsError::Count) } else { Ok(Self { reads }) }
    }

    /// Returns the root over all reads: what the entry must have as its payload hash.
    #[must_use]
    pub fn root(&self) -> Hash {
        tree_root(&self.leaves())
    }

    /// Returns the reads in their order, `None` for each that was erased.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&Read<'a>>> {
        self.reads.iter().map(|kept| kept.read.as_ref().map(|(read, _)| read))
    }

    /// Returns how many reads there were; 1 at least.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an entry has one read at least")]
    pub fn len(&self) -> usize {
        self.reads.len()
    }

    /// Returns what shows that read to somebody, and no other; `None` where there is none, or it was erased.
    #[must_use]
    pub fn prove(&self, index: usize) -> Option<ReadProof> {
        let (read, salt) = self.reads.get(index)?.read.as_ref()?;
        let (number, count) = (index as u64, self.reads.len() as u64);
        let hashes = inclusion_hashes(&self.leaves(), number).ok()?;
        Some(ReadProof { index: number, count, salt: *salt, read: read.encode(), hashes })
    }

    /// Returns the payload that takes the place of this one, beside an empty salt, once the reads that
    /// `erase` names are erased: by their number from 0, and what they are.
    #[must_use]
    pub fn without(&self, mut erase: impl FnMut(usize, &Read<'a>) -> bool) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.array(self.reads.iter().enumerate(), |writer, (number, kept)| {
            match kept.read.as_ref().filter(|(read, _)| !erase(number, read)) {
                Some((read, salt)) => {
                    writer.raw("{\"read\":");
                    read.write(writer);
                    writer.raw(",\"salt\":").hex_text(salt.as_bytes()).raw("}");
                }
                None => _ = writer.raw("{\"erased\":").hash(&kept.digest).raw("}"),
            }
        });
        writer.into_bytes()
    }

    fn leaves(&self) -> Vec<Hash> {
        self.reads.iter().map(|kept| leaf_hash(kept.digest.as_bytes())).collect()
    }
}

impl<'a> KeptRead<'a> {
    /// Reads one item: a read where its salt is derived, else what is left of one.
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

    /// Reads a read, and returns its bytes too. They are those that it is written in, since nothing else is read.
    fn read(scanner: &mut Scanner<'a>) -> Result<(Read<'a>, &'a [u8]), Malformed> {
        let before = scanner.rest();
        let read = Read::scan(scanner)?;
        Ok((read, scanner.since(before).as_bytes()))
    }
}
