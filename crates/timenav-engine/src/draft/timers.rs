//! What a draft knows of timers.

use timenav_core::ids::{FiringId, TimerId};

use super::{Accepted, Draft, Known, Ledger};
use crate::leasing_door::{AtWork, AtWorkWanted, Held, Keeper};
use crate::refusal::Refusal;
use crate::timer_rows::{TimerRow, TimersFound, TimersWanted};

impl<'a> Draft<'a> {
    /// Returns what is known of the timers of a ledger, as it was asked for. What the group has changed of them before is
    /// not in it: what needs that is decided in a later group.
    pub(crate) fn known_timers(&self, ledger: Ledger, wanted: &TimersWanted) -> Option<&'a TimersFound> {
        let key = self.state(ledger).head.key;
        let known: &'a Known = self.ground.known;
        known.timers.iter().find(|(of, asked, _)| *of == key && asked == wanted).map(|(_, _, found)| found)
    }

    /// Returns who is at work on a ledger's timeline, where a service that keeps its time asks, and still does. Without a
    /// keeper nobody else could be.
    ///
    /// # Errors
    /// Another service keeps its time by now.
    pub(crate) fn check_keeper(
        &self,
        ledger: Ledger,
        keeper: Option<&Keeper>,
        open_since: Option<u64>,
    ) -> Result<Option<&'a AtWork>, Refusal> {
        let Some(keeper) = keeper else { return Ok(None) };
        let wanted = AtWorkWanted { timeline: self.state(ledger).head.key, open_since, firings: Vec::new() };
        let known: &'a Known = self.ground.known;
        let found = known.at_work.iter().find(|(asked, _)| *asked == wanted).map(|(_, found)| found);
        let found = found.filter(|found| found.keeper.as_ref() == Some(keeper));
        found.map(Some).ok_or(Refusal::ChangedMeanwhile)
    }

    /// Returns whether something holds the advance of a ledger's timeline at any service, firings among them that were made
    /// by an entry at that position or a later one. Where one service is alone, whoever asks has looked.
    pub(crate) fn is_held(&self, ledger: Ledger, open_since: Option<u64>) -> bool {
        let wanted = AtWorkWanted { timeline: self.state(ledger).head.key, open_since, firings: Vec::new() };
        let known: &'a Known = self.ground.known;
        let found = known.at_work.iter().find(|(asked, _)| *asked == wanted);
        found.is_some_and(|(_, found)| found.held.is_some())
    }

    /// Returns who has firings, of those that were asked for; nobody where one service alone knows that.
    pub(crate) fn leased(&self, ledger: Ledger, firing_ids: &[FiringId]) -> &'a [Held] {
        let key = self.state(ledger).head.key;
        let known: &'a Known = self.ground.known;
        let found = known.at_work.iter().find(|(asked, _)| asked.timeline == key && asked.firings == firing_ids);
        found.map(|(_, found)| found.leased.as_slice()).unwrap_or_default()
    }

    /// Returns the timer of a name that the group has set before.
    pub(crate) fn timer_set_now(&self, ledger: Ledger, timer_id: &TimerId) -> Option<&'a TimerRow> {
        let accepted: &'a Accepted = self.ground.accepted;
        let step = accepted.steps.get(&self.state(ledger).head.id)?;
        step.timers.set.iter().rev().find(|timer| timer.timer_id == *timer_id)
    }
}
