//! What became of a command at one date.

use std::path::PathBuf;
use std::time::Duration;

use timenav_core::time::{Instant, Virtual};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// With exit code 0.
    Passed,
    /// With another exit code.
    Exited(i32),
    /// By a signal.
    Killed(i32),
    /// It took longer than it may, and was ended.
    TimedOut,
}

impl Outcome {
    /// Returns the word for programs.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Exited(_) | Self::Killed(_) => "failed",
            Self::TimedOut => "timed_out",
        }
    }

    /// Returns what people are told.
    pub(super) fn text(self) -> String {
        match self {
            Self::Passed => "passed".to_owned(),
            Self::Exited(code) => format!("failed, exit code {code}"),
            Self::Killed(signal) => format!("failed, signal {signal}"),
            Self::TimedOut => "timed out".to_owned(),
        }
    }

    /// Returns whether the date passes.
    pub(super) const fn passes(self) -> bool {
        matches!(self, Self::Passed)
    }
}

/// The first date that fails, and the one before it that passes, where there are any.
pub(super) type Boundary = (Option<Instant<Virtual>>, Option<Instant<Virtual>>);

/// A command that ran at one date.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) date: Instant<Virtual>,
    pub(super) outcome: Outcome,
    /// How long it took, in host time.
    pub(super) took: Duration,
    /// What it printed, where it failed.
    pub(super) output: Option<PathBuf>,
}
