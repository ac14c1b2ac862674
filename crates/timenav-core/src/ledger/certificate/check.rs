//! A certificate, checked by somebody who has nothing but it and the reads that came with it.

use std::str::FromStr;

use super::super::{LeafRecord, ProofError, READS_ACTION, ReadProof, ReadProofError, leaf_hash, verify_inclusion};
use super::{Certificate, CertifiedReads, FIRST_LINE, Hash, Horizon};
use crate::ids::{KeyId, UserId};

/// Lines of the text.
const LINES: usize = 18;

/// Why a certificate does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// The text is none of a certificate.
    #[error("line {0} of the text is not a certificate's")]
    Line(usize),
    /// An entry is not in the range, or not after the one before.
    #[error("entry {0} is out of range or out of order")]
    Order(u64),
    /// The bytes are not those of an entry of reads of this ledger at this position.
    #[error("entry {0} is not an entry of reads of this ledger")]
    Entry(u64),
    /// The hashes do not lead from an entry to the root.
    #[error("entry {position} is not in the tree: {error}")]
    Tree {
        /// Which entry.
        position: u64,
        /// Why.
        error: ProofError,
    },
    /// A read is not among those of its entry.
    #[error("entry {position} does not contain a read: {error}")]
    Read {
        /// Which entry.
        position: u64,
        /// Why.
        error: ReadProofError,
    },
    /// A read is by another key or another user, or is shown twice.
    #[error("entry {0} shows a read of another key or user, or one twice")]
    Reader(u64),
    /// The reads give another text than the one that is signed.
    #[error("the certificate says `{told}`, and its reads say `{shown}`")]
    Differs {
        /// A line that is signed.
        told: String,
        /// The line that follows from the reads.
        shown: String,
    },
}

/// Checks a certificate entry by entry. Its signature is for the caller to check.
#[derive(Clone, Debug)]
pub struct CertificateCheck {
    text: String,
    /// What the text says, with the reads that were shown so far.
    certificate: Certificate,
    /// The position after the last entry.
    next: u64,
}

impl CertificateCheck {
    /// Begins with the text that is signed.
    ///
    /// # Errors
    /// It is not written as certificates are.
    pub fn new(text: &str) -> Result<Self, CertificateError> {
        let lines: Vec<&str> = text.lines().collect();
        if lines.first() != Some(&FIRST_LINE) {
            return Err(CertificateError::Line(1));
        }
        if lines.len() != LINES {
            return Err(CertificateError::Line(lines.len().min(LINES)));
        }
        let after = |number: usize, word: &str| -> Result<&str, CertificateError> {
            let rest = lines[number].strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
            rest.ok_or(CertificateError::Line(number + 1))
        };
        let pair = |number, word| -> Result<_, CertificateError> {
            after(number, word)?.split_once(' ').ok_or(CertificateError::Line(number + 1))
        };
        let known_at = match after(5, "known-at")? {
            "-" => None,
            position => Some(parse(position, 6)?),
        };
        let until_clock = match after(4, "horizon")? {
            "-" => false,
            Horizon::CLOCK => true,
            _ => return Err(CertificateError::Line(5)),
        };
        let ((from, to), (size, root)) = (pair(6, "range")?, pair(15, "tree")?);
        let (refusals, gone) = (parse(after(10, "refusals")?, 11)?, parse(after(11, "gone")?, 12)?);
        let certificate = Certificate {
            origin: lines[1].to_owned(),
            key_id: KeyId::new(after(2, "key")?).map_err(|_| CertificateError::Line(3))?,
            user_id: UserId::new(after(3, "user")?).map_err(|_| CertificateError::Line(4))?,
            horizon: Horizon { until_clock, known_at },
            from: parse(from, 7)?,
            to: parse(to, 7)?,
            seen: CertifiedReads { refusals, gone, ..CertifiedReads::default() },
            size: parse(size, 16)?,
            root: Hash::from_base64(root).ok_or(CertificateError::Line(16))?,
            others: parse(after(16, "others")?, 17)?,
        };
        let next = certificate.from;
        Ok(Self { text: text.to_owned(), certificate, next })
    }

    /// Returns what the text says, without its reads.
    #[must_use]
    pub const fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Takes the next entry: its bytes, the hashes from it to the root, and the reads that it is shown for.
    ///
    /// # Errors
    /// It is not in the tree, or does not contain one of the reads, or they are not the key's.
    pub fn entry(
        &mut self,
        position: u64,
        leaf: &[u8],
        hashes: &[Hash],
        proofs: &[ReadProof],
    ) -> Result<(), CertificateError> {
        let Self { certificate, next, .. } = self;
        if position < *next || position > certificate.to {
            return Err(CertificateError::Order(position));
        }
        verify_inclusion(position, certificate.size, &leaf_hash(leaf), hashes, &certificate.root)
            .map_err(|error| CertificateError::Tree { position, error })?;
        let record = LeafRecord::decode(leaf).map_err(|_| CertificateError::Entry(position))?;
        let timeline = certificate.origin.rsplit_once('/').map_or("", |(_, timeline)| timeline);
        if record.action != READS_ACTION || record.seq != position || record.timeline_id != timeline {
            return Err(CertificateError::Entry(position));
        }
        let mut index = None;
        for proof in proofs {
            let read = proof.verify(&record.payload_hash);
            let read = read.map_err(|error| CertificateError::Read { position, error })?;
            let is_next = index.replace(proof.index).is_none_or(|before| before < proof.index);
            if !is_next || *read.key != *certificate.key_id.as_str() || *read.user != *certificate.user_id.as_str() {
                return Err(CertificateError::Reader(position));
            }
            certificate.seen.add((&proof.salt, &proof.read), position, read.clock_time, certificate.horizon);
            certificate.seen.streams += u64::from(read.action.ends_with("stream"));
        }
        certificate.seen.entries += u64::from(!proofs.is_empty());
        *next = position + 1;
        Ok(())
    }

    /// Compares the text with what follows from the reads, and returns it.
    ///
    /// # Errors
    /// They differ.
    pub fn finish(self) -> Result<Certificate, CertificateError> {
        let shown = self.certificate.to_text();
        if shown == self.text {
            return Ok(self.certificate);
        }
        let differing = self.text.lines().zip(shown.lines()).find(|(told, shown)| told != shown);
        let (told, shown) = differing.unwrap_or(("", ""));
        Err(CertificateError::Differs { told: told.to_owned(), shown: shown.to_owned() })
    }
}

fn parse<T: FromStr>(text: &str, line: usize) -> Result<T, CertificateError> {
    text.parse().map_err(|_| CertificateError::Line(line))
}
