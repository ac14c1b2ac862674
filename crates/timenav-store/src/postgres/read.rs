//! The implementation of the engine's store traits.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{FutureExt as _, try_join};
use timenav_core::ids::{EventId, KeyId, TimelineId, UserId};
use timenav_core::ledger::{Hash, LeafRecord, TileId};
use timenav_core::time::{Bucket, Instant, Wall, parse_timestamp};
use timenav_engine::{
    ApiKey, CarriedSeals, Commit, ConnectionsUse, Described, EndedTimeline, EventFilter, EventQuery, EventSpot,
    EventStretches, Facts, FactsQuery, FilteredEvents, Head, Health, Hint, Layer, Locked, LogRow, Opened, Overridden,
    QueryOrigin, RotationNote, Store, StoreError, StoredEvent, StrayArrivals, SweepMark, TimelineKey, UnloggedRows,
    Upkeep,
};

use super::transaction::{Moment, wait_for_open};
use super::values::{Failed, damaged, get, number, sql};
use crate::postgres::commit::locking;
use crate::postgres::connection::room;
use crate::postgres::connection::sessions::Object;
use crate::postgres::ends;
use crate::postgres::entries::{log_rows, origins, tiles};
use crate::postgres::events;
use crate::postgres::events::{described, versions};
use crate::postgres::integrity::orphans;
use crate::postgres::sharing::{leasing, upgrading};
use crate::postgres::transaction::batch::{Batch, rows};
use crate::postgres::{PostgresStore, commit, facts, heads, identity, outcomes, retention};

const SELECT_ANYTHING: &str = "SELECT count(*) FROM migrations";
/// Sessions of other users are visible only with `pg_read_all_stats`, replication slots to everyone.
const SELECT_SNAPSHOT_AGE: &str = "SELECT coalesce(max(age), 0)::bigint FROM (
    SELECT age(backend_xmin) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
    UNION ALL SELECT greatest(age(xmin), age(catalog_xmin)) FROM pg_replication_slots) AS all_of_them";
/// The server's current time, unlike `now()`, which is the start of the transaction.
const SELECT_CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
/// Follows the chain of clock entries back. The position of the previous clock entry is stored with the entry before
/// each one. A pointer forward is damage, and following it could loop forever.
const SELECT_CLOCK_PAYLOADS: &str = "WITH RECURSIVE clock_changes (position, payload, next, number) AS (
        SELECT e.position, e.payload, (SELECT b.clock_entry FROM entries b
            WHERE b.timeline = $1 AND b.position = e.position - 1), 1::bigint
        FROM entries e WHERE e.timeline = $1 AND e.position = $2
        UNION ALL SELECT e.position, e.payload, (SELECT b.clock_entry FROM entries b
            WHERE b.timeline = $1 AND b.position = e.position - 1), clock_changes.number + 1
        FROM clock_changes JOIN entries e ON e.timeline = $1 AND e.position = clock_changes.next
        WHERE clock_changes.next < clock_changes.position AND clock_changes.number < $3)
    SELECT payload FROM clock_changes ORDER BY number LIMIT $3";

#[async_trait]
impl Store for PostgresStore {
    async fn open(&self) -> Result<Opened, StoreError> {
        // One snapshot, so that a timeline that ends in the meantime is in exactly one of the two tables.
        Ok(self.heads_of_a_moment(|on| opened(on).boxed()).await?)
    }

    /// A commit whose response was lost may have succeeded. The heads have then moved because of this service.
    fn is_shared(&self) -> bool {
        true
    }

    fn has_others(&self) -> bool {
        !self.connections.is_alone()
    }

    async fn lock(&self, timelines: &[TimelineKey]) -> Result<Option<Locked>, StoreError> {
        let (held, locked) = locking::begin(&self.connections, timelines).await?;
        *self.held.lock().await = Some(held);
        Ok(Some(locked))
    }

    async fn feature_level(&self) -> Result<u64, StoreError> {
        Ok(upgrading::read_level(&self.reader().await?).await?)
    }

