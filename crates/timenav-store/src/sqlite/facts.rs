use rusqlite::Connection;
use timenav_engine::{Facts, FactsQuery, StoreError};

use crate::sqlite::entries::origins;
use crate::sqlite::events::versions;
use crate::sqlite::{anchors, data, entries, identity, outcomes, timers};

/// Returns the results in the order of the questions.
pub(super) fn find(connection: &Connection, query: &FactsQuery) -> Result<Facts, StoreError> {
    let events = query.events.iter().map(|(layers, event_ids)| versions::known(connection, layers, event_ids));
    let outcomes = query.outcomes.iter().map(|key| outcomes::named(connection, key));
    let outcomes_of = query.outcomes_of.iter().map(|(on, event_ids)| outcomes::of_events(connection, on, event_ids));
    let found_entries =
        query.entries.iter().map(|(timeline, position)| entries::entry(connection, *timeline, *position));
    let found_anchors = query.anchors.iter().map(|(timeline, id)| anchors::named(connection, *timeline, id));
    let notes = query.rotation_notes.iter();
    let notes = notes.map(|(timeline, position)| origins::rotation_note(connection, *timeline, *position));
    let found_timers = query.timers.iter().map(|(timeline, query)| timers::find(connection, *timeline, query));
    Ok(Facts {
        events: events.collect::<Result<_, _>>()?,
        outcomes: outcomes.collect::<Result<_, _>>()?,
        outcomes_of: outcomes_of.collect::<Result<_, _>>()?,
        entries: found_entries.collect::<Result<_, _>>()?,
        anchors: found_anchors.collect::<Result<_, _>>()?,
        keys: query.keys.iter().map(|id| identity::key_named(connection, id)).collect::<Result<_, _>>()?,
        data: query.data.iter().map(|id| data::record(connection, id)).collect::<Result<_, _>>()?,
        rotation_notes: notes.collect::<Result<_, _>>()?,
        timers: found_timers.collect::<Result<_, _>>()?,
        at_work: Vec::new(),
    })
}
