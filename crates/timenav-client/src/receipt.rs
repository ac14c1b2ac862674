//! What came of an advance.

use crate::instant::Instant;
use crate::schemas::{FiringBody, SettledBody};
use crate::states::AdvanceState;

/// What came of an advance.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Receipt {
    /// The timeline.
    pub timeline_id: String,
    /// How it stands.
    pub state: AdvanceState,
    /// How far the clock has come.
    pub reached: Instant,
    /// The destination.
    pub to: Instant,
    /// How many firings there were.
    pub fired: u64,
    /// How many were acknowledged.
    pub acknowledged: u64,
    /// How many failed.
    pub failed: u64,
    /// How many nobody has acknowledged yet: their queues have no listener.
    pub unheard: u64,
    /// The first 100 firings.
    pub firings: Vec<FiringBody>,
    /// The id of the advance; `None` where the clock passed no timer.
    pub advance_id: Option<String>,
    /// Who held the instant that it was stopped at.
    pub held_by: Option<String>,
}

impl From<SettledBody> for Receipt {
    fn from(settled: SettledBody) -> Self {
        Self {
            timeline_id: settled.timeline_id,
            state: settled.state,
            reached: settled.reached,
            to: settled.to,
            fired: settled.fired,
            acknowledged: settled.acknowledged,
            failed: settled.failed,
            unheard: settled.unheard,
            firings: settled.firings,
            advance_id: Some(settled.advance_id),
            held_by: settled.held_by,
        }
    }
}
