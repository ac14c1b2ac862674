use async_trait::async_trait;
use timenav_engine::{Head, StoreError};

use super::values::count;
use crate::tables::{Table, Value};

/// One row, in the column order of the table.
pub(crate) type Row = Vec<Value<'static>>;

pub(crate) struct Page {
    pub(crate) rows: Vec<Row>,
    /// The key of the last row; `None` after the last page.
    pub(crate) last: Option<Vec<Value<'static>>>,
}

#[async_trait]
pub(crate) trait Source: Send + Sync {
    /// Returns the heads of all timelines, by number.
    async fn heads(&self) -> Result<Vec<Head>, StoreError>;

    async fn page(&self, table: &'static Table, after: Option<Vec<Value<'static>>>) -> Result<Page, StoreError>;
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) after: Option<Vec<Value<'static>>>,
    pub(crate) rows: u64,
}

impl Progress {
    pub(crate) fn from_row(after: Option<String>, rows: i64) -> Result<Self, StoreError> {
        let after = after.map(|after| serde_json::from_str(&after)).transpose();
        let after = after.map_err(|_| StoreError::Damaged("the progress of a move cannot be read".to_owned()))?;
        Ok(Self { after, rows: count(rows)? })
    }

    /// Returns the key to continue after, encoded for storage.
    pub(crate) fn after_to_keep(&self) -> Result<Option<String>, StoreError> {
        let after = self.after.as_ref().map(serde_json::to_string).transpose();
        after.map_err(|error| StoreError::Unavailable(error.to_string()))
    }
}

#[async_trait]
pub(crate) trait Target: Send + Sync {
    /// Returns the move in progress; `None` if the target is empty. Fails if it contains anything else.
    async fn under_way(&self) -> Result<Option<UnderWay>, StoreError>;

    async fn heads(&self) -> Result<Vec<Head>, StoreError>;

    /// Begins a move from a source in this state.
    async fn begin(&self, state: &str) -> Result<(), StoreError>;

    async fn progress(&self, table: &'static Table) -> Result<Progress, StoreError>;

    /// Stores rows together with the progress, atomically.
    async fn put(&self, table: &'static Table, rows: Vec<Row>, progress: &Progress) -> Result<(), StoreError>;

    /// Fills the tables that are not copied, because they follow from others.
    async fn derive(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnderWay {
    /// Rows are missing. The source had this state when the move began.
    Copying(String),
    /// All rows are copied.
    Copied,
}
