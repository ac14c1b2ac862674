use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, TileId};
use timenav_engine::{
    Anchor, DataRecord, ENTRY_ROWS_BYTES, EndedTimeline, EntryMarks, EntryRow, EntryRows, EventAt, Head,
    IdempotencyRecord, ScanSource, SeenEvents, ServiceRows, Snapshot, StoreError, StoredEnd, StoredOutcome, StoredRows,
    StoredVersion, TimelineKey, TimerQuery, TimersFound,
};

use crate::persistence::examination::Examination;
use crate::sqlite::entries::contents::{self, Contents, StoredContents};
use crate::sqlite::entries::leaf::Leaves;
use crate::sqlite::entries::tiles;
use crate::sqlite::events::full_scan;
use crate::sqlite::integrity::{CheckGuard, ahead, examination, orphans};
use crate::sqlite::migrations::schema;
use crate::sqlite::values::{NO_CELL, POSITION_MAX, count, entry_key, failed, id, position, sql};
use crate::sqlite::{
    SqliteStore, anchors, connection, data, ends, identity, integrity, outcomes, read, retention, timers,
};

/// From both tables, so that contents without an entry are not missed after the last one.
const SELECT_LAST: &str =
    "SELECT max(entry) FROM (SELECT max(entry) AS entry FROM entries WHERE entry BETWEEN ?1 AND ?2
    UNION ALL SELECT max(entry) FROM contents WHERE entry BETWEEN ?1 AND ?2)";
const SELECT_TILE: &str = "SELECT hashes FROM tiles WHERE timeline = ?1 AND level = ?2 AND tile = ?3";
const SELECT_EVENT: &str =
    "SELECT position, until, time, lat, lon, cell, place, content, name_key, parties, length_class
    FROM events INDEXED BY events_by_id WHERE timeline = ?1 AND event_id = ?2 AND position = ?3";
const SELECT_BEFORE: &str = "SELECT until FROM events INDEXED BY events_by_id WHERE timeline = ?1 AND event_id = ?2
    AND position = (SELECT max(position) FROM events INDEXED BY events_by_id
        WHERE timeline = ?1 AND event_id = ?2 AND position < ?3)";
const IS_REPORTED: &str =
    "SELECT EXISTS (SELECT 1 FROM interventions WHERE timeline = ?1 AND event_id = ?2 AND position = ?3)
    OR EXISTS (SELECT 1 FROM events INDEXED BY events_by_id
        WHERE timeline = ?1 AND event_id = ?2 AND position = ?3)";
/// Includes positions that no entry has yet, which only tampering can produce.
const COUNT_DATA: &str = "SELECT count(*) FROM data_records WHERE timeline = ?1
    AND (position < ?2 OR position >= (SELECT size FROM timelines WHERE timeline = ?1))";
/// Not by the index by id, whose rows are compared with those of the table separately.
const COUNT_EVENTS: &str = "SELECT (SELECT count(*) FROM events INDEXED BY events_by_time WHERE timeline = ?1
    AND (position < ?2 OR position >= (SELECT size FROM timelines WHERE timeline = ?1))),
    (SELECT count(*) FROM interventions WHERE timeline = ?1
    AND (position < ?2 OR position >= (SELECT size FROM timelines WHERE timeline = ?1)))";
const SELECT_INTERVENTION: &str = "SELECT intervention_id FROM interventions
    WHERE timeline = ?1 AND event_id = ?2 AND position = ?3";

/// A read-only database, for `timenav verify`. A service may have it open, but none has to run.
pub struct SqliteArchive(Arc<Archive>);

struct Archive {
    /// A path, or a URI if no process has the file open.
    address: PathBuf,
    flags: OpenFlags,
    /// Grows to the highest number in use at the same time.
    idle: Mutex<Vec<Connection>>,
}

