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

/// Libraries that log what others do, a line for each time they do it, and the level that is left to them. The service
/// counts what clients do itself, and says of certificates that it refuses where it refuses them.
const TALKATIVE: [(&str, &str); 2] = [("h2", "error"), ("rustls_platform_verifier", "off")];

/// Returns the filter with these libraries at their levels, unless somebody asked for one by name.
fn quieter(filter: &str) -> String {
    let asks_for = |library: &str| filter.split(',').any(|directive| directive.trim().starts_with(library));
    let left = TALKATIVE.iter().filter(|(library, _)| !asks_for(library));
    left.fold(filter.to_owned(), |filter, (library, level)| format!("{filter},{library}={level}"))
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
