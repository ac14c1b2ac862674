use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, Wall};

use super::recorded::Followed;
use super::{Recorded, RecordedData, Replay};
use crate::ledger::action::Action;
use crate::ledger::payload::StatePayload;
use crate::writer::project::{Before, Changes, Entry, project};

impl Replay {
    /// Checks an entry that changes the state, and applies what the writer committed with it. `None` if that cannot be
    /// determined.
    pub(super) fn project(
        &mut self,
        action: Action,
        record: &LeafRecord<'_>,
        (position, recorded_at): (u64, Instant<Wall>),
        payload: &[u8],
    ) -> Option<Followed> {
        let payload = StatePayload::read(action, payload)?;
        let entry = Entry { timeline: &self.timeline_id, position, recorded_at, actor: &record.actor };
        let (clock, timers) = (self.clock.as_ref(), self.timers.state());
        let changes = project(&payload, entry, Before { clock, timers, rows: &self.timers })?;
        self.check_clock(action, &payload, (position, recorded_at));
        self.timers.check(&payload)?;
        let sealed = changes.sealed.clone();
        self.apply(position, changes)?;
        match payload {
            StatePayload::Created(created) => {
                self.events_count += created.fork.as_ref().map_or(0, |fork| fork.events_count.cast_signed());
                self.expires_at = created.expires_at().ok()?;
                self.fork = created.fork;
            }
            StatePayload::Fault(set) => self.timers.check_faults(&set)?,
            _ => {}
        }
        Some(match sealed {
            Some(row) => {
                Followed::Row(Recorded::Data(RecordedData { position, data_id: row.data_id, sha256: row.sha256 }))
            }
            None => Followed::State,
        })
    }

    fn apply(&mut self, position: u64, changes: Changes) -> Option<()> {
        let Changes { clock, permissions, anchor, retention, sealed, timers, timer_rows } = changes;
        if let Some(clock) = clock {
            self.set_clock(clock, position);
        }
        self.permissions = permissions.or(self.permissions.take());
        if let Some(anchor) = anchor {
            self.anchors_count += 1;
            self.marked.set(&anchor);
            self.anchors.push(anchor);
        }
        if let Some(retention) = retention {
            self.policies.set(position, retention);
        }
        self.data_count += u64::from(sealed.is_some());
        if let Some(timers) = timers {
            let settled = self.timers.apply(timers, timer_rows)?;
            self.check_recorded(&settled, position);
        }
        Some(())
    }
}
