use futures_util::future::try_join_all;
use futures_util::{FutureExt as _, try_join};
use timenav_engine::{Facts, Wanted};

use super::values::Failed;
use crate::postgres::anchors;
use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::origins;
use crate::postgres::events::versions;
use crate::postgres::sharing::leasing;
use crate::postgres::{data, entries, identity, outcomes, timers};

/// Returns the results in the order of the questions. All statements are sent before the first response is awaited.
pub(super) async fn find(on: &Object, wanted: Wanted) -> Result<Facts, Failed> {
    let (mut events, mut outcomes_of) = (Vec::new(), Vec::new());
    for (layers, event_ids) in &wanted.events {
        events.push(versions::known(on, layers, event_ids).boxed());
    }
    for (timeline, event_ids) in &wanted.outcomes_of {
        outcomes_of.push(outcomes::of_events(on, timeline, event_ids).boxed());
    }
    let (events, outcomes, outcomes_of, entries, anchors, keys, data, rotation_notes, timers, at_work) = try_join!(
        try_join_all(events),
        outcomes::named(on, &wanted.outcomes),
        try_join_all(outcomes_of),
        entries::named(on, &wanted.entries),
        anchors::named(on, &wanted.anchors),
        identity::keys_named(on, &wanted.keys),
        data::named(on, &wanted.data),
        origins::rotation_notes(on, &wanted.rotation_notes),
        timers::named(on, &wanted.timers),
        leasing::named(on, &wanted.at_work),
    )?;
    Ok(Facts { events, outcomes, outcomes_of, entries, anchors, keys, data, rotation_notes, timers, at_work })
}
