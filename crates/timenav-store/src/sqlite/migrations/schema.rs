//! Compares the schema of a file with the one that the migrations create.
//!
//! Opening a file can run what its schema defines: triggers, views, defaults, index conditions. So the schema must
//! match this program's migrations exactly and have nothing else. SQLite's own statistics tables are not an exception,
//! because no migration creates them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use timenav_engine::StoreError;

use crate::sqlite::migrations::{self, APPLICATION_ID, STEPS};
use crate::sqlite::values::{damaged, failed};

/// The schema. SQLite rejects a file in which another object has the name `sqlite_schema`.
const SELECT: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema";
/// Settings in the file header that change how SQLite treats the file.
const SETTINGS: [&str; 4] = ["application_id", "user_version", "encoding", "auto_vacuum"];
/// Maximum number of differences in the error of a start.
const DIFFERENCES_REPORTED_MAX: usize = 3;
/// Length of the excerpt of a definition, in characters. It begins shortly before the difference.
const EXCERPT_CHARS: usize = 80;
/// Characters of the excerpt before the first difference.
const BEFORE_CHARS: usize = 20;

/// The step that created the table `room`. Crashes of earlier versions may have left such a table in older files.
const ROOM_STEP: usize = 5;
const FORMER_ROOM: &str = "CREATE TABLE room (filling BLOB NOT NULL)";

/// An object defined in a file. An automatic index has no SQL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

struct Schema {
    objects: Vec<Object>,
    settings: BTreeMap<&'static str, String>,
}

/// The schema after each number of steps.
static EXPECTED: [OnceLock<Schema>; STEPS.len() + 1] = [const { OnceLock::new() }; STEPS.len() + 1];

pub(in crate::sqlite) fn check(connection: &Connection) -> Result<(), StoreError> {
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    if ![0, APPLICATION_ID].contains(&id) {
        return Err(StoreError::Unavailable(format!(
            "the file belongs to another program: its application_id is {id}, but timenav's is {APPLICATION_ID}"
        )));
    }
    let differences = differences(connection)?;
    if differences.is_empty() {
        return Ok(());
    }
    let mut summary = differences[..differences.len().min(DIFFERENCES_REPORTED_MAX)].join("; ");
    if let Some(rest) = differences.len().checked_sub(DIFFERENCES_REPORTED_MAX).filter(|rest| *rest > 0) {
        // Writing to a string cannot fail.
        let _ = write!(summary, "; and {rest} more");
    }
    Err(damaged(&format!(
        "its schema is not the one timenav creates: {summary}. It was modified outside timenav: keep it as evidence and restore a backup"
    )))
}

/// Returns the differences from the schema of the recorded steps, one sentence each.
pub(in crate::sqlite) fn differences(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let found = match read(connection) {
        Ok(found) => found,
        // One malformed definition prevents SQLite from reading the schema at all.
        Err(error) => match failed(error) {
            StoreError::Damaged(what) => return Ok(vec![format!("the definitions cannot be read: {what}")]),
            other => return Err(other),
        },
    };
    let steps = match steps_done(connection, &found) {
        Ok(steps) => steps,
        Err(StoreError::Damaged(what)) => return Ok(vec![what]),
        Err(other) => return Err(other),
    };
    let expected = expected(steps)?;
    let mut found = found;
    if steps < ROOM_STEP {
        found.objects.retain(|object| object.name != "room" || object.sql.as_deref() != Some(FORMER_ROOM));
    }
    Ok(compare(expected, &found))
}

pub(in crate::sqlite) fn tables() -> Result<impl Iterator<Item = &'static str>, StoreError> {
    let objects = expected(STEPS.len())?.objects.iter();
    Ok(objects.filter(|object| object.kind == "table").map(|object| object.name.as_str()))
}

/// Returns how many steps a file has recorded.
fn steps_done(connection: &Connection, found: &Schema) -> Result<usize, StoreError> {
    // The table is read only if it exists. A wrong definition is reported as a difference.
    let is_table = |object: &&Object| (object.kind.as_str(), object.name.as_str()) == ("table", "migrations");
    match found.objects.iter().find(is_table) {
        Some(_) => migrations::done(connection),
        None if found.objects.is_empty() => Ok(0),
        None => Ok(STEPS.len()),
    }
}

