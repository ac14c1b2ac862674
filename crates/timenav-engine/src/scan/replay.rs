//! What follows from the entries: clock, permissions, anchors, events, users, keys, timelines.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use timenav_core::access::Permissions;
use timenav_core::clock::Clock;
use timenav_core::ids::{KeyId, TimelineId, UserId};
use timenav_core::ledger::LeafRecord;
use timenav_core::scan::{FindingKind, Findings};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use super::payloads::{
    ClockPayload, CreatedPayload, ErasurePayload, KeyPayload, SetPermissionsPayload, UserPayload, anchor, key, read,
    user,
};
use super::source::Snapshot;
use crate::payload::action;
use crate::state::{Anchor, ApiKey, User};

/// An event that an entry records, to be compared with its row.
#[derive(Clone, Debug)]
pub(super) struct RecordedEvent {
    pub(super) position: u64,
    pub(super) event_id: String,
    /// `None` where it was erased.
    pub(super) content: Option<Vec<u8>>,
}

/// A sealed record that an entry tells of, to be compared with its row.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RecordedData {
    #[serde(skip)]
    pub(super) position: u64,
    pub(super) data_id: String,
    pub(super) sha256: String,
}

/// Rows that an entry tells of.
#[derive(Clone, Debug)]
pub(super) enum Recorded {
    Event(RecordedEvent),
    Data(RecordedData),
}

/// An entry that says that something was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Erased {
    /// Its own position.
    by: u64,
    /// Whether it was an event, whose payload goes; the payload of a sealed record stays.
    is_event: bool,
}

/// The state of a timeline, as far as the entries read so far tell.
pub(super) struct Replay {
    timeline_id: String,
    from_the_start: bool,
    /// Where reading began.
    first: u64,
    clock: Option<Clock>,
    permissions: Option<Permissions>,
    first_recorded_at: Option<Instant<Wall>>,
    recorded_at: Option<Instant<Wall>>,
    anchors: Vec<Anchor>,
    events_count: u64,
    users: BTreeMap<UserId, User>,
    keys: BTreeMap<KeyId, ApiKey>,
    timelines: BTreeSet<TimelineId>,
    data_count: u64,
    /// Entries whose payload is gone.
    gone: BTreeSet<u64>,
    /// Sealed records whose row says that an entry erased them, by the position of their own.
    data_gone: BTreeMap<u64, u64>,
    /// What entries say of erasures, by the position of what was erased.
    told: BTreeMap<u64, Erased>,
    /// The same, said after the scan began.
    told_later: BTreeMap<u64, Erased>,
    changes_count: u64,
    /// Why the state cannot be compared.
    blind: Option<String>,
    pub(super) findings: Findings,
}

impl Replay {
    /// Returns the replay of a ledger from its first entry, or from somewhere in it.
    pub(super) fn new(timeline: &TimelineId, first: u64) -> Self {
        Self {
            timeline_id: timeline.to_string(),
            from_the_start: first == 0,
            first,
            clock: None,
            permissions: None,
            first_recorded_at: None,
            recorded_at: None,
            anchors: Vec::new(),
            events_count: 0,
            users: BTreeMap::new(),
            keys: BTreeMap::new(),
            timelines: BTreeSet::new(),
            data_count: 0,
            gone: BTreeSet::new(),
            data_gone: BTreeMap::new(),
            told: BTreeMap::new(),
            told_later: BTreeMap::new(),
            changes_count: 0,
            blind: None,
            findings: Findings::default(),
        }
    }

    /// Returns how many entries changed the state.
    pub(super) const fn changes_count(&self) -> u64 {
        self.changes_count
    }

    /// Returns how many payloads and sealed records were erased.
    pub(super) fn erased_count(&self) -> u64 {
        (self.gone.len() + self.data_gone.len()) as u64
    }

