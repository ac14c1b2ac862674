//! Copies a snapshot of the database, even while the service writes to it.
//!
//! This uses `VACUUM INTO` instead of SQLite's backup API: the copy is built from live rows, so it is as small as
//! possible and contains nothing erased that remains in freed pages. Both methods hold a snapshot of the file until
//! they are done. The API could release it between two steps, but would then restart at each commit of the service,
//! which is another process.

use std::ffi::c_int;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::ffi;
use rusqlite::limits::Limit;
use timenav_engine::StoreError;

use super::connection::{open_to_copy, sibling};
use super::values::{damaged, failed};
use crate::sqlite::connection::log::page_bytes;
use crate::sqlite::make_private;
use crate::sqlite::migrations::schema;

/// SQLite virtual machine steps between two progress reports. Waiting threads get the processor at the same time.
const STEPS_BETWEEN_LOOKS: c_int = 1_000;

/// Copies the database at `from` into a new file at `to`, readable only by its owner. Returns the copy's length in
/// bytes.
///
/// Neither waits for writers nor blocks them. From time to time, calls `tell` with the bytes written so far and their
/// maximum.
///
/// # Errors
/// If one of the files cannot be read or written, a file exists at `to`, or the schema of the database is not the
/// service's. The file at `to` is then not a usable copy.
pub fn copy(from: &Path, to: &Path, mut tell: impl FnMut(u64, u64) + Send + 'static) -> Result<u64, StoreError> {
    let unwritable =
        |error: std::io::Error| StoreError::Unavailable(format!("{} cannot be written: {error}", to.display()));
    let Some(name) = to.to_str() else {
        return Err(StoreError::Unavailable(format!("the path {} is not UTF-8", to.display())));
    };
    if to.try_exists().map_err(unwritable)? {
        return Err(StoreError::Unavailable(format!("{} already exists", to.display())));
    }
    let has_log = sibling(from, "-wal").exists();
    let mut connection = open_to_copy(from)?;
    schema::check(&connection)?;
    // `VACUUM INTO` attaches the file that it writes. This connection runs nothing else.
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1).map_err(failed)?;
    // Leave a log left by a crash to the service.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log).map_err(failed)?;
    let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).map_err(failed)?;
    let bytes_most = u64::from(pages) * page_bytes(&connection).map_err(failed)?;
    make_private(to).map_err(unwritable)?;
    let copied = to.to_owned();
    let look = move || {
        tell(copied.metadata().map_or(0, |file| file.len()), bytes_most);
        std::thread::yield_now();
        false
    };
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(look)).map_err(failed)?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(|error| not_copied(error, to))?;
    let file = std::fs::File::open(to).map_err(unwritable)?;
    file.sync_all().map_err(unwritable)?;
    match file.metadata().map_err(unwritable)?.len() {
        0 => Err(damaged("it is empty")),
        bytes => Ok(bytes),
    }
}

/// Folds the write-ahead log of the database at `path` into it, so that no log file remains.
///
/// # Errors
/// If the database cannot be read or written, or another process has it open.
pub fn fold_log(path: &Path) -> Result<(), StoreError> {
    let connection = open_to_copy(path)?;
    schema::check(&connection)?;
    let fold = |row: &rusqlite::Row<'_>| row.get::<_, bool>(0);
    let is_held = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], fold).map_err(failed)?;
    drop(connection);
    // The last process to close the database removes the log.
    if is_held || sibling(path, "-wal").exists() {
        return Err(StoreError::Unavailable("another program has it open".to_owned()));
    }
    Ok(())
}

