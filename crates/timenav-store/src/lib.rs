//! How timenav's state is kept: one module for each backend, and the file of checkpoints beside
//! whatever backend is used.
//!
//! Backends share the conformance suite in `tests/it`, and no code.

pub mod outside;
pub mod sqlite;

pub use outside::CheckpointFile;
pub use sqlite::{Examination, ExaminedKey, SqliteArchive, SqliteStore, copy, fold_log};
