//! A marked moment.

use timenav_core::clock::Moment;
use timenav_core::ids::AnchorId;
use timenav_core::time::{Instant, Virtual, Wall};

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
