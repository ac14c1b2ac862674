//! Brings the tables of a database up to date, one numbered step after the other.

use timenav_core::ledger::sha256;
use timenav_engine::StoreError;
use tokio_postgres::Transaction;

use super::upgrading;
use super::values::{Failed, get};

/// The steps, in order. One that was ever released never changes: a change is a new step.
const STEPS: [(&str, &str); 1] = [("0001-init", include_str!("../../migrations/postgres/0001-init.sql"))];

/// One service at a time looks and migrates. Given back at the end of the transaction.
const LOCK: &str = "SELECT pg_advisory_xact_lock(1414414678, 1)";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    step text COLLATE \"C\" NOT NULL PRIMARY KEY, sha256 text NOT NULL
)";

/// Whether the database is the coordinator of a Citus cluster.
pub(super) const IS_SPREAD: &str = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')";
/// Spreads what grows with each entry over the workers of a cluster, all of one timeline on one of them. Heads, locks, and
/// who may do what stay on the coordinator, where one statement sees all of them.
const SPREAD: &str = "DO $$ BEGIN
    PERFORM create_distributed_table('entries', 'timeline', colocate_with => 'none');
    PERFORM create_distributed_table(name, 'timeline', colocate_with => 'entries')
    FROM unnest(ARRAY['tiles', 'events', 'interventions']) AS name;
    END $$";

/// The first version that everything here was tried on, as the server counts versions.
const SERVER_VERSION_MIN: i32 = 150_000;
const SELECT_SERVER: &str = "SELECT current_setting('server_version_num')::integer, current_setting('server_version'),
    current_setting('server_encoding')";

/// Refuses a server that is too old, and a database that cannot hold every text.
async fn check_server(transaction: &Transaction<'_>) -> Result<(), Failed> {
    let row = transaction.query_one(SELECT_SERVER, &[]).await?;
    let (number, version, encoding): (i32, String, String) = (get(&row, 0)?, get(&row, 1)?, get(&row, 2)?);
    if number < SERVER_VERSION_MIN {
        let message = format!("the server is PostgreSQL {version}; 15 or later is needed");
        return Err(StoreError::Unavailable(message).into());
    }
    if encoding != "UTF8" {
        let message = format!("the database has the encoding {encoding}; create it with the encoding UTF8");
        return Err(StoreError::Unavailable(message).into());
    }
    Ok(())
}

/// Takes the steps that are missing. All of them become true, or none does.
pub(super) async fn run(transaction: &Transaction<'_>) -> Result<(), Failed> {
    check_server(transaction).await?;
    transaction.batch_execute("SET LOCAL lock_timeout = '30s'").await?;
    transaction.batch_execute(LOCK).await?;
    transaction.batch_execute(TABLE).await?;
    let rows = transaction.query("SELECT step, sha256 FROM migrations ORDER BY step", &[]).await?;
    let done = rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
    let done: Vec<(String, String)> = done.collect::<Result<_, Failed>>()?;
    for (step, text) in &STEPS[check(&done)?..] {
        transaction.batch_execute(text).await?;
        let insert = "INSERT INTO migrations (step, sha256) VALUES ($1, $2)";
        transaction.execute(insert, &[step, &digest(text)]).await?;
    }
    if done.is_empty() && get(&transaction.query_one(IS_SPREAD, &[]).await?, 0)? {
        transaction.batch_execute(SPREAD).await?;
    }
    upgrading::begin(transaction).await
}

fn digest(text: &str) -> String {
    sha256(&[text.as_bytes()]).to_hex()
}

/// Returns how many steps a database has gone through: the first ones, and none that is not of this version.
fn check(done: &[(String, String)]) -> Result<usize, StoreError> {
    if let Some((step, _)) = done.get(STEPS.len()) {
        let message = format!("the database was written by a newer version of timenav (it has step `{step}`)");
        return Err(StoreError::Unavailable(message));
    }
    for ((name, sha256), (step, text)) in done.iter().zip(&STEPS) {
        if name != step || *sha256 != digest(text) {
            let message = format!("migration `{name}` of the database is not `{step}` of this version");
            return Err(StoreError::Damaged(message));
        }
    }
    Ok(done.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_goes_on_from_a_step_of_this_version_and_from_no_other() {
        let step = |name: &str, text: &str| (name.to_owned(), digest(text));
        let (name, text) = STEPS[0];
        assert_eq!(check(&[]).unwrap(), 0);
        assert_eq!(check(&[step(name, text)]).unwrap(), 1);
        assert!(matches!(check(&[step(name, "other")]), Err(StoreError::Damaged(_))));
        assert!(matches!(check(&[step("0000-else", text)]), Err(StoreError::Damaged(_))));
        let newer: Vec<_> = STEPS.iter().map(|(name, text)| step(name, text)).chain([step("9999-x", "")]).collect();
        assert!(check(&newer).unwrap_err().to_string().contains("newer version"));
    }
}
