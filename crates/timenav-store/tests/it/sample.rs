//! Sample ledgers, heads and other values for a store.

use std::collections::BTreeSet;
use std::sync::Arc;

use timenav_core::access::{Permissions, RestrictionLevel};
use timenav_core::clock::{Clock, ClockCommand, Moment, Rate};
use timenav_core::event::EventDraft;
use timenav_core::horizon::Horizon;
use timenav_core::ids::{AnchorId, EventId, KeyId, TimelineId, UserId};
use timenav_core::ledger::{Frontier, Hash, Salt, leaf_hash, sha256};
use timenav_core::password::Password;
use timenav_core::place::LocationQuery;
use timenav_core::time::{Duration, Instant, Span, TimeRange, Virtual, Wall};
use timenav_engine::{
    Anchor, ApiKey, Caller, Commit, Credential, EventColumns, EventRow, Head, IdempotencyRecord, Layer, MonitorEvents,
    StoredEntry, TimelineCommit, TimelineKey, TimerRows, User,
};
use zeroize::Zeroizing;

pub(crate) fn timeline_id(text: &str) -> TimelineId {
    TimelineId::new(text).unwrap()
}

pub(crate) fn user_id(text: &str) -> UserId {
    UserId::new(text).unwrap()
}

pub(crate) fn event_id(text: &str) -> EventId {
    EventId::new(text).unwrap()
}

pub(crate) fn host(micros: i64) -> Instant<Wall> {
    Instant::from_micros(micros).unwrap()
}

pub(crate) fn moment(micros: i64) -> Instant<Virtual> {
    Instant::from_micros(micros).unwrap()
}

pub(crate) fn users<const N: usize>(names: [&str; N]) -> BTreeSet<UserId> {
    names.into_iter().map(user_id).collect()
}

pub(crate) fn user(name: &str, restriction: RestrictionLevel) -> User {
    User { user_id: user_id(name), operator: false, restriction, created_at: host(1) }
}

pub(crate) fn api_key(name: &str) -> ApiKey {
    ApiKey {
        key_id: KeyId::new(name).unwrap(),
        hash: digest(name),
        user_id: user_id("ada"),
        timeline_id: timeline_id("main"),
        label: String::new(),
        scopes: None,
        horizon: Horizon::default(),
        created_at: host(5),
        expires_at: None,
        revoked_at: None,
    }
}

pub(crate) fn digest(text: &str) -> [u8; 32] {
    *sha256(&[text.as_bytes()]).as_bytes()
}

pub(crate) fn outcome(name: &str, expires_at: i64) -> IdempotencyRecord {
    IdempotencyRecord {
        key: digest(name),
        fingerprint: digest(&format!("{name} asked")),
        expires_at: host(expires_at),
        outcome: format!("{{\"answer\":\"{name}\"}}"),
        event: None,
    }
}

pub(crate) fn anchor(name: &str, position: u64) -> Anchor {
    Anchor {
        anchor_id: AnchorId::new(name).unwrap(),
        position,
        set_at: host(7),
        timestamp: moment(8),
        description: String::new(),
        fixed: true,
        moment: Moment { at: moment(9), running: true, rate: Rate::NORMAL, location: None },
    }
}

pub(crate) fn event(name: &str, position: u64, draft: &EventDraft) -> EventRow {
    EventRow {
        position,
        is_tombstone: false,
        event_id: event_id(name),
        content: format!("{{\"event_id\":\"{name}\"}}").into(),
        columns: Arc::new(EventColumns::of(draft, draft.geo.map(|geo| geo.point))),
    }
}

pub(crate) fn entry(seq: u64, text: &str) -> StoredEntry {
    let mut salt = [0; Salt::BYTES];
    salt[..8].copy_from_slice(&seq.to_be_bytes());
    let (leaf, payload) = (text.as_bytes().to_vec(), b"{}".to_vec());
    StoredEntry { seq, leaf, salt: Salt::from_bytes(salt), payload, events_count: seq * 2, clock_entry: seq / 2 }
}

/// Returns a query for every event of a timeline, on pages of a thousand.
pub(crate) fn every_event(timeline: Option<TimelineId>) -> MonitorEvents {
    MonitorEvents {
        timeline,
        location_text: "*".to_owned(),
        location: LocationQuery::Anywhere,
        range: TimeRange::everything(),
        as_of: None,
        filter: Arc::default(),
        newest_first: false,
        overlapping: false,
        items_max: 1_000,
        cursor: None,
    }
}

pub(crate) fn hour() -> ClockCommand {
    ClockCommand::FastForward(Duration::new(0, Span::from_micros(3_600_000_000)).unwrap())
}

/// Returns the single layer of a timeline that is not a fork.
pub(crate) fn layer(timeline: TimelineKey, as_of: u64) -> Arc<[Layer]> {
    [Layer { timeline, as_of, overrides: false }].into()
}

/// The expected state of one timeline. Grows only by commits that the store accepted.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub(crate) head: Head,
    /// The hash of every entry.
    pub(crate) leaves: Vec<Hash>,
}

impl Ledger {
    pub(crate) fn new(key: i64, name: &str) -> Self {
        let head = Head {
            key: TimelineKey(key),
            id: timeline_id(name),
            created_at: host(1),
            clock: Clock::new(host(1)),
            permissions: Arc::new(Permissions { admin: users(["ada"]), ..Permissions::default() }),
            frontier: Frontier::default(),
            carried_note: "nothing yet".into(),
            recorded_at: host(1),
            events_count: 0,
            anchors_count: 0,
            clock_entry: 0,
            fork: None,
            overrides_count: 0,
            created_by: user_id("ada"),
            data_count: 0,
            directory: 0,
            statement: Arc::from([]),
            origins: Arc::from([]),
            is_handed_over: false,
            expires_at: None,
            retention: Arc::default(),
            timers: Arc::default(),
        };
        Self { head, leaves: Vec::new() }
    }

    pub(crate) fn size(&self) -> u64 {
        self.leaves.len() as u64
    }

    /// Returns a commit that adds `count` entries, and records them as added.
    pub(crate) fn grow(&mut self, count: usize) -> TimelineCommit {
        let old = self.size();
        let (key, name) = (self.head.key.0, self.head.id.clone());
        let entries: Vec<_> = (old..old + count as u64).map(|seq| entry(seq, &format!("{key} {name} {seq}"))).collect();
        for entry in &entries {
            let hash = leaf_hash(&entry.leaf);
            self.leaves.push(hash);
            self.head.frontier.push(hash);
        }
        self.head.carried_note = format!("{} entries", self.size()).into();
        self.head.recorded_at = host(i64::try_from(self.size()).unwrap());
        TimelineCommit {
            expected_size: (old > 0).then_some(old),
            head: self.head.clone(),
            permissions_changed: old == 0,
            entries,
            ends: Vec::new(),
            events: Vec::new(),
            interventions: Vec::new(),
            anchors: Vec::new(),
            data: Vec::new(),
            erasures: Vec::new(),
            policies: Vec::new(),
            sweeps: Vec::new(),
            timers: TimerRows::default(),
        }
    }
}

/// Returns a commit with these timelines and nothing else.
pub(crate) fn commit_of(timelines: Vec<TimelineCommit>) -> Commit {
    Commit { timelines, ..Commit::default() }
}

pub(crate) fn key_id(caller: &Caller) -> KeyId {
    match &caller.credential {
        Credential::Key(key_id) => key_id.clone(),
        Credential::Session(session_id) => panic!("{session_id} is no key"),
    }
}

pub(crate) fn password(text: &str) -> Password {
    Password::new(Zeroizing::new(text.to_owned())).unwrap()
}
