//! All other reads, and the implementation of the engine's store traits.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension};
use timenav_core::access::Permissions;
use timenav_core::ids::{EventId, KeyId, TimelineId, UserId};
use timenav_core::ledger::{Frontier, Hash, LeafRecord, TileId};
use timenav_core::time::{Bucket, Instant, Wall, parse_timestamp};
use timenav_engine::{
    ApiKey, Commit, Described, EndedTimeline, EventFilter, EventQuery, EventSpot, EventStretches, Facts, FactsQuery,
    FilteredEvents, Head, Health, Layer, LogRow, Opened, Overridden, QueryOrigin, RotationNote, SharedFollowers,
    SharedLeases, Store, StoreError, StoredEvent, StoredTree, StrayArrivals, SweepMark, TimelineKey, Upkeep,
};

use super::values::{POSITION_MAX, count, damaged, entry_key, failed, id, instant, position, records, role};
use crate::sqlite::connection::room;
use crate::sqlite::ends;
use crate::sqlite::entries::leaf::Leaves;
use crate::sqlite::entries::{log_rows, origins, tiles};
use crate::sqlite::events;
use crate::sqlite::events::{described, overriding, stretches, versions};
use crate::sqlite::integrity::orphans;
use crate::sqlite::{SqliteStore, commit, facts, identity, outcomes, retention};

/// Rows that an event query may read on the calling thread: about a quarter of a millisecond.
const ROWS_READ_HERE_MAX: usize = 256;

const SELECT_HEADS: &str = "SELECT * FROM timelines ORDER BY timeline";
const SELECT_HEAD: &str = "SELECT * FROM timelines WHERE timeline_id = ?1";
const SELECT_TREE: &str = "SELECT size, frontier, statement FROM timelines WHERE timeline = ?1";
const SELECT_ANYTHING: &str = "SELECT count(*) FROM migrations";

#[async_trait]
impl Store for SqliteStore {
    async fn open(&self) -> Result<Opened, StoreError> {
        self.read(|connection| {
            // One snapshot, so that a timeline that ends in the meantime is in exactly one of the two tables.
            let moment = connection.unchecked_transaction().map_err(failed)?;
            let (heads, ended) = (heads(&moment)?, ends::all(&moment)?);
            Ok(Opened { heads, ended, directory: identity::working(&moment)?, seals: identity::seals(&moment)? })
        })
        .await
    }

    async fn commit(&self, step: Commit) -> Result<(), StoreError> {
        // The engine calls this from its own thread, so no other thread has to be woken.
        let mut writer = self.shared.writer.lock();
        if self.shared.is_failed.load(Ordering::Acquire) {
            return Err(StoreError::Unavailable("writes are no longer durable; restart the service".to_owned()));
        }
        let mut log = self.shared.log.lock();
        commit::commit(&mut writer, &mut log, &step)?;
        self.shared.commits_count.fetch_add(1, Ordering::Relaxed);
        let with_events = step.timelines.iter().filter(|timeline| !timeline.events.is_empty());
        self.shared.to_index.lock().extend(with_events.map(|timeline| timeline.head.key));
        log.keep(&writer);
        Ok(())
    }

    async fn trees(&self, timelines: Vec<TimelineKey>) -> Result<Vec<StoredTree>, StoreError> {
        self.read(move |connection| trees(connection, &timelines)).await
    }

    async fn facts(&self, query: FactsQuery, origin: QueryOrigin) -> Result<Facts, StoreError> {
        match origin {
            // Between two commits, on the writing connection: its page cache is warm, no other thread has to be woken,
            // and there are no concurrent writes.
            QueryOrigin::Writer => facts::find(&self.shared.writer.lock(), &query),
            QueryOrigin::Reader => {
                let of_one_moment = move |connection: &Connection| {
                    let moment = connection.unchecked_transaction().map_err(failed)?;
                    facts::find(&moment, &query)
                };
                self.read(of_one_moment).await
            }
        }
    }

