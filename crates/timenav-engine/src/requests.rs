//! What every request brings and meets: its caller, its limits, and the reasons to reject it.

pub(crate) mod rate_limited_log;
pub(crate) mod json;
pub(crate) mod stored;
pub(crate) mod caller;
pub(crate) mod actor;
pub(crate) mod background;
pub(crate) mod options;
pub(crate) mod code;
pub(crate) mod refusal;
pub(crate) mod idempotency;
pub(crate) mod attempts;
pub(crate) mod refused;
pub(crate) mod stats;
pub(crate) mod expected;
