use std::collections::{BTreeMap, BTreeSet};

use timenav_core::ledger::{
    EventsErased, LeafRecord, MissingPayloads, ReadsEntry, ReadsErased, RemainingReads, Retention, Sweep, SweptEntry,
    leaf_hash,
};
use timenav_core::limits::RETENTION_POLICIES_MAX;
use timenav_core::time::parse_timestamp;

use crate::ledger::action::{Action, Erases};
use crate::ledger::payload::DataErased;
use crate::requests::json::read;

/// Maximum number of missing contents without an explanation. They are remembered until a later entry explains them.
pub const BUNDLE_MISSING_MAX: usize = 1_000_000;

#[derive(Debug)]
struct MissingRecord {
    data_id: String,
    erased_by: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ErasureSource {
    /// An entry of the layer itself.
    OfLayer,
    /// An entry after the given size, which is all that the bundle includes of the layer.
    After(u64),
}

#[derive(Debug, Default)]
pub(super) struct MissingContents {
    payloads: MissingPayloads,
    data: BTreeMap<u64, MissingRecord>,
    reads: BTreeMap<u64, BTreeSet<u64>>,
    policies: usize,
    /// Number of missing payloads, single reads and sealed records, explained or not.
    count: u64,
    pruned: u64,
}

impl MissingContents {
    /// Processes an entry: its content may be missing, and it may explain earlier erasures.
    pub(super) fn entry(
        &mut self,
        leaf: &[u8],
        record: &LeafRecord<'_>,
        (salt, payload): (&[u8], &[u8]),
    ) -> Result<(), String> {
        if payload.is_empty() && salt.is_empty() {
            let recorded_at = parse_timestamp(&record.recorded_at).map_err(|error| error.to_string())?;
            let (position, leaf_hash) = (record.seq, leaf_hash(leaf));
            self.payloads.add(&SweptEntry { position, action: &record.action, recorded_at, leaf_hash });
            self.count += 1;
        } else if salt.is_empty() && ReadsEntry::of(record).is_some() {
            let remaining = RemainingReads::parse(salt, payload).map_err(|error| error.to_string())?;
            let missing_contents = (0..).zip(remaining.iter()).filter(|(_, read)| read.is_none());
            let numbers: BTreeSet<u64> = missing_contents.map(|(number, _)| number).collect();
            self.count += numbers.len() as u64;
            if !numbers.is_empty() {
                self.reads.insert(record.seq, numbers);
            }
        } else if Action::of(record) == Some(Action::SetRetention) && record.authority.is_some() {
            self.policy(record.seq, payload)?;
        } else {
            self.explain(record, payload, ErasureSource::OfLayer)?;
        }
        self.check_count()
    }

    /// Adds a retention policy, which later sweeps are checked against.
    fn policy(&mut self, position: u64, payload: &[u8]) -> Result<(), String> {
        self.payloads.policy(position, Retention::decode(payload).map_err(|error| error.to_string())?);
        self.policies += 1;
        if self.policies > RETENTION_POLICIES_MAX {
            return Err(format!("a timeline can have at most {RETENTION_POLICIES_MAX} retention policies"));
        }
        Ok(())
    }

    pub(super) fn data(&mut self, position: u64, data_id: String, erased_by: u64) -> Result<(), String> {
        self.data.insert(position, MissingRecord { data_id, erased_by });
        self.count += 1;
        self.check_count()
    }

    /// Removes the contents whose erasure an entry explains, and returns whether there were any.
    ///
    /// # Errors
    /// A sweep violates the retention policy.
    pub(super) fn explain(
        &mut self,
        record: &LeafRecord<'_>,
        payload: &[u8],
        source: ErasureSource,
    ) -> Result<bool, String> {
        let is_second = record.authority.is_some();
        Ok(match Action::of(record).and_then(Action::erases) {
            Some(Erases::Data) => read(payload).is_some_and(|erased| self.erased(record.seq, &erased)),
            Some(Erases::Events) if is_second => EventsErased::decode(payload).is_ok_and(|erased| {
                self.payloads.erased(&erased.versions) + self.payloads.erased(&erased.interventions) > 0
            }),
            Some(Erases::Contents) if is_second => match Sweep::decode(payload) {
                Ok(sweep) => self.swept(record, &sweep, source)? > 0,
                Err(_) => false,
            },
            Some(Erases::Reads) if is_second => {
                ReadsErased::decode(payload).is_ok_and(|erased| self.reads_erased(&erased))
            }
            // The first format has none of these. Erasures in a layer are handled with the layer.
            Some(Erases::Events | Erases::Contents | Erases::Reads | Erases::OfLayer) | None => false,
        })
    }

    fn swept(&mut self, record: &LeafRecord<'_>, sweep: &Sweep<'_>, source: ErasureSource) -> Result<u64, String> {
        let recorded_at = parse_timestamp(&record.recorded_at).map_err(|error| error.to_string())?;
        let pruned = match source {
            ErasureSource::OfLayer => self.payloads.sweep(record.seq, recorded_at, sweep),
            ErasureSource::After(size) => self.payloads.later_sweep(size, (record.seq, recorded_at), sweep),
        };
        let pruned = pruned.map_err(|fault| fault.to_string())?;
        self.pruned += pruned;
        Ok(pruned)
    }

