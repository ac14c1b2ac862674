//! What a key with a horizon has seen, told from the ledger alone, and signed.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::directory::ApiKey;
use timenav_core::ids::{KeyId, TimelineId};
use timenav_core::ledger::{
    Certificate, CertifiedReads, Hash, KeptReads, LeafRecord, Note, ReadProof, inclusion_nodes, origin,
};

use crate::action::Action;
use crate::caller::Caller;
use crate::code::Code;
use crate::deciding::logged::LogRefusal;
use crate::engine::Engine;
use crate::head::TimelineKey;
use crate::payload::Reading;
use crate::proofs::SignedCheckpoint;
use crate::refusal::Refusal;
use crate::rows::LogRow;
use crate::tree::node_hashes;

/// Entries that one certificate may be about. A longer life is told by several, one after the other.
pub const CERTIFICATE_ENTRIES_READ_MAX: u64 = 100_000;
/// Reads of the key that one certificate may prove. More than one entry can have is no limit to any range.
pub const CERTIFICATE_READS_MAX: u64 = 1_000;
/// Entries read from the store at a time.
const BLOCK_ENTRIES: u64 = 1_000;
/// Bytes of reads after which no more entries are read at a time.
const BLOCK_BYTES_MAX: usize = 1 << 20;

/// Which key a certificate is asked for, and of which entries of its timeline.
#[derive(Clone, Debug)]
pub struct CertificateRequest {
    /// The key.
    pub key_id: KeyId,
    /// The first position; 0 if there is none.
    pub from: Option<u64>,
    /// The last position; that of the ledger's last entry if there is none.
    pub to: Option<u64>,
}

/// An entry in which the key read something, with what shows that.
#[derive(Clone, Debug)]
pub struct CertifiedEntry {
    /// Its position.
    pub position: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: Vec<u8>,
    /// Leads from the leaf to the root of the checkpoint.
    pub hashes: Vec<Hash>,
    /// Each read of the key, shown to be among those of the entry.
    pub reads: Vec<ReadProof>,
}

/// A certificate with what it was made from.
#[derive(Clone, Debug)]
pub struct SignedCertificate {
    /// The timeline that the key is bound to.
    pub timeline_id: TimelineId,
    /// What is signed.
    pub certificate: Certificate,
    /// The signed note.
    pub note: String,
    /// The entries with reads of the key, in order.
    pub entries: Vec<CertifiedEntry>,
    /// The tree that the proofs lead to.
    pub checkpoint: SignedCheckpoint,
}

/// What was found in the entries that a certificate is about.
#[derive(Default)]
struct Found {
    seen: CertifiedReads,
    entries: Vec<(u64, Vec<u8>, Vec<ReadProof>)>,
}

impl Engine {
    /// Signs what a key with a horizon has seen.
    ///
    /// # Errors
    /// There is no such key, or none with a horizon; the caller neither owns it nor administers its timeline; the range
    /// is none, or too long; or the ledger cannot be written.
    #[boxed]
    pub async fn certificate(
        &self,
        caller: &Caller,
        request: CertificateRequest,
    ) -> Result<SignedCertificate, Refusal> {
        let CertificateRequest { key_id, from, to } = request;
        let Some((key, demand)) = self.certifiable(caller, &key_id).await? else {
            return Err(self.refuse_certificate(caller, &key_id).await);
        };
        // It tells what the clock showed.
        self.admit(caller, &key.timeline_id, Demand::Look, "certificate").await?;
        let read = Reading::Certificate { key_id: key_id.to_string() };
        let look = self.look(caller, key.timeline_id.clone(), demand, read).await?;
        if key.horizon.is_open() {
            let detail = format!("the key `{key_id}` has no horizon, so nothing is certified of it");
            return Err(Refusal::invalid("key_id", detail));
        }
        let checkpoint = self.newest_checkpoint(&look.state)?;
        let (from, to) = range(from, to, look.size().min(checkpoint.size))?;
        let timeline = look.state.head.key;
        let (engine, asked, size) = (self.clone(), key.clone(), checkpoint.size);
        let finding = async move { engine.seen_by(&asked, timeline, (from, to), size).await };
        let (seen, entries) = self.long_work().in_turn(caller, finding).await?;
        let certificate = Certificate {
            origin: origin(&self.options().service_name, look.state.head.id.as_str()),
            key_id: key.key_id.clone(),
            user_id: key.user_id.clone(),
            horizon: key.horizon,
            from,
            to,
            seen,
            size: checkpoint.size,
            root: checkpoint.root,
            others: self.others_of(&key),
        };
        let timeline_id = look.timeline();
        let note = self.sign_certificate(&certificate, &timeline_id)?;
        Ok(SignedCertificate { timeline_id, certificate, note, entries, checkpoint })
    }

