//! Ledger positions, and scans for tampering (`/v1/detect-tampering`).

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::options::options;
use crate::transport::call::Call;

/// The position of an entry in a ledger, and the hash tree after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LedgerPosition {
    /// The position, counted from 0.
    pub position: u64,
    /// The size of the ledger.
    pub size: u64,
    /// The root hash of the tree.
    pub root: String,
}

/// The latest signed hash tree of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LedgerHead {
    /// The size of the ledger.
    pub size: u64,
    /// The root hash of the tree.
    pub root: String,
    /// The signed checkpoint.
    pub checkpoint: String,
}

/// The result of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TamperingScan {
    /// A sentence about the outcome.
    pub status: String,
    /// Whether any data differs from the signed data.
    pub tampering_detected: bool,
    /// The first finding and its position.
    pub details: String,
    /// The differences, by position.
    pub findings: Vec<Finding>,
    /// The number of findings that are not listed.
    pub findings_omitted: u64,
    /// The numbers of checked items, by kind.
    pub checked: Vec<Checked>,
    /// The checks that were skipped, one sentence each.
    pub not_checked: Vec<String>,
    /// The ledger entry of the scan.
    pub ledger: LedgerPosition,
}

/// A difference from the signed data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The kind, such as `leaf-mismatch`.
    pub kind: String,
    /// The actual and the expected data.
    pub evidence: String,
    /// The first affected entry; for a checkpoint, its size.
    pub position: Option<u64>,
    /// The size of the largest earlier checkpoint that is known to be good.
    pub last_good_checkpoint: Option<u64>,
}

/// The number of checked items of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Checked {
    /// The kind.
    pub what: String,
    /// The number.
    pub count: u64,
}

impl Call<'_, TamperingScan> {
    options! {
        /// Sets the depth of the scan, such as `full`.
        scan_depth: into String,
    }
}

impl Client {
    /// Scans a timeline for tampering (`POST /v1/detect-tampering`). The scan has no timeout.
    pub fn detect_tampering(&self, timeline_id: &str) -> Call<'_, TamperingScan> {
        self.post(&["v1", "detect-tampering"]).set("timeline_id", timeline_id).without_timeout()
    }
}
