//! Users, their credentials and permissions, and what they did.

pub(crate) mod access_control;
pub(crate) mod access_logs;
pub(crate) mod api_keys;
pub(crate) mod restrictions;
pub(crate) mod sessions;
pub(crate) mod users;
