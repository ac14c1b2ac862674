use serde::{Deserialize, Serialize};

use super::Change;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ImportUndone {
    pub(crate) undone: u64,
    #[serde(rename = "kept")]
    pub(crate) skipped_changed: u64,
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
