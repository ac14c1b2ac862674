//! Verifies entry contents: every payload that a service returns, against its leaf.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, anyhow};
use data_encoding::HEXLOWER;
use serde::Deserialize;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{
    Checkpoint, ERASE_EVENTS_ACTION, ERASE_READS_ACTION, EventsErased, Frontier, LeafRecord, MissingPayloads,
    ReadsEntry, ReadsErased, Retention, SET_RETENTION_ACTION, SWEEP_ACTION, Sweep, SweepFault, SweptEntry, TrustedKeys,
    leaf_hash, reads_in,
};
use timenav_core::limits::PAGE_ITEMS_MAX;
use timenav_core::scan::{EntryBytes, FindingKind, LedgerScan, open_signed};
use timenav_core::time::parse_timestamp;
use timenav_engine::{Action, Checked, Scan};

use super::findings::{add, check_signed};
use crate::client::Client;
use crate::exit::Failure;
use crate::wiring::ports::verify_signature;

pub(super) const PRUNED_SEEN: &str = "pruned payloads";

#[derive(Deserialize)]
struct Page {
    entries: Vec<Entry>,
    checkpoint: String,
}

#[derive(Deserialize)]
struct Entry {
    position: u64,
    leaf: String,
    contents: String,
    salt: Option<String>,
    payload: Option<String>,
}

/// The erased contents in an erasure entry: those of an event. A sealed record has no payload.
#[derive(Deserialize)]
struct Erased {
    position: u64,
    #[serde(default)]
    also: Vec<u64>,
    event_id: Option<String>,
}

struct Contents<'a> {
    client: &'a Client,
    timeline: &'a TimelineId,
    entries: LedgerScan,
    frontier: Frontier,
    /// Payloads hidden from the caller, by action.
    hidden: BTreeMap<String, u64>,
    /// Positions of hidden payloads that every reader may see.
    deferred: Vec<(u64, Action)>,
    /// Missing payloads that no later entry has explained yet.
    missing: MissingPayloads,
    /// Missing single reads by entry position that no later entry has explained yet.
    reads: BTreeMap<u64, BTreeSet<u64>>,
    reads_erased: u64,
    erased: u64,
    /// Number of pruned payloads.
    pruned: u64,
    faults: Vec<SweepFault>,
}

/// Verifies the contents of the entries up to a signed checkpoint.
pub(super) fn check(client: &Client, scan: &mut Scan, newest: &Checkpoint, keys: &TrustedKeys) -> Result<(), Failure> {
    let timeline = scan.timeline_id.clone();
    let mut contents = Contents {
        client,
        timeline: &timeline,
        entries: LedgerScan::new(timeline.as_str(), Vec::new()),
        frontier: Frontier::default(),
        hidden: BTreeMap::new(),
        deferred: Vec::new(),
        missing: MissingPayloads::default(),
        reads: BTreeMap::new(),
        reads_erased: 0,
        erased: 0,
        pruned: 0,
        faults: Vec::new(),
    };
    contents.read(newest.size)?;
    contents.compare(scan, newest);
    if contents.missing.count() > 0 || contents.reads.values().any(|numbers| !numbers.is_empty()) {
        // It may have been erased after the checkpoint, as recorded by a later entry.
        let page = contents.page(newest.size, 1)?;
        let opened = open_signed(&page.checkpoint, keys, verify_signature);
        if let Some(grown) = check_signed(scan, opened, "that the entries came with") {
            contents.read(grown.size)?;
            contents.compare(scan, &grown);
        }
    }
    contents.report(scan);
    Ok(())
}