    async fn release(&self) {
        let held = self.held.lock().await.take();
        if let Some(held) = held {
            held.give_up().await;
        }
    }

    async fn wait_for_open_steps(&self) -> Result<(), StoreError> {
        if self.connections.is_alone() {
            return Ok(());
        }
        Ok(wait_for_open(&self.connections).await?)
    }

    async fn sizes(&self) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
        Ok(heads::sizes(&self.reader().await?).await?)
    }

    async fn newest(
        &self,
        timelines: &[TimelineKey],
        known: RangeInclusive<TimelineKey>,
    ) -> Result<Vec<Head>, StoreError> {
        let (timelines, known) = (Arc::<[TimelineKey]>::from(timelines), Arc::new(known));
        Ok(self.heads_of_a_moment(|on| newest(on, Arc::clone(&timelines), Arc::clone(&known)).boxed()).await?)
    }

    async fn unlogged_rows(&self, users: Vec<UserId>, ended: Vec<TimelineId>) -> Result<UnloggedRows, StoreError> {
        let reader = self.reader().await?;
        let found = try_join!(identity::passwords_of(&reader, &users), ends::select(&reader, Some(&ended)));
        let (passwords, ended) = found?;
        Ok(UnloggedRows { passwords, ended })
    }

    async fn open_directory(&self) -> Result<Opened, StoreError> {
        Ok(self.heads_of_a_moment(|on| opened_directory(on).boxed()).await?)
    }

    async fn hint(&self) -> Hint {
        self.hints.wait().await
    }

    async fn database_clock(&self) -> Result<Option<Instant<Wall>>, StoreError> {
        let read = async {
            let found = rows(&self.reader().await?, SELECT_CLOCK, &[]).await?;
            let micros: i64 = get(found.first().ok_or_else(|| damaged("the database has no clock"))?, 0)?;
            let at = Instant::from_micros(micros);
            Ok::<_, Failed>(at.ok_or_else(|| damaged("the database's clock is out of range"))?)
        };
        Ok(Some(read.await?))
    }

    async fn snapshot_age(&self) -> Result<u64, StoreError> {
        let read = async {
            let found = rows(&self.reader().await?, SELECT_SNAPSHOT_AGE, &[]).await?;
            number(found.first().ok_or_else(|| damaged("the server does not return its snapshots"))?, 0)
        };
        Ok(read.await?)
    }

    fn connections_use(&self) -> Option<ConnectionsUse> {
        Some(self.connections.use_now())
    }

    async fn commit(&self, step: Commit) -> Result<(), StoreError> {
        let held = self.held.lock().await.take();
        match held {
            Some(held) => locking::commit(&self.connections, held, &step).await?,
            None => commit::commit(&self.connections, &step).await?,
        }
        // The hint about `system` covers an ending timeline. A commit that changes no ledger needs no hint.
        if !step.timelines.is_empty() {
            self.hints.send(Hint::of(step.timelines.iter().map(|one| one.head.key)));
        }
        Ok(())
    }

    async fn facts(&self, query: FactsQuery, origin: QueryOrigin) -> Result<Facts, StoreError> {
        let held = if origin == QueryOrigin::Writer { Some(self.held.lock().await) } else { None };
        if let Some(held) = held.as_ref().and_then(|held| held.as_ref()) {
            // Lock the leases that are read until the commit ends.
            let timelines = query.at_work.iter().map(|query| query.timeline);
            leasing::lock(held.on()?, &timelines.collect()).await?;
            return Ok(facts::find(held.on()?, query).await?);
        }
        let connection = match origin {
            QueryOrigin::Writer => self.connections.writer().await?,
            QueryOrigin::Reader => self.connections.reader().await?,
        };
        Ok(Moment::read(connection, |on| facts::find(on, query).boxed()).await?)
    }

    async fn events_named(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError> {
        Ok(versions::named(&self.reader().await?, &layers, &key, items_max).await?)
    }

    async fn names_near(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        searched_max: usize,
    ) -> Result<Vec<(EventId, Option<String>)>, StoreError> {
        Ok(versions::names_near(&self.reader().await?, &layers, &key, searched_max).await?)
    }

    async fn event_described(
        &self,
        layers: Arc<[Layer]>,
        description: String,
        searched_max: usize,
    ) -> Result<Described, StoreError> {
        Ok(described::described(&self.reader().await?, &layers, &description, searched_max).await?)
    }

    async fn events_unchanged_since(
        &self,
        timeline: TimelineKey,
        position: u64,
        after: Option<EventId>,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError> {
        let of = (timeline, position);
        Ok(versions::unchanged_since(&self.reader().await?, of, after.as_ref(), items_max).await?)
    }

    /// Reads need a round trip to the server, so they are never done on the calling thread.
    fn events_at_once(&self, _query: &EventQuery) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        Ok(None)
    }

    async fn events(&self, query: EventQuery) -> Result<Vec<StoredEvent>, StoreError> {
        Ok(events::find(&self.reader().await?, &query).await?)
    }

    async fn event_spots(&self, query: EventQuery, with_parties: bool) -> Result<Vec<EventSpot>, StoreError> {
        Ok(events::spots(&self.reader().await?, &query, with_parties).await?)
    }

    async fn event_stretches(&self, _: EventQuery, _: Bucket) -> Result<Option<EventStretches>, StoreError> {
        Ok(None)
    }

    fn stores_parties(&self) -> bool {
        false
    }

    async fn overridden(&self, layers: Arc<[Layer]>, rows_max: usize) -> Result<Option<Overridden>, StoreError> {
        Ok(events::overridden(&self.reader().await?, &layers, rows_max).await?)
    }

    async fn filtered_events(
        &self,
        query: EventQuery,
        filter: Arc<EventFilter>,
        searched_max: usize,
    ) -> Result<FilteredEvents, StoreError> {
        let on = self.reader().await?;
        let features = self.connections.features.read(&on).await?;
        Ok(events::passing(&on, &query, &filter, searched_max, features).await?)
    }

    async fn api_keys(
        &self,
        user_id: &UserId,
        after: Option<&KeyId>,
        items_max: usize,
    ) -> Result<Vec<ApiKey>, StoreError> {
        Ok(identity::keys_of(&self.reader().await?, user_id, after, items_max).await?)
    }

    async fn clock_payloads(
        &self,
        timeline: TimelineKey,
        last: u64,
        items_max: usize,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        let (last, items_max) = (sql(last), sql(items_max as u64));
        let found = rows(&self.reader().await?, SELECT_CLOCK_PAYLOADS, &[&timeline.0, &last, &items_max]).await?;
        Ok(found.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?)
    }

    async fn keep_rotations(&self, notes: Vec<RotationNote>) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        origins::keep_rotations(&mut batch, &notes);
        Ok(self.write(batch).await?)
    }

    async fn leaves(&self, timeline: TimelineKey, first: u64, items_max: usize) -> Result<Vec<Vec<u8>>, StoreError> {
        Ok(tiles::leaves(&self.reader().await?, timeline, first, items_max).await?)
    }

    async fn leaves_of(&self, of: Vec<(TimelineKey, Range<u64>)>) -> Result<Vec<Vec<Vec<u8>>>, StoreError> {
        Ok(tiles::leaves_of(&self.reader().await?, &of).await?)
    }

    async fn log_rows(
        &self,
        timeline: TimelineKey,
        range: Range<u64>,
        newest_first: bool,
        bytes_max: usize,
    ) -> Result<Vec<LogRow>, StoreError> {
        Ok(log_rows::log_rows(&self.reader().await?, timeline, range, newest_first, bytes_max).await?)
    }

    async fn first_recorded_at(
        &self,
        timeline: TimelineKey,
        host: Instant<Wall>,
        size: u64,
    ) -> Result<u64, StoreError> {
        Ok(first_recorded_at(&self.reader().await?, timeline, host, size).await?)
    }

    async fn tile(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError> {
        Ok(tiles::read(&self.reader().await?, timeline, tile, width).await?)
    }

    async fn health(&self, expected: Health) -> Result<(), StoreError> {
        match expected {
            Health::Answers => Ok(rows(&self.reader().await?, SELECT_ANYTHING, &[]).await.map(drop)?),
            Health::Writes => Ok(room::try_writing(&self.connections).await?),
        }
    }
}

