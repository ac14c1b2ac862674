//! What is answered where there is little to tell: that something was logged, or read.

use serde::{Deserialize, Serialize};

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
