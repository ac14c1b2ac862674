//! What an operator is told about a database that is only looked at.

use timenav_core::time::{Instant, Wall};

/// What there is in a database, as far as it says how safely it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// What the database defines otherwise than the migrations do, such as a trigger.
    pub differences: Vec<String>,
    /// When the newest entry was recorded.
    pub newest: Option<Instant<Wall>>,
    /// When a scan for tampering was last asked for, as far as the newest entries tell.
    pub last_scan: Option<Instant<Wall>>,
    /// Whether there is a timeline of the demo.
    pub has_demo: bool,
    /// Users who may do everything.
    pub operators: Vec<String>,
    /// Keys that are not revoked.
    pub keys: Vec<ExaminedKey>,
}

/// A key that is not revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExaminedKey {
    /// Its public id.
    pub key_id: String,
    /// The user it belongs to.
    pub user_id: String,
    /// Whether they are an operator.
    pub is_operators: bool,
    /// When it ends, if it does.
    pub expires_at: Option<Instant<Wall>>,
}
