//! The setting for the durability of read entries.

use clap::ValueEnum;
use serde::Deserialize;
use timenav_engine::ReadLog;

/// When the entry of a successful read is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReadLogChoice {
    /// Before the read is answered.
    #[default]
    Durable,
    /// Soon after the read is answered. A crash may lose the entries of the last reads; changes
    /// and refusals are durable before they are answered all the same.
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