/// Names the copy in the error if it is the file that could not be written.
fn not_copied(error: rusqlite::Error, to: &Path) -> StoreError {
    let code = error.sqlite_error().map(|error| error.extended_code);
    if matches!(code, Some(ffi::SQLITE_FULL | ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_FSYNC)) {
        return StoreError::Unavailable(format!(
            "the disk has no space for {}, or it cannot be written: {error}",
            to.display()
        ));
    }
    failed(error)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use rusqlite::Connection;

    use super::super::{SqliteStore, migrations};
    use super::*;

    const ERASED: &str = "erased and not to be found";

    fn bytes_have(path: &Path, text: &str) -> bool {
        memchr::memmem::find(&std::fs::read(path).unwrap(), text.as_bytes()).is_some()
    }

    #[test]
    fn copy_is_consistent_and_omits_freed_pages() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("x.db"), folder.path().join("y.db"));
        let store = SqliteStore::open(&from).unwrap();
        let writer = Connection::open(&from).unwrap();
        let insert = "INSERT INTO outcomes (key, fingerprint, expires_at, outcome) VALUES (?1, x'00', 0, ?2)";
        writer.execute_batch("BEGIN").unwrap();
        for number in 0..2_000_u32 {
            let text = format!("{} {number}", if number % 2 == 0 { "kept" } else { ERASED });
            writer.execute(insert, rusqlite::params![number.to_be_bytes(), text.repeat(20)]).unwrap();
        }
        writer.execute_batch("COMMIT").unwrap();
        writer.execute("DELETE FROM outcomes WHERE instr(outcome, ?1)", [ERASED]).unwrap();
        writer.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        assert!(bytes_have(&from, ERASED), "else nothing is tried");
        // The service writes all the time.
        let done = Arc::new(AtomicBool::new(false));
        let looks = Arc::new(AtomicU64::new(0));
        let writing = std::thread::spawn({
            let (done, from) = (Arc::clone(&done), from.clone());
            move || {
                let writer = Connection::open(from).unwrap();
                writer.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
                let mut number = 10_000_u32;
                while !done.load(Ordering::SeqCst) {
                    // Two rows that must be copied together or not at all.
                    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
                    for _ in 0..2 {
                        writer.execute(insert, rusqlite::params![number.to_be_bytes(), "pair"]).unwrap();
                        number += 1;
                    }
                    writer.execute_batch("COMMIT").unwrap();
                }
            }
        });
        let counter = Arc::clone(&looks);
        let bytes = copy(&from, &to, move |written, at_most| {
            assert!(at_most > 0 && written <= 2 * at_most);
            counter.fetch_add(1, Ordering::SeqCst);
        });
        done.store(true, Ordering::SeqCst);
        writing.join().unwrap();
        assert_eq!(bytes.unwrap(), to.metadata().unwrap().len());
        assert!(looks.load(Ordering::SeqCst) > 0);
        let copied = Connection::open(&to).unwrap();
        let rows = |condition: &str| -> i64 {
            copied.query_row(&format!("SELECT count(*) FROM outcomes WHERE {condition}"), [], |row| row.get(0)).unwrap()
        };
        assert_eq!((rows("outcome LIKE 'kept%'"), rows("outcome = 'pair'") % 2), (1_000, 0));
        assert_eq!(schema::differences(&copied).unwrap(), [""; 0]);
        assert!(!bytes_have(&to, ERASED));
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&to.metadata().unwrap()) & 0o777, 0o600);
        drop(store);
    }

    #[test]
    fn copy_rejects_existing_targets_and_foreign_databases() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("x.db"), folder.path().join("y.db"));
        assert!(copy(&from, &to, |_, _| {}).is_err(), "there is no database");
        assert!(!from.exists() && !to.exists());
        let mut database = Connection::open(&from).unwrap();
        migrations::run(&mut database).unwrap();
        std::fs::write(&to, "precious").unwrap();
        let refused = copy(&from, &to, |_, _| {}).unwrap_err().to_string();
        assert!(refused.contains("already exists"), "{refused}");
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "precious");
        database.execute_batch("CREATE TABLE foreign_one (a)").unwrap();
        let refused = copy(&from, &folder.path().join("z.db"), |_, _| {}).unwrap_err().to_string();
        assert!(refused.contains("`foreign_one` is not part of timenav's schema"), "{refused}");
        assert!(!folder.path().join("z.db").exists());
    }

    #[test]
    fn wal_left_by_a_crash_is_copied_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (live, from, to) = (folder.path().join("live.db"), folder.path().join("x.db"), folder.path().join("y.db"));
        let store = SqliteStore::open(&live).unwrap();
        let writer = Connection::open(&live).unwrap();
        writer
            .execute("INSERT INTO outcomes (key, fingerprint, expires_at, outcome) VALUES (x'01', x'', 0, 'late')", [])
            .unwrap();
        std::fs::copy(&live, &from).unwrap();
        std::fs::copy(sibling(&live, "-wal"), sibling(&from, "-wal")).unwrap();
        let log = std::fs::read(sibling(&from, "-wal")).unwrap();
        copy(&from, &to, |_, _| {}).unwrap();
        assert_eq!(std::fs::read(sibling(&from, "-wal")).unwrap(), log);
        let count: i64 =
            Connection::open(&to).unwrap().query_row("SELECT count(*) FROM outcomes", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
        drop((writer, store));
        fold_log(&from).unwrap();
        assert!(!sibling(&from, "-wal").exists());
        let reader = Connection::open(&from).unwrap();
        let count: i64 = reader.query_row("SELECT count(*) FROM outcomes", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
        let refused = fold_log(&from).unwrap_err().to_string();
        assert!(refused.contains("another program has it open"), "{refused}");
    }
}