fn expected(steps: usize) -> Result<&'static Schema, StoreError> {
    let cell = EXPECTED.get(steps).ok_or_else(|| damaged("more steps than there are"))?;
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let connection = Connection::open_in_memory().map_err(failed)?;
    migrations::lay_out(&connection, steps)?;
    let schema = read(&connection).map_err(failed)?;
    Ok(cell.get_or_init(|| schema))
}

fn read(connection: &Connection) -> rusqlite::Result<Schema> {
    let mut select = connection.prepare(SELECT)?;
    let rows = select.query_map([], |row| {
        let word = |at: usize| Ok::<_, rusqlite::Error>(text(row, at)?.unwrap_or_default());
        Ok(Object { kind: word(0)?, name: word(1)?, table: word(2)?, sql: text(row, 3)? })
    })?;
    let mut objects = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    objects.sort_unstable();
    let mut settings = BTreeMap::new();
    for name in SETTINGS {
        let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| text(row, 0)).optional()?;
        settings.insert(name, value.flatten().unwrap_or_default());
    }
    Ok(Schema { objects, settings })
}

fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}

fn compare(expected: &Schema, found: &Schema) -> Vec<String> {
    let mut differences = Vec::new();
    let mut missing = expected.objects.clone();
    for object in &found.objects {
        if let Some(at) = missing.iter().position(|one| one == object) {
            missing.swap_remove(at);
            continue;
        }
        let same_name = |one: &Object| (&one.kind, &one.name) == (&object.kind, &object.name);
        match missing.iter().position(same_name) {
            Some(at) => differences.push(differs(&missing.swap_remove(at), object)),
            None => differences.push(format!("{} is not part of timenav's schema", named(object))),
        }
    }
    missing.sort_unstable();
    differences.extend(missing.iter().map(|object| format!("{} is missing", named(object))));
    for (name, value) in &expected.settings {
        let is = &found.settings[name];
        if is != value {
            differences.push(format!("the setting {name} is {is} instead of {value}"));
        }
    }
    differences
}

fn named(object: &Object) -> String {
    let Object { kind, name, table, .. } = object;
    if name == table { format!("{kind} `{name}`") } else { format!("{kind} `{name}` on `{table}`") }
}

