//! Options of commands that change the data of a stopped service.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use tokio::signal::unix::{SignalKind, signal};

use super::runtime;
use crate::config::{ServeOptions, Settings, StoreUrl};
use crate::data_folder::{DATABASE_FILE, DataFolder};
use crate::exit::Failure;
use crate::telemetry;

/// A service, with its data in a file or on PostgreSQL.
#[derive(Debug, clap::Args)]
pub(super) struct StoppedService {
    /// The data folder. [default: ./timenav-data]
    #[arg(long, env = "TIMENAV_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// The checkpoint folder. Defaults to the data folder.
    #[arg(long, env = "TIMENAV_CHECKPOINTS", value_name = "DIR")]
    checkpoints: Option<PathBuf>,
    /// The PostgreSQL database of the service.
    #[arg(long, env = "TIMENAV_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<StoreUrl>,
    /// A file with the URL for `--store`.
    #[arg(long, env = "TIMENAV_STORE_FILE", value_name = "FILE")]
    store_file: Option<PathBuf>,
    /// The signing key file for `--store`, if not in the data folder.
    #[arg(long, env = "TIMENAV_SIGNING_KEY", value_name = "FILE")]
    signing_key: Option<PathBuf>,
    /// The configuration file, for `data`, `store`, `signing_key` and `checkpoints`.
    #[arg(long, env = "TIMENAV_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

impl StoppedService {
    /// Starts logging, and checks that there is a database.
    pub(super) fn settings(self) -> anyhow::Result<Settings> {
        let Self { data, checkpoints, store, store_file, signing_key, config } = self;
        let options =
            ServeOptions { data, store, store_file, signing_key, config, checkpoints, ..ServeOptions::default() };
        let settings = Settings::resolve(options)?;
        telemetry::start(settings.log_format, &settings.log_filter)?;
        if settings.store.is_none() {
            database(&settings)?;
        }
        Ok(settings)
    }
}

/// Fails if there is no database.
pub(super) fn database(settings: &Settings) -> anyhow::Result<PathBuf> {
    let database = settings.data.join(DATABASE_FILE);
    if database.try_exists().with_context(|| format!("{} cannot be read", database.display()))? {
        return Ok(database);
    }
    bail!("there is no database in {}: give the data folder of a service with --data", settings.data.display())
}

/// Locks the data folder of a service.
pub(super) fn folder_of(settings: &Settings) -> anyhow::Result<DataFolder> {
    DataFolder::open_with_key(&settings.data, settings.signing_key.as_deref())
}

/// A service with its data in a file.
#[derive(Debug, clap::Args)]
pub(super) struct FileService {
    /// The data folder. [default: ./timenav-data]
    #[arg(long, env = "TIMENAV_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// The PostgreSQL database. The command then prints what to use instead.
    #[arg(long, env = "TIMENAV_STORE", hide = true, hide_env_values = true, value_name = "URL")]
    store: Option<StoreUrl>,
    /// The checkpoint folder. Defaults to the data folder.
    #[arg(long, env = "TIMENAV_CHECKPOINTS", value_name = "DIR")]
    checkpoints: Option<PathBuf>,
    /// The configuration file, for `data` and `checkpoints`.
    #[arg(long, env = "TIMENAV_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

impl FileService {
    pub(super) fn settings(self) -> anyhow::Result<Settings> {
        let Self { data, store, checkpoints, config } = self;
        Settings::resolve(ServeOptions { data, store, config, checkpoints, ..ServeOptions::default() })
    }
}

/// Runs work that writes large files.
pub(super) fn write_files<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    runtime()?.block_on(async {
        // With a handler for SIGXFSZ, a write beyond the file size limit fails like one to a full disk.
        let _too_long = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))
            .context("signals cannot be received")?;
        work.await
    })
}
