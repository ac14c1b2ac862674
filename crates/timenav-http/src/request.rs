//! What a request says before its handler runs: caller, parameters, body and conditions.

pub(crate) mod accept;
pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod entity_tag;
pub(crate) mod host;
pub(crate) mod idempotency;
pub(crate) mod network;
pub(crate) mod params;
pub(crate) mod call;
pub(crate) mod same_origin;
pub(crate) mod session_cookie;
pub(crate) mod timeline_header;
