use std::collections::BTreeMap;

use timenav_core::anchor::Anchor;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::PositionRuns;
use timenav_core::scan::FindingKind;
use timenav_core::time::{Instant, Wall};

use super::{Ended, Replay};
use crate::integrity::scan::tables::compare_rows;
use crate::ledger::payload::timers_text;
use crate::ports::archive::{ServiceRows, Snapshot};

impl Replay {
    /// Checks that missing contents were erased by an entry, and that erased contents are missing.
    pub(in crate::integrity::scan) fn compare_erasures(&mut self, first: u64) {
        for (position, is_event) in self.missing.unnamed() {
            let erasure = self.erased.get(&position).or_else(|| self.erased_later.get(&position));
            let evidence = match erasure.filter(|erased| erased.is_event) {
                Some(_) if is_event => continue,
                Some(_) => "the payload is gone, but the erasure that lists it is about events, and this is not one",
                None => "the payload is gone, but no entry says it was erased",
            };
            self.findings.add(FindingKind::PayloadMismatch, Some(position), evidence);
        }
        for position in self.missing.reads_unnamed() {
            let evidence = "single reads are gone, but no entry says they were erased";
            self.findings.add(FindingKind::PayloadMismatch, Some(position), evidence);
        }
        for (position, by) in &self.erased_data {
            let erasure = self.erased.get(position).or_else(|| self.erased_later.get(position));
            if erasure.is_none_or(|erased| erased.is_event || erased.by != *by) {
                let evidence = "table data_records: the record is erased, but no entry says so";
                self.findings.add(FindingKind::StateMismatch, Some(*position), evidence);
            }
        }
        for (position, erased) in self.erased.range(first..) {
            let is_missing = if erased.is_event {
                self.missing.contains(*position)
            } else {
                self.erased_data.contains_key(position)
            };
            if !is_missing {
                let evidence = format!("the entry at position {} says this was erased, but it is there", erased.by);
                self.findings.add(FindingKind::StateMismatch, Some(*position), evidence);
            }
        }
    }

    pub(in crate::integrity::scan) fn compare_needed(&mut self) {
        if self.missing.is_needed {
            self.compare_erasures(self.first);
        }
    }

    /// Returns the number of compared rows.
    pub(in crate::integrity::scan) fn finish(&mut self, snapshot: &Snapshot) -> u64 {
        if self.blind.is_some() {
            self.compare_needed();
            return 0;
        }
        self.compare_erasures(self.first);
        let mut rows = self.compare_head(snapshot);
        let service = snapshot.service.as_ref().filter(|_| self.from_the_start);
        if let Some(ServiceRows { directory, timelines, ended }) = service {
            rows += self.directory.compare(&mut self.findings, directory);
            let (counted, stored) = (self.directory.version(), snapshot.head.directory);
            if counted != stored {
                let evidence = format!(
                    "table timelines, system: the version of the directory is {stored}, but the entries lead to {counted}"
                );
                self.findings.add(FindingKind::StateMismatch, None, evidence);
            }
            let named = |ids: &mut dyn Iterator<Item = &TimelineId>| ids.map(|id| (id.clone(), ())).collect();
            rows += compare_rows(
                &mut self.findings,
                "timelines",
                &named(&mut self.timelines.iter()),
                &named(&mut timelines.keys()),
            );
            let known = timelines.iter().map(|(id, key)| (*key, id));
            let by_key = known.chain(ended.iter().map(|ended| (ended.key, &ended.id))).collect();
            let stored = ended.iter().map(|ended| (ended.id.clone(), Ended::of(ended, &by_key))).collect();
            rows += compare_rows(&mut self.findings, "ended_timelines", &self.ended, &stored);
        }
        rows
    }

