//! Commands that run, keep, move or examine a service.

pub(crate) mod accept_rollback;
pub(crate) mod backup;
pub(crate) mod backup_file;
pub(crate) mod checked_copy;
pub(crate) mod compact;
pub(crate) mod copy_bar;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod migrate;
pub(crate) mod of_file;
pub(crate) mod restore;
pub(crate) mod rotate_signing_key;
pub(crate) mod serve;
pub(crate) mod signing_key;
pub(crate) mod upgrade;
pub(crate) mod verify;
pub(crate) mod witness;
pub(crate) mod stopped_service;
pub(crate) mod work_folder;

use anyhow::Context as _;
use tokio::runtime::Runtime;

/// Returns a runtime with a thread per processor.
fn runtime() -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("threads cannot be started")
}
