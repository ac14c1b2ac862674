//! `timenav upgrade`: shows the service versions that use a database, and ends mixed operation.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use timenav_engine::FEATURE_LEVEL;
use timenav_store::{Finished, PostgresUpgrade, SeenService};

use crate::config::{ServeOptions, Settings, StoreUrl};
use crate::exit::Failure;
use crate::output;

/// Shows the versions of the services on a PostgreSQL database, and finishes a rolling upgrade.
///
/// Newer services write only what older ones can read. When all services have the newer version, run `--finish`. After
/// that, an older service that comes back stops.
#[derive(Debug, clap::Args)]
pub(crate) struct UpgradeCommand {
    /// The PostgreSQL database of the services.
    #[arg(long, env = "TIMENAV_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<StoreUrl>,
    /// A file with the URL for `--store`.
    #[arg(long, env = "TIMENAV_STORE_FILE", value_name = "FILE")]
    store_file: Option<PathBuf>,
    /// The configuration file, for `store`.
    #[arg(long, env = "TIMENAV_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Show the versions and the feature level. This is the default.
    #[arg(long, conflicts_with = "finish")]
    status: bool,
    /// Enable all features of this version. Fails while an older service is running.
    #[arg(long)]
    finish: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Fails if a running service does not support this version's level.
pub(crate) fn run(command: UpgradeCommand) -> Result<(), Failure> {
    let UpgradeCommand { store, store_file, config, status: _, finish, json } = command;
    let settings = Settings::resolve(ServeOptions { store, store_file, config, ..ServeOptions::default() })?;
    let Some(url) = settings.store else {
        let what = "name the PostgreSQL database with --store; a service with a SQLite file is upgraded by starting \
                    the newer version";
        return Err(anyhow!(what).into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("threads cannot be started")?;
    runtime.block_on(async {
        let named = || format!("the database {url}");
        let mut upgrade = PostgresUpgrade::connect(url.secret()).await.with_context(named)?;
        let finished = if finish { Some(upgrade.finish().await.with_context(named)?) } else { None };
        if let Some(Finished::Older(older)) = &finished {
            let older: Vec<String> = older.iter().map(|one| format!("`{}` ({})", one.name, one.version)).collect();
            let older = older.join(", ");
            return Err(anyhow!(
                "older services cannot read what this version writes: {older}; replace or stop them, and try again"
            )
            .into());
        }
        let (level, services) = upgrade.look().await.with_context(named)?;
        show(level, &services, finished.as_ref(), json)
    })
}

fn show(level: u64, services: &[SeenService], finished: Option<&Finished>, json: bool) -> Result<(), Failure> {
    let rows: Vec<Value> = services.iter().map(row).collect();
    let message = match finished {
        Some(Finished::Raised) => format!("All services may now write entries of feature level {level}."),
        Some(Finished::Already) => format!("Nothing to finish: the database has the feature level {level}."),
        Some(Finished::Older(_)) | None if level < FEATURE_LEVEL => format!(
            "The database has the feature level {level}, and this version knows {FEATURE_LEVEL}. When no older service \
             is running, run `timenav upgrade --finish`."
        ),
        Some(Finished::Older(_)) | None => {
            format!("The database has the feature level {level}, the same as this version.")
        }
    };
    if json {
        let document = json!({
            "feature_level": level, "known_level": FEATURE_LEVEL, "raised": finished == Some(&Finished::Raised),
            "services": rows, "status": message,
        });
        return output::write_json(&document);
    }
    if !rows.is_empty() {
        let columns = [("NAME", "name"), ("VERSION", "version"), ("LEVEL", "feature_level"), ("STATE", "state")];
        output::write(&output::table(&rows, &columns, true))?;
    }
    output::write(&format!("{message}\n"))
}

fn row(service: &SeenService) -> Value {
    let SeenService { name, version, level, seen_micros_ago } = service;
    let state = if service.is_there() { "running" } else { "stopped" };
    let last_seen_seconds_ago = seen_micros_ago.max(&0) / 1_000_000;
    json!({
        "name": output::printable(name), "version": output::printable(version), "feature_level": level, "state": state,
        "last_seen_seconds_ago": last_seen_seconds_ago,
    })
}
