//! Timelines that arrive: rows under numbers that no timeline has, until one commit makes them stand.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use timenav_core::ids::TimelineId;
use timenav_engine::{ARRIVAL_LASTS_MICROS, Arrivals, ArrivingRows, StoreError, StrayArrivals, TimelineKey};

use super::arrived::given_up;
use super::batch::{Batch, rows, values};
use super::connection::Connections;
use super::sessions::Object;
use super::transaction::Writing;
use super::values::{Failed, get, sql};
use super::{PostgresStore, commit, orphans};

/// How often a step is tried where it loses against another transaction.
const TRIED_MAX: usize = 5;
/// The numbers below zero that are given.
const SELECT_GIVEN: &str = "SELECT timeline FROM timelines WHERE timeline < 0
    UNION SELECT timeline FROM ended_timelines WHERE timeline < 0
    UNION SELECT timeline FROM arrivals ORDER BY timeline DESC";
/// Makes a statement of pieces, with what the server's clock shows where `now` stands.
macro_rules! timed {
    ($first:literal $(, now $rest:literal)*) => {
        concat!($first $(, " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint ", $rest)*)
    };
}

const INSERT: &str = timed!(
    "INSERT INTO arrivals (timeline, timeline_id, arrival, until, is_over)
    SELECT t.timeline, t.timeline_id, $3, ", now "+ $4, false
    FROM unnest($1::bigint[], $2::text[]) AS t (timeline, timeline_id)
    ON CONFLICT (timeline) DO NOTHING RETURNING timeline"
);
/// A number that has come to stand since it was looked up is not free any more.
const SELECT_STANDING: &str = "SELECT timeline FROM timelines WHERE timeline = ANY($1)
    UNION ALL SELECT timeline FROM ended_timelines WHERE timeline = ANY($1)";
const KEEP: &str = timed!(
    "UPDATE arrivals SET until = ", now "+ $2 WHERE arrival = $1 AND NOT is_over RETURNING timeline"
);
/// Those that were given up, or of which nobody was heard in time. What says that it lasts longer was not written by a
/// service, or by another clock.
const SELECT_LEFT: &str = timed!(
    "SELECT DISTINCT arrival FROM arrivals WHERE $1 OR is_over OR until <= ", now "OR until > ", now
    "+ $2 ORDER BY arrival"
);
const GIVE_UP: &str = timed!(
    "UPDATE arrivals SET is_over = true WHERE arrival = $1 AND NOT is_over AND ($2 OR until <= ", now "OR until > ", now
    "+ $3)"
);
const SELECT_FIRST: &str = "SELECT timeline FROM arrivals WHERE arrival = $1 AND is_over ORDER BY timeline LIMIT 1";
const FORGET: &str = "DELETE FROM arrivals WHERE arrival = $1 AND timeline = $2";
const IS_LEFT: &str = "SELECT EXISTS (SELECT FROM arrivals WHERE arrival = $1 AND is_over)";
/// Whoever marks the number of a timeline must not have it emptied.
const IS_NO_ARRIVAL: &str = "SELECT $1 >= 0::bigint OR EXISTS (SELECT FROM timelines WHERE timeline = $1)
    OR EXISTS (SELECT FROM ended_timelines WHERE timeline = $1)";
