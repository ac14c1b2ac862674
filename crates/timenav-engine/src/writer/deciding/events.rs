use std::collections::HashSet;
use std::sync::Arc;

use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;
use timenav_core::ledger::{Hash, Salt};

use super::{Aim, Command, CommandSpec, Needs};
use crate::events::event_columns::EventColumns;
use crate::events::event_content::event_content;
use crate::ledger::action::Action;
use crate::ledger::changes::EventsRecorded;
use crate::ports::rows::EventVersion;
use crate::ports::wall_clock::Host;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft, Ledger};
use crate::writer::project::EventChange;

#[cfg(test)]
mod tests;

/// Record events. With `each`, events already recorded are skipped and those that differ are reported. Otherwise,
/// either case rejects the whole request.
pub(crate) struct RecordEvents {
    pub(crate) events: Vec<PreparedEvent>,
    pub(crate) each: bool,
}

/// Dry run of recording events individually. Returns the ids of those that would be new.
pub(crate) struct CompareEvents {
    pub(crate) events: Vec<PreparedEvent>,
}

impl Command for CompareEvents {
    type Output = EventsRecorded;

    fn spec(&self) -> CommandSpec<'_> {
        let events_count = self.events.len();
        CommandSpec { is_check_only: true, events_count, ..CommandSpec::of(Action::RecordEvent, Aim::Timeline) }
    }

    fn needs(&self) -> Needs<'_> {
        needs(&self.events)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<EventsRecorded>, Refusal> {
        let ledger = draft.aimed()?;
        let (mut event_ids, mut taken) = (Vec::new(), 0);
        let (mut unchanged_at, mut differing) = (Vec::new(), Vec::new());
        for (index, event) in self.events.iter().enumerate() {
            match compare(draft, ledger, event) {
                Compared::Same(position) => unchanged_at.push(position),
                Compared::Different => differing.push(index),
                Compared::New => {
                    event_ids.push(event.event_id.clone());
                    taken += 1;
                }
            }
        }
        let position = draft.last_position(ledger);
        Ok(draft.done(ledger, position, EventsRecorded { event_ids, taken, unchanged_at, differing }))
    }
}

/// Skips ids generated for this request: they cannot exist, and a lookup would cost another round trip to PostgreSQL.
fn needs(events: &[PreparedEvent]) -> Needs<'_> {
    let events = events.iter().filter(|event| event.is_named).map(|event| &event.event_id).collect();
    Needs { events, endings: true, ..Needs::default() }
}

pub(crate) struct PreparedEvent {
    pub(crate) event_id: EventId,
    /// Whether the caller chose the id. A generated id has 74 random bits.
    pub(crate) is_named: bool,
    pub(crate) draft: Arc<EventDraft>,
    pub(crate) columns: Arc<EventColumns>,
    pub(crate) content: Arc<str>,
    pub(crate) salt: Salt,
    pub(crate) payload_hash: Hash,
}

enum Compared {
    New,
    /// Already recorded at this position; 0 if the fork inherits it.
    Same(u64),
    Different,
}

impl Command for RecordEvents {
    type Output = EventsRecorded;

    fn spec(&self) -> CommandSpec<'_> {
        // An import without events only checks authorization, before it reads the file.
        let (is_check_only, events_count) = (self.events.is_empty(), self.events.len());
        CommandSpec { is_check_only, events_count, ..CommandSpec::of(Action::RecordEvent, Aim::TimelineOrNew) }
    }

    fn needs(&self) -> Needs<'_> {
        needs(&self.events)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<EventsRecorded>, Refusal> {
        let ledger = draft.aimed()?;
        if !self.each {
            self.refuse_known(draft, ledger)?;
        }
        let host = draft.host(ledger);
        let event_ids = self.events.iter().map(|event| event.event_id.clone()).collect();
        let (mut taken, mut last) = (0, None);
        let (mut unchanged_at, mut differing) = (Vec::new(), Vec::new());
        for (index, event) in self.events.iter().enumerate() {
            match compare(draft, ledger, event) {
                Compared::Same(position) => unchanged_at.push(position),
                Compared::Different => differing.push(index),
                Compared::New => {
                    last = Some(record(draft, ledger, event, host));
                    taken += 1;
                }
            }
        }
        let position = last.unwrap_or_else(|| draft.last_position(ledger));
        Ok(draft.done(ledger, position, EventsRecorded { event_ids, taken, unchanged_at, differing }))
    }
}

impl RecordEvents {
    fn refuse_known(&self, draft: &Draft<'_>, ledger: Ledger) -> Result<(), Refusal> {
        let mut seen: HashSet<&EventId> = HashSet::with_capacity(self.events.len());
        for (index, event) in self.events.iter().enumerate() {
            let id = || event.event_id.to_string();
            if !seen.insert(&event.event_id) {
                let detail = format!("the id `{}` appears twice in the request", id());
                return Err(Refusal::Invalid { field: format!("{index}/event_id"), detail });
            }
            match compare(draft, ledger, event) {
                Compared::New => {}
                Compared::Same(_) => return Err(Refusal::EventExists { event_id: id(), index, differs: false }),
                Compared::Different => return Err(Refusal::EventExists { event_id: id(), index, differs: true }),
            }
        }
        Ok(())
    }
}

fn compare(draft: &Draft<'_>, ledger: Ledger, event: &PreparedEvent) -> Compared {
    let Some(known) = draft.known_event(ledger, &event.event_id) else { return Compared::New };
    // An event removed by a return to an anchor no longer exists.
    if draft.is_taken_back(ledger, known) {
        return Compared::New;
    }
    // Compare with all versions, because an import may be repeated after an event was changed. An inherited event has a
    // position in the ledger of the parent, not in this one.
    let own_layer = draft.own_layer(ledger);
    let own = |version: &EventVersion| if version.layer == own_layer { version.position } else { 0 };
    let same = known.versions.iter().find(|version| *version.content == *event.content);
    same.map_or(Compared::Different, |version| Compared::Same(own(version)))
}

fn record(draft: &mut Draft<'_>, ledger: Ledger, event: &PreparedEvent, host: Host) -> u64 {
    let PreparedEvent { event_id, columns, content, salt, payload_hash, .. } = event;
    let contents = (*salt, *payload_hash, content.as_bytes().to_vec());
    let change = EventChange::recorded((Arc::clone(columns), Arc::clone(content)));
    draft.append_event(ledger, (Action::RecordEvent, event_id), change, contents, host)
}

/// Records an event created by the service. Returns its position; `None` if an event with its id exists. The id must
/// have been prefetched.
pub(super) fn record_own(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    (event_id, event, columns): (&EventId, &EventDraft, Arc<EventColumns>),
    host: Host,
) -> Option<u64> {
    let known = draft.known_event(ledger, event_id);
    if known.is_some_and(|known| !draft.is_taken_back(ledger, known)) {
        return None;
    }
    let content = event_content(event_id, event);
    let contents = draft.hashed(content.clone());
    let change = EventChange::recorded((columns, content.into()));
    Some(draft.append_event(ledger, (Action::RecordEvent, event_id), change, contents, host))
}
