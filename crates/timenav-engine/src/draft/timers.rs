//! What a draft knows of timers.

use timenav_core::ids::TimerId;

use super::{Accepted, Draft, Known, Ledger};
use crate::timer_rows::{TimerRow, TimersFound, TimersWanted};

impl<'a> Draft<'a> {
    /// Returns what is known of the timers of a ledger, as it was asked for. What the group has changed of them before is
    /// not in it: what needs that is decided in a later group.
    pub(crate) fn known_timers(&self, ledger: Ledger, wanted: &TimersWanted) -> Option<&'a TimersFound> {
        let key = self.state(ledger).head.key;
        let known: &'a Known = self.ground.known;
        known.timers.iter().find(|(of, asked, _)| *of == key && asked == wanted).map(|(_, _, found)| found)
    }

    /// Returns the timer of a name that the group has set before.
    pub(crate) fn timer_set_now(&self, ledger: Ledger, timer_id: &TimerId) -> Option<&'a TimerRow> {
        let accepted: &'a Accepted = self.ground.accepted;
        let step = accepted.steps.get(&self.state(ledger).head.id)?;
        step.timers.set.iter().rev().find(|timer| timer.timer_id == *timer_id)
    }
}
