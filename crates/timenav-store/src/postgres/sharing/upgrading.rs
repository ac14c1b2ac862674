//! The service versions that share a database, and the feature level that all of them support.

use timenav_engine::{FEATURE_LEVEL, OLDEST_FEATURE_LEVEL, SERVICE_LASTS_MICROS, StoreError};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Row, Transaction};

use crate::postgres::connection::address::Address;
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, damaged, get, number, sql};
use crate::postgres::{migrations, moving};

/// A new database begins with the feature level of the service that creates it.
const BEGIN: &str = "INSERT INTO feature_level (id, level) VALUES (true, $1)";
const SELECT_LEVEL: &str = "SELECT level FROM feature_level";
const FINISH: &str = "UPDATE feature_level SET level = $1";
/// Prevents services from announcing themselves in the meantime.
const LOCK: &str = "LOCK TABLE services IN SHARE ROW EXCLUSIVE MODE";
/// Microseconds since the last announcement of a service, by the server's clock.
const SELECT_SERVICES: &str = "SELECT name, version, level, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
    - until + $1 FROM services ORDER BY name, service";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenService {
    pub name: String,
    pub version: String,
    /// The feature level that it supports.
    pub level: u64,
    /// Time since its last announcement, in microseconds.
    pub seen_micros_ago: i64,
}

impl SeenService {
    /// Returns whether the other services consider it running.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.seen_micros_ago < SERVICE_LASTS_MICROS
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    Raised,
    Already,
    /// These running services do not support the new level.
    Older(Vec<SeenService>),
}

/// A connection for inspecting and finishing an upgrade.
pub struct PostgresUpgrade {
    client: Client,
    driver: JoinHandle<()>,
}

impl PostgresUpgrade {
    /// Connects. The address has the format of [`PostgresOptions`](crate::postgres::PostgresOptions).
    ///
    /// # Errors
    /// If the address is malformed, or the database cannot be reached.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let (client, driver) = Address::read(url)?.connect_once().await?;
        Ok(Self { client, driver })
    }

    /// Returns the feature level of the database, and the services seen within the last day.
    ///
    /// # Errors
    /// If the database does not have the service's tables, or does not respond.
    pub async fn look(&mut self) -> Result<(u64, Vec<SeenService>), StoreError> {
        moving::check_no_move(&self.client).await?;
        let transaction = self.client.transaction().await.map_err(Failed::from)?;
        Ok((level(&transaction).await?, services(&transaction).await?))
    }

    /// Raises the feature level to that of this version, if all running services support it.
    ///
    /// # Errors
    /// If the database has a higher level, lacks the service's tables, or does not respond.
    pub async fn finish(&mut self) -> Result<Finished, StoreError> {
        moving::check_no_move(&self.client).await?;
        let transaction = self.client.transaction().await.map_err(Failed::from)?;
        let before = level(&transaction).await?;
        check(before)?;
        if before == FEATURE_LEVEL {
            return Ok(Finished::Already);
        }
        let found = older(&transaction).await?;
        if !found.is_empty() {
            return Ok(Finished::Older(found));
        }
        // This may take minutes, and services keep announcing themselves in the meantime.
        migrations::change_to(&transaction, FEATURE_LEVEL).await?;
        transaction.batch_execute(LOCK).await.map_err(Failed::from)?;
        let found = older(&transaction).await?;
        if !found.is_empty() {
            return Ok(Finished::Older(found));
        }
        transaction.execute(FINISH, &[&sql(FEATURE_LEVEL)]).await.map_err(Failed::from)?;
        transaction.commit().await.map_err(Failed::from)?;
        Ok(Finished::Raised)
    }
}

