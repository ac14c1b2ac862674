use timenav_core::ids::TimelineId;
use timenav_engine::{EndedTimeline, StoreError};

use super::connection::Connections;
use super::transaction::Writing;
use super::values::{Failed, get, sql};
use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::contents;
use crate::postgres::transaction::batch::{Batch, records, values};

const DELETE: [&str; 2] = ["DELETE FROM timelines WHERE timeline = $1", "DELETE FROM permissions WHERE timeline = $1"];
const SELECT: &str = "SELECT * FROM ended_timelines WHERE $1::text[] IS NULL OR timeline_id = ANY($1)";
/// A forged row in `ended_timelines` must not cause a live timeline to be pruned.
const SELECT_EXISTING: &str = "SELECT 1 FROM timelines WHERE timeline = $1 OR timeline_id = $2";
/// Each statement deletes up to `$2` rows of a table.
const DELETE_SOME: [&str; 10] = [
    "DELETE FROM events WHERE timeline = $1 AND (event_id, position) IN
        (SELECT event_id, position FROM events WHERE timeline = $1 ORDER BY event_id, position LIMIT $2)",
    "DELETE FROM interventions WHERE timeline = $1 AND (event_id, position) IN
        (SELECT event_id, position FROM interventions WHERE timeline = $1 ORDER BY event_id, position LIMIT $2)",
    "DELETE FROM anchors WHERE timeline = $1 AND position IN
        (SELECT position FROM anchors WHERE timeline = $1 ORDER BY position LIMIT $2)",
    "DELETE FROM data_records WHERE timeline = $1 AND position IN
        (SELECT position FROM data_records WHERE timeline = $1 ORDER BY position LIMIT $2)",
    "DELETE FROM timers WHERE timeline = $1 AND position IN
        (SELECT position FROM timers WHERE timeline = $1 ORDER BY position LIMIT $2)",
    "DELETE FROM firings WHERE timeline = $1 AND (due, position, round) IN
        (SELECT due, position, round FROM firings WHERE timeline = $1 ORDER BY due, position, round LIMIT $2)",
    "DELETE FROM advances WHERE timeline = $1 AND position IN
        (SELECT position FROM advances WHERE timeline = $1 ORDER BY position LIMIT $2)",
    "DELETE FROM firing_leases WHERE timeline = $1 AND firing_id IN
        (SELECT firing_id FROM firing_leases WHERE timeline = $1 ORDER BY firing_id LIMIT $2)",
    "DELETE FROM listeners WHERE timeline = $1 AND (queue, service) IN
        (SELECT queue, service FROM listeners WHERE timeline = $1 ORDER BY queue, service LIMIT $2)",
    "DELETE FROM timekeepers WHERE timeline IN (SELECT timeline FROM timekeepers WHERE timeline = $1 ORDER BY timeline LIMIT $2)",
];
const DELETE_WORDS: &str = "DELETE FROM event_words WHERE timeline = $1 AND position IN
    (SELECT position FROM event_words WHERE timeline = $1 ORDER BY position LIMIT $2)";
const DELETE_OUTCOMES: &str = "DELETE FROM outcomes WHERE told_of = $1";
const MARK: &str = "UPDATE ended_timelines SET is_let_go = true WHERE timeline_id = $1";

pub(super) fn end<'a>(batch: &mut Batch<'a>, ended: &'a EndedTimeline) {
    for delete in DELETE {
        batch.add(delete, values![ended.key.0]);
    }
    batch.insert(None, ended);
}

/// Returns all ended timelines, or those with these names.
pub(super) async fn select(on: &Object, named: Option<&[TimelineId]>) -> Result<Vec<EndedTimeline>, Failed> {
    let named = named.map(|named| named.iter().map(TimelineId::as_str).collect::<Vec<_>>());
    records(on, SELECT, &[&named]).await
}

/// Prunes up to `items_max` rows of a timeline. Returns the position to continue from, or `None` once nothing is left.
pub(super) async fn prune(
    connections: &Connections,
    ended: &EndedTimeline,
    from: u64,
    items_max: usize,
) -> Result<Option<u64>, Failed> {
    let mut first = Batch::default();
    first.add(SELECT_EXISTING, values![ended.key.0, ended.id.as_str()]);
    let (writing, found) = Writing::begin(connections, first).await?;
    let done = async {
        if found.iter().any(|rows| !rows.is_empty()) {
            let message = format!("timeline `{}` has ended, but is still active", ended.id);
            return Err(StoreError::Damaged(message).into());
        }
        prune_some(&writing, ended, from, items_max).await
    };
    match done.await {
        Ok(next) => writing.commit(connections, None).await.map(|()| next),
        Err(failed) => {
            writing.give_up().await;
            Err(failed)
        }
    }
}

async fn prune_some(
    writing: &Writing,
    ended: &EndedTimeline,
    from: u64,
    items_max: usize,
) -> Result<Option<u64>, Failed> {
    let (on, key) = (writing.on()?, ended.key);
    let mut batch = Batch::default();
    contents::prune_some(&mut batch, key, from, items_max);
    let found = batch.run(on).await?;
    let last: Option<i64> = found.first().and_then(|rows| rows.first()).map_or(Ok(None), |row| get(row, 0))?;
    if let Some(last) = last {
        return Ok(Some(last.unsigned_abs() + 1));
    }
    let has_words = writing.features().await?.has_words();
    for delete in DELETE_SOME.iter().chain(has_words.then_some(&DELETE_WORDS)) {
        let delete = on.prepare_cached(delete).await?;
        if on.execute(&delete, &[&key.0, &sql(items_max as u64)]).await? > 0 {
            return Ok(Some(ended.size));
        }
    }
    let mut batch = Batch::default();
    batch.add(DELETE_OUTCOMES, values![ended.id.as_str()]);
    batch.add(MARK, values![ended.id.as_str()]);
    batch.run(on).await?;
    Ok(None)
}