    /// Returns the key, if the caller may know what it has seen, and what that demands of them.
    async fn certifiable(&self, caller: &Caller, key_id: &KeyId) -> Result<Option<(ApiKey, Demand)>, Refusal> {
        let Some(key) = self.known_key(key_id).await? else { return Ok(None) };
        let demand = if key.user_id == caller.user_id { Demand::Look } else { Demand::Administer };
        Ok(self.decide(caller, &key.timeline_id, demand).is_ok().then_some((key, demand)))
    }

    /// Logs on `system`, where keys are made, that somebody asked for a key that is not there or another user's. Which of
    /// these is not told.
    async fn refuse_certificate(&self, caller: &Caller, key_id: &KeyId) -> Refusal {
        let (system, operation) = (TimelineId::system(), "certificate".to_owned());
        if !caller.horizon.is_open() {
            return self.refuse_beyond_horizon(caller, &system, &operation).await;
        }
        let refused = Refusal::NotFound { what: "API key", id: key_id.to_string() };
        let refusal = LogRefusal { operation, code: Code::NotFound.as_str(), detail: refused.to_string() };
        // To an operator there is none.
        if self.decide(caller, &system, Demand::Operate).is_ok() {
            return refused;
        }
        self.submit(caller, system, refusal, None).await.err().unwrap_or(refused)
    }

    fn sign_certificate(&self, certificate: &Certificate, timeline: &TimelineId) -> Result<String, Refusal> {
        let damaged = |error: &dyn std::fmt::Display| Refusal::Damaged(format!("it cannot be signed: {error}"));
        let signer = &self.doors().signer;
        let name = signer.ledger_key(&self.options().service_name, timeline).map_err(|error| damaged(&error))?;
        let note = signer.lend(|sign| Note::sign(certificate.to_text(), &name, sign))?;
        Ok(note.map_err(|error| damaged(&error))?.to_string())
    }

    /// Returns how many other keys and sessions of the same user work now.
    fn others_of(&self, key: &ApiKey) -> u64 {
        let (directory, now, spans) = (self.directory(), self.now(), self.session_spans());
        let is_other = |one: &&Arc<ApiKey>| one.key_id != key.key_id && one.is_live(now);
        let keys = directory.keys.of_user(&key.user_id).filter(is_other).count();
        let sessions = directory.sessions.of_user(&key.user_id).filter(|one| one.is_live(now, spans)).count();
        (keys + sessions) as u64
    }

    /// Reads what a key has seen in a range of positions, and what proves it in the tree of that size.
    async fn seen_by(
        &self,
        key: &ApiKey,
        timeline: TimelineKey,
        (from, to): (u64, u64),
        size: u64,
    ) -> Result<(CertifiedReads, Vec<CertifiedEntry>), Refusal> {
        let mut found = Found::default();
        let mut next = from;
        while next <= to {
            let end = (to + 1).min(next + BLOCK_ENTRIES);
            let rows = self.store().log_rows(timeline, next..end, false, BLOCK_BYTES_MAX).await?;
            let gap = || Refusal::Damaged(format!("entry {next} is missing"));
            if rows.first().is_none_or(|row| row.position != next) {
                return Err(gap());
            }
            for row in rows {
                if row.position != next {
                    return Err(Refusal::Damaged(format!("entry {next} is missing")));
                }
                found.take(key, row)?;
                next += 1;
            }
        }
        let mut entries = Vec::with_capacity(found.entries.len());
        for (position, leaf, reads) in found.entries {
            let nodes = inclusion_nodes(position, size).map_err(|error| Refusal::Damaged(error.to_string()))?;
            let hashes = node_hashes(self.store(), timeline, &nodes).await?;
            entries.push(CertifiedEntry { position, leaf, hashes, reads });
        }
        Ok((found.seen, entries))
    }
}

impl Found {
    /// Takes what an entry tells of a key.
    fn take(&mut self, key: &ApiKey, row: LogRow) -> Result<(), Refusal> {
        let LogRow { position, leaf, reads } = row;
        let damaged = || Refusal::Damaged(format!("entry {position} cannot be read"));
        let Some((salt, payload)) = reads else {
            let record = LeafRecord::decode(&leaf).map_err(|_| damaged())?;
            let is_of_key = record.authority.as_ref().is_some_and(|authority| *authority.key == *key.key_id.as_str());
            self.seen.refusals += u64::from(is_of_key && Action::of(&record) == Some(Action::Attempt));
            return Ok(());
        };
        if payload.is_empty() {
            self.seen.gone += 1;
            return Ok(());
        }
        let kept = KeptReads::parse(&salt, &payload).map_err(|_| damaged())?;
        let mut proofs = Vec::new();
        for (index, read) in kept.iter().enumerate() {
            let Some(read) = read else {
                self.seen.gone += 1;
                continue;
            };
            if *read.key != *key.key_id.as_str() {
                continue;
            }
            let proof = kept.prove(index).ok_or_else(damaged)?;
            self.seen.add((&proof.salt, &proof.read), position, read.clock_time, key.horizon);
            self.seen.streams += u64::from(read.action.ends_with("stream"));
            proofs.push(proof);
        }
        if proofs.is_empty() {
            return Ok(());
        }
        if self.seen.reads > CERTIFICATE_READS_MAX {
            let detail = format!(
                "the key read more than {CERTIFICATE_READS_MAX} times in this range; end it before {position}, and ask for \
                 another certificate from there on"
            );
            return Err(Refusal::invalid("to", detail));
        }
        self.seen.entries += 1;
        self.entries.push((position, leaf, proofs));
        Ok(())
    }
}

