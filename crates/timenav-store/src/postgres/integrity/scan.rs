use async_trait::async_trait;
use futures_util::FutureExt as _;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, TileId};
use timenav_engine::{
    Anchor, DataRecord, ENTRY_ROWS_BYTES, EndedTimeline, EntryMarks, EntryRow, EntryRows, EventAt, IdempotencyRecord,
    LengthClass, Pace, ScanSource, SeenEvent, SeenEvents, ServiceRows, Snapshot, StoreError, StoredEnd, StoredOutcome,
    StoredRows, StoredVersion, TimelineKey, TimerQuery, TimersFound,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::contents::{self, StoredContents};
use crate::postgres::entries::leaf::make_whole;
use crate::postgres::entries::tiles;
use crate::postgres::events::features::Features;
use crate::postgres::events::words;
use crate::postgres::heads;
use crate::postgres::heads::Which;
use crate::postgres::identity;
use crate::postgres::integrity::{ahead, orphans};
use crate::postgres::migrations::schema;
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, count, damaged, get, number, sql, text, text_or_none};
use crate::postgres::{PostgresStore, anchors, data, ends, outcomes, retention, timers};

const ENTRIES_MAX: usize = 4_096;
/// Approximate bytes of entries read at a time.
const READ_BYTES: usize = 1024 * 1024;

const SELECT_LAST: &str = "SELECT max(position) FROM entries WHERE timeline = $1";
/// Defines two variants of a statement: for databases without and with the column for the length class.
macro_rules! with_lengths {
    ($name:ident, $first:literal, $rest:literal) => {
        const $name: [&str; 2] = [
            concat!("SELECT ", $first, "NULL::smallint AS length_class", $rest),
            concat!("SELECT ", $first, "length_class", $rest),
        ];
    };
}
with_lengths!(
    SELECT_EVENTS,
    "w.number, e.position, until, time, lat, lon, cell, place, content, name_key, ",
    ", until > e.position AND (
            EXISTS (SELECT 1 FROM events t
                WHERE t.timeline = $1 AND t.event_id = e.event_id AND t.position = e.until)
            OR EXISTS (SELECT 1 FROM interventions t
                WHERE t.timeline = $1 AND t.event_id = e.event_id AND t.position = e.until)) AS is_end_told
    FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS w (event_id, position, number)
    JOIN events e ON e.timeline = $1 AND e.event_id = w.event_id AND e.position = w.position"
);
const SELECT_BEFORE: &str = "SELECT w.number, b.until
    FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS w (event_id, position, number)
    JOIN LATERAL (SELECT until FROM events e
        WHERE e.timeline = $1 AND e.event_id = w.event_id AND e.position < w.position
        ORDER BY e.position DESC LIMIT 1) b ON true";
const SELECT_INTERVENTIONS: &str = "SELECT w.number, i.intervention_id
    FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS w (event_id, position, number)
    JOIN interventions i ON i.timeline = $1 AND i.event_id = w.event_id AND i.position = w.position";
with_lengths!(
    SELECT_EVENTS_PAGE,
    "event_id, position, until, time, lat, lon, cell, place, content, name_key, ",
    " FROM events WHERE timeline = $1 AND (event_id, position) > ($2, $3) ORDER BY event_id, position LIMIT $4"
);
/// Includes positions that no entry has yet, which only tampering can produce.
const COUNT_EVENTS: &str = "SELECT (SELECT count(*) FROM events WHERE timeline = $1
    AND (position < $2 OR position >= (SELECT size FROM timelines WHERE timeline = $1))),
    (SELECT count(*) FROM interventions WHERE timeline = $1
    AND (position < $2 OR position >= (SELECT size FROM timelines WHERE timeline = $1)))";

#[async_trait]
impl ScanSource for PostgresStore {
    async fn schema_differences(&self) -> Result<Vec<String>, StoreError> {
        Ok(schema::differences(&self.reader().await?).await?)
    }