    async fn events_named(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError> {
        self.read(move |connection| versions::named(connection, &layers, &key, items_max)).await
    }

    async fn names_near(
        &self,
        layers: Arc<[Layer]>,
        key: String,
        searched_max: usize,
    ) -> Result<Vec<(EventId, Option<String>)>, StoreError> {
        self.read(move |connection| versions::names_near(connection, &layers, &key, searched_max)).await
    }

    async fn event_described(
        &self,
        layers: Arc<[Layer]>,
        description: String,
        searched_max: usize,
    ) -> Result<Described, StoreError> {
        self.read(move |connection| described::described(connection, &layers, &description, searched_max)).await
    }

    async fn events_unchanged_since(
        &self,
        timeline: TimelineKey,
        position: u64,
        after: Option<EventId>,
        items_max: usize,
    ) -> Result<Vec<EventId>, StoreError> {
        let unchanged = move |connection: &Connection| {
            versions::unchanged_since(connection, (timeline, position), after.as_ref(), items_max)
        };
        self.read(unchanged).await
    }

    fn events_at_once(&self, query: &EventQuery) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        self.read_here(|connection| events::find(connection, query, ROWS_READ_HERE_MAX))
    }

    async fn events(&self, query: EventQuery) -> Result<Vec<StoredEvent>, StoreError> {
        let found = self.read(move |connection| events::find(connection, &query, usize::MAX)).await?;
        Ok(found.unwrap_or_default())
    }

    async fn event_spots(&self, query: EventQuery, with_parties: bool) -> Result<Vec<EventSpot>, StoreError> {
        self.read(move |connection| events::spots(connection, &query, with_parties)).await
    }

    async fn event_stretches(&self, query: EventQuery, bucket: Bucket) -> Result<Option<EventStretches>, StoreError> {
        if !stretches::are_counted(&query) {
            return Ok(None);
        }
        self.read(move |connection| stretches::counted(connection, &query, bucket).map(Some)).await
    }

    fn stores_parties(&self) -> bool {
        true
    }

    async fn overridden(&self, layers: Arc<[Layer]>, rows_max: usize) -> Result<Option<Overridden>, StoreError> {
        self.read(move |connection| overriding::overridden(connection, &layers, rows_max)).await
    }

    async fn filtered_events(
        &self,
        query: EventQuery,
        filter: Arc<EventFilter>,
        searched_max: usize,
    ) -> Result<FilteredEvents, StoreError> {
        self.read(move |connection| events::passing(connection, &query, &filter, searched_max)).await
    }

    async fn api_keys(
        &self,
        user_id: &UserId,
        after: Option<&KeyId>,
        items_max: usize,
    ) -> Result<Vec<ApiKey>, StoreError> {
        let (user_id, after) = (user_id.clone(), after.cloned());
        self.read(move |connection| identity::keys_of(connection, &user_id, after.as_ref(), items_max)).await
    }

    async fn clock_payloads(
        &self,
        timeline: TimelineKey,
        last: u64,
        items_max: usize,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        self.read(move |connection| clock_payloads(connection, timeline, last, items_max)).await
    }

    async fn keep_rotations(&self, notes: Vec<RotationNote>) -> Result<(), StoreError> {
        self.write(move |connection| origins::keep_rotations(connection, &notes)).await
    }

    async fn leaves(&self, timeline: TimelineKey, first: u64, items_max: usize) -> Result<Vec<Vec<u8>>, StoreError> {
        self.read(move |connection| leaves(connection, timeline, first, items_max)).await
    }

    async fn leaves_of(&self, of: Vec<(TimelineKey, Range<u64>)>) -> Result<Vec<Vec<Vec<u8>>>, StoreError> {
        let count = |at: &Range<u64>| usize::try_from(at.end.saturating_sub(at.start)).unwrap_or(usize::MAX);
        let some = move |connection: &Connection| {
            of.iter().map(|(timeline, at)| leaves(connection, *timeline, at.start, count(at))).collect()
        };
        self.read(some).await
    }

    async fn log_rows(
        &self,
        timeline: TimelineKey,
        range: Range<u64>,
        newest_first: bool,
        bytes_max: usize,
    ) -> Result<Vec<LogRow>, StoreError> {
        self.read(move |connection| log_rows::log_rows(connection, timeline, &range, newest_first, bytes_max)).await
    }

    async fn first_recorded_at(
        &self,
        timeline: TimelineKey,
        host: Instant<Wall>,
        size: u64,
    ) -> Result<u64, StoreError> {
        self.read(move |connection| first_recorded_at(connection, timeline, host, size)).await
    }