impl SqliteArchive {
    /// Opens the file for reading.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        connection::check_files(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let (address, flags) = if has_log(path) {
            (path.to_owned(), flags)
        } else {
            // No process has it open, so it can be read as immutable, which leaves no auxiliary files.
            (immutable(path).into(), flags | OpenFlags::SQLITE_OPEN_URI)
        };
        let archive = Archive { address, flags, idle: Mutex::default() };
        archive.read(|_| Ok(()))?;
        Ok(Self(Arc::new(archive)))
    }

    /// Returns the live timelines, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn timelines(&self) -> Result<Vec<TimelineId>, StoreError> {
        Ok(self.0.read(timelines)?.into_keys().collect())
    }

    /// Returns the timelines that have ended, by name.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn ended_timelines(&self) -> Result<Vec<TimelineId>, StoreError> {
        let mut ended = self.0.read(ends::all)?;
        ended.sort_unstable_by(|one, next| one.id.cmp(&next.id));
        Ok(ended.into_iter().map(|ended| ended.id).collect())
    }

    /// Returns what an operator should know about the database.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn examine(&self) -> Result<Examination, StoreError> {
        self.0.read(examination::examine)
    }

    /// Returns the head of every timeline, by number. Nothing is verified.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn heads(&self) -> Result<Vec<Head>, StoreError> {
        self.0.read(read::heads)
    }

    /// Returns structural faults of the file, one sentence each. Rows are not compared with indexes.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn faults(&self) -> Result<Vec<String>, StoreError> {
        self.0.read(integrity::faults)
    }

    async fn read_timers(&self, key: TimelineKey, query: TimerQuery) -> Result<TimersFound, StoreError> {
        self.read(move |connection| timers::find(connection, key, &query)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let archive = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || archive.read(work));
        done.await.map_err(|error| StoreError::Unavailable(error.to_string()))?
    }
}

impl Archive {
    /// Runs a read on an exclusive connection.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connection::open_to_read(&self.address, self.flags).map_err(failed)?,
        };
        let result = work(&connection);
        self.idle.lock().push(connection);
        result
    }
}

/// Returns whether a database has a write-ahead log: while it is open, and after a crash.
fn has_log(path: &Path) -> bool {
    connection::sibling(path, "-wal").exists()
}

/// Returns a URI that opens a database as immutable.
fn immutable(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(address, "%{byte:02X}");
            }
        }
    }
    address + "?immutable=1"
}