    /// Compares the words of all events. PostgreSQL has its own tools to check a whole cluster: page checksums, and
    /// `pg_amcheck` for indexes.
    async fn contradictions(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.words_differences().await?)
    }

    async fn snapshot(&self, timeline: &TimelineId) -> Result<Option<Snapshot>, StoreError> {
        match self.heads_of_a_moment(|on| snapshot(on, timeline.clone(), true).boxed()).await {
            // Leave it to the scan to report the missing entry.
            Err(Failed::Unfinished) => Ok(self.moment(|on| snapshot(on, timeline.clone(), false).boxed()).await?),
            ended => Ok(ended?),
        }
    }

    async fn ended(&self, timeline: &TimelineId) -> Result<Option<EndedTimeline>, StoreError> {
        Ok(ends::select(&self.reader().await?, Some(std::slice::from_ref(timeline))).await?.pop())
    }

    async fn entry_rows(&self, key: TimelineKey, first: u64, end: u64) -> Result<EntryRows, StoreError> {
        Ok(self.moment(|on| entry_rows(on, key, first, end).boxed()).await?)
    }

    async fn tile_hashes(&self, key: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError> {
        Ok(tiles::read(&self.reader().await?, key, tile, width).await?)
    }

    async fn tile_bytes(&self, key: TimelineKey, tiles: Vec<TileId>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        Ok(tiles::bytes_of(&self.reader().await?, key, &tiles).await?)
    }

    async fn event_rows(&self, key: TimelineKey, events: Vec<(String, u64)>) -> Result<Vec<StoredRows>, StoreError> {
        let has_lengths = self.features().await?.has_lengths();
        Ok(self.moment(|on| event_rows(on, has_lengths, key, events).boxed()).await?)
    }

    async fn event_page(
        &self,
        key: TimelineKey,
        after: Option<EventAt>,
        rows_max: usize,
    ) -> Result<SeenEvents, StoreError> {
        let (id, position) = after.as_ref().map_or(("", -1), |after| (after.event_id.as_str(), sql(after.position)));
        let bounds: [&(dyn ToSql + Sync); 4] = [&key.0, &id, &position, &sql(rows_max as u64)];
        let mut page = SeenEvents::default();
        let on = self.reader().await?;
        let has_lengths = self.connections.features.read(&on).await?.has_lengths();
        for row in rows(&on, SELECT_EVENTS_PAGE[usize::from(has_lengths)], &bounds).await? {
            page.push(&seen_event(&row, has_lengths)?);
        }
        Ok(page)
    }

    /// The table has no inherent order, and is read by the index by id.
    async fn event_index_page(
        &self,
        _: TimelineKey,
        _: Option<EventAt>,
        _: usize,
    ) -> Result<Option<Vec<EventAt>>, StoreError> {
        Ok(None)
    }

    async fn event_rows_count(&self, key: TimelineKey, end: u64) -> Result<(u64, u64), StoreError> {
        let found = rows(&self.reader().await?, COUNT_EVENTS, &[&key.0, &sql(end)]).await?;
        let Some(row) = found.first() else { return Ok((0, 0)) };
        Ok((number(row, 0)?, number(row, 1)?))
    }

    async fn data_rows(&self, key: TimelineKey, positions: Vec<u64>) -> Result<Vec<Option<DataRecord>>, StoreError> {
        Ok(data::at(&self.reader().await?, key, &positions).await?)
    }

    async fn outcome_rows(&self, keys: Vec<[u8; 32]>) -> Result<Vec<IdempotencyRecord>, StoreError> {
        Ok(outcomes::named(&self.reader().await?, &keys).await?.into_iter().flatten().collect())
    }

    async fn outcome_page(&self, after: Option<[u8; 32]>, rows_max: usize) -> Result<Vec<StoredOutcome>, StoreError> {
        Ok(outcomes::page(&self.reader().await?, after, rows_max).await?)
    }

    async fn leaves_named(&self, entries: Vec<(TimelineId, u64)>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        Ok(outcomes::leaves(&self.reader().await?, &entries).await?)
    }

    async fn sweep_rows(&self, key: TimelineKey, end: u64) -> Result<Vec<u64>, StoreError> {
        Ok(retention::sweeps(&self.reader().await?, key, end).await?)
    }

    async fn data_rows_count(&self, key: TimelineKey, end: u64) -> Result<u64, StoreError> {
        Ok(data::count_before(&self.reader().await?, key, end).await?)
    }

    async fn timer_rows(&self, key: TimelineKey, query: TimerQuery) -> Result<TimersFound, StoreError> {
        Ok(timers::find(&self.reader().await?, key, &query).await?)
    }

    async fn anchor_rows(
        &self,
        key: TimelineKey,
        after: Option<u64>,
        items_max: usize,
    ) -> Result<Vec<Anchor>, StoreError> {
        Ok(anchors::page(&self.reader().await?, key, after, items_max).await?)
    }
}

