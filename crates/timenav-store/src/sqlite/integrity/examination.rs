use rusqlite::{Connection, params};
use timenav_core::time::{Instant, Wall, parse_timestamp};
use timenav_engine::StoreError;

use crate::persistence::examination::{Examination, ExaminedKey};
use crate::sqlite::migrations::schema;
use crate::sqlite::values::{POSITION_BITS, failed, instant};

/// Newest entries of each timeline that are searched for a scan.
const ENTRIES_READ_MAX: i64 = 10_000;

const SELECT_NEWEST: &str = "SELECT max(recorded_at) FROM timelines";
const SELECT_DEMO: &str = "SELECT count(*) FROM timelines WHERE timeline_id = 'demo'";
const SELECT_OPERATORS: &str = "SELECT user_id FROM users WHERE operator ORDER BY user_id";
const SELECT_KEYS: &str = "SELECT key_id, k.user_id, coalesce(operator, 0), expires_at FROM api_keys k
    LEFT JOIN users u ON u.user_id = k.user_id WHERE revoked_at IS NULL ORDER BY key_id";
const SELECT_SCANS: &str = "SELECT json_extract(CAST(leaf AS TEXT), '$.recorded_at') FROM timelines t
    JOIN entries e ON e.entry BETWEEN (t.timeline << ?1) + max(t.size - ?2, 0) AND (t.timeline << ?1) + t.size
    WHERE instr(leaf, CAST('\"action\":\"detect_tampering\"' AS BLOB)) > 0";

pub(in crate::sqlite) fn examine(connection: &Connection) -> Result<Examination, StoreError> {
    let texts = |statement: &str| -> rusqlite::Result<Vec<String>> {
        connection.prepare(statement)?.query_map([], |row| row.get(0))?.collect()
    };
    let newest: Option<i64> = connection.query_row(SELECT_NEWEST, [], |row| row.get(0)).map_err(failed)?;
    let demos: i64 = connection.query_row(SELECT_DEMO, [], |row| row.get(0)).map_err(failed)?;
    Ok(Examination {
        differences: schema::differences(connection)?,
        newest: newest.map(instant).transpose()?,
        last_scan: last_scan(connection).map_err(failed)?,
        has_demo: demos > 0,
        operators: texts(SELECT_OPERATORS).map_err(failed)?,
        keys: keys(connection)?,
    })
}

fn last_scan(connection: &Connection) -> rusqlite::Result<Option<Instant<Wall>>> {
    let mut statement = connection.prepare(SELECT_SCANS)?;
    let scans = statement.query_map(params![POSITION_BITS, ENTRIES_READ_MAX], |row| row.get::<_, Option<String>>(0))?;
    let scans = scans.collect::<rusqlite::Result<Vec<_>>>()?;
    // Unreadable times are left to a scan.
    Ok(scans.into_iter().flatten().filter_map(|text| parse_timestamp(&text).ok()).max())
}

fn keys(connection: &Connection) -> Result<Vec<ExaminedKey>, StoreError> {
    let mut statement = connection.prepare(SELECT_KEYS).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let expires_at: Option<i64> = row.get(3).map_err(failed)?;
        keys.push(ExaminedKey {
            key_id: row.get(0).map_err(failed)?,
            user_id: row.get(1).map_err(failed)?,
            is_operators: row.get(2).map_err(failed)?,
            expires_at: expires_at.map(instant).transpose()?,
        });
    }
    Ok(keys)
}
