use std::sync::Arc;

use timenav_core::ids::{FiringId, TimerId};
use timenav_core::time::{Instant, Virtual};

use super::{Accepted, Draft, Known, Ledger};
use crate::ports::shared_leases::{ActivityQuery, AtWork, Held, Keeper};
use crate::ports::timer_rows::{TimerQuery, TimerRow, TimersFound};
use crate::requests::refusal::Refusal;

impl<'a> Draft<'a> {
    /// Excludes changes by this group: a decision that needs them is postponed to a later group.
    pub(crate) fn known_timers(&self, ledger: Ledger, query: &TimerQuery) -> Option<&'a TimersFound> {
        let key = self.state(ledger).head.key;
        let known: &'a Known = self.context.known;
        known.timers.iter().find(|(of, known_query, _)| *of == key && known_query == query).map(|(_, _, found)| found)
    }

    /// Returns the activity on a ledger's timeline, for a service that still keeps its time. Returns nothing if this
    /// service is the only one.
    ///
    /// # Errors
    /// Another service keeps the timeline's time now.
    pub(crate) fn check_keeper(
        &self,
        ledger: Ledger,
        keeper: Option<&Keeper>,
        open_since: Option<u64>,
    ) -> Result<Option<&'a AtWork>, Refusal> {
        let Some(keeper) = keeper else { return Ok(None) };
        let query = ActivityQuery { timeline: self.state(ledger).head.key, open_since, firings: Vec::new() };
        let known: &'a Known = self.context.known;
        let found = known.at_work.iter().find(|(known_query, _)| *known_query == query).map(|(_, found)| found);
        let found = found.filter(|found| found.keeper.as_ref() == Some(keeper));
        found.map(Some).ok_or(Refusal::ChangedMeanwhile)
    }

    /// Includes firings created at or after `open_since`. With a single service, the submitter checked this.
    pub(crate) fn is_held(&self, ledger: Ledger, open_since: Option<u64>) -> bool {
        let query = ActivityQuery { timeline: self.state(ledger).head.key, open_since, firings: Vec::new() };
        let known: &'a Known = self.context.known;
        let found = known.at_work.iter().find(|(known_query, _)| *known_query == query);
        found.is_some_and(|(_, found)| found.held.is_some())
    }

    /// Returns the leased ones of the requested firings. Empty with a single service, which has this in memory.
    pub(crate) fn leased(&self, ledger: Ledger, firing_ids: &[FiringId]) -> &'a [Held] {
        let key = self.state(ledger).head.key;
        let known: &'a Known = self.context.known;
        let found = known
            .at_work
            .iter()
            .find(|(known_query, _)| known_query.timeline == key && known_query.firings == firing_ids);
        found.map(|(_, found)| found.leased.as_slice()).unwrap_or_default()
    }

    /// Sets the earliest due time of all armed timers. No entry contains it, and only the caller has read these timers.
    pub(crate) fn set_next_timer(&mut self, ledger: Ledger, next: Option<Instant<Virtual>>) {
        Arc::make_mut(&mut self.state_mut(ledger).head.timers).next = next;
    }

    /// Returns a timer set earlier in this group, by name.
    pub(crate) fn timer_set_now(&self, ledger: Ledger, timer_id: &TimerId) -> Option<&'a TimerRow> {
        let accepted: &'a Accepted = self.context.accepted;
        let step = accepted.steps.get(&self.state(ledger).head.id)?;
        step.timers.set.iter().rev().find(|timer| timer.timer_id == *timer_id)
    }
}
