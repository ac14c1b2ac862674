//! Salt and payload of entries, and the two tables that contain them.
//!
//! Contents that retention may prune, those of reads and refusals, are in the table `contents`: a sweep deletes runs of
//! its rows, and the freed pages are reused. All other contents are in `entries`, next to their leaf. So are reads and
//! refusals recorded before the table `contents` existed. Only this module knows which table it is, and whether a
//! payload is compressed, as that of an entry with many reads is.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, Rows, params};
use timenav_core::ledger::Salt;
use timenav_engine::{StoreError, StoredEntry, TimelineKey};

use crate::persistence::leaf::may_go;
use crate::persistence::{leaf, packed};
use crate::sqlite::values::{entry_key, failed, sql};

const INSERT_ENTRY: &str = "INSERT INTO entries (entry, leaf, salt, payload, events_count, clock_entry)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const INSERT: &str = "INSERT INTO contents (entry, salt, payload, payload_bytes) VALUES (?1, ?2, ?3, ?4)";
const SELECT_ONE: &str = "SELECT entry, salt, payload, payload_bytes FROM contents WHERE entry = ?1";
const SELECT: &str = "SELECT entry, salt, payload, payload_bytes FROM contents WHERE entry BETWEEN ?1 AND ?2
    ORDER BY entry";
const DELETE: &str = "DELETE FROM contents WHERE entry BETWEEN ?1 AND ?2";
const EMPTY: &str = "UPDATE entries SET salt = x'', payload = x'' WHERE entry BETWEEN ?1 AND ?2
    AND (length(salt) > 0 OR length(payload) > 0)";
const REPLACE: [&str; 2] = [
    "UPDATE contents SET salt = x'', payload = ?2, payload_bytes = NULL WHERE entry = ?1",
    "UPDATE entries SET salt = x'', payload = ?2 WHERE entry = ?1 AND length(payload) > 0",
];
const LAST_OF_SOME: &str = "SELECT max(entry) FROM (SELECT entry FROM contents WHERE entry BETWEEN ?1 AND ?2
    UNION SELECT entry FROM entries WHERE entry BETWEEN ?1 AND ?2 AND (length(salt) > 0 OR length(payload) > 0)
    ORDER BY entry LIMIT ?3)";

/// Salt and payload of an entry. Both are empty once they are pruned or erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::sqlite) struct Contents {
    pub(in crate::sqlite) salt: Vec<u8>,
    pub(in crate::sqlite) payload: Vec<u8>,
}

impl Contents {
    /// Merges what `entries` and `contents` store for an entry.
    fn of(stored_leaf: &[u8], inline: Self, apart: Option<Self>) -> Self {
        let Some(apart) = apart else { return inline };
        if inline == Self::default() && may_go(stored_leaf) {
            return apart;
        }
        // Both tables have contents, or the row is in the wrong table.
        let salt = [inline.salt, apart.salt].concat();
        Self { salt, payload: [inline.payload, apart.payload].concat() }.unfit()
    }

    /// Makes the contents fit no leaf, so that readers detect damage: no valid salt has this length.
    fn unfit(self) -> Self {
        Self { salt: [self.salt, vec![0; Salt::BYTES + 1]].concat(), ..self }
    }
}

/// Inserts entries into both tables.
pub(in crate::sqlite) struct Insertion<'c> {
    entries: CachedStatement<'c>,
    contents: CachedStatement<'c>,
}

impl<'c> Insertion<'c> {
    pub(in crate::sqlite) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let (entries, contents) = (connection.prepare_cached(INSERT_ENTRY)?, connection.prepare_cached(INSERT)?);
        Ok(Self { entries, contents })
    }

    pub(in crate::sqlite) fn add(&mut self, timeline: TimelineKey, entry: &StoredEntry) -> rusqlite::Result<()> {
        let key = entry_key(timeline, entry.seq);
        let marks = (sql(entry.events_count), sql(entry.clock_entry));
        // An entry that was erased elsewhere is stored like one that was erased here.
        let is_missing = *entry.salt.as_bytes() == [0; Salt::BYTES];
        let salt: &[u8] = if is_missing { &[] } else { entry.salt.as_bytes() };
        let leaf = leaf::stored_form(&entry.leaf);
        let is_apart = may_go(&leaf) && !entry.payload.is_empty();
        let inline: (&[u8], &[u8]) = if is_apart { (&[], &[]) } else { (salt, &entry.payload) };
        self.entries.execute(params![key, leaf, inline.0, inline.1, marks.0, marks.1])?;
        if is_apart {
            let packed = packed::pack(&entry.payload);
            let bytes = packed.as_ref().map(|_| sql(entry.payload.len() as u64));
            self.contents.execute(params![key, salt, packed.as_deref().unwrap_or(&entry.payload), bytes])?;
        }
        Ok(())
    }
}

/// Returns the contents of one entry, given its stored leaf and the contents in `entries`.
pub(in crate::sqlite) fn of_one(
    connection: &Connection,
    key: i64,
    stored_leaf: &[u8],
    inline: Contents,
) -> rusqlite::Result<Contents> {
    let mut select = connection.prepare_cached(SELECT_ONE)?;
    let apart = select.query_row([key], apart).optional()?;
    Ok(Contents::of(stored_leaf, inline, apart))
}

