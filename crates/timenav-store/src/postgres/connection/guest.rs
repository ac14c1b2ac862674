//! A connection to a database that does not belong to the service, to set something up in it.

use timenav_engine::StoreError;
use tokio::task::JoinHandle;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use crate::postgres::connection::address::Address;
use crate::postgres::values::{Failed, get};

/// An error of such a database, with the message of the server or the connection.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct GuestError(String);

impl From<StoreError> for GuestError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(reason) | StoreError::Unknown(reason) | StoreError::Damaged(reason) => Self(reason),
            StoreError::Moved(_) => Self(error.to_string()),
        }
    }
}

impl From<Failed> for GuestError {
    fn from(failed: Failed) -> Self {
        StoreError::from(failed).into()
    }
}

/// A connection to a PostgreSQL database that is not a store. It is closed on drop.
pub struct PostgresGuest {
    client: Client,
    driver: JoinHandle<()>,
}

impl PostgresGuest {
    /// Connects. The address has the format of [`PostgresOptions`](super::PostgresOptions).
    ///
    /// # Errors
    /// If the address is malformed, or the database cannot be reached.
    pub async fn connect(url: &str) -> Result<Self, GuestError> {
        let (client, driver) = Address::read(url)?.connect_once().await?;
        Ok(Self { client, driver })
    }

    /// Runs statements in order, without parameters.
    ///
    /// # Errors
    /// If the server rejects a statement or cannot be reached.
    pub async fn run(&self, statements: &str) -> Result<(), GuestError> {
        Ok(self.client.batch_execute(statements).await.map_err(Failed::from)?)
    }

    /// Runs one statement with text parameters and text columns, and returns its rows.
    ///
    /// # Errors
    /// If the server rejects it or cannot be reached, or a column is not text.
    pub async fn ask(&self, statement: &str, parameters: &[&str]) -> Result<Vec<Vec<Option<String>>>, GuestError> {
        let parameters: Vec<&(dyn ToSql + Sync)> = parameters.iter().map(|text| text as &(dyn ToSql + Sync)).collect();
        let rows = self.client.query(statement, &parameters).await.map_err(Failed::from)?;
        let cells = |row: &Row| (0..row.len()).map(|at| get(row, at)).collect::<Result<Vec<_>, Failed>>();
        Ok(rows.iter().map(cells).collect::<Result<_, Failed>>()?)
    }
}

impl Drop for PostgresGuest {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
