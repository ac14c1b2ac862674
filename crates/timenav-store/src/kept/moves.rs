//! What a move asks of what it reads from, and of what it writes to.

use async_trait::async_trait;
use timenav_engine::{Head, StoreError};

use super::tables::{Table, Value};
use super::values::count;

/// One row, in the order of the table's columns.
pub(crate) type Row = Vec<Value>;

/// Some rows of a table, and what comes after the last of them.
pub(crate) struct Page {
    pub(crate) rows: Vec<Row>,
    /// The key of the last row; `None` behind the end.
    pub(crate) last: Option<Vec<Value>>,
}

/// What is read from.
#[async_trait]
pub(crate) trait Source: Send + Sync {
    /// Returns the heads of all timelines, by number.
    async fn heads(&self) -> Result<Vec<Head>, StoreError>;

    /// Returns the rows after a key.
    async fn page(&self, table: &'static Table, after: Option<Vec<Value>>) -> Result<Page, StoreError>;
}

/// How far one table has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) after: Option<Vec<Value>>,
    pub(crate) rows: u64,
}

impl Progress {
    /// Reads what was kept of it.
    pub(crate) fn kept(after: Option<String>, rows: i64) -> Result<Self, StoreError> {
        let after = after.map(|after| serde_json::from_str(&after)).transpose();
        let after = after.map_err(|_| StoreError::Damaged("how far a move has come cannot be read".to_owned()))?;
        Ok(Self { after, rows: count(rows)? })
    }

    /// Returns the key behind which it goes on, as it is kept.
    pub(crate) fn after_to_keep(&self) -> Result<Option<String>, StoreError> {
        let after = self.after.as_ref().map(serde_json::to_string).transpose();
        after.map_err(|error| StoreError::Unavailable(error.to_string()))
    }
}

/// What is written to.
#[async_trait]
pub(crate) trait Target: Send + Sync {
    /// Returns which move is under way here; `None` where everything is empty.
    ///
    /// # Errors
    /// Something else is kept here.
    async fn under_way(&self) -> Result<Option<UnderWay>, StoreError>;

    /// Returns the heads of all timelines, by number.
    async fn heads(&self) -> Result<Vec<Head>, StoreError>;

    /// Begins a move.
    async fn begin(&self, state: &str) -> Result<(), StoreError>;

    /// Returns how far a table has come.
    async fn progress(&self, table: &'static Table) -> Result<Progress, StoreError>;

    /// Keeps rows, and how far that is.
    async fn put(&self, table: &'static Table, rows: Vec<Row>, progress: &Progress) -> Result<(), StoreError>;
}

/// A move that has begun.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnderWay {
    /// Rows are missing. It comes from this state.
    Copying(String),
    /// Every row is there that there will be.
    Copied,
}
