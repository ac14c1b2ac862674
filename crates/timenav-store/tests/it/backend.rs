//! The backends on which the conformance suite runs.

use std::sync::Arc;

use tempfile::TempDir;
use timenav_engine::{Store, StoreError};
use timenav_store::SqliteStore;

use crate::cluster;

/// Storage that outlives the store that wrote it.
pub(crate) trait Backend: Send + Sync {
    /// Opens a store on it. It may be open already.
    fn try_open(&self) -> Result<Arc<dyn Store>, StoreError>;

    fn open(&self) -> Arc<dyn Store> {
        self.try_open().unwrap()
    }
}

/// One SQLite file in its own folder.
pub(crate) struct Sqlite(TempDir);

impl Sqlite {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Backend for Sqlite {
    fn try_open(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(SqliteStore::open(&self.0.path().join("timenav.db"))?))
    }
}

/// One database of a PostgreSQL started by the tests.
pub(crate) struct Postgres(String);

impl Postgres {
    pub(crate) fn new() -> Self {
        Self(cluster::database())
    }
}

impl Backend for Postgres {
    fn try_open(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(cluster::open(&self.0)?))
    }
}

/// Generates a test for each check on each backend.
macro_rules! on_each_backend {
    ($($check:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $check() {
                    super::$check(&$crate::backend::Sqlite::new()).await;
                }
            )*
        }

        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $check() {
                    super::$check(&$crate::backend::Postgres::new()).await;
                }
            )*
        }
    };
}
pub(crate) use on_each_backend;