/// Each takes away some rows of a table. Only sealed records can be large, all of them.
const DELETE_SOME: [(&str, usize); 10] = [
    (
        "DELETE FROM entries WHERE timeline = $1 AND position IN
            (SELECT position FROM entries WHERE timeline = $1 ORDER BY position LIMIT $2)",
        usize::MAX,
    ),
    (
        "DELETE FROM events WHERE timeline = $1 AND (event_id, position) IN
            (SELECT event_id, position FROM events WHERE timeline = $1 ORDER BY event_id, position LIMIT $2)",
        usize::MAX,
    ),
    (
        "DELETE FROM interventions WHERE timeline = $1 AND (event_id, position) IN
            (SELECT event_id, position FROM interventions WHERE timeline = $1 ORDER BY event_id, position LIMIT $2)",
        usize::MAX,
    ),
    (
        "DELETE FROM anchors WHERE timeline = $1 AND position IN
            (SELECT position FROM anchors WHERE timeline = $1 ORDER BY position LIMIT $2)",
        usize::MAX,
    ),
    (
        "DELETE FROM data_records WHERE timeline = $1 AND position IN
            (SELECT position FROM data_records WHERE timeline = $1 ORDER BY position LIMIT $2)",
        SEALED_ROWS_MAX,
    ),
    (
        "DELETE FROM sweeps WHERE timeline = $1 AND position IN
            (SELECT position FROM sweeps WHERE timeline = $1 ORDER BY position LIMIT $2)",
        usize::MAX,
    ),
    (
        "DELETE FROM tiles WHERE timeline = $1 AND (level, tile) IN
            (SELECT level, tile FROM tiles WHERE timeline = $1 ORDER BY level, tile LIMIT $2)",
        usize::MAX,
    ),
    (
        "DELETE FROM rotation_notes WHERE timeline = $1 AND position IN
            (SELECT position FROM rotation_notes WHERE timeline = $1 ORDER BY position LIMIT $2)",
        usize::MAX,
    ),
    (
        "DELETE FROM policies WHERE timeline = $1 AND position IN
            (SELECT position FROM policies WHERE timeline = $1 ORDER BY position LIMIT $2)",
        usize::MAX,
    ),
    (
        "DELETE FROM permissions WHERE timeline = $1 AND (user_id, role) IN
            (SELECT user_id, role FROM permissions WHERE timeline = $1 ORDER BY user_id, role LIMIT $2)",
        usize::MAX,
    ),
];
/// Sealed records that are taken away at a time: each can have a megabyte.
const SEALED_ROWS_MAX: usize = 16;

#[async_trait]
impl Arrivals for PostgresStore {
    async fn begin_arrival(&self, arrival: &str, timelines: Vec<TimelineId>) -> Result<Vec<TimelineKey>, StoreError> {
        for _ in 1..TRIED_MAX {
            match begin(&self.connections, arrival, &timelines).await {
                Err(failed) if failed.may_be_repeated() => _ = self.connections.retries.fetch_add(1, Ordering::Relaxed),
                // Another service was faster.
                Ok(None) => {}
                ended => return ended?.ok_or_else(no_number),
            }
        }
        begin(&self.connections, arrival, &timelines).await?.ok_or_else(no_number)
    }

    async fn put_arriving(
        &self,
        arrival: &str,
        timeline: TimelineKey,
        size: u64,
        rows: ArrivingRows,
    ) -> Result<(), StoreError> {
        for _ in 1..TRIED_MAX {
            match put(&self.connections, arrival, (timeline, size), &rows).await {
                Err(failed) if failed.may_be_repeated() => _ = self.connections.retries.fetch_add(1, Ordering::Relaxed),
                ended => return Ok(ended?),
            }
        }
        Ok(put(&self.connections, arrival, (timeline, size), &rows).await?)
    }

    async fn keep_arrival(&self, arrival: &str) -> Result<(), StoreError> {
        let (writing, found) = Writing::begin(&self.connections, keep(arrival)).await?;
        if found.first().is_none_or(Vec::is_empty) {
            writing.give_up().await;
            return Err(given_up());
        }
        Ok(writing.commit(&self.connections, None).await?)
    }

    async fn arrivals_left(&self) -> Result<Vec<String>, StoreError> {
        let values = (self.connections.is_alone(), ARRIVAL_LASTS_MICROS);
        let found = rows(&self.reader().await?, SELECT_LEFT, &[&values.0, &values.1]).await?;
        Ok(found.iter().map(|row| get(row, 0)).collect::<Result<_, Failed>>()?)
    }

    async fn clear_arrival(&self, arrival: &str, items_max: usize) -> Result<bool, StoreError> {
        let mut first = Batch::default();
        first.add(GIVE_UP, values![arrival, self.connections.is_alone(), ARRIVAL_LASTS_MICROS]);
        let (writing, _) = Writing::begin(&self.connections, first).await?;
        match clear_some(&writing, arrival, items_max).await {
            Ok(is_left) => Ok(writing.commit(&self.connections, None).await.map(|()| is_left)?),
            Err(failed) => {
                writing.give_up().await;
                Err(failed.into())
            }
        }
    }

    async fn stray_arrivals(&self) -> Result<StrayArrivals, StoreError> {
        Ok(self.moment(|on| stray(on).boxed()).await?)
    }
}

