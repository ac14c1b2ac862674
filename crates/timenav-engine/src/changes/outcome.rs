//! How the outcome of a request is kept.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::Hash;

use super::LedgerPosition;

/// Stands where a change was kept that held the content of an event, and that was erased.
const FORGOTTEN: &str = r#"{"kind":"forgotten"}"#;

/// Returns whether what is kept says that it was a change, which is forgotten.
pub(crate) fn is_forgotten(kept: &str) -> bool {
    kept == FORGOTTEN
}

/// The outcome of a request as it is kept.
#[derive(Serialize, Deserialize)]
pub(crate) struct OutcomeRecord {
    timeline_id: String,
    position: u64,
    size: u64,
    root: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    timeline_created: bool,
    /// Whether no entry is its own: nothing has happened that has one, and it names the last that there was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    untold: bool,
    change: Box<RawValue>,
}

impl OutcomeRecord {
    /// Returns the record of a change, which is JSON already.
    pub(crate) fn of(timeline: &TimelineId, ledger: LedgerPosition, change: String) -> Option<Self> {
        Some(Self {
            timeline_id: timeline.to_string(),
            position: ledger.position,
            size: ledger.size,
            root: ledger.root.to_hex(),
            timeline_created: ledger.timeline_created,
            untold: false,
            change: RawValue::from_string(change).ok()?,
        })
    }

    /// Returns the record of a change that is not told any more: where it stands is.
    pub(crate) fn forgotten(timeline: &TimelineId, ledger: LedgerPosition) -> Option<Self> {
        Self::of(timeline, ledger, FORGOTTEN.to_owned())
    }

    /// Says whether no entry is its own.
    pub(crate) fn untold(self, untold: bool) -> Self {
        Self { untold, ..self }
    }

    /// Returns whether no entry is its own.
    pub(crate) const fn is_untold(&self) -> bool {
        self.untold
    }

    /// Returns where the outcome stands, and the change as JSON. `None` if the record holds what no outcome can be.
    pub(crate) fn parts(&self) -> Option<(TimelineId, LedgerPosition, &str)> {
        let root = Hash::from_hex(&self.root)?;
        let Self { position, size, timeline_created, .. } = *self;
        let ledger = LedgerPosition { position, size, root, timeline_created };
        Some((TimelineId::new(&self.timeline_id).ok()?, ledger, self.change.get()))
    }
}
