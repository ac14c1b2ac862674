use std::collections::HashMap;
use std::sync::LazyLock;

use timenav_core::ids::{EventId, TimelineId};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{Commit, Idempotency, IdempotencyRecord, StoreError, StoredOutcome};
use tokio_postgres::Row;

use super::values::{Failed, get, number, sql};
use crate::persistence::leaf;
use crate::persistence::outcomes::named_timeline;
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, arrays, records, rows, values};
use crate::tables::list::OUTCOMES;

const FORGET_FINGERPRINTS: &str = "UPDATE outcomes SET fingerprint = $1";
static PUT: LazyLock<String> = LazyLock::new(|| {
    let put = OUTCOMES.insert_rows();
    format!("{put}, told_of = excluded.told_of WHERE outcomes.expires_at <= $8 RETURNING key")
});
const ERASE: &str =
    "UPDATE outcomes o SET outcome = w.outcome, timeline_id = NULL, event_id = NULL, told_of = w.told_of
    FROM unnest($1::bytea[], $2::bytea[], $3::text[]) AS w (key, outcome, told_of) WHERE o.key = w.key";
/// `min` reads the first row of the index. `EXISTS` would scan the table, as most rows have not expired.
const HAS_EXPIRED: &str = "SELECT coalesce(min(expires_at) < $1, false) FROM outcomes";
/// Skips rows that another service is deleting.
const FORGET: &str = "DELETE FROM outcomes WHERE key = ANY(ARRAY(
    SELECT key FROM outcomes WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))";
const SELECT: &str = "SELECT * FROM outcomes WHERE key = ANY($1)";
/// An empty key sorts before all others.
const SELECT_PAGE: &str = "SELECT *, told_of FROM outcomes WHERE key > $1 ORDER BY key LIMIT $2";
/// Entries, by the names of their live or ended timelines.
const SELECT_LEAVES: &str = "SELECT w.number, e.leaf
    FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w (timeline_id, position, number)
    JOIN (SELECT timeline, timeline_id FROM timelines UNION ALL SELECT timeline, timeline_id FROM ended_timelines) t
        ON t.timeline_id = w.timeline_id COLLATE \"C\"
    JOIN entries e ON e.timeline = t.timeline AND e.position = w.position";
const SELECT_OF: &str = "SELECT * FROM outcomes
    WHERE timeline_id = $1 AND event_id = ANY($2) ORDER BY array_position($2, event_id), key";

/// Writes and erases outcomes. Returns the index of the inserting statement, and the number of outcomes.
pub(super) fn put<'a>(batch: &mut Batch<'a>, step: &'a Commit) -> Option<(usize, usize)> {
    let mut put = None;
    // A commit without a lock comes from an exclusive service, which knows all outcomes. A commit that erases all
    // fingerprints does too.
    let knows_all = step.decided_against.is_none() || step.forget_fingerprints;
    let now = if knows_all { Some(Instant::MAX) } else { step.outcomes_expired_by };
    let now = now.unwrap_or(Instant::MIN).micros();
    if step.forget_fingerprints {
        batch.add(FORGET_FINGERPRINTS, values![&Idempotency::FINGERPRINT_FORGOTTEN[..]]);
    }
    if !step.outcomes.is_empty() {
        // One statement cannot change a row twice: of two outcomes under one key, the later one is stored.
        let last: HashMap<&[u8; 32], usize> =
            step.outcomes.iter().enumerate().map(|(number, record)| (&record.key, number)).collect();
        let records = || {
            let numbered = step.outcomes.iter().enumerate();
            numbered.filter(|(number, record)| last.get(&record.key) == Some(number)).map(|(_, record)| record)
        };
        put = Some((batch.len(), last.len()));
        let mut values = arrays(records().map(|record| (None, record)));
        // Only PostgreSQL has a column for it.
        values.pop();
        values.push(Box::new(records().map(|record| named_timeline(&record.outcome)).collect::<Vec<_>>()));
        values.push(Box::new(now));
        batch.add(&PUT, values);
    }
    if !step.outcomes_erased.is_empty() {
        let records = || step.outcomes_erased.iter();
        batch.add(
            ERASE,
            values![
                records().map(|record| &record.key[..]).collect::<Vec<_>>(),
                records().map(|record| record.outcome.as_bytes()).collect::<Vec<_>>(),
                records().map(|record| named_timeline(&record.outcome)).collect::<Vec<_>>()
            ],
        );
    }
    put
}

pub(super) async fn have_expired(on: &Object, before: Instant<Wall>) -> Result<bool, Failed> {
    rows(on, HAS_EXPIRED, &[&before.micros()]).await?.first().map_or(Ok(false), |row| get(row, 0))
}

pub(super) fn forget(batch: &mut Batch<'_>, before: Instant<Wall>, rows_max: usize) {
    batch.add(FORGET, values![before.micros(), sql(rows_max as u64)]);
}

/// Checks that all outcomes were inserted. If one was not, another request has already stored an outcome under its key.
/// If both were made at the same time on two timelines, the later one finds the earlier outcome when it is retried.
pub(super) fn check_put(put: Option<(&Vec<Row>, usize)>) -> Result<(), Failed> {
    match put {
        Some((rows, count)) if rows.len() != count => Err(StoreError::Moved(TimelineId::system()).into()),
        _ => Ok(()),
    }
}

pub(super) async fn named(on: &Object, keys: &[[u8; 32]]) -> Result<Vec<Option<IdempotencyRecord>>, Failed> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let key_bytes: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
    let found: Vec<IdempotencyRecord> = records(on, SELECT, &[&key_bytes]).await?;
    let found: HashMap<[u8; 32], IdempotencyRecord> = found.into_iter().map(|record| (record.key, record)).collect();
    Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
}

pub(super) async fn of_events(
    on: &Object,
    timeline: &TimelineId,
    event_ids: &[EventId],
) -> Result<Vec<IdempotencyRecord>, Failed> {
    let ids: Vec<&str> = event_ids.iter().map(EventId::as_str).collect();
    records(on, SELECT_OF, &[&timeline.as_str(), &ids]).await
}

/// Returns outcomes in key order, starting after `after`.
pub(super) async fn page(on: &Object, after: Option<[u8; 32]>, rows_max: usize) -> Result<Vec<StoredOutcome>, Failed> {
    let after = after.map_or_else(Vec::new, |key| key.to_vec());
    let found = records(on, SELECT_PAGE, &[&after, &sql(rows_max as u64)]).await?;
    Ok(found.into_iter().map(|(record, goes_with)| StoredOutcome { record, goes_with }).collect())
}

/// Returns the full leaf of each of these entries.
pub(super) async fn leaves(on: &Object, entries: &[(TimelineId, u64)]) -> Result<Vec<Option<Vec<u8>>>, Failed> {
    let (names, positions): (Vec<&str>, Vec<i64>) =
        entries.iter().map(|(timeline, position)| (timeline.as_str(), sql(*position))).unzip();
    let mut leaves = vec![None; entries.len()];
    for row in rows(on, SELECT_LEAVES, &[&names, &positions]).await? {
        let number = usize::try_from(number(&row, 0)?).ok().and_then(|number| number.checked_sub(1));
        let slot = number.and_then(|number| entries.get(number).zip(leaves.get_mut(number)));
        if let Some(((timeline, position), leaf)) = slot {
            *leaf = Some(leaf::whole(get(&row, 1)?, timeline.as_str(), *position).into_owned());
        }
    }
    Ok(leaves)
}
