use std::sync::Arc;

use super::{Draft, Ledger, Step};
use crate::ledger::action::Action;
use crate::ledger::payload::StatePayload;
use crate::ports::wall_clock::Host;
use crate::requests::refusal::Refusal;
use crate::writer::project::{Before, Changes, Entry, KnownTimerRows, TimerRowsBefore, project};

impl Draft<'_> {
    /// Appends an entry that depends on no timer, and applies what follows from it to the rows and the head of its
    /// ledger. Returns the position of the entry.
    ///
    /// # Errors
    /// The stored state does not match the payload, which means that it is damaged.
    pub(crate) fn record(
        &mut self,
        ledger: Ledger,
        entry: (Action, &str),
        payload: &StatePayload<'_>,
        host: Host,
    ) -> Result<u64, Refusal> {
        self.record_on_timers(ledger, entry, payload, &KnownTimerRows::default(), host)
    }

    /// The same, for an entry whose payload names timers or firings. `rows` are their rows.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn record_on_timers(
        &mut self,
        ledger: Ledger,
        (action, subject): (Action, &str),
        payload: &StatePayload<'_>,
        rows: &dyn TimerRowsBefore,
        host: Host,
    ) -> Result<u64, Refusal> {
        let (position, actor) = (self.state(ledger).head.frontier.size(), self.actor().name());
        let head = &self.state(ledger).head;
        let entry = Entry { timeline: head.id.as_str(), position, recorded_at: host, actor };
        let before = Before { clock: Some(&head.clock), timers: &head.timers, rows };
        let damaged = || Refusal::Damaged(format!("the stored state does not allow `{}`", action.word()));
        let changes = project(payload, entry, before).ok_or_else(damaged)?;
        // The entry shows the clock as it is after the change.
        self.step_mut(ledger).apply(position, changes);
        Ok(self.append(ledger, action, subject, payload.written(), host))
    }
}

impl Step {
    fn apply(&mut self, position: u64, changes: Changes) {
        let Changes { clock, permissions, anchor, retention, sealed, timers, timer_rows } = changes;
        let head = &mut self.state.head;
        if let Some(clock) = clock {
            head.clock = clock;
            head.clock_entry = position;
        }
        if let Some(permissions) = permissions {
            head.permissions = Arc::new(permissions);
            self.permissions_changed = true;
        }
        if let Some(anchor) = anchor {
            head.anchors_count += 1;
            self.anchors.push(anchor);
        }
        if let Some(retention) = retention {
            Arc::make_mut(&mut head.retention).set(position, retention);
            self.policies.push((position, retention));
        }
        head.data_count += u64::from(sealed.is_some());
        if let Some(timers) = timers {
            head.timers = Arc::new(timers);
        }
        self.timers.extend(timer_rows);
    }
}
