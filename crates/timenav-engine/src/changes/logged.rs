//! What is answered where there is little to tell: that something was logged, or read.

use serde::{Deserialize, Serialize};
use timenav_core::clock::Clock;
use timenav_core::time::{Instant, Virtual};

use super::Change;

/// Something was logged, or sessions or a password changed: there is nothing to tell but where that stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Logged {}

impl Change for Logged {
    const KIND: &'static str = "logged";
    type Record = Self;

    fn record(&self) -> Self {
        self.clone()
    }

    fn of(record: Self) -> Option<Self> {
        Some(record)
    }
}

/// Something was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadLogged {
    /// The clock at the entry, and what it shows there: for a key with a horizon, which sees no further.
    pub(crate) seen: Option<(Clock, Instant<Virtual>)>,
}

impl Change for ReadLogged {
    const KIND: &'static str = "logged";
    type Record = Logged;

    // Nobody repeats a read with an idempotency key.
    fn record(&self) -> Logged {
        Logged {}
    }

    fn of(_record: Logged) -> Option<Self> {
        Some(Self { seen: None })
    }
}
