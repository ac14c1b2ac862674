use std::path::Path;

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionBehavior, params};
use timenav_core::ledger::sha256;
use timenav_engine::{LengthClass, StoreError};

use super::values::failed;

pub(crate) mod schema;

/// The steps, in order. A released step never changes: every change is a new step.
pub(super) const STEPS: [(&str, &str); 26] = [
    ("0001-init", include_str!("../../migrations/sqlite/0001-init.sql")),
    ("0002-data", include_str!("../../migrations/sqlite/0002-data.sql")),
    ("0003-history", include_str!("../../migrations/sqlite/0003-history.sql")),
    ("0004-sessions", include_str!("../../migrations/sqlite/0004-sessions.sql")),
    ("0005-application-id", include_str!("../../migrations/sqlite/0005-application-id.sql")),
    ("0006-quotas", include_str!("../../migrations/sqlite/0006-quotas.sql")),
    ("0007-statements", include_str!("../../migrations/sqlite/0007-statements.sql")),
    ("0008-retention", include_str!("../../migrations/sqlite/0008-retention.sql")),
    ("0009-ends", include_str!("../../migrations/sqlite/0009-ends.sql")),
    ("0010-adoption", include_str!("../../migrations/sqlite/0010-adoption.sql")),
    ("0011-no-seals", include_str!("../../migrations/sqlite/0011-no-seals.sql")),
    ("0012-erasing", include_str!("../../migrations/sqlite/0012-erasing.sql")),
    ("0013-notes", include_str!("../../migrations/sqlite/0013-notes.sql")),
    ("0014-contents", include_str!("../../migrations/sqlite/0014-contents.sql")),
    ("0015-data-by-timeline", include_str!("../../migrations/sqlite/0015-data-by-timeline.sql")),
    ("0016-packed-contents", include_str!("../../migrations/sqlite/0016-packed-contents.sql")),
    ("0017-horizons", include_str!("../../migrations/sqlite/0017-horizons.sql")),
    ("0018-timers", include_str!("../../migrations/sqlite/0018-timers.sql")),
    ("0019-arrivals", include_str!("../../migrations/sqlite/0019-arrivals.sql")),
    ("0020-events-by-time", include_str!("../../migrations/sqlite/0020-events-by-time.sql")),
    ("0021-parties", include_str!("../../migrations/sqlite/0021-parties.sql")),
    ("0022-permission-ends", include_str!("../../migrations/sqlite/0022-permission-ends.sql")),
    ("0023-lengths", include_str!("../../migrations/sqlite/0023-lengths.sql")),
    ("0024-held", include_str!("../../migrations/sqlite/0024-held.sql")),
    ("0025-outcomes-by-timeline", include_str!("../../migrations/sqlite/0025-outcomes-by-timeline.sql")),
    ("0026-text-index", include_str!("../../migrations/sqlite/0026-text-index.sql")),
];

/// The `application_id` of timenav's files: "TNAV" in ASCII. Step 5 writes it.
pub(super) const APPLICATION_ID: i64 = 0x544E_4156;

/// Digests of steps before their release. They created the same tables, so files from that time still work.
const FORMER_STEPS: [(&str, &str); 1] =
    [("0003-history", "341068134361e56d3c24d3002b29ffab5d5de642cd5591ee7b366f319ebaf09e")];

/// SQL function that returns [`LengthClass::of_content`] of an event's JSON.
const LENGTH_CLASS_OF: &str = "length_class_of";

const TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    step TEXT PRIMARY KEY, sha256 TEXT NOT NULL
) STRICT, WITHOUT ROWID";

/// Migrates a file whose schema matches its recorded steps.
pub(super) fn run(connection: &mut Connection) -> Result<(), StoreError> {
    if !is_behind(connection)? {
        return take_missing(connection);
    }
    // Building an index sorts its rows, and a file may have many millions of rows, more than fit into memory. SQLite
    // sorts them in unnamed files next to the database, which disappear with the process.
    let folder = connection.path().and_then(|path| Path::new(path).parent()?.to_str().map(str::to_owned));
    let sort_in = |store: &str, folder: &str| {
        connection.pragma_update(None, "temp_store", store)?;
        connection.pragma_update(None, "temp_store_directory", folder)
    };
    sort_in("FILE", &folder.filter(|folder| !folder.is_empty()).unwrap_or_else(|| ".".to_owned())).map_err(failed)?;
    let taken = take_missing(connection);
    connection.pragma_update(None, "temp_store_directory", "").map_err(failed)?;
    connection.pragma_update(None, "temp_store", "MEMORY").map_err(failed)?;
    taken
}

