use std::sync::Arc;

use timenav_core::ids::EventId;
use timenav_core::ledger::{Hash, Salt};

use super::{Draft, Ledger};
use crate::events::event_columns::EventColumns;
use crate::ledger::action::Action;
use crate::ports::rows::{EventEnd, EventRow, EventVersion};
use crate::ports::wall_clock::Host;
use crate::writer::project::{EventChange, EventMade};

pub(crate) type NewVersion = (Arc<EventColumns>, Arc<str>);

impl Draft<'_> {
    pub(crate) fn append_event(
        &mut self,
        ledger: Ledger,
        (action, event_id): (Action, &EventId),
        change: EventChange<NewVersion>,
        contents: (Salt, Hash, Vec<u8>),
        host: Host,
    ) -> u64 {
        let EventChange { made, ends, count, overrides } = change;
        let state = self.state_mut(ledger);
        state.head.events_count = state.head.events_count.saturating_add_signed(count);
        state.head.overrides_count += u64::from(overrides);
        let position = self.append_hashed(ledger, (action, event_id.as_str()), contents, host);
        if ends {
            self.end_version(ledger, event_id, position);
        }
        let (columns, content, is_tombstone) = match made {
            EventMade::Version((columns, content)) => (columns, content, false),
            EventMade::Tombstone => (Arc::new(EventColumns::of_nothing()), Arc::from(""), true),
            EventMade::Nothing | EventMade::Erased => {
                if ends {
                    self.state_mut(ledger).events_changed_at = position + 1;
                }
                return position;
            }
        };
        self.state_mut(ledger).events_changed_at = position + 1;
        let (layer, until) = (self.own_layer(ledger), is_tombstone.then_some(position));
        let version = EventVersion { layer, position, until, content: Arc::clone(&content) };
        self.known_event_mut(ledger, event_id).versions.push(version);
        let row = EventRow { position, is_tombstone, event_id: event_id.clone(), columns, content };
        self.step_mut(ledger).events.push(row);
        position
    }

    fn end_version(&mut self, ledger: Ledger, event_id: &EventId, until: u64) {
        let layer = self.own_layer(ledger);
        let last = self.known_event_mut(ledger, event_id).versions.last_mut();
        let Some(version) = last.filter(|version| version.layer == layer && version.until.is_none()) else { return };
        version.until = Some(until);
        let end = EventEnd { event_id: event_id.clone(), position: version.position, until };
        self.step_mut(ledger).ends.push(end);
    }
}
