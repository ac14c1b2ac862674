use timenav_core::ledger::LeafRecord;

use super::{Followed, Recorded, RecordedEvent, Replay};
use crate::ledger::payload::{Corrected, Intervened};
use crate::requests::json::read;
use crate::writer::project::{EventChange, EventMade};

impl Replay {
    pub(super) fn event_recorded(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: Option<&[u8]>,
    ) -> Followed {
        self.check_firing_of(record, position);
        let change = payload.map_or_else(EventChange::erased, EventChange::recorded);
        if self.facts.is_some() && payload.is_some() {
            self.take_event(record, position, &change);
            return Followed::Nothing;
        }
        Followed::Row(self.event(record, position, &change, None))
    }

    pub(super) fn corrected(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: Option<&[u8]>,
    ) -> Option<Recorded> {
        let Some(payload) = payload else {
            return Some(self.event(record, position, &EventChange::erased(), None));
        };
        let Corrected { event, inherited } = read(payload)?;
        let change = EventChange::corrected(event.get().as_bytes(), inherited);
        Some(self.event(record, position, &change, None))
    }

    pub(super) fn intervened(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: Option<&[u8]>,
    ) -> Option<Recorded> {
        self.interventions_count += 1;
        let Some(payload) = payload else {
            return Some(self.event(record, position, &EventChange::erased(), None));
        };
        let Intervened { intervention_id, was_active, changed, inherited, after, .. } = read(payload)?;
        let change = if changed {
            EventChange::intervened(after.map(|content| content.get().as_bytes()), was_active, inherited)
        } else {
            EventChange::unchanged()
        };
        Some(self.event(record, position, &change, Some(intervention_id)))
    }

    fn event(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        change: &EventChange<&[u8]>,
        intervention_id: Option<String>,
    ) -> Recorded {
        self.take_event(record, position, change);
        let made = match change.made {
            EventMade::Version(content) => EventMade::Version(content.to_vec()),
            EventMade::Tombstone => EventMade::Tombstone,
            EventMade::Nothing => EventMade::Nothing,
            EventMade::Erased => EventMade::Erased,
        };
        let event_id = record.subject.to_string();
        Recorded::Event(RecordedEvent { position, event_id, made, ends: change.ends, intervention_id })
    }

    fn take_event(&mut self, record: &LeafRecord<'_>, position: u64, change: &EventChange<&[u8]>) {
        self.events_count += change.count;
        self.overrides_count += u64::from(change.overrides);
        self.event_rows += u64::from(change.makes_row());
        match (&mut self.facts, &change.made) {
            (Some(facts), EventMade::Version(content)) => facts.version(position, &record.subject, content),
            (Some(facts), EventMade::Tombstone) => facts.tombstone(position, &record.subject),
            (None, _) | (_, EventMade::Nothing | EventMade::Erased) => {}
        }
    }
}