    fn compare_head(&mut self, snapshot: &Snapshot) -> u64 {
        let head = &snapshot.head;
        let events_count = self.about(self.events_count(), head.events_count);
        let overrides_count = self.about(i64::try_from(self.overrides_count).unwrap_or(i64::MAX), head.overrides_count);
        let mut differs = |what: &str, expected: String, found: String| {
            if expected != found {
                let evidence =
                    format!("table timelines, {}: {what} is {found}, but the entries lead to {expected}", head.id);
                self.findings.add(FindingKind::StateMismatch, None, evidence);
            }
        };
        if let Some(clock) = &self.clock {
            differs("the clock", format!("{clock:?}"), format!("{:?}", head.clock));
        }
        if let Some(recorded_at) = self.recorded_at {
            differs("the time of the last entry", recorded_at.to_string(), head.recorded_at.to_string());
        }
        if self.from_the_start {
            let created = self.first_recorded_at.map_or_else(String::new, |at| at.to_string());
            differs("the time of its creation", created, head.created_at.to_string());
            differs("the count of events", events_count.to_string(), head.events_count.to_string());
            differs("the count of anchors", self.anchors_count.to_string(), head.anchors_count.to_string());
            differs("the entry of the clock", self.clock_entry.to_string(), head.clock_entry.to_string());
            differs("the count of overrides", overrides_count.to_string(), head.overrides_count.to_string());
            differs("who created it", self.first_actor.clone().unwrap_or_default(), head.created_by.to_string());
            differs("the count of sealed records", self.data_count.to_string(), head.data_count.to_string());
            let size = self.fork.as_ref().map(|fork| fork.size);
            differs("the origin of its first entries", format!("{:?}", self.origins), format!("{:?}", head.origins));
            let is_handed_over = self.handed_over.is_some();
            differs("whether it was handed over", is_handed_over.to_string(), head.is_handed_over.to_string());
            let time_text = |at: Option<Instant<Wall>>| at.map_or_else(|| "never".to_owned(), |at| at.to_string());
            differs("the state of its timers", self.timers.text(), timers_text(&head.timers));
            differs("when it expires", time_text(self.expires_at), time_text(head.expires_at));
            differs("where it was forked", format!("{size:?}"), format!("{:?}", head.fork.map(|fork| fork.size)));
        }
        if let Some(permissions) = self.permissions.as_ref().filter(|permissions| **permissions != *head.permissions) {
            let evidence = format!(
                "table permissions, {}: {:?}, but the entries lead to {permissions:?}",
                head.id, head.permissions
            );
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
        1 + u64::from(self.permissions.is_some())
    }

    /// Returns the counted number, or the found one if both differ by at most the number of events erased after the
    /// scan began, which can no longer be read.
    fn about(&self, counted: i64, found: u64) -> i64 {
        let found = i64::try_from(found).unwrap_or(i64::MAX);
        if counted.abs_diff(found) <= self.missing.later_events_count() { found } else { counted }
    }

    /// Each erased read must be missing, or its whole entry.
    pub(in crate::integrity::scan) fn reads_of_erasures(&self) -> Vec<(u64, u64, PositionRuns)> {
        self.missing.reads_of_erasures().to_vec()
    }

    /// Returns the number of compared rows.
    pub(in crate::integrity::scan) fn compare_retention(&mut self, snapshot: &Snapshot, sweeps: &[u64]) -> u64 {
        if self.blind.is_some() || !self.from_the_start {
            return 0;
        }
        let expected = self.policies.as_slice().iter().copied().collect();
        let stored = snapshot.head.retention.as_slice().iter().copied().collect();
        let rows = compare_rows(&mut self.findings, "policies", &expected, &stored);
        let expected = self.sweeps.iter().map(|position| (*position, ())).collect();
        let stored = sweeps.iter().map(|position| (*position, ())).collect();
        rows + compare_rows(&mut self.findings, "sweeps", &expected, &stored)
    }

    /// Returns the number of compared rows.
    pub(in crate::integrity::scan) fn compare_anchors(&mut self, stored: &[Anchor]) -> u64 {
        if self.blind.is_some() || !self.from_the_start {
            return 0;
        }
        let table = |anchors: &[Anchor]| anchors.iter().map(|anchor| (anchor.position, anchor.clone())).collect();
        let expected: BTreeMap<u64, Anchor> = table(&self.anchors);
        compare_rows(&mut self.findings, "anchors", &expected, &table(stored))
    }
}