async fn stray(on: &Object) -> Result<StrayArrivals, Failed> {
    Ok(StrayArrivals { orphans: orphans::below_zero(on).await?, marked: orphans::marked(on).await? })
}

fn no_number() -> StoreError {
    StoreError::Unavailable("no number was found for a timeline that arrives; try again".to_owned())
}

fn keep(arrival: &str) -> Batch<'_> {
    let mut batch = Batch::default();
    batch.add(KEEP, values![arrival, ARRIVAL_LASTS_MICROS]);
    batch
}

/// Marks numbers. Returns `None` where another service has marked one of them first.
async fn begin(
    connections: &Connections,
    arrival: &str,
    names: &[TimelineId],
) -> Result<Option<Vec<TimelineKey>>, Failed> {
    let mut first = Batch::default();
    first.add(SELECT_GIVEN, values![]);
    let (writing, found) = Writing::begin(connections, first).await?;
    let marked = async {
        let given = found.first().into_iter().flatten().map(|row| get::<i64>(row, 0));
        let numbers = free(writing.on()?, &given.collect::<Result<Vec<_>, _>>()?, names.len()).await?;
        let mut batch = Batch::default();
        let words: Vec<&str> = names.iter().map(TimelineId::as_str).collect();
        batch.add(INSERT, values![&numbers, words, arrival, ARRIVAL_LASTS_MICROS]);
        batch.add(SELECT_STANDING, values![&numbers]);
        let found = batch.run(writing.on()?).await?;
        let counts: Vec<usize> = found.iter().map(Vec::len).collect();
        Ok::<_, Failed>((counts == [numbers.len(), 0]).then_some(numbers))
    };
    match marked.await {
        Ok(Some(numbers)) => {
            writing.commit(connections, None).await?;
            Ok(Some(numbers.into_iter().map(TimelineKey).collect()))
        }
        ended => {
            writing.give_up().await;
            ended.map(|_| None)
        }
    }
}

/// Returns the highest numbers below zero that nothing has: no timeline, and no row that another hand has left.
async fn free(on: &Object, given: &[i64], count: usize) -> Result<Vec<i64>, Failed> {
    let (mut given, mut numbers) = (given.iter().copied().peekable(), Vec::with_capacity(count));
    let mut number = -1;
    while numbers.len() < count {
        while given.next_if(|given| *given > number).is_some() {}
        if given.next_if_eq(&number).is_none() && !orphans::has_rows(on, number).await? {
            numbers.push(number);
        }
        number -= 1;
    }
    Ok(numbers)
}

async fn put(
    connections: &Connections,
    arrival: &str,
    (timeline, size): (TimelineKey, u64),
    rows: &ArrivingRows,
) -> Result<(), Failed> {
    let (writing, found) = Writing::begin(connections, keep(arrival)).await?;
    let written = async {
        let marked = found.first().into_iter().flatten().map(|row| get::<i64>(row, 0));
        if !marked.collect::<Result<Vec<_>, _>>()?.contains(&timeline.0) {
            return Err(given_up().into());
        }
        commit::put_arriving(&writing, timeline, size, rows).await
    };
    match written.await {
        Ok(()) => writing.commit(connections, None).await,
        Err(failed) => {
            writing.give_up().await;
            Err(failed)
        }
    }
}

async fn clear_some(writing: &Writing, arrival: &str, items_max: usize) -> Result<bool, Failed> {
    let on = writing.on()?;
    let first = rows(on, SELECT_FIRST, &[&arrival]).await?;
    let Some(number) = first.first().map(|row| get::<i64>(row, 0)).transpose()? else { return Ok(false) };
    let is_none = rows(on, IS_NO_ARRIVAL, &[&number]).await?;
    if is_none.first().map_or(Ok(true), |row| get(row, 0))? {
        let message =
            format!("timeline number {number} is marked as still arriving, but nothing arrives under that number");
        return Err(StoreError::Damaged(message).into());
    }
    for (delete, rows_max) in DELETE_SOME {
        let delete = on.prepare_cached(delete).await?;
        if on.execute(&delete, &[&number, &sql(items_max.min(rows_max) as u64)]).await? > 0 {
            return Ok(true);
        }
    }
    rows(on, FORGET, &[&arrival, &number]).await?;
    let is_left = rows(on, IS_LEFT, &[&arrival]).await?;
    is_left.first().map_or(Ok(false), |row| get(row, 0))
}