/// Both implement it in the same way, each on its own connections.
macro_rules! scan_source {
    ($($store:ty),*) => {$(
        #[async_trait]
        impl ScanSource for $store {
            async fn schema_differences(&self) -> Result<Vec<String>, StoreError> {
                self.read(schema::differences).await
            }

            async fn contradictions(&self) -> Result<Vec<String>, StoreError> {
                let query = CheckGuard::default();
                let look = query.look();
                self.read(move |connection| look.contradictions(connection)).await
            }

            async fn snapshot(&self, timeline: &TimelineId) -> Result<Option<Snapshot>, StoreError> {
                let timeline = timeline.clone();
                self.read(move |connection| snapshot(connection, &timeline)).await
            }

            async fn ended(&self, timeline: &TimelineId) -> Result<Option<EndedTimeline>, StoreError> {
                let timeline = timeline.clone();
                self.read(move |connection| ends::named(connection, &timeline)).await
            }

            async fn entry_rows(&self, key: TimelineKey, first: u64, end: u64) -> Result<EntryRows, StoreError> {
                self.read(move |connection| entry_rows(connection, key, first, end)).await
            }

            async fn tile_hashes(&self, key: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError> {
                self.read(move |connection| tiles::read(connection, key, tile, width)).await
            }

            async fn tile_bytes(
                &self,
                key: TimelineKey,
                tiles: Vec<TileId>,
            ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
                self.read(move |connection| tile_bytes(connection, key, &tiles)).await
            }

            async fn event_rows(
                &self,
                key: TimelineKey,
                events: Vec<(String, u64)>,
            ) -> Result<Vec<StoredRows>, StoreError> {
                self.read(move |connection| event_rows(connection, key, &events)).await
            }

            async fn event_page(
                &self,
                key: TimelineKey,
                after: Option<EventAt>,
                rows_max: usize,
            ) -> Result<SeenEvents, StoreError> {
                self.read(move |connection| full_scan::event_page(connection, key, after.as_ref(), rows_max)).await
            }

            async fn event_index_page(
                &self,
                key: TimelineKey,
                after: Option<EventAt>,
                rows_max: usize,
            ) -> Result<Option<Vec<EventAt>>, StoreError> {
                let ids = move |connection: &Connection| full_scan::event_ids(connection, key, after.as_ref(), rows_max);
                self.read(ids).await.map(Some)
            }

            async fn event_rows_count(&self, key: TimelineKey, end: u64) -> Result<(u64, u64), StoreError> {
                self.read(move |connection| {
                    let mut select = connection.prepare_cached(COUNT_EVENTS).map_err(failed)?;
                    let counts = select.query_row(params![key.0, sql(end)], |row| Ok((row.get(0)?, row.get(1)?)));
                    let (events, interventions) = counts.map_err(failed)?;
                    Ok((count(events)?, count(interventions)?))
                })
                .await
            }

            async fn data_rows(
                &self,
                key: TimelineKey,
                positions: Vec<u64>,
            ) -> Result<Vec<Option<DataRecord>>, StoreError> {
                self.read(move |connection| {
                    positions.iter().map(|position| data::record_at(connection, key, *position)).collect()
                })
                .await
            }

            async fn outcome_rows(&self, keys: Vec<[u8; 32]>) -> Result<Vec<IdempotencyRecord>, StoreError> {
                self.read(move |connection| {
                    keys.iter().filter_map(|key| outcomes::named(connection, key).transpose()).collect()
                })
                .await
            }

            async fn outcome_page(
                &self,
                after: Option<[u8; 32]>,
                rows_max: usize,
            ) -> Result<Vec<StoredOutcome>, StoreError> {
                self.read(move |connection| outcomes::page(connection, after, rows_max)).await
            }

            async fn leaves_named(&self, entries: Vec<(TimelineId, u64)>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
                self.read(move |connection| outcomes::leaves(connection, &entries)).await
            }

            async fn sweep_rows(&self, key: TimelineKey, end: u64) -> Result<Vec<u64>, StoreError> {
                self.read(move |connection| retention::sweeps(connection, key, end)).await
            }

            async fn data_rows_count(&self, key: TimelineKey, end: u64) -> Result<u64, StoreError> {
                self.read(move |connection| {
                    let mut select = connection.prepare_cached(COUNT_DATA).map_err(failed)?;
                    count(select.query_row(params![key.0, sql(end)], |row| row.get(0)).map_err(failed)?)
                })
                .await
            }

            async fn timer_rows(&self, key: TimelineKey, query: TimerQuery) -> Result<TimersFound, StoreError> {
                self.read_timers(key, query).await
            }

            async fn anchor_rows(
                &self,
                key: TimelineKey,
                after: Option<u64>,
                items_max: usize,
            ) -> Result<Vec<Anchor>, StoreError> {
                self.read(move |connection| anchors::page(connection, key, after, items_max)).await
            }
        }
    )*};
}
scan_source!(SqliteStore, SqliteArchive);

/// Reads a timeline apart from its entries, in one snapshot; for `system` also the directory and orphaned rows.
fn snapshot(connection: &Connection, timeline: &TimelineId) -> Result<Option<Snapshot>, StoreError> {
    let moment = connection.unchecked_transaction().map_err(failed)?;
    let Some(head) = read::head_named(&moment, timeline)? else { return Ok(None) };
    let bounds = [entry_key(head.key, 0), entry_key(head.key, POSITION_MAX)];
    let last: Option<i64> = moment.query_row(SELECT_LAST, bounds, |row| row.get(0)).map_err(failed)?;
    let last_position = last.map(|last| count(last - bounds[0])).transpose()?;
    let (service, orphans, marked) = if timeline.is_system() {
        let (directory, timelines, ended) = (identity::directory(&moment)?, timelines(&moment)?, ends::all(&moment)?);
        let service = ServiceRows { directory, timelines, ended };
        (Some(service), orphans::orphans(&moment)?, orphans::marked(&moment)?)
    } else {
        (None, Vec::new(), Vec::new())
    };
    let ahead = ahead::tables(&moment, &head)?;
    Ok(Some(Snapshot { head, last_position, ahead, service, orphans, marked }))
}

fn timelines(connection: &Connection) -> Result<BTreeMap<TimelineId, TimelineKey>, StoreError> {
    let mut select = connection.prepare("SELECT timeline_id, timeline FROM timelines").map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    let mut timelines = BTreeMap::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let name = id(TimelineId::new(&row.get::<_, String>(0).map_err(failed)?))?;
        timelines.insert(name, TimelineKey(row.get(1).map_err(failed)?));
    }
    Ok(timelines)
}

