//! Anchors: named moments that a clock can return to.

use crate::clock::{Clock, Moment};
use crate::ids::AnchorId;
use crate::limits::{ANCHORS_PER_TIMELINE_MAX, DESCRIPTION_BYTES_MAX};
use crate::time::{Instant, Virtual, Wall};

#[cfg(test)]
mod tests;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub anchor_id: AnchorId,
    /// Position of the entry that set it.
    pub position: u64,
    pub set_at: Instant<Wall>,
    pub timestamp: Instant<Virtual>,
    pub description: String,
    /// Whether changes to events before it are paradoxes.
    pub fixed: bool,
    /// The clock's state when the anchor was set. Returning restores it, at `timestamp`.
    pub moment: Moment,
}

impl Anchor {
    /// Returns the state of a clock that has returned to the anchor.
    #[must_use]
    pub fn restored(&self) -> Moment {
        Moment { at: self.timestamp, ..self.moment.clone() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorCommand {
    pub anchor_id: AnchorId,
    /// The moment to anchor. `None` for the clock's current moment.
    pub timestamp: Option<Instant<Virtual>>,
    pub description: String,
    pub fixed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorRefusal {
    #[error("a description can have at most {DESCRIPTION_BYTES_MAX} bytes")]
    Description,
    #[error("this timeline already has {ANCHORS_PER_TIMELINE_MAX} anchors, which is the limit")]
    TooMany,
}

/// Decides which anchor the entry at `position` sets, for a timeline that has `anchors_count` anchors and the clock
/// `clock`. Has no side effects.
///
/// # Errors
/// [`AnchorRefusal`]; no anchor is set.
pub fn decide(
    anchors_count: u64,
    command: &AnchorCommand,
    clock: &Clock,
    (position, host): (u64, Instant<Wall>),
) -> Result<Anchor, AnchorRefusal> {
    if command.description.len() > DESCRIPTION_BYTES_MAX {
        return Err(AnchorRefusal::Description);
    }
    if anchors_count >= ANCHORS_PER_TIMELINE_MAX as u64 {
        return Err(AnchorRefusal::TooMany);
    }
    let moment = clock.moment(host);
    Ok(Anchor {
        anchor_id: command.anchor_id.clone(),
        position,
        set_at: host,
        timestamp: command.timestamp.unwrap_or(moment.at),
        description: command.description.clone(),
        fixed: command.fixed,
        moment,
    })
}