fn differs(expected: &Object, found: &Object) -> String {
    if expected.table != found.table {
        return format!("{} belongs on `{}`", named(found), expected.table);
    }
    let (should, is) = (expected.sql.as_deref().unwrap_or_default(), found.sql.as_deref().unwrap_or_default());
    let same = should.chars().zip(is.chars()).take_while(|(a, b)| a == b).count();
    let excerpt = |sql: &str| {
        let skipped = sql.chars().skip(same.saturating_sub(BEFORE_CHARS)).take(EXCERPT_CHARS);
        skipped.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    format!("{} is defined by `…{}` instead of `…{}`", named(found), excerpt(is), excerpt(should))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(steps: usize) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        migrations::lay_out(&connection, steps).unwrap();
        connection
    }

    #[test]
    fn schema_of_every_former_version_is_accepted() {
        for steps in 0..=STEPS.len() {
            assert_eq!(differences(&laid_out(steps)).unwrap(), [""; 0], "{steps}");
        }
        let former = laid_out(4);
        former.execute_batch(FORMER_ROOM).unwrap();
        assert_eq!(differences(&former).unwrap(), [""; 0], "what a crash left");
        let connection = laid_out(5);
        connection.execute_batch("DROP TABLE room; CREATE TABLE room (filling BLOB NOT NULL)").unwrap();
        assert_eq!(differences(&connection).unwrap().len(), 1);
    }

    #[test]
    fn every_schema_difference_is_reported_and_rejected() {
        let schema = |sql: &str| format!("PRAGMA writable_schema = ON; {sql}; PRAGMA writable_schema = RESET;");
        for (statement, expected) in [
            (
                "CREATE TRIGGER x AFTER INSERT ON entries BEGIN SELECT 1; END",
                "trigger `x` on `entries` is not part of timenav's schema",
            ),
            ("CREATE VIEW x AS SELECT 1", "view `x` is not part of timenav's schema"),
            ("CREATE TABLE x (a)", "table `x` is not part of timenav's schema"),
            ("CREATE VIRTUAL TABLE x USING rtree(a, b, c)", "table `x` is not part of timenav's schema"),
            ("CREATE INDEX x ON users (user_id)", "index `x` on `users` is not part of timenav's schema"),
            ("ANALYZE", "table `sqlite_stat1` is not part of timenav's schema"),
            ("DROP INDEX outcomes_by_expiry", "index `outcomes_by_expiry` on `outcomes` is missing"),
            ("DROP TABLE permissions", "table `permissions` is missing"),
            ("ALTER TABLE users ADD COLUMN x INTEGER AS (1)", "table `users` is defined by `…"),
            (
                "DROP INDEX events_by_id; CREATE INDEX events_by_id ON events (timeline, event_id) WHERE event_id <> 'x'",
                "index `events_by_id` on `events` is defined by `…(timeline, event_id) WHERE event_id <> 'x'`",
            ),
            (
                &schema(
                    "UPDATE sqlite_schema SET sql = replace(sql, 'operator    INTEGER NOT NULL', 'operator INTEGER NOT NULL DEFAULT 1') WHERE name = 'users'",
                ),
                "table `users` is defined by `…",
            ),
            (
                &schema(
                    "UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (role IN (''read'', ''write'', ''admin''))', '') WHERE name = 'permissions'",
                ),
                "table `permissions` is defined by `…",
            ),
            ("PRAGMA user_version = 7", "the setting user_version is 7 instead of 0"),
            ("PRAGMA application_id = 0", "the setting application_id is 0 instead of 1414414678"),
            (
                "DELETE FROM migrations WHERE step = '0002-data'",
                "migration `0003-history` of the file is not `0002-data`",
            ),
            ("UPDATE migrations SET sha256 = 'x' WHERE step = '0002-data'", "migration `0002-data` of the file is not"),
            ("DROP TABLE migrations; CREATE VIEW migrations AS SELECT 'x' AS step, 'y' AS sha256", "view `migrations`"),
        ] {
            let connection = laid_out(STEPS.len());
            connection.execute_batch(statement).unwrap();
            let differences = differences(&connection).unwrap();
            assert!(differences.iter().any(|one| one.starts_with(expected)), "{statement}: {differences:#?}");
            assert!(matches!(check(&connection), Err(StoreError::Damaged(_))), "{statement}");
        }
    }

    #[test]
    fn forged_sqlite_schema_table_is_detected() {
        let connection = laid_out(STEPS.len());
        connection
            .execute_batch(
                "CREATE TABLE copied (type, name, tbl_name, rootpage, sql);
                 INSERT INTO copied SELECT * FROM sqlite_schema WHERE name <> 'copied';
                 PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET name = 'sqlite_schema', tbl_name = 'sqlite_schema',
                    sql = replace(sql, 'copied', 'sqlite_schema') WHERE name = 'copied';
                 PRAGMA writable_schema = RESET;",
            )
            .unwrap();
        let found = differences(&connection).unwrap();
        assert!(found.len() == 1 && found[0].starts_with("the definitions cannot be read: "), "{found:#?}");
    }

    #[test]
    fn file_of_another_program_is_rejected() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("PRAGMA application_id = 252006673").unwrap();
        let refused = check(&connection).unwrap_err().to_string();
        assert!(refused.contains("belongs to another program: its application_id is 252006673"), "{refused}");
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE moz_places (id INTEGER PRIMARY KEY)").unwrap();
        let refused = check(&connection).unwrap_err().to_string();
        assert!(refused.contains("table `moz_places` is not part of timenav's schema"), "{refused}");
    }
}
