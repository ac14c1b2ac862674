use std::io::{IsTerminal as _, stderr};

use anyhow::Context as _;
use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::EnvFilter;

pub(crate) mod process_stats;
pub(crate) mod redaction;

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Libraries that log a line per remote action, and their maximum level. The service counts client actions itself, and
/// reports rejected certificates where it rejects them.
const TALKATIVE: [(&str, &str); 2] = [("h2", "error"), ("rustls_platform_verifier", "off")];

/// Adds the levels of these libraries to a filter, unless it names them.
fn quieter(filter: &str) -> String {
    let asks_for = |library: &str| filter.split(',').any(|directive| directive.trim().starts_with(library));
    let left = TALKATIVE.iter().filter(|(library, _)| !asks_for(library));
    left.fold(filter.to_owned(), |filter, (library, level)| format!("{filter},{library}={level}"))
}

/// Sends the log to stderr. Stdout is for output.
pub(crate) fn start(format: LogFormat, filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::builder()
        .parse(quieter(filter))
        .with_context(|| format!("`{filter}` is not a log filter; write `info`, or `warn,timenav_engine=debug`"))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        // A closed stderr must not cause a panic.
        .log_internal_errors(false);
    let started = match format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))
}
