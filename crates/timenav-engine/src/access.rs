//! Who may do what: users, credentials, permissions and the access log.

pub(crate) mod directory;
pub(crate) mod permissions;
pub(crate) mod secrets;
pub(crate) mod seals;
pub(crate) mod directory_rows;
pub(crate) mod directory_changes;
pub(crate) mod identity;
pub(crate) mod sessions;
pub(crate) mod strangers;
pub(crate) mod access_control;
pub(crate) mod access_logs;