fn is_behind(connection: &Connection) -> Result<bool, StoreError> {
    let has_table = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'migrations')";
    let has_table: bool = connection.query_row(has_table, [], |row| row.get(0)).map_err(failed)?;
    Ok(has_table && (1..STEPS.len()).contains(&done(connection)?))
}

/// Runs all missing steps in one transaction: if the process ends in between, the file is unchanged.
fn take_missing(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(TABLE).map_err(failed)?;
    let done = done(&transaction)?;
    for (step, text) in &STEPS[done..] {
        take(&transaction, step, text)?;
    }
    transaction.commit().map_err(failed)
}

/// Creates the schema of the first `steps` steps in an empty file.
pub(super) fn lay_out(connection: &Connection, steps: usize) -> Result<(), StoreError> {
    if steps == 0 {
        return Ok(());
    }
    connection.execute_batch(TABLE).map_err(failed)?;
    STEPS[..steps].iter().try_for_each(|(step, text)| take(connection, step, text))
}

fn take(connection: &Connection, step: &str, text: &str) -> Result<(), StoreError> {
    give_function(connection).map_err(failed)?;
    let taken = connection.execute_batch(text).map_err(failed);
    connection.remove_function(LENGTH_CLASS_OF, 1).map_err(failed)?;
    taken?;
    let insert = "INSERT INTO migrations (step, sha256) VALUES (?1, ?2)";
    connection.execute(insert, params![step, sha256(&[text.as_bytes()]).to_hex()]).map_err(failed)?;
    Ok(())
}

/// Registers the function that one of the steps calls.
fn give_function(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function(LENGTH_CLASS_OF, 1, flags, |values| {
        // Unreadable content is left to a scan and does not prevent a start.
        let class = values.get_raw(0).as_str().ok().and_then(LengthClass::of_content);
        Ok(class.map(LengthClass::number))
    })
}

/// Returns how many steps a file has gone through. These must be the first ones of this version, and no others.
pub(super) fn done(connection: &Connection) -> Result<usize, StoreError> {
    let done: Vec<(String, String)> = {
        let mut select = connection.prepare("SELECT step, sha256 FROM migrations ORDER BY step").map_err(failed)?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)?
    };
    if let Some((step, _)) = done.get(STEPS.len()) {
        let message = format!("the file was written by a newer version of timenav (it has step `{step}`)");
        return Err(StoreError::Unavailable(message));
    }
    for ((name, digest), (step, text)) in done.iter().zip(&STEPS) {
        let is_step = name == step && (*digest == sha256(&[text.as_bytes()]).to_hex() || was(step, digest));
        if !is_step {
            return Err(StoreError::Damaged(format!("migration `{name}` of the file is not `{step}` of this version")));
        }
    }
    Ok(done.len())
}

