use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params, params_from_iter};
use timenav_engine::{Head, StoreError};

use super::connection::{self, sibling};
use super::values::{NO_CELL, POSITION_BITS, damaged, failed, sql, value_of};
use super::{SqliteStore, fold_log, read};
use crate::persistence::leaf::may_go;
use crate::persistence::moves::{Page, Progress, Row, Source, Target, UnderWay};
use crate::sqlite::connection::log::{Folding, LogLimit};
use crate::tables::{Field, Kind, RowValues, Table, Value, parameters};

/// Suffix of the target file until the move has ended.
const UNFINISHED_END: &str = ".moving";

/// Length from which the log is checkpointed. No maintenance thread runs during a move, and without checkpoints the log
/// would become many times longer than the file.
const LOG_BYTES_MAX: u64 = 8 << 20;
/// There are no other readers during a move.
const READERS_WAIT: Duration = Duration::ZERO;

/// Progress of a move. The service does not open a file that has this table.
const PROGRESS: &str = "CREATE TABLE moving (
    name TEXT NOT NULL PRIMARY KEY, after TEXT, rows INTEGER NOT NULL
) STRICT, WITHOUT ROWID";
/// Name of the row with the source's state.
const STATE: &str = "";
const PUT_PROGRESS: &str = "INSERT INTO moving (name, after, rows) VALUES (?1, ?2, ?3)
    ON CONFLICT (name) DO UPDATE SET after = excluded.after, rows = excluded.rows";
const SELECT_PROGRESS: &str = "SELECT after, rows FROM moving WHERE name = ?1";
const HAS_PROGRESS: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'moving')";

/// Whether the data of earlier versions has been converted, which a start of this version does.
const IS_CARRIED_OVER: &str = "SELECT NOT EXISTS (SELECT 1 FROM carried_seals)
    AND NOT EXISTS (SELECT 1 FROM timelines WHERE length(statement) = 0)";

const INSERT_ENTRY: &str = "INSERT INTO entries (entry, leaf, salt, payload, events_count, clock_entry)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const INSERT_CONTENTS: &str = "INSERT INTO contents (entry, salt, payload, payload_bytes) VALUES (?1, ?2, ?3, ?4)";

pub(crate) struct SqliteSource(Mutex<Connection>);

impl SqliteSource {
    /// Opens a file that this version of the service has opened before.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        // Migrates the schema.
        drop(SqliteStore::open(path)?);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = connection::open_to_read(path, flags).map_err(failed)?;
        let is_carried_over: bool = connection.query_row(IS_CARRIED_OVER, [], |row| row.get(0)).map_err(failed)?;
        if !is_carried_over {
            let message = "an earlier version wrote this database: start the service with it once, and stop it again";
            return Err(StoreError::Unavailable(message.to_owned()));
        }
        Ok(Self(Mutex::new(connection)))
    }
}

#[async_trait]
impl Source for SqliteSource {
    async fn heads(&self) -> Result<Vec<Head>, StoreError> {
        read::heads(&self.0.lock())
    }

    async fn page(&self, table: &'static Table, after: Option<Vec<Value<'static>>>) -> Result<Page, StoreError> {
        page(&self.0.lock(), table, after.as_deref())
    }
}

