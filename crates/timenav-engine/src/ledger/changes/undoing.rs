//! The response of undoing an import.

use serde::{Deserialize, Serialize};

use super::Change;

/// Events of an import were canceled.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ImportUndone {
    pub(crate) undone: u64,
    /// How many stay because they were changed since.
    pub(crate) kept: u64,
}

impl Change for ImportUndone {
    const KIND: &'static str = "import_undone";
    type Record = Self;

    fn record(&self) -> Self {
        *self
    }

    fn of(record: Self) -> Option<Self> {
        Some(record)
    }
}