pub(in crate::sqlite) struct StoredContents<'a> {
    pub(in crate::sqlite) key: i64,
    /// In full or in its short form.
    pub(in crate::sqlite) leaf: &'a [u8],
    pub(in crate::sqlite) contents: Contents,
    pub(in crate::sqlite) events_count: i64,
    pub(in crate::sqlite) clock_entry: i64,
}

/// Passes the entries between two keys, both included, to `take` until it returns `false`. All are from one snapshot.
pub(in crate::sqlite) fn walk(
    connection: &Connection,
    bounds: [i64; 2],
    newest_first: bool,
    mut take: impl FnMut(StoredContents<'_>) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let order = if newest_first { " DESC" } else { "" };
    let entries = format!(
        "SELECT entry, leaf, salt, payload, events_count, clock_entry FROM entries
        WHERE entry BETWEEN ?1 AND ?2 ORDER BY entry{order}"
    );
    let mut entries = connection.prepare_cached(&entries).map_err(failed)?;
    let mut apart = connection.prepare_cached(&format!("{SELECT}{order}")).map_err(failed)?;
    // SQLite keeps its snapshot while any statement of the connection is unfinished.
    let mut rows = entries.query(bounds).map_err(failed)?;
    let mut row = rows.next().map_err(failed)?;
    if row.is_none() {
        return Ok(());
    }
    let mut apart = Apart { rows: apart.query(bounds).map_err(failed)?, next: None, newest_first };
    apart.advance().map_err(failed)?;
    while let Some(entry) = row {
        let stored = stored_contents(entry, &mut apart).map_err(failed)?;
        if !take(stored)? {
            break;
        }
        row = rows.next().map_err(failed)?;
    }
    Ok(())
}

fn stored_contents<'a>(row: &'a Row<'_>, apart: &mut Apart<'_>) -> rusqlite::Result<StoredContents<'a>> {
    let key = row.get(0)?;
    let leaf = bytes(row, 1)?;
    let inline = Contents { salt: bytes(row, 2)?.to_owned(), payload: bytes(row, 3)?.to_owned() };
    let contents = Contents::of(leaf, inline, apart.of(key)?);
    Ok(StoredContents { key, leaf, contents, events_count: row.get(4)?, clock_entry: row.get(5)? })
}

fn apart(row: &Row<'_>) -> rusqlite::Result<Contents> {
    let (stored, bytes): (&[u8], Option<i64>) = (self::bytes(row, 2)?, row.get(3)?);
    let salt = row.get(1)?;
    let Some(bytes) = bytes else { return Ok(Contents { salt, payload: stored.to_owned() }) };
    match usize::try_from(bytes).ok().and_then(|bytes| packed::unpack(stored, bytes)) {
        Some(payload) => Ok(Contents { salt, payload }),
        None => Ok(Contents { salt, payload: stored.to_owned() }.unfit()),
    }
}

/// Returns the bytes in a column; empty for NULL.
fn bytes<'a>(row: &'a Row<'_>, at: usize) -> rusqlite::Result<&'a [u8]> {
    Ok(row.get_ref(at)?.as_blob_or_null()?.unwrap_or_default())
}

/// Rows of the table `contents`, in the order in which entries are read.
struct Apart<'s> {
    rows: Rows<'s>,
    next: Option<(i64, Contents)>,
    newest_first: bool,
}

impl Apart<'_> {
    fn advance(&mut self) -> rusqlite::Result<()> {
        self.next = match self.rows.next()? {
            Some(row) => Some((row.get(0)?, apart(row)?)),
            None => None,
        };
        Ok(())
    }

    fn of(&mut self, key: i64) -> rusqlite::Result<Option<Contents>> {
        let newest_first = self.newest_first;
        let is_before = |next: i64| if newest_first { next > key } else { next < key };
        while self.next.as_ref().is_some_and(|(next, _)| is_before(*next)) {
            self.advance()?;
        }
        let Some((_, contents)) = self.next.take_if(|(next, _)| *next == key) else { return Ok(None) };
        self.advance()?;
        Ok(Some(contents))
    }
}

/// Deletes the contents of the entries from `first` to `last`, in both tables.
pub(in crate::sqlite) fn prune(connection: &Connection, first: i64, last: i64) -> rusqlite::Result<()> {
    for statement in [DELETE, EMPTY] {
        connection.prepare_cached(statement)?.execute([first, last])?;
    }
    Ok(())
}

/// Deletes the contents of up to `items_max` entries. Returns the last key, or `None` if nothing was left.
pub(in crate::sqlite) fn prune_some(
    connection: &Connection,
    [first, last]: [i64; 2],
    items_max: usize,
) -> rusqlite::Result<Option<i64>> {
    let some = params![first, last, sql(items_max as u64)];
    let end: Option<i64> = connection.prepare_cached(LAST_OF_SOME)?.query_row(some, |row| row.get(0))?;
    if let Some(end) = end {
        prune(connection, first, end)?;
    }
    Ok(end)
}

/// Replaces the payload of a read entry by what remains of it. Pruned contents stay pruned.
pub(in crate::sqlite) fn leave(connection: &Connection, key: i64, left: &[u8]) -> rusqlite::Result<()> {
    for statement in REPLACE {
        connection.prepare_cached(statement)?.execute(params![key, left])?;
    }
    Ok(())
}