fn page(connection: &Connection, table: &Table, after: Option<&[Value<'static>]>) -> Result<Page, StoreError> {
    let columns = table.columns.iter().map(|column| column.in_sqlite.unwrap_or(column.name));
    let columns: Vec<&str> = columns.chain(table.sqlite_key.iter().copied()).collect();
    let key = table.sqlite_key.join(", ");
    let places = parameters('?', table.sqlite_key.len());
    let behind = after.map_or_else(String::new, |_| format!("WHERE ({key}) > ({places})"));
    let select = format!(
        "SELECT {} FROM {} {behind} ORDER BY {key} LIMIT {}",
        columns.join(", "),
        table.sqlite_from,
        table.rows_max
    );
    let mut select = connection.prepare_cached(&select).map_err(failed)?;
    let mut found = select.query(params_from_iter(after.unwrap_or_default())).map_err(failed)?;
    let mut page = Page { rows: Vec::new(), last: None };
    while let Some(row) = found.next().map_err(failed)? {
        let count = table.columns.len();
        let value = |at| row.value(at).map(Value::into_owned);
        page.rows.push((0..count).map(value).collect::<Result<_, _>>()?);
        let key_value = |at| row.get_ref(at).map(key_value).map_err(failed);
        page.last = Some((count..columns.len()).map(key_value).collect::<Result<_, _>>()?);
    }
    Ok(page)
}

/// Returns the value of a key column. SQLite distinguishes text from equal bytes and sorts text first.
fn key_value(of: ValueRef<'_>) -> Value<'static> {
    match of {
        ValueRef::Text(text) => Value::Word(String::from_utf8_lossy(text).into_owned().into()),
        other => value_of(other).into_owned(),
    }
}

/// A new file, renamed to its final path at the end.
pub(crate) struct SqliteTarget {
    path: PathBuf,
    unfinished: PathBuf,
    connection: Mutex<Connection>,
    log: Mutex<LogLimit>,
}

impl SqliteTarget {
    /// Opens or creates the temporary file of a move to `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let named = |error: std::io::Error| StoreError::Unavailable(error.to_string());
        if path.try_exists().map_err(named)? {
            return Err(StoreError::Unavailable(format!("{} already exists", path.display())));
        }
        let unfinished = sibling(path, UNFINISHED_END);
        if !has_progress(&unfinished)? {
            drop(SqliteStore::open(&unfinished)?);
        }
        let mut connection = connection::open_to_write(&unfinished)?;
        connection::configure_writer(&connection)?;
        let log = LogLimit::with(&mut connection, Folding::default(), LOG_BYTES_MAX, READERS_WAIT).map_err(failed)?;
        Ok(Self { path: path.to_owned(), unfinished, connection: Mutex::new(connection), log: Mutex::new(log) })
    }

    /// Drops the progress table and returns the temporary path. The log stays next to the file.
    pub(crate) fn whole(&self) -> Result<PathBuf, StoreError> {
        let connection = self.connection.lock();
        connection.execute_batch("DROP TABLE IF EXISTS moving").map_err(failed)?;
        Ok(self.unfinished.clone())
    }

    /// Renames the file to its final path.
    pub(crate) fn end(self) -> Result<(), StoreError> {
        let Self { path, unfinished, connection, log: _ } = self;
        drop(connection.into_inner());
        fold_log(&unfinished)?;
        let named = |error: std::io::Error| StoreError::Unavailable(error.to_string());
        // Fails if a file has appeared there in the meantime.
        std::fs::hard_link(&unfinished, &path).map_err(named)?;
        std::fs::remove_file(&unfinished).map_err(named)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(named)
    }
}

fn has_progress(path: &Path) -> Result<bool, StoreError> {
    if !path.try_exists().map_err(|error| StoreError::Unavailable(error.to_string()))? {
        return Ok(false);
    }
    let connection = connection::open_to_write(path)?;
    connection.query_row(HAS_PROGRESS, [], |row| row.get(0)).map_err(failed)
}

#[async_trait]
impl Target for SqliteTarget {
    async fn under_way(&self) -> Result<Option<UnderWay>, StoreError> {
        let connection = self.connection.lock();
        if connection.query_row(HAS_PROGRESS, [], |row| row.get(0)).map_err(failed)? {
            let state = connection.query_row(SELECT_PROGRESS, [STATE], |row| row.get::<_, Option<String>>(0));
            let state = state.map_err(failed)?.ok_or_else(|| damaged("a move without a start"))?;
            return Ok(Some(UnderWay::Copying(state)));
        }
        let is_empty = read::heads(&connection)?.is_empty();
        Ok((!is_empty).then_some(UnderWay::Copied))
    }

    async fn heads(&self) -> Result<Vec<Head>, StoreError> {
        read::heads(&self.connection.lock())
    }

    async fn begin(&self, state: &str) -> Result<(), StoreError> {
        let mut connection = self.connection.lock();
        let transaction = connection.transaction().map_err(failed)?;
        transaction.execute_batch(PROGRESS).map_err(failed)?;
        transaction.execute(PUT_PROGRESS, params![STATE, state, 0]).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    async fn progress(&self, table: &'static Table) -> Result<Progress, StoreError> {
        let connection = self.connection.lock();
        let found = connection.query_row(SELECT_PROGRESS, [table.name], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((after, rows)) = found.optional().map_err(failed)? else { return Ok(Progress::default()) };
        Progress::from_row(after, rows)
    }

    async fn put(&self, table: &'static Table, rows: Vec<Row>, progress: &Progress) -> Result<(), StoreError> {
        let mut connection = self.connection.lock();
        put(&mut connection, table, rows, progress).map_err(|error| match error {
            // An error names the file, because two databases are involved.
            StoreError::Unavailable(detail) => {
                StoreError::Unavailable(format!("{} cannot be written: {detail}", self.unfinished.display()))
            }
            other => other,
        })?;
        self.log.lock().keep(&connection);
        Ok(())
    }
}

fn put(connection: &mut Connection, table: &Table, rows: Vec<Row>, progress: &Progress) -> Result<(), StoreError> {
    let transaction = connection.transaction().map_err(failed)?;
    if table.name == "entries" {
        put_entries(&transaction, rows)?;
    } else {
        put_rows(&transaction, table, rows)?;
    }
    let values = params![table.name, progress.after_to_keep()?, sql(progress.rows)];
    transaction.execute(PUT_PROGRESS, values).map_err(failed)?;
    transaction.commit().map_err(failed)
}

fn put_rows(transaction: &Transaction<'_>, table: &Table, rows: Vec<Row>) -> Result<(), StoreError> {
    let stored: Vec<_> = table.sqlite_columns().collect();
    let mut names: Vec<&str> = stored.iter().map(|(_, column)| column.name).collect();
    let mut places: Vec<String> = (1..=names.len()).map(|at| format!("?{at}")).collect();
    if let Some(content) = names.iter().position(|name| table.name == "events" && *name == "content") {
        places.push(parties_of(&places[content]));
        names.push("parties");
    }
    let insert = format!("INSERT INTO {} ({}) VALUES ({})", table.name, names.join(", "), places.join(", "));
    let mut insert = transaction.prepare_cached(&insert).map_err(failed)?;
    for mut row in rows {
        let values = stored.iter().map(|(at, column)| {
            let value = std::mem::replace(&mut row[*at], Value::Null);
            if column.name == "cell" && value == Value::Null {
                Ok(Value::Whole(NO_CELL))
            } else {
                of(value, column.kind)
            }
        });
        let values: Vec<Value<'_>> = values.collect::<Result<_, _>>()?;
        insert.execute(params_from_iter(values)).map_err(failed)?;
    }
    Ok(())
}

/// Returns the expression for a column that PostgreSQL does not have, derived from the event as in migration 0021.
fn parties_of(content: &str) -> String {
    format!(
        "(SELECT iif(octet_length(parties) <= 1000, parties, NULL) FROM (SELECT coalesce({content} -> '$.source', '')
        || coalesce({content} -> '$.actors', '') AS parties WHERE json_valid({content})))"
    )
}

/// Returns the value to store in SQLite, where texts are not bytes.
fn of(value: Value<'static>, kind: Kind) -> Result<Value<'static>, StoreError> {
    match value {
        Value::Bytes(bytes) if kind != Kind::Bytes => Ok(Value::Word(String::read(Value::Bytes(bytes))?.into())),
        other => Ok(other),
    }
}

/// Inserts entries into the two tables that store them.
fn put_entries(transaction: &Transaction<'_>, rows: Vec<Row>) -> Result<(), StoreError> {
    let mut entries = transaction.prepare_cached(INSERT_ENTRY).map_err(failed)?;
    let mut contents = transaction.prepare_cached(INSERT_CONTENTS).map_err(failed)?;
    for row in rows {
        let row: Result<[Value<'_>; 8], _> = row.try_into();
        let Ok(
            [
                Value::Whole(timeline),
                Value::Whole(position),
                Value::Bytes(leaf),
                Value::Bytes(salt),
                Value::Bytes(payload),
                payload_bytes,
                Value::Whole(events_count),
                Value::Whole(clock_entry),
            ],
        ) = row
        else {
            return Err(damaged("an entry without a leaf"));
        };
        let key = (timeline << POSITION_BITS) | position;
        let is_apart = may_go(&leaf) && !payload.is_empty();
        let inline: (&[u8], &[u8]) = if is_apart { (&[], &[]) } else { (&salt, &payload) };
        let values = params![key, leaf, inline.0, inline.1, events_count, clock_entry];
        entries.execute(values).map_err(failed)?;
        if is_apart {
            contents.execute(params![key, salt, payload, payload_bytes]).map_err(failed)?;
        } else if payload_bytes != Value::Null {
            return Err(damaged("a compressed payload that must not be pruned"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sqlite::migrations::schema;
    use crate::tables::list::TABLES;

    /// Puts `pages` pages of entries with one MiB each. Returns the greatest length of the log.
    async fn put_entries(target: &SqliteTarget, pages: i64) -> Result<u64, StoreError> {
        let entries = TABLES.iter().find(|table| table.name == "entries").unwrap();
        let mut longest = 0;
        for position in 0..pages {
            let leaf = Value::Bytes(b"{}".into());
            let (salt, payload) = (Value::Bytes(vec![].into()), Value::Bytes(vec![b'x'; 1 << 20].into()));
            let row = [Value::Whole(1), Value::Whole(position), leaf, salt, payload, Value::Null, Value::Whole(0)];
            let row = row.into_iter().chain([Value::Whole(0)]).collect();
            target.put(entries, vec![row], &Progress::default()).await?;
            longest = longest.max(sibling(&target.unfinished, "-wal").metadata().unwrap().len());
        }
        Ok(longest)
    }

    #[tokio::test]
    async fn wal_stays_bounded_while_rows_are_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let target = SqliteTarget::open(&folder.path().join("x.db")).unwrap();
        target.begin("state").await.unwrap();
        let longest = put_entries(&target, 48).await.unwrap();
        assert!(longest < LOG_BYTES_MAX + (2 << 20), "{longest}");
    }

    #[tokio::test]
    async fn full_target_file_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let target = SqliteTarget::open(&folder.path().join("x.db")).unwrap();
        target.begin("state").await.unwrap();
        target.connection.lock().pragma_update(None, "max_page_count", 600).unwrap();
        let refused = put_entries(&target, 48).await.unwrap_err().to_string();
        assert!(refused.contains("x.db.moving cannot be written: ") && refused.contains("full"), "{refused}");
    }

    #[test]
    fn every_sqlite_table_is_migrated() {
        // `contents` is part of `entries`, seals are converted before, and the index of words is built again.
        let others = ["carried_seals", "contents", "migrations", "room", "text_blocks", "text_words"];
        let tables = schema::tables().unwrap().filter(|table| !others.contains(table));
        let moved: BTreeSet<&str> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(tables.collect::<BTreeSet<_>>(), moved);
    }

    #[test]
    fn every_sqlite_column_is_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        drop(SqliteStore::open(&path).unwrap());
        let connection = Connection::open(&path).unwrap();
        for table in TABLES.iter().filter(|table| table.name != "entries") {
            let select = format!("SELECT name FROM pragma_table_info('{}')", table.name);
            let mut select = connection.prepare(&select).unwrap();
            let of_file = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
            let mut of_file: BTreeSet<String> = of_file.collect::<Result<_, _>>().unwrap();
            // Derived from the content.
            of_file.retain(|column| (table.name, column.as_str()) != ("events", "parties"));
            let only_there = |column: &&str| !["id", "told_of"].contains(column) || of_file.contains(*column);
            let moved = table.columns.iter().map(|column| column.name).filter(only_there);
            assert_eq!(moved.map(str::to_owned).collect::<BTreeSet<_>>(), of_file, "{}", table.name);
        }
    }
}
