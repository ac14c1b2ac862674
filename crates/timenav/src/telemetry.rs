//! Where the service's log goes, and how it is written.

use std::io::{IsTerminal as _, stderr};

use anyhow::Context as _;
use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::EnvFilter;

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// A library that warns of what clients do, a line for each time they do it. The service counts these itself.
const TALKATIVE: &str = "h2";

/// Returns the filter with that library at `error`, unless somebody asked for it by name.
fn quieter(filter: &str) -> String {
    let asks_for_it = filter.split(',').any(|directive| directive.trim().starts_with(TALKATIVE));
    if asks_for_it { filter.to_owned() } else { format!("{filter},{TALKATIVE}=error") }
}

/// Sends the log of this process to stderr. Stdout stays for answers.
///
/// # Errors
/// The filter is written wrongly.
pub(crate) fn start(format: LogFormat, filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::builder()
        .parse(quieter(filter))
        .with_context(|| format!("`{filter}` is not a log filter; write `info`, or `warn,timenav_engine=debug`"))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        // A closed stderr is no reason to panic.
        .log_internal_errors(false);
    let started = match format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))
}