impl Contents<'_> {
    fn read(&mut self, size: u64) -> Result<(), Failure> {
        while self.frontier.size() < size {
            let first = self.frontier.size();
            let limit = (size - first).min(PAGE_ITEMS_MAX as u64);
            let page = self.page(first, limit)?;
            let is_right =
                (first..first + limit).zip(&page.entries).all(|(position, entry)| entry.position == position);
            if page.entries.is_empty() || page.entries.len() as u64 > limit || !is_right {
                return Err(anyhow!("the service did not return the entries from position {first} on").into());
            }
            page.entries.iter().for_each(|entry| self.take(entry));
        }
        Ok(())
    }

    fn page(&self, from: u64, limit: u64) -> Result<Page, Failure> {
        let path = ["timeline", self.timeline.as_str(), "entries"];
        let answer = self.client.get(&path, &[("from", from.to_string()), ("limit", limit.to_string())])?;
        Ok(serde_json::from_value(answer.value).context("the service did not return entries")?)
    }

    fn take(&mut self, entry: &Entry) {
        let Entry { position, leaf, contents, salt, payload } = entry;
        let is_visible = contents == "visible";
        // An invalid salt decodes to a value that matches no signed hash.
        let salt =
            salt.as_ref().filter(|_| is_visible).map(|salt| HEXLOWER.decode(salt.as_bytes()).unwrap_or_default());
        let payload = payload.as_deref().filter(|_| is_visible).unwrap_or_default();
        let salt = salt.unwrap_or_default();
        self.frontier.push(leaf_hash(leaf.as_bytes()));
        let bytes = EntryBytes { position: *position, leaf: leaf.as_bytes(), salt: &salt, payload: payload.as_bytes() };
        let is_missing = bytes.is_erased();
        let record = self.entries.entry(bytes);
        if contents == "restricted" {
            let action = record.map(|record| record.action.into_owned()).unwrap_or_default();
            let visible = Action::parse(&action).filter(|action| action.is_visible_to_readers());
            self.deferred.extend(visible.map(|action| (*position, action)));
            *self.hidden.entry(action).or_default() += 1;
            return;
        }
        let Some(record) = record else { return };
        if is_missing && let Ok(recorded_at) = parse_timestamp(&record.recorded_at) {
            let (position, leaf_hash) = (*position, leaf_hash(leaf.as_bytes()));
            self.missing.add(&SweptEntry { position, action: &record.action, recorded_at, leaf_hash });
        }
        // If single reads were erased, the salt of the entry is gone.
        if salt.is_empty() && !is_missing && ReadsEntry::of(&record).is_some() {
            let reads = reads_in(payload.as_bytes()).unwrap_or_default();
            let erased = (0..).zip(&reads).filter(|(_, read)| read.is_none());
            self.reads.insert(*position, erased.map(|(number, _)| number).collect());
        }
        self.explain(&record, payload);
    }

    fn explain(&mut self, record: &LeafRecord<'_>, payload: &str) {
        let is_second = record.authority.is_some();
        match &*record.action {
            "erase_data" => {
                let Ok(Erased { position, also, event_id: Some(_) }) = serde_json::from_str(payload) else { return };
                for erased in also.into_iter().chain([position]) {
                    self.erased += u64::from(self.missing.remove(erased));
                }
            }
            ERASE_EVENTS_ACTION if is_second => {
                if let Ok(erased) = EventsErased::decode(payload.as_bytes()) {
                    let named = [&erased.versions, &erased.interventions];
                    self.erased += named.map(|positions| self.missing.erased(positions)).iter().sum::<u64>();
                }
            }
            ERASE_READS_ACTION if is_second => {
                let Ok(erased) = ReadsErased::decode(payload.as_bytes()) else { return };
                let Some(numbers) = self.reads.get_mut(&erased.position) else { return };
                let before = numbers.len();
                numbers.retain(|number| !erased.reads.contains(*number));
                self.reads_erased += (before - numbers.len()) as u64;
            }
            SET_RETENTION_ACTION if is_second => {
                if let Ok(retention) = Retention::decode(payload.as_bytes()) {
                    self.missing.policy(record.seq, retention);
                }
            }
            SWEEP_ACTION if is_second => {
                let sweep = Sweep::decode(payload.as_bytes()).ok();
                let sweep_time = sweep.zip(parse_timestamp(&record.recorded_at).ok());
                match sweep_time.map(|(sweep, recorded_at)| self.missing.sweep(record.seq, recorded_at, &sweep)) {
                    Some(Ok(pruned)) => self.pruned += pruned,
                    Some(Err(fault)) => self.faults.push(fault),
                    None => {}
                }
            }
            _ => {}
        }
    }

    /// Compares the tree over the entries with a signed root.
    fn compare(&self, scan: &mut Scan, signed: &Checkpoint) {
        let root = self.frontier.root();
        if root != signed.root {
            let size = signed.size;
            let evidence = format!(
                "the entries from the service lead to the root {root:?} at size {size}, but {:?} was signed",
                signed.root
            );
            add(scan, FindingKind::RootMismatch, Some(size), evidence);
        }
    }

    fn report(self, scan: &mut Scan) {
        let payloads = self.entries.payloads_count();
        scan.checked.push(Checked { what: "payloads from the service", count: payloads });
        scan.checked.push(Checked { what: PRUNED_SEEN, count: self.pruned });
        let findings = self.entries.into_findings();
        scan.findings_omitted += findings.omitted();
        for finding in findings.into_sorted(&[]) {
            add(scan, finding.kind, finding.position, finding.evidence);
        }
        for fault in self.faults {
            add(scan, FindingKind::SweepMismatch, Some(fault.sweep), fault.to_string());
        }
        for (position, action) in self.deferred {
            let evidence = format!("the payload of `{}` is hidden, but readers may see it", action.word());
            add(scan, FindingKind::PayloadMismatch, Some(position), evidence);
        }
        for position in self.missing.positions() {
            let evidence = "salt and payload are missing, but no entry erased or pruned them".to_owned();
            add(scan, FindingKind::PayloadMismatch, Some(position), evidence);
        }
        for (position, _) in self.reads.iter().filter(|(_, numbers)| !numbers.is_empty()) {
            let evidence = "single reads are missing, but no entry erased them".to_owned();
            add(scan, FindingKind::PayloadMismatch, Some(*position), evidence);
        }
        if self.reads_erased > 0 {
            scan.not_checked.push(format!("Single reads that were erased: {}.", self.reads_erased));
        }
        if !self.hidden.is_empty() {
            let hidden: Vec<String> = self.hidden.iter().map(|(action, count)| format!("{count} {action}")).collect();
            scan.not_checked.push(format!("Payloads your API key cannot read: {}.", hidden.join(", ")));
        }
        for (count, why) in [(self.erased, "erased"), (self.pruned, "pruned, as the retention of the timeline allows")]
        {
            if count > 0 {
                scan.not_checked.push(format!("Payloads that were {why}: {count}."));
            }
        }
    }
}
