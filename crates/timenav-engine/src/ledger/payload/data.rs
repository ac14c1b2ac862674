use serde::{Deserialize, Serialize};

use super::parts::is_not;
use crate::requests::json::read;

/// Payload of `encrypt_data`. It reveals nothing about the data but its length.
#[derive(Serialize, Deserialize)]
pub(crate) struct DataEncrypted {
    pub(crate) data_id: String,
    pub(crate) format: u8,
    pub(crate) kdf: String,
    /// Of the whole stored record.
    pub(crate) sha256: String,
    pub(crate) bytes: usize,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct DataDecrypted {
    pub(crate) data_id: String,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct DataErased {
    /// Position of the entry whose content is erased.
    pub(crate) position: u64,
    /// Positions of further erased entries: those of other versions of an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) also: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event_id: Option<String>,
    #[serde(default, skip_serializing_if = "is_not")]
    pub(crate) cancelled: bool,
}

impl DataErased {
    pub(crate) const fn is_event(&self) -> bool {
        self.event_id.is_some()
    }

    /// Returns whether a payload may be of the erasure of an event. True if it cannot be parsed, to be safe.
    pub(crate) fn may_be_of_event(payload: &[u8]) -> bool {
        read::<Self>(payload).is_none_or(|erased| erased.is_event())
    }
}

/// Payload of `detect_tampering`.
#[derive(Serialize, Deserialize)]
pub(crate) struct ScanPayload {
    pub(crate) scan_depth: String,
}
