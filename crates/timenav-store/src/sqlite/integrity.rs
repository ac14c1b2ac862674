//! Detects files that contradict themselves, such as an index that lacks a row of its table.
//!
//! A query by an index trusts it, and entries are compared with rows found by one index. An attacker who deletes a row
//! from another index hides an event from queries by time, but not from a scan of the entries.

use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::{Connection, InterruptHandle};
use timenav_engine::StoreError;

use super::values::failed;
use crate::sqlite::migrations::schema;
use crate::sqlite::text_index::comparing;

pub(crate) mod ahead;
pub(crate) mod examination;
pub(crate) mod orphans;
pub(crate) mod scan;

/// Maximum number of contradictions reported per table.
const FAULTS_REPORTED_MAX: usize = 20;

#[derive(Default)]
enum Looking {
    #[default]
    NotYet,
    Running(InterruptHandle),
    GivenUp,
}

/// Cancels the check when dropped.
#[derive(Default)]
pub(super) struct CheckGuard(Look);

/// The state shared by a check and the task waiting for it.
#[derive(Clone, Default)]
pub(super) struct Look(Arc<Mutex<Looking>>);

impl CheckGuard {
    pub(super) fn look(&self) -> Look {
        self.0.clone()
    }
}

impl Drop for CheckGuard {
    fn drop(&mut self) {
        if let Looking::Running(handle) = std::mem::replace(&mut *self.0.0.lock(), Looking::GivenUp) {
            handle.interrupt();
        }
    }
}

impl Look {
    /// Returns the contradictions between every table and its indexes. Tables are checked one at a time, so that the
    /// log is not held for longer than one table takes.
    pub(super) fn contradictions(&self, connection: &Connection) -> Result<Vec<String>, StoreError> {
        let mut all = Vec::new();
        for table in schema::tables()? {
            all.extend(self.run(connection, || of_table(connection, table))?);
        }
        all.extend(self.run(connection, || comparing::differences(connection))?);
        Ok(all)
    }

    fn run(
        &self,
        connection: &Connection,
        check: impl FnOnce() -> Result<Vec<String>, StoreError>,
    ) -> Result<Vec<String>, StoreError> {
        {
            let mut looking = self.0.lock();
            if matches!(*looking, Looking::GivenUp) {
                return Ok(Vec::new());
            }
            *looking = Looking::Running(connection.get_interrupt_handle());
        }
        let found = check();
        // A later interrupt would hit the next user of the connection.
        let mut looking = self.0.lock();
        if matches!(*looking, Looking::Running(_)) {
            *looking = Looking::NotYet;
        }
        found
    }
}

/// Returns structural faults of the file: pages that are missing, used twice or out of order.
pub(super) fn faults(connection: &Connection) -> Result<Vec<String>, StoreError> {
    reported_faults(connection, &format!("PRAGMA quick_check({FAULTS_REPORTED_MAX})"))
}

fn of_table(connection: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    let faults = reported_faults(connection, &format!("PRAGMA integrity_check({table})"))?;
    Ok(faults.into_iter().map(|what| format!("table {table}: {what}")).collect())
}

fn reported_faults(connection: &Connection, check: &str) -> Result<Vec<String>, StoreError> {
    let mut check = connection.prepare(check).map_err(failed)?;
    let mut rows = check.query([]).map_err(failed)?;
    let mut faults = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let what: String = row.get(0).map_err(failed)?;
        if what != "ok" && faults.len() < FAULTS_REPORTED_MAX {
            faults.push(what);
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::super::migrations;
    use super::*;

    #[test]
    fn row_missing_from_a_valid_index_is_reported() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        let query = CheckGuard::default();
        let look = query.look();
        connection
            .execute_batch(
                "INSERT INTO events (timeline, cell, time, position, event_id, content) VALUES (2, -1, 7, 1, 'a', '{}'),
                    (2, -1, 7, 2, 'b', '{}')",
            )
            .unwrap();
        assert_eq!(look.contradictions(&connection).unwrap(), [""; 0]);
        let definition = "CREATE INDEX events_by_time ON events (timeline, time, position, until, lat, lon, parties)";
        connection
            .execute_batch(&format!(
                "DROP INDEX events_by_time; {definition} WHERE event_id <> 'b'; PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET sql = '{definition}' WHERE name = 'events_by_time';
                 PRAGMA writable_schema = RESET;"
            ))
            .unwrap();
        assert_eq!(schema::differences(&connection).unwrap(), [""; 0]);
        let faults = look.contradictions(&connection).unwrap();
        assert!(faults.iter().any(|one| one.contains("events_by_time")), "{faults:#?}");
        drop(query);
        assert_eq!(look.contradictions(&connection).unwrap(), [""; 0], "nobody waits for it");
    }
}
