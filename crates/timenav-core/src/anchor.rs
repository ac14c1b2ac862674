//! Marked moments.

use crate::clock::{Clock, Moment};
use crate::ids::AnchorId;
use crate::limits::{ANCHORS_PER_TIMELINE_MAX, DESCRIPTION_BYTES_MAX};
use crate::time::{Instant, Virtual, Wall};

#[cfg(test)]
mod tests;

/// A marked moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Its name.
    pub anchor_id: AnchorId,
    /// Position of the entry that set it.
    pub position: u64,
    /// When it was set, by the host.
    pub set_at: Instant<Wall>,
    /// The moment anchored.
    pub timestamp: Instant<Virtual>,
    /// What it is for.
    pub description: String,
    /// Whether changes to what came before it are paradoxes.
    pub fixed: bool,
    /// How the clock stood: what returning restores, at `timestamp`.
    pub moment: Moment,
}

impl Anchor {
    /// Returns what a clock shows once it is back at the anchor, and how it goes on.
    #[must_use]
    pub fn restored(&self) -> Moment {
        Moment { at: self.timestamp, ..self.moment.clone() }
    }
}

/// What is to be marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorCommand {
    /// How it is called.
    pub anchor_id: AnchorId,
    /// The moment; that of the clock where there is none.
    pub timestamp: Option<Instant<Virtual>>,
    /// What it is for.
    pub description: String,
    /// Whether changes to what came before it are paradoxes.
    pub fixed: bool,
}

/// Why nothing is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorRefusal {
    /// The description is too long.
    #[error("a description has at most {DESCRIPTION_BYTES_MAX} bytes")]
    Description,
    /// The timeline has as many anchors as it may have.
    #[error("this timeline already has {ANCHORS_PER_TIMELINE_MAX} anchors, which is the limit")]
    TooMany,
}

/// Decides what is marked on a timeline with so many anchors, whose clock is `clock`, by the entry at `position`. Changes
/// nothing.
///
/// # Errors
/// [`AnchorRefusal`]; nothing is marked.
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

/// Returns how many anchors a timeline has once one is set. Anchors are rows, and nothing but their count is state. Cannot
/// fail: live path and replay share it.
#[must_use]
pub const fn apply(anchors_count: u64, _set: &Anchor) -> u64 {
    anchors_count.saturating_add(1)
}
