//! Stored entries: leaf, salt, payload.
//!
//! SQLite has a separate table for contents that retention may prune, so that whole pages become free. PostgreSQL
//! writes a new version of each row that changes and vacuums the old one, so one table is enough.

use timenav_core::ledger::Salt;
use timenav_engine::{StoredEntry, TimelineKey};
use tokio_postgres::Row;

use crate::persistence::{leaf, packed};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};
use crate::postgres::values::{Failed, get, number, sql};

const INSERT: &str = "INSERT INTO entries (timeline, position, leaf, salt, payload, payload_bytes, events_count,
    clock_entry) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[],
    $7::bigint[], $8::bigint[])";
const WALK: [&str; 2] = [
    "SELECT position, leaf, salt, payload, payload_bytes, events_count, clock_entry FROM entries
        WHERE timeline = $1 AND position BETWEEN $2 AND $3 ORDER BY position LIMIT $4",
    "SELECT position, leaf, salt, payload, payload_bytes, events_count, clock_entry FROM entries
        WHERE timeline = $1 AND position BETWEEN $2 AND $3 ORDER BY position DESC LIMIT $4",
];
const SELECT_SOME: &str = "SELECT position, leaf, salt, payload, payload_bytes, e.events_count, e.clock_entry, w.number
    FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS w (timeline, at, number)
    JOIN entries e ON e.timeline = w.timeline AND e.position = w.at";
const EMPTY: &str = "UPDATE entries SET salt = '', payload = '', payload_bytes = NULL
    WHERE timeline = $1 AND position = ANY($2) AND (salt <> '' OR payload <> '')";
const EMPTY_SOME: &str = "WITH chosen AS (SELECT position FROM entries
        WHERE timeline = $1 AND position >= $2 AND (salt <> '' OR payload <> '') ORDER BY position LIMIT $3),
    emptied AS (UPDATE entries e SET salt = '', payload = '', payload_bytes = NULL FROM chosen
        WHERE e.timeline = $1 AND e.position = chosen.position RETURNING e.position)
    SELECT max(position) FROM emptied";
const REPLACE: &str = "UPDATE entries SET salt = '', payload = $3, payload_bytes = NULL
    WHERE timeline = $1 AND position = $2 AND payload <> ''";