    /// Returns how many events were recorded and not erased.
    pub(super) fn events_count(&self) -> u64 {
        let erased = self.told.values().filter(|erased| erased.is_event).count() as u64;
        self.events_count.saturating_sub(erased)
    }

    /// Returns how many sealed records were made.
    pub(super) const fn data_count(&self) -> u64 {
        self.data_count
    }

    /// Returns how many events were erased while the scan ran.
    pub(super) fn events_erased_later(&self) -> u64 {
        self.told_later.values().filter(|erased| erased.is_event).count() as u64
    }

    /// Returns whether that event was erased while the scan ran.
    pub(super) fn is_erased_later(&self, position: u64) -> bool {
        self.told_later.contains_key(&position)
    }

    /// Says that the row of a sealed record is marked as erased by an entry.
    pub(super) fn data_is_gone(&mut self, position: u64, by: u64) {
        self.data_gone.insert(position, by);
    }

    /// Returns why the state could not be compared, if so.
    pub(super) fn blind(&self) -> Option<&str> {
        self.blind.as_deref()
    }

    /// Says that an entry cannot be read.
    pub(super) fn lose(&mut self, position: u64) {
        self.blind.get_or_insert_with(|| format!("the entry at position {position} cannot be trusted"));
    }

    /// Takes the next entry; `payload` is `None` where it was erased.
    pub(super) fn entry(&mut self, record: &LeafRecord<'_>, position: u64, payload: Option<&[u8]>) -> Option<Recorded> {
        let Ok(recorded_at) = parse_timestamp::<Wall>(&record.recorded_at) else {
            self.lose(position);
            return None;
        };
        self.first_recorded_at.get_or_insert(recorded_at);
        self.recorded_at = Some(recorded_at);
        if payload.is_none() {
            self.gone.insert(position);
        }
        let recorded = self.recorded(record, position, payload);
        if recorded.is_none() && !is_without_effect(&record.action) {
            self.changes_count += 1;
            let applied = payload.and_then(|payload| self.apply(record, position, recorded_at, payload));
            if applied.is_none() {
                let why = format!("the payload of `{}` at position {position} cannot be read", record.action);
                self.blind.get_or_insert(why);
            }
        }
        self.check_reading(record, position, recorded_at);
        recorded
    }

    /// Returns the row that an entry tells of.
    fn recorded(&mut self, record: &LeafRecord<'_>, position: u64, payload: Option<&[u8]>) -> Option<Recorded> {
        match &*record.action {
            action::RECORD_EVENT => {
                self.events_count += 1;
                let content = payload.map(<[u8]>::to_vec);
                Some(Recorded::Event(RecordedEvent { position, event_id: record.subject.to_string(), content }))
            }
            action::ENCRYPT_DATA => {
                self.data_count += 1;
                let data: RecordedData = payload.and_then(read)?;
                Some(Recorded::Data(RecordedData { position, ..data }))
            }
            _ => None,
        }
    }

