//! Changes to the rows of the directory, as far as entries tell of them.

use timenav_core::directory::{DirectoryChange, PasswordTold};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::Hash;

/// A timeline that has ended, by size and root of its ledger.
#[derive(Clone, Debug)]
pub(super) struct EndTold {
    pub(super) timeline_id: TimelineId,
    pub(super) size: u64,
    pub(super) root: Hash,
}

/// One change to the rows, as far as entries tell of it.
pub(super) type Change = DirectoryChange<PasswordTold, EndTold>;