/// Returns the first and the last position of a range within a ledger of that size.
fn range(from: Option<u64>, to: Option<u64>, size: u64) -> Result<(u64, u64), Refusal> {
    let last = size.saturating_sub(1);
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(last));
    if to > last {
        return Err(Refusal::invalid("to", format!("the last position of the ledger is {last}")));
    }
    if from > to {
        return Err(Refusal::invalid("from", format!("the range ends at {to}; begin it there or before")));
    }
    if to - from >= CERTIFICATE_ENTRIES_READ_MAX {
        let most = from + CERTIFICATE_ENTRIES_READ_MAX - 1;
        let detail =
            format!("one certificate is about {CERTIFICATE_ENTRIES_READ_MAX} entries at most; end it at {most}");
        return Err(Refusal::invalid("to", detail));
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use timenav_core::horizon::Horizon;
    use timenav_core::ids::UserId;
    use timenav_core::ledger::{Read, ReadParameters, ReadsDraft, Salt};
    use timenav_core::time::Instant;

    use super::*;

    fn key() -> ApiKey {
        ApiKey {
            key_id: KeyId::new("key_1").unwrap(),
            hash: [0; 32],
            user_id: UserId::new("ada").unwrap(),
            timeline_id: TimelineId::main(),
            label: String::new(),
            scopes: None,
            horizon: Horizon { until_clock: true, known_at: Some(2) },
            created_at: Instant::EPOCH,
            expires_at: None,
            revoked_at: None,
        }
    }

    /// Returns a row that tells of a read by each of these keys.
    fn row(position: u64, keys: &[&str]) -> LogRow {
        let salt = Salt::from_bytes([u8::try_from(position).unwrap_or(0); Salt::BYTES]);
        let mut draft = ReadsDraft::new(salt);
        for key in keys {
            let read = Read {
                action: Cow::Borrowed("event"),
                clock_time: Instant::from_micros(1_000_000 * i64::try_from(position).unwrap()).unwrap(),
                host_time: Instant::EPOCH,
                key: Cow::Borrowed(*key),
                parameters: ReadParameters::of("{}"),
                user: Cow::Borrowed("ada"),
            };
            draft.push(&read).unwrap();
        }
        let (payload, _) = draft.finish();
        LogRow { position, leaf: Vec::new(), reads: Some((salt.as_bytes().to_vec(), payload)) }
    }

    #[test]
    fn the_reads_of_the_key_count_and_those_of_others_do_not() {
        let mut found = Found::default();
        found.take(&key(), row(1, &["key_1", "key_2", "key_1"])).unwrap();
        found.take(&key(), row(5, &["key_2"])).unwrap();
        found.take(&key(), row(7, &["key_1"])).unwrap();
        let gone = LogRow { reads: Some((Vec::new(), Vec::new())), ..row(8, &["key_1"]) };
        found.take(&key(), gone).unwrap();
        let CertifiedReads { reads, entries, gone, latest_time, latest_position, .. } = found.seen;
        assert_eq!((reads, entries, gone), (3, 2, 1));
        assert_eq!((latest_time, latest_position), (Instant::from_micros(7_000_000), Some(2)));
        let proven: Vec<_> = found.entries.iter().map(|(position, _, proofs)| (*position, proofs.len())).collect();
        assert_eq!(proven, [(1, 2), (7, 1)]);
    }

    #[test]
    fn so_many_reads_are_proven_and_no_more() {
        let mut found = Found::default();
        let reads = ["key_1"; 250];
        for position in 0..4 {
            found.take(&key(), row(position, &reads)).unwrap();
        }
        assert_eq!(found.seen.reads, CERTIFICATE_READS_MAX);
        let refused = found.take(&key(), row(4, &["key_1"])).unwrap_err();
        assert!(refused.to_string().contains("end it before 4"), "{refused}");
    }

    #[test]
    fn a_range_is_of_the_ledger_and_not_too_long() {
        assert_eq!(range(None, None, 5).unwrap(), (0, 4));
        assert_eq!(range(Some(4), Some(4), 5).unwrap(), (4, 4));
        for (from, to) in [(None, Some(5)), (Some(5), None), (Some(3), Some(2))] {
            assert!(range(from, to, 5).is_err(), "{from:?} {to:?}");
        }
        let most = CERTIFICATE_ENTRIES_READ_MAX;
        assert_eq!(range(Some(7), Some(most + 6), 2 * most).unwrap(), (7, most + 6));
        let refused = range(None, None, most + 1).unwrap_err();
        assert!(refused.to_string().contains(&format!("end it at {}", most - 1)), "{refused}");
    }
}