    async fn tile(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError> {
        self.read(move |connection| tiles::read(connection, timeline, tile, width)).await
    }

    async fn health(&self, expected: Health) -> Result<(), StoreError> {
        match expected {
            Health::Answers => {
                self.read(|connection| connection.query_row(SELECT_ANYTHING, [], |_| Ok(())).map_err(failed)).await
            }
            Health::Writes => {
                let shared = Arc::clone(&self.shared);
                let done = tokio::task::spawn_blocking(move || room::try_writing(&shared.writer.lock())).await;
                done.map_err(|error| StoreError::Unavailable(error.to_string()))?
            }
        }
    }
}

/// Only one service opens the file, and it holds the leases in memory.
impl SharedLeases for SqliteStore {}

/// Like leases, followers are held in memory.
impl SharedFollowers for SqliteStore {}

#[async_trait]
impl Upkeep for SqliteStore {
    async fn prune_ended(&self, ended: &EndedTimeline, from: u64, items_max: usize) -> Result<Option<u64>, StoreError> {
        let ended = ended.clone();
        self.write(move |connection| ends::prune(connection, &ended, from, items_max)).await
    }

    async fn sweeps_left(&self) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
        self.read(retention::left).await
    }

    async fn sweep(&self, timeline: TimelineKey, positions: Vec<u64>, finished: Option<u64>) -> Result<(), StoreError> {
        self.write(move |connection| retention::prune(connection, timeline, &positions, finished)).await
    }

    async fn sweep_marks(&self, timeline: TimelineKey) -> Result<Vec<SweepMark>, StoreError> {
        self.read(move |connection| retention::marks(connection, timeline)).await
    }

    async fn mark_swept(&self, timeline: TimelineKey, mark: SweepMark) -> Result<(), StoreError> {
        self.write(move |connection| retention::mark(connection, timeline, mark).map_err(failed)).await
    }

    async fn forget_outcomes(&self, before: Instant<Wall>, rows_max: usize) -> Result<bool, StoreError> {
        // Take the write lock only if there is something to do.
        let have_expired = self.read(move |connection| outcomes::have_expired(connection, before)).await?;
        if have_expired {
            self.write(move |connection| outcomes::forget(connection, before, rows_max)).await?;
        }
        Ok(have_expired)
    }

    async fn stray_arrivals(&self) -> Result<StrayArrivals, StoreError> {
        self.read(|connection| {
            let moment = connection.unchecked_transaction().map_err(failed)?;
            Ok(StrayArrivals { orphans: orphans::below_zero(&moment)?, marked: orphans::marked(&moment)? })
        })
        .await
    }

    async fn host_clock(&self) -> Result<Option<Instant<Wall>>, StoreError> {
        self.read(retention::host_clock).await
    }

    async fn keep_host_clock(&self, now: Instant<Wall>) -> Result<(), StoreError> {
        self.write(move |connection| retention::keep_host_clock(connection, now)).await
    }
}

/// Follows clock entries back from `last`. The entry before each one stores the position of the previous one.
fn clock_payloads(
    connection: &Connection,
    timeline: TimelineKey,
    last: u64,
    items_max: usize,
) -> Result<Vec<Vec<u8>>, StoreError> {
    // Retention never prunes clock entries, so their payload is in `entries`.
    let mut payload = connection.prepare_cached("SELECT payload FROM entries WHERE entry = ?1").map_err(failed)?;
    let mut before = connection.prepare_cached("SELECT clock_entry FROM entries WHERE entry = ?1").map_err(failed)?;
    let mut payloads = Vec::new();
    let mut next = Some(last);
    while let Some(position) = next.filter(|position| *position <= POSITION_MAX && payloads.len() < items_max) {
        let found = payload.query_row([entry_key(timeline, position)], |row| row.get(0)).optional().map_err(failed)?;
        let Some(found) = found else { break };
        payloads.push(found);
        let Some(earlier) = position.checked_sub(1) else { break };
        let clock_entry = before.query_row([entry_key(timeline, earlier)], |row| row.get::<_, i64>(0)).optional();
        // A pointer forward is damage, and following it could loop forever.
        next = clock_entry.map_err(failed)?.map(count).transpose()?.filter(|clock_entry| *clock_entry <= earlier);
    }
    Ok(payloads)
}

pub(super) fn heads(connection: &Connection) -> Result<Vec<Head>, StoreError> {
    let mut permissions = permissions(connection)?;
    let mut policies = retention::policies(connection, None)?;
    let mut heads: Vec<Head> = records(connection, SELECT_HEADS, [])?;
    for head in &mut heads {
        head.permissions = permissions.remove(&head.key).unwrap_or_default();
        head.retention = policies.remove(&head.key).unwrap_or_default();
        head.is_handed_over = origins::is_handed_over(connection, head.key, head.frontier.size())?;
    }
    Ok(heads)
}

