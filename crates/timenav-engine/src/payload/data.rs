//! The payloads of what happens to sealed records, of erasures, and of scans.

use serde::{Deserialize, Serialize};

use super::parts::is_not;
use crate::json::read;

/// Payload of `encrypt_data`. It tells nothing of the data but its length.
#[derive(Serialize, Deserialize)]
pub(crate) struct DataEncrypted {
    pub(crate) data_id: String,
    pub(crate) format: u8,
    pub(crate) kdf: String,
    /// Of the whole record as it is kept.
    pub(crate) sha256: String,
    pub(crate) bytes: usize,
}

/// Payload of `decrypt_data`.
#[derive(Serialize, Deserialize)]
pub(crate) struct DataDecrypted {
    pub(crate) data_id: String,
}

/// Payload of `erase_data`.
#[derive(Serialize, Deserialize)]
pub(crate) struct DataErased {
    /// Of the entry whose content is gone.
    pub(crate) position: u64,
    /// Of further entries whose content is gone: those of other versions of an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) also: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event_id: Option<String>,
    /// Whether the event did not stand: it was cancelled before.
    #[serde(default, skip_serializing_if = "is_not")]
    pub(crate) cancelled: bool,
}

impl DataErased {
    /// Returns whether it is an event that was erased, and not a sealed record.
    pub(crate) const fn is_event(&self) -> bool {
        self.event_id.is_some()
    }

    /// Returns whether a payload tells of the erasure of an event: one that cannot be read is better taken for one.
    pub(crate) fn may_be_of_event(payload: &[u8]) -> bool {
        read::<Self>(payload).is_none_or(|erased| erased.is_event())
    }
}

/// Payload of `detect_tampering`.
#[derive(Serialize, Deserialize)]
pub(crate) struct ScanAsked {
    pub(crate) scan_depth: String,
}
