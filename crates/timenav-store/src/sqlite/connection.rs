//! Opens connections, with every SQLite feature disabled that would let a file execute something.
//!
//! Anyone who can write the file can put anything into it, so it is treated as data, never as a program: triggers and
//! views are disabled, no other file can be attached, and definitions in the file can call only harmless functions.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use timenav_engine::StoreError;

use super::values::{damaged, failed};

pub(crate) mod log;
pub(crate) mod maintenance;
pub(crate) mod room;

const WRITER_CACHE_KIB: i64 = 65_536;
const READER_CACHE_KIB: i64 = 8_192;
pub(super) const BUSY_WAIT: Duration = Duration::from_secs(5);
const STATEMENTS_MAX: usize = 64;
/// SQLite steps after which a read yields the processor: about a tenth of a millisecond.
const STEPS_BETWEEN_YIELDS: c_int = 500;
/// Page size of a new file. Rows of a few hundred bytes pack better into 8 KiB.
const PAGE_BYTES: u32 = 8_192;

/// Opens a file for writing. Nothing is written yet.
pub(super) fn open_to_write(path: &Path) -> Result<Connection, StoreError> {
    check_files(path)?;
    let connection = Connection::open(path).map_err(failed)?;
    distrust(&connection).map_err(failed)?;
    Ok(connection)
}

pub(super) fn open_to_read(address: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_with_flags(address, flags)?;
    distrust(&connection)?;
    let give_way = || {
        std::thread::yield_now();
        false
    };
    connection.progress_handler(STEPS_BETWEEN_YIELDS, Some(give_way))?;
    configure(&connection, READER_CACHE_KIB)?;
    Ok(connection)
}

/// Opens a file to be copied, for writing so that SQLite maintains the auxiliary files. Does not create it.
pub(super) fn open_to_copy(path: &Path) -> Result<Connection, StoreError> {
    check_files(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    distrust(&connection).map_err(failed)?;
    configure(&connection, READER_CACHE_KIB).map_err(failed)?;
    Ok(connection)
}

pub(super) fn configure_writer(writer: &Connection) -> Result<(), StoreError> {
    // Only a new file takes the page size.
    writer.pragma_update(None, "page_size", PAGE_BYTES).map_err(failed)?;
    write_ahead(writer)?;
    configure(writer, WRITER_CACHE_KIB).map_err(failed)?;
    writer.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    // Overwrite deleted content in pages. This is required for more than erasures: a row written today may move to
    // another page tomorrow, and erasing it would not reach the remains on the first page.
    writer.pragma_update(None, "secure_delete", true).map_err(failed)?;
    // The maintenance thread checkpoints the log.
    writer.pragma_update(None, "wal_autocheckpoint", 0).map_err(failed)
}

/// Switches to a write-ahead log without a rollback journal in between. The service never has a rollback journal, so an
/// existing one is a reason to stop. Only the first sector of the file is written.
fn write_ahead(writer: &Connection) -> Result<(), StoreError> {
    let mode = |name: &str| writer.pragma_update_and_check(None, "journal_mode", name, |row| row.get::<_, String>(0));
    let before: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(failed)?;
    if before == "wal" {
        return Ok(());
    }
    mode("MEMORY").map_err(failed)?;
    match mode("WAL").map_err(failed)?.as_str() {
        "wal" => Ok(()),
        other => Err(StoreError::Unavailable(format!(
            "the database has the journal mode `{other}` instead of a write-ahead log"
        ))),
    }
}

fn configure(connection: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_WAIT)?;
    // Otherwise a statement with `LIMIT ?` is recompiled at each binding, which takes longer than reading its rows.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "foreign_keys", "OFF")
}

/// Disables everything that the file could make SQLite do. Must come first: any statement reads the schema.
pub(super) fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    // Reject a page whose cells extend beyond it instead of reading past its end.
    connection.pragma_update(None, "cell_size_check", true)
}