impl Drop for PostgresUpgrade {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Creates the tables of a new database, and rejects one with an unsupported feature level.
pub(in crate::postgres) async fn begin(transaction: &Transaction<'_>) -> Result<(), Failed> {
    if migrations::run(transaction).await? {
        transaction.execute(BEGIN, &[&sql(FEATURE_LEVEL)]).await?;
    }
    Ok(check(level(transaction).await?)?)
}

/// This version supports its own level and some earlier ones.
fn check(level: u64) -> Result<(), StoreError> {
    if level > FEATURE_LEVEL {
        return Err(StoreError::Unavailable(format!(
            "the database has the feature level {level}, and this version knows {FEATURE_LEVEL}; use a newer one"
        )));
    }
    if level < OLDEST_FEATURE_LEVEL {
        return Err(StoreError::Unavailable(format!(
            "the database has the feature level {level}, and this version knows {OLDEST_FEATURE_LEVEL} to {FEATURE_LEVEL}; \
             run a version in between first, and `timenav upgrade --finish`"
        )));
    }
    Ok(())
}

async fn level(transaction: &Transaction<'_>) -> Result<u64, Failed> {
    let found = transaction.query_opt(SELECT_LEVEL, &[]).await?;
    number(&found.ok_or_else(|| damaged("the database has no feature level"))?, 0)
}

pub(in crate::postgres) async fn read_level(on: &Object) -> Result<u64, Failed> {
    let found = rows(on, SELECT_LEVEL, &[]).await?;
    number(found.first().ok_or_else(|| damaged("the database has no feature level"))?, 0)
}

/// Returns the running services that do not support the level of this version.
async fn older(transaction: &Transaction<'_>) -> Result<Vec<SeenService>, Failed> {
    let mut older = services(transaction).await?;
    older.retain(|service| service.is_there() && service.level < FEATURE_LEVEL);
    Ok(older)
}

async fn services(transaction: &Transaction<'_>) -> Result<Vec<SeenService>, Failed> {
    let rows = transaction.query(SELECT_SERVICES, &[&SERVICE_LASTS_MICROS]).await?;
    rows.iter().map(seen).collect()
}

fn seen(row: &Row) -> Result<SeenService, Failed> {
    Ok(SeenService {
        name: String::from_utf8_lossy(get(row, 0)?).into_owned(),
        version: get(row, 1)?,
        level: number(row, 2)?,
        seen_micros_ago: get(row, 3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_levels_outside_the_supported_range_are_rejected() {
        for (level, expected) in [
            (FEATURE_LEVEL + 1, Some("use a newer one")),
            (FEATURE_LEVEL, None),
            (FEATURE_LEVEL - 1, None),
            (OLDEST_FEATURE_LEVEL, None),
            (OLDEST_FEATURE_LEVEL - 1, Some("a version in between")),
        ] {
            let message = check(level).err().map(|error| error.to_string());
            assert_eq!(message.is_some(), expected.is_some(), "{level}");
            assert!(expected.is_none_or(|expected| message.unwrap_or_default().contains(expected)));
        }
    }

    #[test]
    fn postgresql_page_documents_every_feature_level() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/postgresql.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows = page.lines().skip_while(|line| !line.starts_with("| level |")).skip(2);
        let rows = rows.take_while(|line| line.starts_with('|'));
        let levels: Vec<u64> = rows.map(|row| row.split('|').nth(1).unwrap().trim().parse().unwrap()).collect();
        assert_eq!(levels, (1..=FEATURE_LEVEL).collect::<Vec<_>>());
        let known = format!("this one knows levels {OLDEST_FEATURE_LEVEL} to {FEATURE_LEVEL}");
        let page = page.replace('\n', " ");
        assert!(page.contains(&known), "{known}");
        // The output shown there is that of this version.
        let before = FEATURE_LEVEL - 1;
        for printed in [
            format!("The database has the feature level {before}, and this version knows {FEATURE_LEVEL}. When"),
            format!("All services may now write entries of feature level {FEATURE_LEVEL}."),
            format!("app1  {0:<8} {FEATURE_LEVEL}      running", env!("CARGO_PKG_VERSION")),
        ] {
            assert!(page.contains(&printed), "{printed}");
        }
    }
}
