use timenav_core::time::{Instant, Wall};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// Differences between the schema and the migrations, such as an added trigger.
    pub differences: Vec<String>,
    pub newest: Option<Instant<Wall>>,
    /// When a tampering scan was last requested, according to the newest entries.
    pub last_scan: Option<Instant<Wall>>,
    pub has_demo: bool,
    pub operators: Vec<String>,
    /// Keys that are not revoked.
    pub keys: Vec<ExaminedKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExaminedKey {
    pub key_id: String,
    pub user_id: String,
    pub is_operators: bool,
    pub expires_at: Option<Instant<Wall>>,
}
