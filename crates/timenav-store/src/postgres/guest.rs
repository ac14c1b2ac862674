//! A connection to a database that keeps nothing of the service: for what is set up in somebody else's.

use timenav_engine::StoreError;
use tokio::task::JoinHandle;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::address::Address;
use super::values::{Failed, get};

/// An error of a database that is not a store, in the words of the server or the connection.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct GuestError(String);

impl From<StoreError> for GuestError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(told) | StoreError::Unknown(told) | StoreError::Damaged(told) => Self(told),
            StoreError::Moved(_) => Self(error.to_string()),
        }
    }
}

impl From<Failed> for GuestError {
    fn from(failed: Failed) -> Self {
        StoreError::from(failed).into()
    }
}

/// A connection to a PostgreSQL that is not a store. It ends when this is dropped.
pub struct PostgresGuest {
    client: Client,
    driver: JoinHandle<()>,
}

impl PostgresGuest {
    /// Connects. The address is that of [`PostgresOptions`](super::PostgresOptions).
    ///
    /// # Errors
    /// The address cannot be read, or the database cannot be reached.
    pub async fn connect(url: &str) -> Result<Self, GuestError> {
        let (client, driver) = Address::read(url)?.connect_once().await?;
        Ok(Self { client, driver })
    }

    /// Runs statements one after the other, without parameters.
    ///
    /// # Errors
    /// The server refuses one, or cannot be reached.
    pub async fn run(&self, statements: &str) -> Result<(), GuestError> {
        Ok(self.client.batch_execute(statements).await.map_err(Failed::from)?)
    }

    /// Runs one statement, whose parameters and columns are texts, and returns its rows.
    ///
    /// # Errors
    /// The server refuses it, or cannot be reached; or a column is not a text.
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
