//! The responses of writes, in the form in which they are stored for repeated requests.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use timenav_core::clock::Clock;
use timenav_core::fault::Fault;
use timenav_core::ids::{AdvanceId, AnchorId, DataId, EventId, FollowerName, InterventionId, KeyId, UserId};
use timenav_core::intervention::Effect;
use timenav_core::ledger::{Hash, PruneClass, Retention};
use timenav_core::time::{Instant, Virtual, Wall};

use crate::requests::json::json;
use crate::requests::stored;

mod outcome;
#[cfg(test)]
mod tests;
mod timers;

pub(crate) use outcome::{OutcomeRecord, is_forgotten};
pub(crate) use timers::{AdvancesHeld, FiringsAfter, LookUp, Reach, TimerAfter, TimersMoved};

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
pub(crate) trait Change: Clone + Send + Serialize + DeserializeOwned + 'static {
    const KIND: &'static str;

    /// Returns the event whose content it contains. Once that is erased, the response is erased too.
    fn event(&self) -> Option<&EventId> {
        None
    }

    fn keep(&self) -> String {
        json(&Tagged { kind: Self::KIND.into(), change: self })
    }

    fn read(stored: &str) -> Option<Self> {
        let stored: Tagged<'_, Self> = serde_json::from_str(stored).ok()?;
        (stored.kind == Self::KIND).then_some(stored.change)
    }
}

/// The stored names of responses.
macro_rules! kinds {
    ($($change:ident = $kind:literal),+ $(,)?) => {$(
        impl Change for $change {
            const KIND: &'static str = $kind;
        }
    )+};
}

kinds! {
    ClockAfter = "clock",
    AnchorMarked = "anchor",
    EventsRecorded = "recorded",
    DataStored = "data",
    ContentErased = "erased",
    TimelineMade = "timeline",
    TimelineOver = "timeline_over",
    PermissionsAfter = "permissions",
    UserChanged = "user",
    KeyChanged = "key",
    EventsErasureResult = "events_gone",
    ReadsErasureResult = "reads_gone",
    ImportUndone = "import_undone",
    FaultOutcome = "fault",
    RetentionSet = "retention",
    Swept = "swept",
    Logged = "logged",
    TimerAfter = "timer",
    FiringsAfter = "firings",
    AdvancesHeld = "advances_held",
    TimersMoved = "timers_moved",
}

#[derive(Serialize, Deserialize)]
struct Tagged<'a, C> {
    kind: Cow<'a, str>,
    #[serde(flatten)]
    change: C,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClockAfter {
    #[serde(with = "stored")]
    pub(crate) clock: Clock,
    #[serde(with = "stored")]
    pub(crate) current_time: Instant<Virtual>,
    pub(crate) changed: bool,
    #[serde(default, with = "stored", skip_serializing_if = "Option::is_none")]
    pub(crate) advance_id: Option<AdvanceId>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AnchorMarked {
    #[serde(with = "stored")]
    pub anchor_id: AnchorId,
    #[serde(with = "stored")]
    pub timestamp: Instant<Virtual>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventsRecorded {
    /// All ids in request order.
    #[serde(with = "stored")]
    pub(crate) event_ids: Vec<EventId>,
    pub(crate) taken: u64,
    /// The positions of those that were already recorded with the same content. Not stored with the outcome: only
    /// imports use it, and they take no idempotency key.
    #[serde(skip)]
    pub(crate) unchanged_at: Vec<u64>,
    /// The request indexes of events that were rejected because another event has that id.
    pub(crate) differing: Vec<usize>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventCorrected {
    #[serde(with = "stored")]
    pub event_id: EventId,
    /// The current event as JSON.
    #[serde(with = "stored")]
    pub content: Arc<str>,
    pub changed: bool,
}

impl Change for EventCorrected {
    const KIND: &'static str = "corrected";

    fn event(&self) -> Option<&EventId> {
        Some(&self.event_id)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventIntervened {
    #[serde(with = "stored")]
    pub intervention_id: InterventionId,
    #[serde(with = "stored")]
    pub event_id: EventId,
    #[serde(with = "stored")]
    pub effect: Effect,
    /// The previous event as JSON; `None` if it was canceled.
    #[serde(with = "stored")]
    pub before: Option<Arc<str>>,
    /// The current event as JSON; `None` if it is canceled.
    #[serde(with = "stored")]
    pub after: Option<Arc<str>>,
}

impl Change for EventIntervened {
    const KIND: &'static str = "intervened";

    fn event(&self) -> Option<&EventId> {
        Some(&self.event_id)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DataStored {
    #[serde(with = "stored")]
    pub data_id: DataId,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContentErased {
    pub position: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimelineMade {
    #[serde(default, with = "stored", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Instant<Wall>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TimelineOver {
    pub(crate) size: u64,
    #[serde(with = "stored")]
    pub(crate) root: Hash,
    /// The signed note over size and root.
    pub(crate) checkpoint: String,
    #[serde(with = "stored")]
    pub(crate) due_at: Instant<Wall>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PermissionsAfter {
    pub tag: String,
    /// Users in the request whose permission had expired and who got no new expiry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expired: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UserChanged {
    #[serde(with = "stored")]
    pub user_id: UserId,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyChanged {
    #[serde(with = "stored")]
    pub key_id: KeyId,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EventsErasureResult {
    pub events_count: u64,
    /// How many payloads were erased, including those of forks.
    pub payloads_count: u64,
    /// How many forks lost content of their own.
    pub forks_count: u64,
    /// How many stored responses to repeated requests were erased.
    pub outcomes_count: u64,
    /// How many selected events are left. Repeat the request to erase them.
    pub left: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReadsErasureResult {
    pub position: u64,
    pub erased: u64,
    pub left: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ImportUndone {
    pub(crate) undone: u64,
    #[serde(rename = "kept")]
    pub(crate) skipped_changed: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FaultOutcome {
    #[serde(with = "stored")]
    pub user_id: UserId,
    #[serde(with = "stored")]
    pub follower: FollowerName,
    #[serde(default, with = "stored", skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RetentionSet {
    #[serde(flatten, with = "stored")]
    pub retention: Retention,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrunedContents {
    pub position: u64,
    #[serde(with = "stored")]
    pub class: PruneClass,
    pub count: u64,
    /// All pruned contents were recorded before this host time.
    #[serde(with = "stored")]
    pub cutoff: Instant<Wall>,
}

/// A sweep, after the remainder of earlier ones was finished.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Swept {
    #[serde(flatten)]
    pub(crate) pruned: PrunedContents,
    /// Contents of earlier sweeps that were deleted first.
    pub(crate) finished: u64,
    #[serde(with = "stored")]
    pub(crate) retention: Retention,
}

/// An entry was written, or sessions or a password changed: nothing to return but a position.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Logged {}
