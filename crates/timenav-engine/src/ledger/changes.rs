//! The responses of writes, in the form in which they are stored for repeated requests.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use timenav_core::clock::Clock;
use timenav_core::ids::{AdvanceId, AnchorId, DataId, EventId, InterventionId, KeyId, UserId};
use timenav_core::intervention::Effect;
use timenav_core::ledger::Hash;
use timenav_core::time::{Instant, Virtual, Wall};

use crate::ledger::payload::{ClockRecord, EffectRecord};
use crate::requests::json::json;

mod erasing;
mod faults;
mod logged;
mod outcome;
mod retention;
mod timers;
mod undoing;

pub(crate) use erasing::{EventsErasureResult, ReadsErasureResult};
pub(crate) use faults::FaultOutcome;
pub(crate) use logged::Logged;
pub(crate) use outcome::{OutcomeRecord, is_forgotten};
pub use retention::PrunedContents;
pub(crate) use retention::{RetentionSet, Swept};
pub(crate) use timers::{AdvancesHeld, FiringsAfter, LookUp, Reach, TimerAfter, TimersMoved};
pub(crate) use undoing::ImportUndone;

/// The ledger position of a write, and the signed tree that includes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerPosition {
    /// Position of the last entry the request wrote, from 0.
    pub position: u64,
    pub size: u64,
    pub root: Hash,
    /// Whether the request created the timeline by being the first write to that name.
    pub timeline_created: bool,
}

/// A response that can be stored, so that a repeated request gets the same response.
pub(crate) trait Change: Clone + Send + 'static {
    const KIND: &'static str;
    type Record: Serialize + DeserializeOwned;

    fn record(&self) -> Self::Record;
    fn of(record: Self::Record) -> Option<Self>;

    /// Returns the event whose content it contains. Once that is erased, the response is erased too.
    fn event(&self) -> Option<&EventId> {
        None
    }

    fn keep(&self) -> String {
        json(&TaggedRecord { kind: Self::KIND.to_owned(), record: self.record() })
    }

    fn read(stored: &str) -> Option<Self> {
        let stored: TaggedRecord<Self::Record> = serde_json::from_str(stored).ok()?;
        (stored.kind == Self::KIND).then_some(stored.record).and_then(Self::of)
    }
}

#[derive(Serialize, Deserialize)]
struct TaggedRecord<R> {
    kind: String,
    #[serde(flatten)]
    record: R,
}

#[derive(Clone, Debug)]
pub(crate) struct ClockAfter {
    pub(crate) clock: Clock,
    pub(crate) current_time: Instant<Virtual>,
    pub(crate) changed: bool,
    pub(crate) advance_id: Option<AdvanceId>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ClockAfterRecord {
    clock: ClockRecord,
    current_time: i64,
    changed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    advance_id: Option<String>,
}

impl Change for ClockAfter {
    const KIND: &'static str = "clock";
    type Record = ClockAfterRecord;

    fn record(&self) -> ClockAfterRecord {
        let (clock, current_time) = (ClockRecord::of(&self.clock), self.current_time.micros());
        let advance_id = self.advance_id.as_ref().map(ToString::to_string);
        ClockAfterRecord { clock, current_time, changed: self.changed, advance_id }
    }

