//! Events, one by one or all together.

use std::collections::HashSet;
use std::sync::Arc;

use timenav_core::ids::{EventId, TimelineId};

use super::decide::{done, gone};
use super::{Group, Outcome};
use crate::action::Action;
use crate::command::{Actor, Change, PreparedEvent};
use crate::head::TimelineKey;
use crate::refusal::Refusal;
use crate::rows::{EventRow, EventVersion};

/// How an event compares with what is recorded under its id.
enum Compared {
    New,
    Same,
    Different,
}

impl Group<'_> {
    /// Records events. With `each`, those known already are passed over and those that differ
    /// are reported; otherwise any of these refuses the whole request.
    pub(super) fn record(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        events: Vec<PreparedEvent>,
        each: bool,
    ) -> Result<Outcome, Refusal> {
        let key = self.key(timeline)?;
        if !each {
            self.refuse_known(key, &events)?;
        }
        let host = self.host(timeline);
        let event_ids = events.iter().map(|event| event.event_id.clone()).collect();
        let (mut taken, mut differing, mut last) = (0, Vec::new(), None);
        for (index, event) in events.into_iter().enumerate() {
            match self.compare(key, &event) {
                Compared::Same => {}
                Compared::Different => differing.push(index),
                Compared::New => {
                    last = Some(self.record_one(actor, timeline, key, event, host));
                    taken += 1;
                }
            }
        }
        let Some(state) = self.change(timeline) else { return Err(gone(timeline)) };
        let position = last.unwrap_or_else(|| state.head.frontier.size().saturating_sub(1));
        Ok(done(timeline, Change::Recorded { event_ids, taken, differing }, position))
    }

    fn refuse_known(&self, key: TimelineKey, events: &[PreparedEvent]) -> Result<(), Refusal> {
        let mut seen: HashSet<&EventId> = HashSet::with_capacity(events.len());
        for (index, event) in events.iter().enumerate() {
            let id = || event.event_id.to_string();
            if !seen.insert(&event.event_id) {
                let detail = format!("the id `{}` stands twice in the request", id());
                return Err(Refusal::Invalid { field: format!("{index}/event_id"), detail });
            }
            match self.compare(key, event) {
                Compared::New => {}
                Compared::Same => return Err(Refusal::EventExists { event_id: id(), index, differs: false }),
                Compared::Different => return Err(Refusal::EventExists { event_id: id(), index, differs: true }),
            }
        }
        Ok(())
    }

    fn compare(&self, key: TimelineKey, event: &PreparedEvent) -> Compared {
        let Some(known) = self.known.events.get(&(key, event.event_id.clone())) else { return Compared::New };
        // How it was recorded first counts too: an import is repeated after an event was changed.
        let same = known.versions.iter().any(|version| *version.content == *event.content);
        match same {
            true => Compared::Same,
            false if known.versions.is_empty() => Compared::New,
            false => Compared::Different,
        }
    }

    fn record_one(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        key: TimelineKey,
        event: PreparedEvent,
        host: crate::wall_clock::Host,
    ) -> u64 {
        let PreparedEvent { event_id, draft, point, content, salt, payload_hash } = event;
        let who = (actor.name(), Action::RecordEvent, event_id.as_str());
        let payload = content.as_bytes().to_vec();
        if let Some(state) = self.change(timeline) {
            state.head.events_count += 1;
            state.events_changed_at = state.head.frontier.size() + 1;
        }
        let position = self.append_hashed(timeline, who, (salt, payload_hash, payload), host);
        let layer = self.layers_count(timeline) - 1;
        let version = EventVersion { layer, position, until: None, content: Arc::clone(&content) };
        self.known.events.entry((key, event_id.clone())).or_default().versions.push(version);
        if let Some(touched) = self.touched.get_mut(timeline) {
            touched.events.push(EventRow { position, is_tombstone: false, event_id, draft, point, content });
        }
        position
    }
}
