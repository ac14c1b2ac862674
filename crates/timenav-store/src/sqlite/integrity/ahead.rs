use rusqlite::{Connection, ToSql};
use timenav_engine::{Head, StoreError};

use crate::persistence::ahead::{BY_POSITION, first_tiles};
use crate::sqlite::values::{failed, sql};

const IS_TILE: &str = "SELECT EXISTS (SELECT 1 FROM tiles WHERE timeline = ?1 AND level = ?2 AND tile >= ?3)";

/// Returns the tables that have such rows. Those of events and interventions are counted elsewhere.
pub(in crate::sqlite) fn tables(connection: &Connection, head: &Head) -> Result<Vec<&'static str>, StoreError> {
    let size = head.frontier.size();
    let is_one = |statement: &str, values: &[&dyn ToSql]| -> Result<bool, StoreError> {
        let mut select = connection.prepare_cached(statement).map_err(failed)?;
        select.query_row(values, |row| row.get(0)).map_err(failed)
    };
    let mut found = Vec::new();
    for table in BY_POSITION {
        let is_ahead = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE timeline = ?1 AND position >= ?2)");
        if is_one(&is_ahead, &[&head.key.0, &sql(size)])? {
            found.push(table);
        }
    }
    for (level, first) in first_tiles(size) {
        if is_one(IS_TILE, &[&head.key.0, &level, &sql(first)])? {
            found.push("tiles");
            break;
        }
    }
    Ok(found)
}