impl PostgresStore {
    async fn features(&self) -> Result<Features, Failed> {
        self.connections.features.read(&self.reader().await?).await
    }

    /// Returns a sentence for each timeline whose events have other words than the index.
    async fn words_differences(&self) -> Result<Vec<String>, Failed> {
        if !self.features().await?.has_words() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for timeline in words::timelines(&self.reader().await?).await? {
            // On one snapshot, because events can be erased in between.
            let what = match self.moment(|on| words::difference(on, timeline).boxed()).await {
                Ok(None) => continue,
                Ok(Some(what)) | Err(Failed::Store(StoreError::Damaged(what))) => what,
                Err(failed) => return Err(failed),
            };
            found.push(format!("table event_words, timeline {}: {what}", timeline.0));
        }
        Ok(found)
    }
}

/// Reads the state of a timeline apart from its entries.
async fn snapshot(on: &Object, timeline: TimelineId, is_to_be_finished: bool) -> Result<Option<Snapshot>, Failed> {
    let which = Which::Named(&timeline);
    let mut found =
        if is_to_be_finished { heads::select_finished(on, which).await? } else { heads::select(on, which).await? };
    let Some(head) = found.pop() else { return Ok(None) };
    let last = rows(on, SELECT_LAST, &[&head.key.0]).await?;
    let last: Option<i64> = last.first().map_or(Ok(None), |row| get(row, 0))?;
    let last_position = last.map(count).transpose()?;
    let (service, orphans, marked) = if timeline.is_system() {
        let directory = identity::directory(on, true).await?;
        let timelines = heads::select(on, Which::All).await?.into_iter().map(|head| (head.id, head.key)).collect();
        let ended = ends::select(on, None).await?;
        let service = ServiceRows { directory, timelines, ended };
        (Some(service), orphans::orphans(on).await?, orphans::marked(on).await?)
    } else {
        (None, Vec::new(), Vec::new())
    };
    let ahead = ahead::tables(on, &head).await?;
    Ok(Some(Snapshot { head, last_position, ahead, service, orphans, marked }))
}

async fn entry_rows(on: &Object, key: TimelineKey, first: u64, end: u64) -> Result<EntryRows, Failed> {
    let (mut found, mut next): (Vec<EntryRow>, u64) = (Vec::new(), first);
    let (mut pace, mut left) = (Pace::new(ENTRIES_MAX, READ_BYTES), ENTRY_ROWS_BYTES);
    while next < end && left > 0 {
        let rows_max = pace.rows();
        let rows = contents::walk(on, key, (next, end - 1), false, rows_max).await?;
        let is_last = rows.len() < rows_max;
        let bytes = contents::bytes_count(&rows);
        pace.took(rows.len(), bytes);
        left = left.saturating_sub(bytes as u64);
        for stored in rows {
            let StoredContents { position, leaf, salt, payload, events_count, clock_entry } = stored;
            next = position + 1;
            found.push(EntryRow { position, leaf, salt, payload, marks: EntryMarks { events_count, clock_entry } });
        }
        if is_last {
            next = end;
        }
    }
    make_whole(on, key, found.iter_mut().map(|row| (row.position, &mut row.leaf)).collect()).await?;
    Ok(EntryRows { rows: found, end: next.max(first) })
}

