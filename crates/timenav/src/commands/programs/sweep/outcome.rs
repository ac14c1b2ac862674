use std::path::PathBuf;
use std::time::Duration;

use timenav_core::time::{Instant, Virtual};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Exited(i32),
    Killed(i32),
    /// It exceeded the timeout and was killed.
    TimedOut,
}

impl Outcome {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Exited(_) | Self::Killed(_) => "failed",
            Self::TimedOut => "timed_out",
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::Passed => "passed".to_owned(),
            Self::Exited(code) => format!("failed, exit code {code}"),
            Self::Killed(signal) => format!("failed, signal {signal}"),
            Self::TimedOut => "timed out".to_owned(),
        }
    }

    pub(super) const fn passes(self) -> bool {
        matches!(self, Self::Passed)
    }
}

/// The first failing date and the last passing one before it, if any.
pub(super) type Boundary = (Option<Instant<Virtual>>, Option<Instant<Virtual>>);

#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) date: Instant<Virtual>,
    pub(super) outcome: Outcome,
    /// Duration in host time.
    pub(super) took: Duration,
    /// The output file, if it failed.
    pub(super) output: Option<PathBuf>,
}
