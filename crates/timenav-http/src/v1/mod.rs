//! The operations, one file for each resource.

pub(crate) mod anchors;
pub(crate) mod api_keys;
pub(crate) mod clock;
pub(crate) mod events;
pub(crate) mod import;
pub(crate) mod limits;
pub(crate) mod proofs;
pub(crate) mod timelines;
pub(crate) mod users;
