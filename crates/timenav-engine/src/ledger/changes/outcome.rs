use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::Hash;

use super::LedgerPosition;

/// Replaces a stored change whose event content was erased.
const FORGOTTEN: &str = r#"{"kind":"forgotten"}"#;

pub(crate) fn is_forgotten(stored: &str) -> bool {
    stored == FORGOTTEN
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OutcomeRecord {
    timeline_id: String,
    position: u64,
    size: u64,
    root: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    timeline_created: bool,
    /// Whether the request wrote no entry. The position is then that of the last entry at the time.
    #[serde(default, rename = "untold", skip_serializing_if = "std::ops::Not::not")]
    is_withheld: bool,
    change: Box<RawValue>,
}

impl OutcomeRecord {
    pub(crate) fn of(timeline: &TimelineId, ledger: LedgerPosition, change: String) -> Option<Self> {
        Some(Self {
            timeline_id: timeline.to_string(),
            position: ledger.position,
            size: ledger.size,
            root: ledger.root.to_hex(),
            timeline_created: ledger.timeline_created,
            is_withheld: false,
            change: RawValue::from_string(change).ok()?,
        })
    }

    /// Returns the record of an erased change, which keeps its position.
    pub(crate) fn forgotten(timeline: &TimelineId, ledger: LedgerPosition) -> Option<Self> {
        Self::of(timeline, ledger, FORGOTTEN.to_owned())
    }

    pub(crate) fn withheld(self, is_withheld: bool) -> Self {
        Self { is_withheld, ..self }
    }

    pub(crate) const fn is_withheld(&self) -> bool {
        self.is_withheld
    }

    /// `None` if the record is invalid.
    pub(crate) fn parts(&self) -> Option<(TimelineId, LedgerPosition, &str)> {
        let root = Hash::from_hex(&self.root)?;
        let Self { position, size, timeline_created, .. } = *self;
        let ledger = LedgerPosition { position, size, root, timeline_created };
        Some((TimelineId::new(&self.timeline_id).ok()?, ledger, self.change.get()))
    }
}