/// Rejects files that SQLite would follow or write into the database before the schema can be checked.
pub(super) fn check_files(path: &Path) -> Result<(), StoreError> {
    if path.symlink_metadata().is_ok_and(|file| file.is_symlink()) {
        return Err(StoreError::Unavailable(
            "it is a symbolic link, so its write-ahead log would be elsewhere, and another service could have it \
             open; put the file itself there"
                .to_owned(),
        ));
    }
    let journal = sibling(path, "-journal");
    if journal.metadata().is_ok_and(|file| file.len() > 0) {
        return Err(damaged(&format!(
            "{} is next to the database; timenav never creates it, and SQLite would write its contents into the \
             database; move it away and keep it as evidence",
            journal.file_name().unwrap_or_default().display()
        )));
    }
    Ok(())
}

/// Returns the path of an auxiliary file of a database, such as its log.
pub(super) fn sibling(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn changed_limit_does_not_recompile_a_statement() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let writer = open_to_write(&path).unwrap();
        configure_writer(&writer).unwrap();
        writer.execute_batch("CREATE TABLE t (a, state); CREATE INDEX u ON t (a) WHERE state = 0").unwrap();
        let reader = open_to_read(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        for connection in [&writer, &reader] {
            for question in ["a = ?1 LIMIT ?2", "a > ?1 AND state = 0 ORDER BY a LIMIT ?2", "state = ?1 LIMIT ?2"] {
                let mut select = connection.prepare(&format!("SELECT a FROM t WHERE {question}")).unwrap();
                for limit in 1..5_u32 {
                    assert!(select.query((0, limit)).unwrap().next().unwrap().is_none());
                }
                assert_eq!(select.get_status(StatementStatus::RePrepare), 0, "{question}");
            }
        }
    }

    #[test]
    fn triggers_and_schema_edits_in_the_file_are_disabled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(
                "CREATE TABLE t (a); CREATE TABLE u (a); CREATE VIEW v AS SELECT 1 AS a;
                 CREATE TRIGGER w AFTER INSERT ON t BEGIN INSERT INTO u VALUES (new.a); END;",
            )
            .unwrap();
        let writer = open_to_write(&path).unwrap();
        configure_writer(&writer).unwrap();
        let reader = open_to_read(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        writer.execute("INSERT INTO t VALUES (1)", []).unwrap();
        for connection in [&writer, &reader] {
            let count = |table: &str| {
                connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0))
            };
            assert_eq!((count("t").unwrap(), count("u").unwrap()), (1, 0), "no trigger runs");
            assert!(count("v").is_err(), "no view is read");
            let other = folder.path().join("other.db");
            assert!(connection.execute("ATTACH ?1 AS other", [other.to_str().unwrap()]).is_err());
            assert!(!other.exists());
            connection.pragma_update(None, "writable_schema", true).unwrap();
            assert!(connection.execute("UPDATE sqlite_schema SET sql = sql", []).is_err(), "no definition is edited");
        }
    }

    #[test]
    fn new_file_uses_wal_without_a_rollback_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let writer = open_to_write(&path).unwrap();
        configure_writer(&writer).unwrap();
        writer.execute_batch("CREATE TABLE t (a)").unwrap();
        let page: u32 = writer.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
        let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!((page, mode.as_str()), (PAGE_BYTES, "wal"));
        assert!(!sibling(&path, "-journal").exists());
    }

    #[test]
    fn rollback_journal_and_symlinked_database_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        configure_writer(&open_to_write(&path).unwrap()).unwrap();
        std::fs::write(sibling(&path, "-journal"), "").unwrap();
        open_to_write(&path).expect("an empty journal holds nothing");
        std::fs::write(sibling(&path, "-journal"), "something").unwrap();
        let refused = open_to_write(&path).unwrap_err().to_string();
        assert!(refused.contains("x.db-journal is next to the database"), "{refused}");
        std::fs::remove_file(sibling(&path, "-journal")).unwrap();
        let link = folder.path().join("link.db");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let refused = open_to_write(&link).unwrap_err().to_string();
        assert!(refused.contains("symbolic link"), "{refused}");
        open_to_write(&path).unwrap();
    }
}