#[async_trait]
impl Upkeep for PostgresStore {
    async fn prune_ended(&self, ended: &EndedTimeline, from: u64, items_max: usize) -> Result<Option<u64>, StoreError> {
        Ok(ends::prune(&self.connections, ended, from, items_max).await?)
    }

    async fn sweeps_left(&self) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
        Ok(retention::left(&self.reader().await?).await?)
    }

    async fn sweep(&self, timeline: TimelineKey, positions: Vec<u64>, finished: Option<u64>) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        retention::prune(&mut batch, timeline, &positions, finished);
        Ok(self.write(batch).await?)
    }

    async fn sweep_marks(&self, timeline: TimelineKey) -> Result<Vec<SweepMark>, StoreError> {
        Ok(retention::marks(&self.reader().await?, timeline).await?)
    }

    async fn mark_swept(&self, timeline: TimelineKey, mark: SweepMark) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        retention::mark(&mut batch, timeline, mark);
        Ok(self.write(batch).await?)
    }

    async fn forget_outcomes(&self, before: Instant<Wall>, rows_max: usize) -> Result<bool, StoreError> {
        // Take the write lock only if there is something to do.
        let have_expired = outcomes::have_expired(&self.reader().await?, before).await?;
        if have_expired {
            let mut batch = Batch::default();
            outcomes::forget(&mut batch, before, rows_max);
            self.write(batch).await?;
        }
        Ok(have_expired)
    }

    async fn stray_arrivals(&self) -> Result<StrayArrivals, StoreError> {
        Ok(self.moment(|on| stray(on).boxed()).await?)
    }

    async fn host_clock(&self) -> Result<Option<Instant<Wall>>, StoreError> {
        Ok(retention::host_clock(&self.reader().await?).await?)
    }

    async fn keep_host_clock(&self, now: Instant<Wall>) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        retention::keep_host_clock(&mut batch, now);
        Ok(self.write(batch).await?)
    }
}