    fn erased(&mut self, by: u64, erased: &DataErased) -> bool {
        let Some(data_id) = &erased.data_id else {
            let positions = std::iter::once(&erased.position).chain(&erased.also);
            return positions.filter(|position| self.payloads.remove(**position)).count() > 0;
        };
        let is_it =
            |missing_contents: &MissingRecord| missing_contents.data_id == *data_id && missing_contents.erased_by == by;
        let is_reported = self.data.get(&erased.position).is_some_and(is_it);
        is_reported && self.data.remove(&erased.position).is_some()
    }

    fn reads_erased(&mut self, erased: &ReadsErased<'_>) -> bool {
        let Some(numbers) = self.reads.get_mut(&erased.position) else { return false };
        let before = numbers.len();
        numbers.retain(|number| !erased.reads.contains(*number));
        let is_reported = numbers.len() < before;
        if numbers.is_empty() {
            self.reads.remove(&erased.position);
        }
        is_reported
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) const fn pruned(&self) -> u64 {
        self.pruned
    }

    pub(super) fn first(&self) -> Option<u64> {
        let payload = self.payloads.positions().next();
        let firsts = [payload, self.data.keys().next().copied(), self.reads.keys().next().copied()];
        firsts.into_iter().flatten().min()
    }

    fn check_count(&self) -> Result<(), String> {
        if self.payloads.count() + self.data.len() + self.reads.len() <= BUNDLE_MISSING_MAX {
            return Ok(());
        }
        Err(format!("contents of more than {BUNDLE_MISSING_MAX} entries are missing before an entry explains it"))
    }
}

#[cfg(test)]
mod tests {
    use timenav_core::ledger::{Hash, Leaf};

    use super::*;

    fn leaf(seq: u64, action: Action) -> Vec<u8> {
        let at = "2026-01-01T00:00:00Z";
        let payload_hash = Hash::from_bytes([0; Hash::BYTES]);
        let (actor, action, subject) = ("ada", action.word(), "");
        Leaf { timeline_id: "main", seq, recorded_at: at, clock_time: at, actor, action, subject, payload_hash }
            .encode()
    }

    #[test]
    fn missing_bundle_contents_are_limited() {
        let (leaf, erasing) = (leaf(0, Action::RecordEvent), leaf(0, Action::EraseData));
        let mut record = LeafRecord::decode(&leaf).unwrap();
        let mut missing_contents = MissingContents::default();
        for seq in 0..BUNDLE_MISSING_MAX as u64 {
            record.seq = seq;
            missing_contents.entry(&leaf, &record, (&[], &[])).unwrap();
        }
        record.seq += 1;
        // Explained contents no longer count towards the limit.
        let erasure = LeafRecord { seq: record.seq, ..LeafRecord::decode(&erasing).unwrap() };
        missing_contents
            .entry(&erasing, &erasure, (&[0; 16], br#"{"position":7,"also":[9,8],"event_id":"e"}"#))
            .unwrap();
        for _ in 0..3 {
            record.seq += 1;
            missing_contents.entry(&leaf, &record, (&[], &[])).unwrap();
        }
        record.seq += 1;
        missing_contents.entry(&leaf, &record, (&[], &[])).unwrap_err();
        assert_eq!((missing_contents.first(), missing_contents.count()), (Some(0), BUNDLE_MISSING_MAX as u64 + 4));
    }

    #[test]
    fn erasure_explains_only_the_data_it_names() {
        let (of_event, of_data) = (r#"{"position":1,"event_id":"e"}"#, r#"{"position":2,"data_id":"d"}"#);
        let leaf = leaf(5, Action::EraseData);
        let record = LeafRecord::decode(&leaf).unwrap();
        let mut missing_contents = MissingContents::default();
        missing_contents.data(2, "d".to_owned(), 5).unwrap();
        missing_contents.data(1, "e".to_owned(), 6).unwrap();
        let explain = |missing_contents: &mut MissingContents, payload: &str| {
            missing_contents.explain(&record, payload.as_bytes(), ErasureSource::OfLayer).unwrap()
        };
        // Another entry erased the record of entry 1, whose payload is not missing.
        assert!(!explain(&mut missing_contents, of_event));
        assert!(!explain(&mut missing_contents, r#"{"position":1,"data_id":"e"}"#));
        assert!(!explain(&mut missing_contents, r#"{"position":2,"data_id":"other"}"#));
        assert!(explain(&mut missing_contents, of_data));
        assert!(!explain(&mut missing_contents, of_data));
        assert_eq!(missing_contents.first(), Some(1));
    }

    #[test]
    fn event_erasure_explains_only_event_payloads() {
        let mut missing_contents = MissingContents::default();
        for (seq, action) in (0..).zip(Action::ALL) {
            let leaf = leaf(seq, *action);
            missing_contents.entry(&leaf, &LeafRecord::decode(&leaf).unwrap(), (&[], &[])).unwrap();
        }
        let events = |action: &&Action| action.changes_events();
        let positions: Vec<u64> = (1..Action::ALL.len() as u64).collect();
        let erased = format!(r#"{{"position":0,"also":{positions:?},"event_id":"e"}}"#);
        let leaf = leaf(Action::ALL.len() as u64, Action::EraseData);
        let record = LeafRecord::decode(&leaf).unwrap();
        assert!(missing_contents.explain(&record, erased.as_bytes(), ErasureSource::OfLayer).unwrap());
        let (of_events, left) = (Action::ALL.iter().filter(events).count(), missing_contents.payloads.count());
        assert_eq!((of_events, left), (3, Action::ALL.len() - of_events));
        assert!(!missing_contents.explain(&record, erased.as_bytes(), ErasureSource::OfLayer).unwrap());
    }
}