pub(in crate::postgres) fn insert<'a>(batch: &mut Batch<'a>, entries: &[(TimelineKey, &'a StoredEntry)]) {
    if entries.is_empty() {
        return;
    }
    let rows = || entries.iter().copied();
    let leaves: Vec<Vec<u8>> = rows().map(|(_, entry)| leaf::stored_form(&entry.leaf).into_owned()).collect();
    // Read entries repeat themselves. Compressing other entries does not save enough to be worth it.
    let packed = |(leaf, (_, entry)): (&Vec<u8>, (_, &StoredEntry))| {
        leaf::is_short(leaf).then(|| packed::pack(&entry.payload)).flatten()
    };
    let packed: Vec<Option<Vec<u8>>> = leaves.iter().zip(rows()).map(packed).collect();
    let bytes =
        rows().zip(&packed).map(|((_, entry), packed)| packed.as_ref().map(|_| sql(entry.payload.len() as u64)));
    let bytes: Vec<Option<i64>> = bytes.collect();
    let payloads = rows().zip(packed).map(|((_, entry), packed)| packed.unwrap_or_else(|| entry.payload.clone()));
    let payloads: Vec<Vec<u8>> = payloads.collect();
    // An entry that was erased elsewhere is stored like one that was erased here.
    let salt = |(_, entry): (_, &'a StoredEntry)| -> &'a [u8] {
        if *entry.salt.as_bytes() == [0; Salt::BYTES] { &[] } else { entry.salt.as_bytes() }
    };
    batch.add(
        INSERT,
        values![
            rows().map(|(key, _)| key.0).collect::<Vec<_>>(),
            rows().map(|(_, entry)| sql(entry.seq)).collect::<Vec<_>>(),
            leaves,
            rows().map(salt).collect::<Vec<_>>(),
            payloads,
            bytes,
            rows().map(|(_, entry)| sql(entry.events_count)).collect::<Vec<_>>(),
            rows().map(|(_, entry)| sql(entry.clock_entry)).collect::<Vec<_>>(),
        ],
    );
}

pub(in crate::postgres) struct StoredContents {
    pub(in crate::postgres) position: u64,
    /// In full or in its short form.
    pub(in crate::postgres) leaf: Vec<u8>,
    /// Empty once pruned or erased, like the payload.
    pub(in crate::postgres) salt: Vec<u8>,
    pub(in crate::postgres) payload: Vec<u8>,
    pub(in crate::postgres) events_count: i64,
    pub(in crate::postgres) clock_entry: i64,
}

fn stored_contents(row: &Row) -> Result<StoredContents, Failed> {
    let (mut salt, mut payload): (Vec<u8>, Vec<u8>) = (get(row, 2)?, get(row, 3)?);
    if let Some(bytes) = get::<Option<i64>>(row, 4)? {
        let unpacked = usize::try_from(bytes).ok().and_then(|bytes| packed::unpack(&payload, bytes));
        match unpacked {
            Some(unpacked) => payload = unpacked,
            // The payload is unreadable. No valid salt has this length, so readers detect the damage.
            None => salt.extend([0; Salt::BYTES + 1]),
        }
    }
    Ok(StoredContents {
        position: number(row, 0)?,
        leaf: get(row, 1)?,
        salt,
        payload,
        events_count: get(row, 5)?,
        clock_entry: get(row, 6)?,
    })
}

/// Returns up to `items_max` entries between two positions, both included, in this order.
pub(in crate::postgres) async fn walk(
    on: &Object,
    timeline: TimelineKey,
    (first, last): (u64, u64),
    newest_first: bool,
    items_max: usize,
) -> Result<Vec<StoredContents>, Failed> {
    let statement = WALK[usize::from(newest_first)];
    let values = (sql(first), sql(last), sql(items_max as u64));
    let found = rows(on, statement, &[&timeline.0, &values.0, &values.1, &values.2]).await?;
    found.iter().map(stored_contents).collect()
}

pub(in crate::postgres) fn bytes_count(rows: &[StoredContents]) -> usize {
    rows.iter().map(|stored| stored.leaf.len() + stored.salt.len() + stored.payload.len()).sum()
}

/// Returns each of these entries, if it exists.
pub(in crate::postgres) async fn some(
    on: &Object,
    places: &[(TimelineKey, u64)],
) -> Result<Vec<Option<StoredContents>>, Failed> {
    let timelines: Vec<i64> = places.iter().map(|(timeline, _)| timeline.0).collect();
    let positions: Vec<i64> = places.iter().map(|(_, position)| sql(*position)).collect();
    let mut all: Vec<Option<StoredContents>> = places.iter().map(|_| None).collect();
    for row in rows(on, SELECT_SOME, &[&timelines, &positions]).await? {
        let at: i64 = get(&row, 7)?;
        if let Some(place) = usize::try_from(at - 1).ok().and_then(|at| all.get_mut(at)) {
            *place = Some(stored_contents(&row)?);
        }
    }
    Ok(all)
}

/// Deletes the contents of entries, but not their leaves.
pub(in crate::postgres) fn prune(batch: &mut Batch<'_>, timeline: TimelineKey, positions: &[u64]) {
    batch.add(EMPTY, values![timeline.0, positions.iter().copied().map(sql).collect::<Vec<_>>()]);
}

/// Deletes the contents of up to `items_max` entries, starting at a position. Must be the first statement of a batch.
/// Its row contains the last position, or nothing if no entry was left.
pub(in crate::postgres) fn prune_some(batch: &mut Batch<'_>, timeline: TimelineKey, from: u64, items_max: usize) {
    batch.add(EMPTY_SOME, values![timeline.0, sql(from), sql(items_max as u64)]);
}

/// Replaces the payload of a read entry by what remains of it. Pruned contents stay pruned.
pub(in crate::postgres) fn leave<'a>(batch: &mut Batch<'a>, timeline: TimelineKey, position: u64, left: &'a [u8]) {
    batch.add(REPLACE, values![timeline.0, sql(position), left]);
}
