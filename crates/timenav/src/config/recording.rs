use clap::ValueEnum;
use serde::Deserialize;
use timenav_engine::ReadLog;

/// When the entry of a successful read is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReadLogChoice {
    /// Before the response.
    #[default]
    Durable,
    /// Soon after the response. A crash can lose the entries of the last reads.
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
