//! How timenav's state is kept: one module for each backend, and the file of checkpoints beside
//! whatever backend is used.
//!
//! Backends share the conformance suite in `tests/it`. Of code they share only what knows no database: how a value is
//! written into a column, the short forms of leaves and payloads, and which candidate a name means (`kept`).

mod kept;
mod moving;

pub mod outside;
pub mod postgres;
pub mod sqlite;

pub use kept::examination::{Examination, ExaminedKey};
pub use moving::{Copied, Moved, to_postgres, to_sqlite};
pub use outside::CheckpointFile;
pub use postgres::{
    Finished, GuestError, PostgresGuest, PostgresOptions, PostgresStore, PostgresUpgrade, SeenService, ServerFacts,
};
pub use sqlite::{SqliteArchive, SqliteStore, copy, fold_log};
