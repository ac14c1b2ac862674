use serde::{Deserialize, Serialize};
use timenav_core::anchor::Anchor;
use timenav_core::clock::{Clock, ClockState, Moment, Rate};
use timenav_core::ids::AnchorId;
use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, Virtual, Wall, parse_timestamp};

use super::{AdvanceBegun, AdvanceEnded};
use crate::ledger::action::Action;
use crate::ports::archive::EntryRow;
use crate::requests::json::read;
use crate::requests::stored::Stored;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClockRecord {
    pub(crate) running: bool,
    /// Millionths of host speed.
    pub(crate) rate_micros: u64,
    pub(crate) origin_host: String,
    pub(crate) origin_virtual: String,
    pub(crate) location: Option<String>,
    pub(crate) generation: u64,
}

impl ClockRecord {
    pub(crate) fn of(clock: &Clock) -> Self {
        let (origin_host, origin_virtual) = clock.origin();
        Self {
            running: clock.is_running(),
            rate_micros: clock.rate().micros(),
            origin_host: origin_host.to_string(),
            origin_virtual: origin_virtual.to_string(),
            location: clock.location.clone(),
            generation: clock.generation,
        }
    }

    pub(crate) fn clock(&self) -> Option<Clock> {
        let host: Instant<Wall> = parse_timestamp(&self.origin_host).ok()?;
        let at: Instant<Virtual> = parse_timestamp(&self.origin_virtual).ok()?;
        let rate = Rate::from_micros(self.rate_micros)?;
        let state = if self.running {
            ClockState::Running { origin_host: host, origin_virtual: at, rate }
        } else {
            ClockState::Paused { since: host, at, rate }
        };
        Some(Clock { state, location: self.location.clone(), generation: self.generation })
    }
}

impl Stored for Clock {
    type Form = ClockRecord;

    fn form(&self) -> ClockRecord {
        ClockRecord::of(self)
    }

    fn of(record: ClockRecord) -> Option<Self> {
        record.clock()
    }
}

/// The clock in a payload, regardless of its other fields: of any clock change, of `create_timeline`, and of entries
/// that another version may have written.
#[derive(Deserialize)]
pub(crate) struct ClockPayload {
    clock: ClockRecord,
    /// Absent in `create_timeline`.
    changed: Option<bool>,
}

impl ClockPayload {
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.clock.clock()
    }

    pub(crate) fn is_change(&self) -> bool {
        self.changed.unwrap_or(true)
    }
}

pub(crate) fn clock_in(payload: &[u8]) -> Option<Clock> {
    read::<ClockPayload>(payload)?.clock()
}

/// Payload of every clock action.
#[derive(Serialize, Deserialize)]
pub(crate) struct ClockChanged {
    pub(crate) clock: ClockRecord,
    /// Whether anything changed: pausing a paused clock is an action too.
    pub(crate) changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) anchor_id: Option<String>,
    /// The advance that begins, if there are timers on the way: the clock is paused at its reading, and moves step by
    /// step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) advance: Option<AdvanceBegun>,
    /// The advance that ends, because the clock was paused on its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<AdvanceEnded>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct MomentRecord {
    at: String,
    running: bool,
    rate_micros: u64,
    location: Option<String>,
}

impl MomentRecord {
    fn of(moment: &Moment) -> Self {
        Self {
            at: moment.at.to_string(),
            running: moment.running,
            rate_micros: moment.rate.micros(),
            location: moment.location.clone(),
        }
    }

    fn moment(&self) -> Option<Moment> {
        let Self { at, running, rate_micros, location } = self;
        let (at, rate) = (parse_timestamp(at).ok()?, Rate::from_micros(*rate_micros)?);
        Some(Moment { at, running: *running, rate, location: location.clone() })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AnchorSet {
    anchor_id: String,
    timestamp: String,
    description: String,
    fixed: bool,
    moment: MomentRecord,
}

impl AnchorSet {
    pub(crate) fn of(anchor: &Anchor) -> Self {
        Self {
            anchor_id: anchor.anchor_id.to_string(),
            timestamp: anchor.timestamp.to_string(),
            description: anchor.description.clone(),
            fixed: anchor.fixed,
            moment: MomentRecord::of(&anchor.moment),
        }
    }

    pub(crate) fn anchor(&self, position: u64, set_at: Instant<Wall>) -> Option<Anchor> {
        Some(Anchor {
            anchor_id: AnchorId::new(&self.anchor_id).ok()?,
            position,
            set_at,
            timestamp: parse_timestamp(&self.timestamp).ok()?,
            description: self.description.clone(),
            fixed: self.fixed,
            moment: self.moment.moment()?,
        })
    }
}

pub(crate) fn anchor_in_entry(entry: &EntryRow) -> Option<Anchor> {
    let record = LeafRecord::decode(&entry.leaf).ok().filter(|record| Action::of(record) == Some(Action::SetAnchor))?;
    read::<AnchorSet>(&entry.payload)?.anchor(entry.position, parse_timestamp(&record.recorded_at).ok()?)
}
