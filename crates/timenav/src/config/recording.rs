use clap::ValueEnum;
use serde::Deserialize;
use timenav_engine::ReadLog;

use super::{LagMillis, ServeOptions};

/// When the entry of a successful read is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReadLogChoice {
    /// Before the response.
    Durable,
    /// Soon after the response. A crash can lose the entries of the last reads.
    #[default]
    Buffered,
}

impl From<ReadLogChoice> for ReadLog {
    fn from(choice: ReadLogChoice) -> Self {
        match choice {
            ReadLogChoice::Durable => Self::Durable,
            ReadLogChoice::Buffered => Self::Buffered,
        }
    }
}

/// What the service records, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordingSettings {
    pub(crate) read_log: ReadLogChoice,
    /// Whether successful reads of a clock have entries.
    pub(crate) log_clock_reads: bool,
    pub(crate) checkpoint_lag: LagMillis,
}

impl RecordingSettings {
    pub(super) fn of(options: &ServeOptions) -> Self {
        Self {
            read_log: options.read_log.unwrap_or_default(),
            log_clock_reads: options.log_clock_reads.unwrap_or(false),
            checkpoint_lag: options.checkpoint_lag.unwrap_or_default(),
        }
    }
}
