use serde::{Deserialize, Serialize};
use timenav_core::ids::AdvanceId;
use timenav_core::time::{Instant, Virtual, Wall, parse_timestamp};
use timenav_core::timers::{Advance, AdvanceState, Counts};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AdvanceBegun {
    pub(crate) advance_id: String,
    pub(crate) from: String,
    pub(crate) to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) location: Option<String>,
    pub(crate) running: bool,
}

impl AdvanceBegun {
    pub(crate) fn of(advance: &Advance) -> Self {
        Self {
            advance_id: advance.advance_id.to_string(),
            from: advance.from.to_string(),
            to: advance.to.to_string(),
            location: advance.location.clone(),
            running: advance.is_running,
        }
    }

    pub(crate) fn advance(&self, position: u64, host: Instant<Wall>) -> Option<Advance> {
        Some(Advance {
            advance_id: AdvanceId::new(&self.advance_id).ok()?,
            position,
            from: parse_timestamp(&self.from).ok()?,
            to: parse_timestamp(&self.to).ok()?,
            location: self.location.clone(),
            is_running: self.running,
            step: 0,
            stepped: position,
            held_since: host,
            at_instant: 0,
            open: 0,
            counts: Counts::default(),
        })
    }
}

/// The part of an entry that ends an advance. Also the stored form of its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AdvanceEnded {
    pub(crate) advance_id: String,
    pub(crate) state: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) reached: String,
    pub(crate) step: u64,
    pub(crate) fired: u64,
    pub(crate) acknowledged: u64,
    pub(crate) failed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held_by: Option<String>,
}

impl AdvanceEnded {
    pub(crate) fn of(
        advance: &Advance,
        state: AdvanceState,
        reached: Instant<Virtual>,
        held_by: Option<String>,
    ) -> Self {
        let Counts { fired, acknowledged, failed } = advance.counts;
        Self {
            advance_id: advance.advance_id.to_string(),
            state: state.as_str().to_owned(),
            from: advance.from.to_string(),
            to: advance.to.to_string(),
            reached: reached.to_string(),
            step: advance.step,
            fired,
            acknowledged,
            failed,
            held_by,
        }
    }
}