pub(super) fn head_named(connection: &Connection, timeline: &TimelineId) -> Result<Option<Head>, StoreError> {
    let Some(mut head) = records::<Head>(connection, SELECT_HEAD, [timeline.as_str()])?.pop() else { return Ok(None) };
    let mut permissions = permissions_where(connection, "WHERE timeline = ?1", [head.key.0])?;
    head.permissions = permissions.remove(&head.key).unwrap_or_default();
    head.retention = retention::policies(connection, Some(head.key))?.remove(&head.key).unwrap_or_default();
    head.is_handed_over = origins::is_handed_over(connection, head.key, head.frontier.size())?;
    Ok(Some(head))
}

fn trees(connection: &Connection, timelines: &[TimelineKey]) -> Result<Vec<StoredTree>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_TREE).map_err(failed)?;
    let mut trees = Vec::new();
    for timeline in timelines {
        let mut rows = select.query([timeline.0]).map_err(failed)?;
        let Some(row) = rows.next().map_err(failed)? else { continue };
        let (size, frontier) = (count(row.get(0).map_err(failed)?)?, row.get::<_, Vec<u8>>(1).map_err(failed)?);
        let frontier = Frontier::from_bytes(size, &frontier).map_err(|error| damaged(&error.to_string()))?;
        let statement = row.get::<_, Vec<u8>>(2).map_err(failed)?.into();
        trees.push(StoredTree { timeline: *timeline, frontier, statement });
    }
    Ok(trees)
}

fn permissions(connection: &Connection) -> Result<HashMap<TimelineKey, Arc<Permissions>>, StoreError> {
    permissions_where(connection, "", [])
}

fn permissions_where(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<HashMap<TimelineKey, Arc<Permissions>>, StoreError> {
    let statement =
        format!("SELECT timeline, user_id, role, expires_at FROM permissions {condition} ORDER BY timeline");
    let mut select = connection.prepare(&statement).map_err(failed)?;
    let mut rows = select.query(values).map_err(failed)?;
    let mut all: HashMap<TimelineKey, Arc<Permissions>> = HashMap::new();
    // Timelines created one after the other often belong to the same user, so equal lists share memory.
    let mut before = Arc::<Permissions>::default();
    let mut keep = |key: TimelineKey, lists: Permissions| {
        if *before != lists {
            before = Arc::new(lists);
        }
        all.insert(key, Arc::clone(&before));
    };
    let mut current: Option<(TimelineKey, Permissions)> = None;
    while let Some(row) = rows.next().map_err(failed)? {
        let key = TimelineKey(row.get(0).map_err(failed)?);
        if let Some((ended, lists)) = current.take_if(|(current, _)| *current != key) {
            keep(ended, lists);
        }
        let (_, lists) = current.get_or_insert_with(|| (key, Permissions::default()));
        let user = id(UserId::new(&row.get::<_, String>(1).map_err(failed)?))?;
        let end = row.get::<_, Option<i64>>(3).map_err(failed)?.map(instant).transpose()?;
        lists.put(role(&row.get::<_, String>(2).map_err(failed)?)?, user, end);
    }
    if let Some((ended, lists)) = current {
        keep(ended, lists);
    }
    Ok(all)
}

fn leaves(
    connection: &Connection,
    timeline: TimelineKey,
    first: u64,
    items_max: usize,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let last = first.saturating_add(items_max as u64).saturating_sub(1).min(POSITION_MAX);
    let mut select = connection
        .prepare_cached("SELECT leaf, entry FROM entries WHERE entry BETWEEN ?1 AND ?2 ORDER BY entry")
        .map_err(failed)?;
    let mut rows = select.query([entry_key(timeline, first), entry_key(timeline, last)]).map_err(failed)?;
    let (whole, mut found) = (Leaves::new(connection, timeline), Vec::new());
    while let Some(row) = rows.next().map_err(failed)? {
        let stored = row.get_ref(0).and_then(|value| Ok(value.as_blob()?)).map_err(failed)?;
        found.push(whole.whole(position(timeline, row.get(1).map_err(failed)?)?, stored)?.into_owned());
    }
    Ok(found)
}

/// Binary search: host times never decrease along a ledger.
fn first_recorded_at(
    connection: &Connection,
    timeline: TimelineKey,
    host: Instant<Wall>,
    size: u64,
) -> Result<u64, StoreError> {
    let (mut low, mut high) = (0, size);
    while low < high {
        let middle = low + (high - low) / 2;
        let leaf = leaves(connection, timeline, middle, 1)?.pop().ok_or_else(|| damaged("an entry is missing"))?;
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
