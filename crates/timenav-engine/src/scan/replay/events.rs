//! What follows from entries that tell of events: their versions, and how many stand.

use timenav_core::ledger::LeafRecord;

use super::{Followed, Made, Recorded, RecordedEvent, Replay};
use crate::json::read;
use crate::payload::{Corrected, Intervened};

impl Replay {
    pub(super) fn event_recorded(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: Option<&[u8]>,
    ) -> Followed {
        self.check_firing_of(record, position);
        if let (Some(facts), Some(content)) = (&mut self.facts, payload) {
            facts.version(position, &record.subject, content);
            self.events_count += 1;
            self.event_rows += 1;
            return Followed::Nothing;
        }
        let made = payload.map_or(Made::Erased, |content| Made::Version(content.to_vec()));
        self.events_count += i64::from(made != Made::Erased);
        Followed::Row(self.event(record, position, made, false, None))
    }

    pub(super) fn corrected(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: Option<&[u8]>,
    ) -> Option<Recorded> {
        let Some(payload) = payload else {
            return Some(self.event(record, position, Made::Erased, false, None));
        };
        let Corrected { event, inherited } = read(payload)?;
        self.overrides_count += u64::from(inherited);
        let made = Made::Version(event.get().as_bytes().to_vec());
        Some(self.event(record, position, made, !inherited, None))
    }

    pub(super) fn intervened(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: Option<&[u8]>,
    ) -> Option<Recorded> {
        self.interventions_count += 1;
        let Some(payload) = payload else {
            return Some(self.event(record, position, Made::Erased, false, None));
        };
        let Intervened { intervention_id, stood, changed, inherited, after, .. } = read(payload)?;
        self.overrides_count += u64::from(inherited);
        let made = match after {
            Some(content) if changed => Made::Version(content.get().as_bytes().to_vec()),
            None if changed && inherited => Made::Tombstone,
            _ => Made::Nothing,
        };
        if changed {
            self.events_count += i64::from(after.is_some()) - i64::from(stood);
        }
        let ends = changed && stood && !inherited;
        Some(self.event(record, position, made, ends, Some(intervention_id)))
    }

    fn event(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        made: Made,
        ends: bool,
        intervention_id: Option<String>,
    ) -> Recorded {
        self.event_rows += u64::from(matches!(made, Made::Version(_) | Made::Tombstone));
        match (&mut self.facts, &made) {
            (Some(facts), Made::Version(content)) => facts.version(position, &record.subject, content),
            (Some(facts), Made::Tombstone) => facts.tombstone(position, &record.subject),
            (None, _) | (_, Made::Nothing | Made::Erased) => {}
        }
        let event_id = record.subject.to_string();
        Recorded::Event(RecordedEvent { position, event_id, made, ends, intervention_id })
    }
}
