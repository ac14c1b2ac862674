//! Timelines: making them, and what they are.

use std::sync::Arc;

use timenav_core::access::{Demand, Role};
use timenav_core::ids::TimelineId;

use crate::caller::Caller;
use crate::clocks::ClockView;
use crate::command::{Command, LedgerPosition};
use crate::engine::Engine;
use crate::idempotency::Idempotency;
use crate::refusal::Refusal;
use crate::state::TimelineState;

/// One timeline as a caller sees it.
#[derive(Clone, Debug)]
pub struct TimelineView {
    /// The timeline's newest state.
    pub state: Arc<TimelineState>,
    /// Its clock now; `None` for `system`, whose clock is the host's, and where the caller's
    /// restriction hides clocks.
    pub clock: Option<ClockView>,
    /// The caller's role; `None` for an operator who is in none of its lists.
    pub role: Option<Role>,
}

impl Engine {
    /// Makes a timeline. The caller administers it.
    ///
    /// # Errors
    /// It exists already, the caller may not, or the ledger cannot be written.
    pub async fn create_timeline(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        idempotency: Option<Idempotency>,
    ) -> Result<(LedgerPosition, bool), Refusal> {
        let answer = self.submit(caller, timeline, Command::CreateTimeline, idempotency).await?;
        Ok((answer.ledger, answer.replayed))
    }

    /// Reads one timeline.
    ///
    /// # Errors
    /// There is none that the caller may see, or the ledger cannot be written.
    pub async fn timeline(&self, caller: &Caller, timeline: &TimelineId) -> Result<TimelineView, Refusal> {
        self.admit(caller, timeline, Demand::Inspect, "timeline").await?;
        self.log_read(caller, timeline, "timeline", "{}".to_owned()).await?;
        let state =
            self.state(timeline).ok_or_else(|| Refusal::NotFound { what: "timeline", id: timeline.to_string() })?;
        Ok(self.view(caller, state))
    }

    /// Returns a page of the timelines that the caller may read, ordered by name.
    ///
    /// # Errors
    /// The cursor is of another query, or the ledger cannot be written.
    pub async fn timelines(
        &self,
        caller: &Caller,
        items_max: usize,
        after: Option<&TimelineId>,
    ) -> Result<(Vec<TimelineView>, Option<TimelineId>), Refusal> {
        let system = TimelineId::new(TimelineId::SYSTEM).map_err(|error| Refusal::id("timeline_id", error))?;
        self.log_read(caller, &system, "timelines", "{}".to_owned()).await?;
        let mut seen: Vec<Arc<TimelineState>> = self.states();
        seen.retain(|state| self.decide(caller, &state.head.id, Demand::Inspect).is_ok());
        seen.retain(|state| after.is_none_or(|after| state.head.id > *after));
        seen.sort_unstable_by(|a, b| a.head.id.cmp(&b.head.id));
        let more = seen.len() > items_max;
        seen.truncate(items_max);
        let next = seen.last().filter(|_| more).map(|state| state.head.id.clone());
        Ok((seen.into_iter().map(|state| self.view(caller, state)).collect(), next))
    }

    fn view(&self, caller: &Caller, state: Arc<TimelineState>) -> TimelineView {
        let clock = ClockView::at(state.head.id.clone(), state.head.clock.clone(), self.host(&state));
        let shown = !state.head.id.is_system() && self.decide(caller, &state.head.id, Demand::Look).is_ok();
        let clock = shown.then_some(clock);
        let role = self.directory().standing(caller, Some(&state)).role;
        TimelineView { state, clock, role }
    }
}

impl TimelineView {
    /// Returns whether the caller may see who may do what.
    #[must_use]
    pub fn sees_permissions(&self) -> bool {
        // `None` is an operator: anybody else without a role does not see the timeline at all.
        self.role.is_none_or(|role| role == Role::Admin)
    }
}