    /// The virtual time in an entry is what the clock showed at its host time.
    fn check_reading(&mut self, record: &LeafRecord<'_>, position: u64, recorded_at: Instant<Wall>) {
        let Some(clock) = self.clock.as_ref().filter(|_| self.blind.is_none()) else { return };
        let expected = clock.now(recorded_at).to_string();
        if expected != record.clock_time {
            let evidence =
                format!("the entry says that the clock showed {}, and it showed {expected}", record.clock_time);
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
    }

    /// Applies what an entry says. Returns `None` where it cannot be read.
    fn apply(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        recorded_at: Instant<Wall>,
        payload: &[u8],
    ) -> Option<()> {
        match &*record.action {
            action::CREATE_TIMELINE => self.create(record, payload)?,
            action::SET_ACCESS_CONTROL => {
                let lists: SetPermissionsPayload = read(payload)?;
                self.permissions = Some(lists.permissions.read()?);
            }
            action::SET_ANCHOR => self.anchors.push(anchor(read(payload)?, position, recorded_at)?),
            action::CREATE_USER | action::RESTRICT_TIME_TRAVEL => {
                let user = user(&read(payload)?)?;
                self.users.insert(user.user_id.clone(), user);
            }
            action::DELETE_USER => {
                let user: UserPayload = read(payload)?;
                self.users.remove(&UserId::new(&user.user_id).ok()?);
            }
            action::CREATE_API_KEY => {
                let key = key(&read(payload)?, recorded_at)?;
                self.keys.insert(key.key_id.clone(), key);
            }
            action::REVOKE_API_KEY => {
                let key: KeyPayload = read(payload)?;
                // A scan that starts in the middle does not know every key.
                if let Some(known) = self.keys.get_mut(&KeyId::new(&key.key_id).ok()?) {
                    known.revoked_at = Some(recorded_at);
                }
            }
            action::ERASE_DATA => {
                let ErasurePayload { position: erased, event_id } = read(payload)?;
                self.told.insert(erased, Erased { by: position, is_event: event_id.is_some() });
            }
            _ => self.change_clock(position, payload),
        }
        Some(())
    }

    fn create(&mut self, record: &LeafRecord<'_>, payload: &[u8]) -> Option<()> {
        if self.timeline_id == TimelineId::SYSTEM {
            self.timelines.insert(TimelineId::new(&record.subject).ok()?);
        }
        // On `system`, the making of other timelines tells of their clocks.
        if record.subject == self.timeline_id {
            let created: CreatedPayload = read(payload)?;
            self.clock = Some(created.clock.clock()?);
            self.permissions = Some(created.permissions.read()?);
        }
        Some(())
    }

    /// Any other action that tells of a clock has changed it. One that does not has no effect
    /// that this replay knows.
    fn change_clock(&mut self, position: u64, payload: &[u8]) {
        let Some(changed) = read::<ClockPayload>(payload) else { return };
        let Some(clock) = changed.clock.clock() else { return };
        if let Some(before) = &self.clock {
            let steps = u64::from(changed.changed.unwrap_or(true));
            if clock.generation != before.generation + steps || (steps == 0 && clock != *before) {
                let evidence = format!(
                    "the clock went from generation {} to {}, which no single change does",
                    before.generation, clock.generation
                );
                self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
            }
        }
        self.clock = Some(clock);
    }

    /// Takes an entry that came after the scan began, for the erasure that it may tell of.
    pub(super) fn later_entry(&mut self, record: &LeafRecord<'_>, position: u64, payload: &[u8]) {
        let erased = read::<ErasurePayload>(payload).filter(|_| record.action == action::ERASE_DATA);
        if let Some(ErasurePayload { position: erased, event_id }) = erased {
            self.told_later.insert(erased, Erased { by: position, is_event: event_id.is_some() });
        }
    }

    /// What is gone was erased by an entry, and what was erased is gone.
    fn compare_erasures(&mut self, first: u64) {
        for position in &self.gone {
            let told = self.told.get(position).or_else(|| self.told_later.get(position));
            if told.is_none_or(|erased| !erased.is_event) {
                let evidence = "the payload is gone, and no entry says that it was erased";
                self.findings.add(FindingKind::PayloadMismatch, Some(*position), evidence);
            }
        }
        for (position, by) in &self.data_gone {
            let told = self.told.get(position).or_else(|| self.told_later.get(position));
            if told.is_none_or(|erased| erased.is_event || erased.by != *by) {
                let evidence = "table data_records: the record is erased, and no entry says so";
                self.findings.add(FindingKind::StateMismatch, Some(*position), evidence);
            }
        }
        for (position, erased) in self.told.range(first..) {
            let is_gone =
                if erased.is_event { self.gone.contains(position) } else { self.data_gone.contains_key(position) };
            if !is_gone {
                let evidence =
                    format!("the entry at position {} says that this was erased, and it is there", erased.by);
                self.findings.add(FindingKind::StateMismatch, Some(*position), evidence);
            }
        }
    }

    /// Compares the state with what is kept of it. Returns how many rows were compared.
    pub(super) fn finish(&mut self, snapshot: &Snapshot) -> u64 {
        if self.blind.is_some() {
            return 0;
        }
        self.compare_erasures(self.first);
        let mut rows = self.compare_head(snapshot);
        if let Some((directory, timelines)) = snapshot.service.as_ref().filter(|_| self.from_the_start) {
            let kept: BTreeMap<_, _> = directory.users.iter().map(|(id, user)| (id.clone(), user.clone())).collect();
            rows += compare_rows(&mut self.findings, "users", &self.users, &kept);
            let kept = directory.keys.values().map(|key| (key.key_id.clone(), (**key).clone())).collect();
            rows += compare_rows(&mut self.findings, "api_keys", &self.keys, &kept);
            let named = |ids: &mut dyn Iterator<Item = &TimelineId>| ids.map(|id| (id.clone(), ())).collect();
            rows += compare_rows(
                &mut self.findings,
                "timelines",
                &named(&mut self.timelines.iter()),
                &named(&mut timelines.iter()),
            );
        }
        rows
    }

    fn compare_head(&mut self, snapshot: &Snapshot) -> u64 {
        let head = &snapshot.head;
        let events_count = self.events_count();
        let mut differs = |what: &str, expected: String, found: String| {
            if expected != found {
                let evidence =
                    format!("table timelines, {}: {what} is {found}, and the entries make it {expected}", head.id);
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
            differs("the time of its making", created, head.created_at.to_string());
            differs("the count of events", events_count.to_string(), head.events_count.to_string());
            differs("the count of anchors", self.anchors.len().to_string(), head.anchors_count.to_string());
        }
        if let Some(permissions) = self.permissions.as_ref().filter(|permissions| **permissions != *head.permissions) {
            let evidence = format!(
                "table permissions, {}: {:?}, and the entries make them {permissions:?}",
                head.id, head.permissions
            );
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
        1 + u64::from(self.permissions.is_some())
    }

    /// Compares the anchors on a page of what is kept. Returns how many were compared.
    pub(super) fn compare_anchors(&mut self, kept: &[Anchor]) -> u64 {
        if self.blind.is_some() || !self.from_the_start {
            return 0;
        }
        let table = |anchors: &[Anchor]| anchors.iter().map(|anchor| (anchor.position, anchor.clone())).collect();
        let expected: BTreeMap<u64, Anchor> = table(&self.anchors);
        compare_rows(&mut self.findings, "anchors", &expected, &table(kept))
    }
}

/// Reads and refusals change nothing, nor does what the service logs of itself.
fn is_without_effect(name: &str) -> bool {
    [action::READ, action::UNAUTHORIZED, action::ACCEPT_ROLLBACK, action::DECRYPT_DATA, action::DETECT_TAMPERING]
        .contains(&name)
}

/// Compares what follows from the entries with the rows of a table.
fn compare_rows<K: Ord + std::fmt::Display, V: PartialEq + std::fmt::Debug>(
    findings: &mut Findings,
    table: &str,
    expected: &BTreeMap<K, V>,
    kept: &BTreeMap<K, V>,
) -> u64 {
    for (key, row) in expected {
        match kept.get(key) {
            Some(found) if found == row => {}
            Some(found) => {
                let evidence = format!("table {table}, {key}: {found:?}, and the entries make it {row:?}");
                findings.add(FindingKind::StateMismatch, None, evidence);
            }
            None => findings.add(FindingKind::StateMismatch, None, format!("table {table}, {key}: the row is missing")),
        }
    }
    for key in kept.keys().filter(|key| !expected.contains_key(key)) {
        findings.add(FindingKind::StateMismatch, None, format!("table {table}, {key}: no entry made this row"));
    }
    kept.len() as u64
}