fn entry_rows(connection: &Connection, key: TimelineKey, first: u64, end: u64) -> Result<EntryRows, StoreError> {
    let (mut end, last) = (end, end.min(POSITION_MAX + 1));
    if first >= last {
        return Ok(EntryRows { rows: Vec::new(), end });
    }
    let (leaves, mut rows, mut bytes) = (Leaves::new(connection, key), Vec::new(), 0);
    contents::walk(connection, [entry_key(key, first), entry_key(key, last - 1)], false, |stored| {
        let StoredContents { contents: Contents { salt, payload }, events_count, clock_entry, .. } = stored;
        let position = position(key, stored.key)?;
        let leaf = leaves.whole(position, stored.leaf)?.into_owned();
        let marks = EntryMarks { events_count, clock_entry };
        let row = EntryRow { position, leaf, salt, payload, marks };
        bytes += row.bytes_count();
        rows.push(row);
        if bytes >= ENTRY_ROWS_BYTES {
            end = end.min(position + 1);
        }
        Ok(bytes < ENTRY_ROWS_BYTES)
    })?;
    Ok(EntryRows { rows, end })
}

fn tile_bytes(connection: &Connection, key: TimelineKey, tiles: &[TileId]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
    let moment = connection.unchecked_transaction().map_err(failed)?;
    let mut select = moment.prepare_cached(SELECT_TILE).map_err(failed)?;
    let mut one = |tile: &TileId| {
        select.query_row(params![key.0, tile.level, sql(tile.index)], |row| row.get(0)).optional().map_err(failed)
    };
    tiles.iter().map(&mut one).collect()
}

fn event_rows(
    connection: &Connection,
    key: TimelineKey,
    events: &[(String, u64)],
) -> Result<Vec<StoredRows>, StoreError> {
    // One transaction, because each single statement would lock and unlock the file.
    let moment = connection.unchecked_transaction().map_err(failed)?;
    let mut select = moment.prepare_cached(SELECT_EVENT).map_err(failed)?;
    let mut select_before = moment.prepare_cached(SELECT_BEFORE).map_err(failed)?;
    let mut select_intervention = moment.prepare_cached(SELECT_INTERVENTION).map_err(failed)?;
    let mut is_reported = moment.prepare_cached(IS_REPORTED).map_err(failed)?;
    let mut one = |event_id: &str, position: u64| {
        let at = |position: u64| (key.0, event_id, sql(position));
        let mut rows = select.query(at(position)).map_err(failed)?;
        let version = rows.next().map_err(failed)?.map(stored_version).transpose()?;
        let until = version.as_ref().and_then(|version| version.until).filter(|until| *until > position);
        let is_end_recorded = match until {
            Some(until) => is_reported.query_row(at(until), |row| row.get(0)).map_err(failed)?,
            None => false,
        };
        let before = select_before.query_row(at(position), |row| row.get::<_, Option<i64>>(0)).optional();
        let before = before.map_err(failed)?.map(|until| until.map(count).transpose()).transpose()?;
        let intervention_id =
            select_intervention.query_row(at(position), |row| row.get(0)).optional().map_err(failed)?;
        Ok(StoredRows { version, is_end_recorded, before: before.map(|until| StoredEnd { until }), intervention_id })
    };
    events.iter().map(|(event_id, position)| one(event_id, *position)).collect()
}

fn stored_version(row: &Row<'_>) -> Result<StoredVersion, StoreError> {
    let degrees = |at: usize| row.get::<_, Option<f64>>(at).map_err(failed);
    Ok(StoredVersion {
        position: count(row.get(0).map_err(failed)?)?,
        until: row.get::<_, Option<i64>>(1).map_err(failed)?.map(count).transpose()?,
        time_micros: row.get(2).map_err(failed)?,
        point: degrees(3)?.zip(degrees(4)?),
        cell: Some(row.get(5).map_err(failed)?).filter(|cell| *cell != NO_CELL),
        place: row.get(6).map_err(failed)?,
        content: row.get(7).map_err(failed)?,
        name_key: row.get(8).map_err(failed)?,
        parties: row.get(9).map_err(failed)?,
        length_class: row.get(10).map_err(failed)?,
    })
}
