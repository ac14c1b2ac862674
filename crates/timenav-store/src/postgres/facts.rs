use futures_util::future::try_join_all;
use futures_util::{FutureExt as _, try_join};
use timenav_engine::{Facts, FactsQuery};

use super::values::Failed;
use crate::postgres::anchors;
use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::origins;
use crate::postgres::events::versions;
use crate::postgres::sharing::leasing;
use crate::postgres::{data, entries, identity, outcomes, timers};

/// Returns the results in the order of the questions. All statements are sent before the first response is awaited.
pub(super) async fn find(on: &Object, query: FactsQuery) -> Result<Facts, Failed> {
    let (mut events, mut outcomes_of) = (Vec::new(), Vec::new());
    for (layers, event_ids) in &query.events {
        events.push(versions::known(on, layers, event_ids).boxed());
    }
    for (timeline, event_ids) in &query.outcomes_of {
        outcomes_of.push(outcomes::of_events(on, timeline, event_ids).boxed());
    }
    let (events, outcomes, outcomes_of, entries, anchors, keys, data, rotation_notes, timers, at_work) = try_join!(
        try_join_all(events),
        outcomes::named(on, &query.outcomes),
        try_join_all(outcomes_of),
        entries::named(on, &query.entries),
        anchors::named(on, &query.anchors),
        identity::keys_named(on, &query.keys),
        data::named(on, &query.data),
        origins::rotation_notes(on, &query.rotation_notes),
        timers::named(on, &query.timers),
        leasing::named(on, &query.at_work),
    )?;
    Ok(Facts { events, outcomes, outcomes_of, entries, anchors, keys, data, rotation_notes, timers, at_work })
}