fn was(step: &str, digest: &str) -> bool {
    FORMER_STEPS.contains(&(step, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends an entry in the format used before there was history.
    fn append(connection: &Connection, (timeline, name): (i64, &str), (action, subject): (&str, &str), payload: &str) {
        let leaf = format!(r#"{{"action":"{action}","subject":"{subject}","timeline_id":"{name}"}}"#);
        let insert = "INSERT INTO entries (entry, leaf, salt, payload)
            SELECT coalesce(max(entry) + 1, ?1 << 40), ?2, zeroblob(16), ?3 FROM entries WHERE entry >> 40 = ?1";
        connection.execute(insert, params![timeline, leaf.as_bytes(), payload.as_bytes()]).unwrap();
    }

    #[test]
    fn file_is_migrated_only_from_known_steps() {
        let (step, former) = FORMER_STEPS[0];
        for (digest, is_taken) in [(former, true), (&"00".repeat(32), false)] {
            let mut connection = Connection::open_in_memory().unwrap();
            run(&mut connection).unwrap();
            let update = "UPDATE migrations SET sha256 = ?2 WHERE step = ?1";
            assert_eq!(connection.execute(update, params![step, digest]).unwrap(), 1);
            assert_eq!(run(&mut connection).is_ok(), is_taken, "{digest}");
        }
    }

    #[test]
    fn history_migration_derives_rows_from_entries() {
        let mut connection = Connection::open_in_memory().unwrap();
        lay_out(&connection, 2).unwrap();
        let (system, main) = ((1, "system"), (2, "main"));
        append(&connection, system, ("create_timeline", "system"), r#"{"clock":{}}"#);
        append(&connection, system, ("create_timeline", "main"), r#"{"clock":{}}"#);
        append(&connection, main, ("create_timeline", "main"), r#"{"clock":{}}"#);
        append(&connection, main, ("record_event", "a"), r#"{"event_id":"a"}"#);
        append(&connection, main, ("pause", "clock"), r#"{"clock":{},"changed":true}"#);
        append(&connection, main, ("record_event", "b"), "");
        append(&connection, main, ("erase_data", "b"), r#"{"position":3,"data_id":null,"event_id":"b"}"#);
        append(&connection, main, ("erase_data", "d"), r#"{"position":1,"data_id":"d"}"#);
        run(&mut connection).unwrap();
        let mut select = connection.prepare("SELECT events_count, clock_entry FROM entries ORDER BY entry").unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let marks: Vec<(i64, i64)> = rows.collect::<Result<_, _>>().unwrap();
        assert_eq!(marks, [(0, 0), (0, 0), (0, 0), (1, 0), (1, 2), (2, 2), (1, 2), (1, 2)]);
    }

    /// Source and actors that an event may have, as JSON.
    const EXTRACTED: [(&str, Option<&str>); 7] = [
        (r#"{"time":"x"}"#, Some("")),
        (r#"{"source":"NASA"}"#, Some(r#""NASA""#)),
        (r#"{"actors":["a","b"],"source":"x"}"#, Some(r#""x"["a","b"]"#)),
        (r#"{"actors":["\"\\\n\u0001é\u0000𝄞"]}"#, Some(r#"["\"\\\n\u0001é\u0000𝄞"]"#)),
        (r#"{"source":""}"#, Some(r#""""#)),
        ("", None),
        ("{damaged", None),
    ];

    /// Creates a file with the schema from before this column, with some events.
    fn with_events_before(path: &Path, count: usize) -> Connection {
        let mut connection = Connection::open(path).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        lay_out(&connection, 20).unwrap();
        let insert =
            "INSERT INTO events (timeline, cell, time, position, event_id, content) VALUES (2, ?1, ?2, ?3, 'e', ?4)";
        let transaction = connection.transaction().unwrap();
        for number in 0..count {
            let number = i64::try_from(number).unwrap();
            let content = EXTRACTED.get(usize::try_from(number).unwrap()).map_or_else(
                || format!(r#"{{"source":"s{}","description":"{}"}}"#, number % 9, "x".repeat(300)),
                |expected| expected.0.to_owned(),
            );
            // Unique, and far from the previous number.
            let time = number * 7_919 % 1_000_003;
            transaction.execute(insert, params![number % 50, time, number, content]).unwrap();
        }
        transaction.commit().unwrap();
        connection
    }

    fn stored_columns(connection: &Connection) -> Vec<Option<String>> {
        let mut select = connection.prepare("SELECT parties FROM events ORDER BY position").unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn migration_extracts_sources_and_actors_from_existing_events() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = with_events_before(&folder.path().join("x.db"), EXTRACTED.len() + 1);
        let long = format!(r#"{{"source":"{}"}}"#, "x".repeat(999));
        let update = "UPDATE events SET content = ?1 WHERE position = ?2";
        connection.execute(update, params![long, 7_i64]).unwrap();
        run(&mut connection).unwrap();
        let expected = EXTRACTED.iter().map(|(_, expected)| expected.map(str::to_owned)).chain([None]);
        assert_eq!(stored_columns(&connection), expected.collect::<Vec<_>>());
    }

    #[test]
    fn migration_computes_length_classes_from_existing_events() {
        let mut connection = Connection::open_in_memory().unwrap();
        lay_out(&connection, 22).unwrap();
        let insert =
            "INSERT INTO events (timeline, cell, time, position, event_id, content) VALUES (2, -1, 0, ?1, 'e', ?2)";
        let lasting = |end: &str| format!(r#"{{"time":"2005-08-23T18:00:00Z","end_time":"{end}"}}"#);
        let expected = [
            (lasting("2005-08-30T12:00:00Z"), Some(39)),
            (lasting("2005-08-23T18:00:00.000005Z"), Some(2)),
            (lasting("2005-08-23T18:00:00Z"), None),
            (r#"{"time":"2005-08-23T18:00:00Z","attributes":{"end_time":"2005-08-30T12:00:00Z"}}"#.to_owned(), None),
            (r#"{"time":"2005-08-23T18:00:00Z"}"#.to_owned(), None),
            (r#"no event, and "end_time" in it"#.to_owned(), None),
            (String::new(), None),
        ];
        for (position, (content, _)) in (0_i64..).zip(&expected) {
            connection.execute(insert, params![position, content]).unwrap();
        }
        run(&mut connection).unwrap();
        let mut select = connection.prepare("SELECT length_class FROM events ORDER BY position").unwrap();
        let stored = select.query_map([], |row| row.get(0)).unwrap().collect::<Result<Vec<Option<i64>>, _>>().unwrap();
        assert_eq!(stored, expected.map(|(_, class)| class));
        assert!(connection.prepare("SELECT length_class_of('')").is_err(), "no statement but a step calls it");
    }

    #[test]
    fn interrupted_migration_step_leaves_the_file_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let (path, killed) = (folder.path().join("x.db"), folder.path().join("killed.db"));
        let mut connection = with_events_before(&path, 20_000);
        // Little memory, so that much of the step is in the log before it ends.
        connection.pragma_update(None, "cache_size", 16).unwrap();
        let log = |path: &Path| Path::new(&format!("{}-wal", path.display())).to_owned();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        take(&transaction, STEPS[20].0, STEPS[20].1).unwrap();
        std::fs::copy(&path, &killed).unwrap();
        std::fs::copy(log(&path), log(&killed)).unwrap();
        assert!(log(&killed).metadata().unwrap().len() > 1_000_000, "else nothing is tried");
        drop(transaction);
        drop(connection);
        let mut connection = Connection::open(&killed).unwrap();
        assert_eq!(done(&connection).unwrap(), 20);
        run(&mut connection).unwrap();
        assert_eq!(done(&connection).unwrap(), STEPS.len());
        assert_eq!(stored_columns(&connection).iter().flatten().count(), 20_000 - 2);
        let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
        // No files used for sorting are left next to it.
        let names = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        assert!(names.map(|name| name.into_string().unwrap()).all(|name| name.contains(".db")));
    }

    #[test]
    fn migration_initializes_quotas_from_existing_timelines() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(TABLE).unwrap();
        for (step, text) in &STEPS[..4] {
            connection.execute_batch(text).unwrap();
            let digest = sha256(&[text.as_bytes()]).to_hex();
            connection.execute("INSERT INTO migrations VALUES (?1, ?2)", params![step, digest]).unwrap();
        }
        for (timeline, name) in [(1, "system"), (2, "main"), (3, "damaged")] {
            let insert =
                "INSERT INTO timelines (timeline, timeline_id, created_at, size, frontier, checkpoint, recorded_at,
                clock_running, clock_rate, clock_host, clock_virtual, clock_generation, events_count, anchors_count)
                VALUES (?1, ?2, 0, 1, x'', '', 0, 0, 1, 0, 0, 0, 0, 0)";
            connection.execute(insert, params![timeline, name]).unwrap();
        }
        for (timeline, seq, actor) in [(1, 0, "system"), (2, 0, "ada"), (2, 1, "bob")] {
            let leaf = format!(r#"{{"actor":"{actor}"}}"#);
            let insert = "INSERT INTO entries (entry, leaf, salt, payload) VALUES ((?1 << 40) + ?2, ?3, x'', x'')";
            connection.execute(insert, params![timeline, seq, leaf.as_bytes()]).unwrap();
        }
        for position in [1, 2] {
            let insert = "INSERT INTO data_records VALUES (?1, 2, ?2, NULL, 1, 1, x'', x'', x'', x'')";
            connection.execute(insert, params![format!("data_{position}"), position]).unwrap();
        }
        run(&mut connection).unwrap();
        let mut select = connection.prepare("SELECT data_id, position FROM data_records ORDER BY position").unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let stored: Vec<(String, i64)> = rows.collect::<Result<_, _>>().unwrap();
        assert_eq!(stored, [("data_1".to_owned(), 1), ("data_2".to_owned(), 2)]);
        let mut select = connection.prepare("SELECT created_by, data_count FROM timelines ORDER BY timeline").unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let found: Vec<(String, i64)> = rows.collect::<Result<_, _>>().unwrap();
        assert_eq!(found, [("system".to_owned(), 0), ("ada".to_owned(), 2), ("unknown".to_owned(), 0)]);
    }
}
