//! Storage for timenav: one module per backend, and the checkpoint file that every backend is used with.
//!
//! Backends share the conformance suite in `tests/it`, the tables with their row types (`tables`), and code that is
//! independent of any database (`stored`): column encodings, the short forms of leaves and payloads, and name matching.

mod persistence;
mod moving;
mod tables;

pub mod outside;
pub mod postgres;
pub mod sqlite;

pub use moving::{Copied, Moved, to_postgres, to_sqlite};
pub use outside::CheckpointFile;
pub use persistence::examination::{Examination, ExaminedKey};
pub use postgres::{
    Finished, GuestError, PostgresGuest, PostgresOptions, PostgresStore, PostgresUpgrade, SeenService, ServerFacts,
};
pub use sqlite::{SqliteArchive, SqliteStore, copy, fold_log};
#[doc(hidden)]
pub use tables::generated_statements;