    fn of(record: ClockAfterRecord) -> Option<Self> {
        let current_time = Instant::from_micros(record.current_time)?;
        let advance_id = match &record.advance_id {
            Some(text) => Some(AdvanceId::new(text).ok()?),
            None => None,
        };
        Some(Self { clock: record.clock.clock()?, current_time, changed: record.changed, advance_id })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct AnchorMarked {
    pub(crate) anchor_id: AnchorId,
    pub(crate) timestamp: Instant<Virtual>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AnchorMarkedRecord {
    anchor_id: String,
    timestamp: i64,
}

impl Change for AnchorMarked {
    const KIND: &'static str = "anchor";
    type Record = AnchorMarkedRecord;

    fn record(&self) -> AnchorMarkedRecord {
        AnchorMarkedRecord { anchor_id: self.anchor_id.to_string(), timestamp: self.timestamp.micros() }
    }

    fn of(record: AnchorMarkedRecord) -> Option<Self> {
        let timestamp = Instant::from_micros(record.timestamp)?;
        Some(Self { anchor_id: AnchorId::new(&record.anchor_id).ok()?, timestamp })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct EventsRecorded {
    /// All ids in request order.
    pub(crate) event_ids: Vec<EventId>,
    pub(crate) taken: u64,
    /// The positions of those that were already recorded with the same content. Not stored with the outcome: only
    /// imports use it, and they take no idempotency key.
    pub(crate) unchanged_at: Vec<u64>,
    /// The request indexes of events that were rejected because another event has that id.
    pub(crate) differing: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct EventsRecordedRecord {
    event_ids: Vec<String>,
    taken: u64,
    differing: Vec<usize>,
}

impl Change for EventsRecorded {
    const KIND: &'static str = "recorded";
    type Record = EventsRecordedRecord;

    fn record(&self) -> EventsRecordedRecord {
        let event_ids = self.event_ids.iter().map(ToString::to_string).collect();
        EventsRecordedRecord { event_ids, taken: self.taken, differing: self.differing.clone() }
    }

    fn of(record: EventsRecordedRecord) -> Option<Self> {
        let event_ids = record.event_ids.into_iter().map(|id| EventId::new(&id).ok()).collect::<Option<_>>()?;
        Some(Self { event_ids, taken: record.taken, unchanged_at: Vec::new(), differing: record.differing })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct EventCorrected {
    pub(crate) event_id: EventId,
    pub(crate) content: Arc<str>,
    pub(crate) changed: bool,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct EventCorrectedRecord {
    event_id: String,
    content: String,
    changed: bool,
}

impl Change for EventCorrected {
    const KIND: &'static str = "corrected";
    type Record = EventCorrectedRecord;

    fn record(&self) -> EventCorrectedRecord {
        let (event_id, content) = (self.event_id.to_string(), self.content.to_string());
        EventCorrectedRecord { event_id, content, changed: self.changed }
    }

    fn of(record: EventCorrectedRecord) -> Option<Self> {
        let event_id = EventId::new(&record.event_id).ok()?;
        Some(Self { event_id, content: record.content.into(), changed: record.changed })
    }

    fn event(&self) -> Option<&EventId> {
        Some(&self.event_id)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct EventIntervened {
    pub(crate) intervention_id: InterventionId,
    pub(crate) event_id: EventId,
    pub(crate) effect: Effect,
    /// The previous event as JSON; `None` if it was canceled.
    pub(crate) before: Option<Arc<str>>,
    /// The current event as JSON; `None` if it is canceled.
    pub(crate) after: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct EventIntervenedRecord {
    intervention_id: String,
    event_id: String,
    effect: EffectRecord,
    before: Option<String>,
    after: Option<String>,
}

impl Change for EventIntervened {
    const KIND: &'static str = "intervened";
    type Record = EventIntervenedRecord;

    fn record(&self) -> EventIntervenedRecord {
        EventIntervenedRecord {
            intervention_id: self.intervention_id.to_string(),
            event_id: self.event_id.to_string(),
            effect: EffectRecord::of(&self.effect),
            before: self.before.as_deref().map(str::to_owned),
            after: self.after.as_deref().map(str::to_owned),
        }
    }

    fn of(record: EventIntervenedRecord) -> Option<Self> {
        Some(Self {
            intervention_id: InterventionId::new(&record.intervention_id).ok()?,
            event_id: EventId::new(&record.event_id).ok()?,
            effect: record.effect.effect()?,
            before: record.before.map(Arc::from),
            after: record.after.map(Arc::from),
        })
    }

    fn event(&self) -> Option<&EventId> {
        Some(&self.event_id)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DataStored {
    pub(crate) data_id: DataId,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct DataStoredRecord {
    data_id: String,
}

impl Change for DataStored {
    const KIND: &'static str = "data";
    type Record = DataStoredRecord;

    fn record(&self) -> DataStoredRecord {
        DataStoredRecord { data_id: self.data_id.to_string() }
    }

    fn of(record: DataStoredRecord) -> Option<Self> {
        Some(Self { data_id: DataId::new(&record.data_id).ok()? })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ContentErased {
    pub(crate) position: u64,
}

impl Change for ContentErased {
    const KIND: &'static str = "erased";
    type Record = Self;

    fn record(&self) -> Self {
        self.clone()
    }

    fn of(record: Self) -> Option<Self> {
        Some(record)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TimelineMade {
    pub(crate) expires_at: Option<Instant<Wall>>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct TimelineMadeRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
}

impl Change for TimelineMade {
    const KIND: &'static str = "timeline";
    type Record = TimelineMadeRecord;

    fn record(&self) -> TimelineMadeRecord {
        TimelineMadeRecord { expires_at: self.expires_at.map(Instant::micros) }
    }

    fn of(record: TimelineMadeRecord) -> Option<Self> {
        let expires_at = record.expires_at.map(|micros| Instant::from_micros(micros).ok_or(())).transpose().ok()?;
        Some(Self { expires_at })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TimelineOver {
    pub(crate) size: u64,
    pub(crate) root: Hash,
    /// The signed note over size and root.
    pub(crate) checkpoint: String,
    pub(crate) due_at: Instant<Wall>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct TimelineOverRecord {
    size: u64,
    root: String,
    checkpoint: String,
    due_at: i64,
}

impl Change for TimelineOver {
    const KIND: &'static str = "timeline_over";
    type Record = TimelineOverRecord;

    fn record(&self) -> TimelineOverRecord {
        let Self { size, root, checkpoint, due_at } = self;
        TimelineOverRecord { size: *size, root: root.to_hex(), checkpoint: checkpoint.clone(), due_at: due_at.micros() }
    }

    fn of(record: TimelineOverRecord) -> Option<Self> {
        let TimelineOverRecord { size, root, checkpoint, due_at } = record;
        Some(Self { size, root: Hash::from_hex(&root)?, checkpoint, due_at: Instant::from_micros(due_at)? })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PermissionsAfter {
    pub(crate) tag: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) expired: Vec<String>,
}

impl Change for PermissionsAfter {
    const KIND: &'static str = "permissions";
    type Record = Self;

    fn record(&self) -> Self {
        self.clone()
    }

    fn of(record: Self) -> Option<Self> {
        Some(record)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct UserChanged {
    pub(crate) user_id: UserId,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct UserChangedRecord {
    user_id: String,
}

impl Change for UserChanged {
    const KIND: &'static str = "user";
    type Record = UserChangedRecord;

    fn record(&self) -> UserChangedRecord {
        UserChangedRecord { user_id: self.user_id.to_string() }
    }

    fn of(record: UserChangedRecord) -> Option<Self> {
        Some(Self { user_id: UserId::new(&record.user_id).ok()? })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct KeyChanged {
    pub(crate) key_id: KeyId,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct KeyChangedRecord {
    key_id: String,
}

impl Change for KeyChanged {
    const KIND: &'static str = "key";
    type Record = KeyChangedRecord;

    fn record(&self) -> KeyChangedRecord {
        KeyChangedRecord { key_id: self.key_id.to_string() }
    }

    fn of(record: KeyChangedRecord) -> Option<Self> {
        Some(Self { key_id: KeyId::new(&record.key_id).ok()? })
    }
}
