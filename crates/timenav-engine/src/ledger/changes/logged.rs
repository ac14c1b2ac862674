//! The response of operations that return nothing but a ledger position.

use serde::{Deserialize, Serialize};

use super::Change;

/// An entry was written, or sessions or a password changed.
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
