//! The operations, one file for each resource.

pub(crate) mod access_control;
pub(crate) mod access_logs;
pub(crate) mod anchors;
pub(crate) mod api_keys;
pub(crate) mod clock;
pub(crate) mod data;
pub(crate) mod effect;
pub(crate) mod event_history;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod limits;
pub(crate) mod check_timeline;
pub(crate) mod paradoxes;
pub(crate) mod proofs;
pub(crate) mod scan_events;
pub(crate) mod sessions;
pub(crate) mod resolved;
pub(crate) mod restrictions;
pub(crate) mod stream;
pub(crate) mod tiles;
pub(crate) mod tampering;
pub(crate) mod timelines;
pub(crate) mod timelines_diff;
pub(crate) mod users;
