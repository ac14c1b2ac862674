//! Events, one by one or all together.

use std::collections::HashSet;
use std::sync::Arc;

use timenav_core::ids::{EventId, TimelineId};

use super::decide::{done, gone};
use super::{Group, Outcome};
use crate::command::{Actor, Change, PreparedEvent};
use crate::payload::action;
use crate::refusal::Refusal;
use crate::store::{EventRow, TimelineKey};

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
        let key = self.world.timelines.get(timeline).map(|state| state.head.key).ok_or_else(|| gone(timeline))?;
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
        state.head.events_count += taken;
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
        let name = (key, event.event_id.clone());
        let known = self.known.events.get(&name).map(|known| known.content.as_str());
        let known = known.or_else(|| self.fresh.get(&name).map(|content| &**content));
        match known {
            None => Compared::New,
            Some(content) if *content == *event.content => Compared::Same,
            Some(_) => Compared::Different,
        }
    }

    fn record_one(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        key: TimelineKey,
        event: PreparedEvent,
        host: crate::command::Host,
    ) -> u64 {
        let PreparedEvent { event_id, draft, content, salt, payload_hash } = event;
        let who = (actor.name(), action::RECORD_EVENT, event_id.as_str());
        let payload = content.as_bytes().to_vec();
        let position = self.append_hashed(timeline, who, (salt, payload_hash, payload), host);
        self.fresh.insert((key, event_id.clone()), Arc::clone(&content));
        if let Some(touched) = self.touched.get_mut(timeline) {
            touched.events.push(EventRow { position, event_id, draft, content });
        }
        position
    }
}
