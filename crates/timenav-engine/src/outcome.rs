//! What was answered, as it is kept for a repetition of the request.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use timenav_core::ids::{AnchorId, DataId, EventId, InterventionId, KeyId, TimelineId, UserId};
use timenav_core::ledger::Hash;
use timenav_core::time::Instant;

use crate::command::{Answer, Change, LedgerPosition};
use crate::payload::{ClockRecord, EffectRecord};

/// An [`Answer`] as it is kept for a repetition of its request.
#[derive(Serialize, Deserialize)]
pub(crate) struct OutcomeRecord {
    timeline_id: String,
    position: u64,
    size: u64,
    root: String,
    change: ChangeRecord,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum ChangeRecord {
    Clock {
        clock: ClockRecord,
        current_time: i64,
        changed: bool,
    },
    Anchor {
        anchor_id: String,
        timestamp: i64,
    },
    Recorded {
        event_ids: Vec<String>,
        taken: u64,
        differing: Vec<usize>,
    },
    Corrected {
        event_id: String,
        content: String,
        changed: bool,
    },
    Intervened {
        intervention_id: String,
        event_id: String,
        effect: EffectRecord,
        before: Option<String>,
        after: Option<String>,
    },
    Data {
        data_id: String,
    },
    Erased {
        position: u64,
    },
    Timeline,
    Permissions {
        tag: String,
    },
    User {
        user_id: String,
    },
    Key {
        key_id: String,
    },
    Logged,
}

impl OutcomeRecord {
    pub(crate) fn of(answer: &Answer) -> Self {
        let change = match &answer.change {
            Change::Clock { clock, current_time, changed } => ChangeRecord::Clock {
                clock: ClockRecord::of(clock),
                current_time: current_time.micros(),
                changed: *changed,
            },
            Change::Anchor { anchor_id, timestamp } => {
                ChangeRecord::Anchor { anchor_id: anchor_id.to_string(), timestamp: timestamp.micros() }
            }
            Change::Recorded { event_ids, taken, differing } => ChangeRecord::Recorded {
                event_ids: event_ids.iter().map(ToString::to_string).collect(),
                taken: *taken,
                differing: differing.clone(),
            },
            Change::Corrected { event_id, content, changed } => ChangeRecord::Corrected {
                event_id: event_id.to_string(),
                content: content.to_string(),
                changed: *changed,
            },
            Change::Intervened { intervention_id, event_id, effect, before, after } => ChangeRecord::Intervened {
                intervention_id: intervention_id.to_string(),
                event_id: event_id.to_string(),
                effect: EffectRecord::of(effect),
                before: before.as_deref().map(str::to_owned),
                after: after.as_deref().map(str::to_owned),
            },
            Change::Data { data_id } => ChangeRecord::Data { data_id: data_id.to_string() },
            Change::Erased { position } => ChangeRecord::Erased { position: *position },
            Change::Timeline => ChangeRecord::Timeline,
            Change::Permissions { tag } => ChangeRecord::Permissions { tag: tag.clone() },
            Change::User { user_id } => ChangeRecord::User { user_id: user_id.to_string() },
            Change::Key { key_id } => ChangeRecord::Key { key_id: key_id.to_string() },
            Change::Logged => ChangeRecord::Logged,
        };
        Self {
            timeline_id: answer.timeline_id.to_string(),
            position: answer.ledger.position,
            size: answer.ledger.size,
            root: answer.ledger.root.to_hex(),
            change,
        }
    }

    /// Returns the answer, or `None` if the record holds what no answer can be.
    pub(crate) fn answer(&self) -> Option<Answer> {
        let change = match &self.change {
            ChangeRecord::Clock { clock, current_time, changed } => Change::Clock {
                clock: clock.clock()?,
                current_time: Instant::from_micros(*current_time)?,
                changed: *changed,
            },
            ChangeRecord::Anchor { anchor_id, timestamp } => Change::Anchor {
                anchor_id: AnchorId::new(anchor_id).ok()?,
                timestamp: Instant::from_micros(*timestamp)?,
            },
            ChangeRecord::Recorded { event_ids, taken, differing } => Change::Recorded {
                event_ids: event_ids.iter().map(|id| EventId::new(id).ok()).collect::<Option<_>>()?,
                taken: *taken,
                differing: differing.clone(),
            },
            ChangeRecord::Corrected { event_id, content, changed } => Change::Corrected {
                event_id: EventId::new(event_id).ok()?,
                content: content.as_str().into(),
                changed: *changed,
            },
            ChangeRecord::Intervened { intervention_id, event_id, effect, before, after } => Change::Intervened {
                intervention_id: InterventionId::new(intervention_id).ok()?,
                event_id: EventId::new(event_id).ok()?,
                effect: effect.effect()?,
                before: before.as_deref().map(Arc::from),
                after: after.as_deref().map(Arc::from),
            },
            ChangeRecord::Data { data_id } => Change::Data { data_id: DataId::new(data_id).ok()? },
            ChangeRecord::Erased { position } => Change::Erased { position: *position },
            ChangeRecord::Timeline => Change::Timeline,
            ChangeRecord::Permissions { tag } => Change::Permissions { tag: tag.clone() },
            ChangeRecord::User { user_id } => Change::User { user_id: UserId::new(user_id).ok()? },
            ChangeRecord::Key { key_id } => Change::Key { key_id: KeyId::new(key_id).ok()? },
            ChangeRecord::Logged => Change::Logged,
        };
        let root = Hash::from_hex(&self.root)?;
        Some(Answer {
            timeline_id: TimelineId::new(&self.timeline_id).ok()?,
            change,
            ledger: LedgerPosition { position: self.position, size: self.size, root },
            replayed: true,
        })
    }
}