async fn opened(on: &Object) -> Result<Opened, Failed> {
    opened_with(on, heads::Which::All).await
}

async fn opened_directory(on: &Object) -> Result<Opened, Failed> {
    opened_with(on, heads::Which::Named(&TimelineId::system())).await
}

async fn opened_with(on: &Object, which: heads::Which<'_>) -> Result<Opened, Failed> {
    let (heads, ended) = (heads::select_finished(on, which).await?, ends::select(on, None).await?);
    let directory = identity::directory(on, false).await?;
    Ok(Opened { heads, ended, directory, seals: CarriedSeals::default() })
}

async fn newest(
    on: &Object,
    timelines: Arc<[TimelineKey]>,
    known: Arc<RangeInclusive<TimelineKey>>,
) -> Result<Vec<Head>, Failed> {
    heads::select_finished(on, heads::Which::Some(&timelines, &known)).await
}

/// Binary search: host times never decrease along a ledger.
async fn first_recorded_at(on: &Object, timeline: TimelineKey, host: Instant<Wall>, size: u64) -> Result<u64, Failed> {
    let (mut low, mut high) = (0, size);
    while low < high {
        let middle = low + (high - low) / 2;
        let leaf = tiles::leaves(on, timeline, middle, 1).await?.pop();
        let leaf = leaf.ok_or_else(|| damaged("an entry is missing"))?;
        let record = LeafRecord::decode(&leaf).map_err(|error| damaged(&error.to_string()))?;
        let recorded_at: Instant<Wall> =
            parse_timestamp(&record.recorded_at).map_err(|error| damaged(&error.to_string()))?;
        if recorded_at < host {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

async fn stray(on: &Object) -> Result<StrayArrivals, Failed> {
    Ok(StrayArrivals { orphans: orphans::below_zero(on).await?, marked: orphans::marked(on).await? })
}
