//! The result of examining a database without opening it for writing.

use timenav_core::time::{Instant, Wall};

/// The state of a database, as far as it matters for its security.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// Differences between the schema and the migrations, such as an added trigger.
    pub differences: Vec<String>,
    /// When the newest entry was recorded.
    pub newest: Option<Instant<Wall>>,
    /// When a tampering scan was last requested, according to the newest entries.
    pub last_scan: Option<Instant<Wall>>,
    /// Whether the demo timeline exists.
    pub has_demo: bool,
    /// Users with the operator role.
    pub operators: Vec<String>,
    /// Keys that are not revoked.
    pub keys: Vec<ExaminedKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExaminedKey {
    pub key_id: String,
    pub user_id: String,
    /// Whether the user is an operator.
    pub is_operators: bool,
    pub expires_at: Option<Instant<Wall>>,
}
