use serde::{Deserialize, Serialize};

use crate::instant::Instant;
use crate::operations::cause::Cause;
use crate::operations::place::Geo;
use crate::transport::arguments::ClockDuration;

/// The effect of an intervention on an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// It is canceled.
    Cancel,
    /// It is restored to its last recorded version.
    Restore,
    /// It happens later.
    Delay {
        /// By how much.
        duration: ClockDuration,
    },
    /// It happens earlier.
    Advance {
        /// By how much.
        duration: ClockDuration,
    },
    /// It happens at another time.
    Move {
        /// The time.
        time: Instant,
    },
    /// It happens at another place.
    Relocate {
        /// The place, in words.
        location: String,
        /// The coordinates.
        #[serde(skip_serializing_if = "Option::is_none")]
        geo: Option<Geo>,
    },
    /// It gets another description.
    Describe {
        /// The description.
        description: String,
    },
    /// It gets another name.
    Rename {
        /// The name.
        name: String,
    },
    /// It gets a note.
    Note,
    /// An effect unknown to this version.
    #[serde(other)]
    Other,
}

/// An intervention in an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Intervention {
    /// The id of the intervention.
    pub intervention_id: String,
    /// The event.
    pub event_id: String,
    /// The action as written in the request.
    pub action: String,
    /// The virtual time of the intervention.
    pub time: Instant,
    /// The effect of the action.
    pub effect: Effect,
    /// Whether the event occurred before the intervention.
    #[serde(rename = "stood")]
    pub was_active: bool,
    /// Whether the event changed.
    pub changed: bool,
    /// The user.
    pub actor: String,
    /// Its causes.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// Host time of the intervention.
    pub recorded_at: Instant,
    /// The position of its ledger entry.
    pub position: u64,
    /// The timeline of that ledger.
    pub timeline_id: Option<String>,
    /// The anchor, if a return to it caused the intervention.
    pub anchor_id: Option<String>,
}
