//! Brings the tables of a file up to date, one numbered step after the other.

use rusqlite::{Connection, TransactionBehavior, params};
use timenav_core::ledger::sha256;
use timenav_engine::StoreError;

use super::values::failed;

/// The steps, in order. One that was ever released never changes: a change is a new step.
const STEPS: [(&str, &str); 4] = [
    ("0001-init", include_str!("../../migrations/sqlite/0001-init.sql")),
    ("0002-data", include_str!("../../migrations/sqlite/0002-data.sql")),
    ("0003-history", include_str!("../../migrations/sqlite/0003-history.sql")),
    ("0004-sessions", include_str!("../../migrations/sqlite/0004-sessions.sql")),
];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    step TEXT PRIMARY KEY, sha256 TEXT NOT NULL
) STRICT, WITHOUT ROWID";

pub(super) fn run(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(TABLE).map_err(failed)?;
    let done: Vec<(String, String)> = {
        let mut select = transaction.prepare("SELECT step, sha256 FROM migrations ORDER BY step").map_err(failed)?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)?
    };
    if let Some((step, _)) = done.get(STEPS.len()) {
        let message = format!("the file was written by a newer version of timenav (it has step `{step}`)");
        return Err(StoreError::Unavailable(message));
    }
    for (index, (step, text)) in STEPS.iter().enumerate() {
        let digest = sha256(&[text.as_bytes()]).to_hex();
        match done.get(index) {
            Some((name, sha256)) if name == step && *sha256 == digest => {}
            Some((name, _)) => {
                return Err(StoreError::Damaged(format!(
                    "migration `{name}` of the file is not `{step}` of this version"
                )));
            }
            None => {
                transaction.execute_batch(text).map_err(failed)?;
                let insert = "INSERT INTO migrations (step, sha256) VALUES (?1, ?2)";
                transaction.execute(insert, params![step, digest]).map_err(failed)?;
            }
        }
    }
    transaction.commit().map_err(failed)
}