async fn event_rows(
    on: &Object,
    has_lengths: bool,
    key: TimelineKey,
    events: Vec<(String, u64)>,
) -> Result<Vec<StoredRows>, Failed> {
    // An id with a NUL is not valid and matches nothing.
    let ids = events.iter().map(|(id, _)| if id.contains('\0') { "" } else { id.as_str() });
    let (ids, positions): (Vec<&str>, Vec<i64>) = ids.zip(events.iter().map(|(_, position)| sql(*position))).unzip();
    let params: [&(dyn ToSql + Sync); 3] = [&key.0, &ids, &positions];
    let mut all = vec![StoredRows::default(); events.len()];
    for row in rows(on, SELECT_EVENTS[usize::from(has_lengths)], &params).await? {
        let stored = numbered(&mut all, &row)?;
        stored.version = Some(stored_version(&row, has_lengths)?);
        stored.is_end_recorded = get::<Option<bool>>(&row, 11)?.unwrap_or_default();
    }
    for row in rows(on, SELECT_BEFORE, &params).await? {
        let until = get::<Option<i64>>(&row, 1)?.map(count).transpose()?;
        numbered(&mut all, &row)?.before = Some(StoredEnd { until });
    }
    for row in rows(on, SELECT_INTERVENTIONS, &params).await? {
        numbered(&mut all, &row)?.intervention_id = Some(get(&row, 1)?);
    }
    Ok(all)
}

/// Returns the element that a row belongs to. Its first column is the 1-based index into the questions.
fn numbered<'k>(all: &'k mut [StoredRows], row: &Row) -> Result<&'k mut StoredRows, Failed> {
    let number = usize::try_from(number(row, 0)?).unwrap_or_default();
    let stored = number.checked_sub(1).and_then(|at| all.get_mut(at));
    Ok(stored.ok_or_else(|| StoreError::Damaged("a row that was not asked for".to_owned()))?)
}

/// Returns the length class of an event as stored, or as it will be once the column exists.
fn length_class(row: &Row, has_lengths: bool, content: &str) -> Result<Option<i64>, Failed> {
    if has_lengths {
        return Ok(get::<Option<i16>>(row, 10)?.map(i64::from));
    }
    Ok(LengthClass::of_content(content).map(|class| class.number().into()))
}

fn seen_event(row: &Row, has_lengths: bool) -> Result<SeenEvent<'_>, Failed> {
    let text = |at: usize| {
        let bytes: Option<&[u8]> = get(row, at)?;
        let content_text = bytes.map(std::str::from_utf8).transpose();
        content_text.map_err(|_| Failed::from(damaged("a text that is not UTF-8")))
    };
    let content = text(8)?.unwrap_or_default();
    Ok(SeenEvent {
        event_id: get(row, 0)?,
        position: number(row, 1)?,
        until: get::<Option<i64>>(row, 2)?.map(count).transpose()?,
        time_micros: get(row, 3)?,
        point: get::<Option<f64>>(row, 4)?.zip(get(row, 5)?),
        cell: get(row, 6)?,
        place: text(7)?,
        name_key: text(9)?,
        length_class: length_class(row, has_lengths, content)?,
        parties: None,
        content,
    })
}

fn stored_version(row: &Row, has_lengths: bool) -> Result<StoredVersion, Failed> {
    let content = text(row, 8)?;
    Ok(StoredVersion {
        position: number(row, 1)?,
        until: get::<Option<i64>>(row, 2)?.map(count).transpose()?,
        time_micros: get(row, 3)?,
        point: get::<Option<f64>>(row, 4)?.zip(get(row, 5)?),
        cell: get(row, 6)?,
        place: text_or_none(row, 7)?,
        name_key: text_or_none(row, 9)?,
        length_class: length_class(row, has_lengths, &content)?,
        parties: None,
        content,
    })
}
