use serde::{Deserialize, Serialize};
use timenav_core::directory::{Session, StoredPassword};
use timenav_core::ids::{SessionId, UserId};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use super::parts::digest;

/// Payload of `log_in`. The hash reveals nothing: its input has 256 random bits.
#[derive(Serialize, Deserialize)]
pub(crate) struct LoggedIn {
    session_id: String,
    session_sha256: String,
    user_id: String,
    expires_at: String,
    /// Sessions that ended with it: those that had expired, and the oldest if there are too many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ended: Vec<String>,
    /// Digest of the stored password, if it was rehashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password_sha256: Option<String>,
}

impl LoggedIn {
    pub(crate) fn of(session: &Session, ended: &[SessionId], password: Option<&StoredPassword>) -> Self {
        Self {
            session_id: session.session_id.to_string(),
            session_sha256: data_encoding::HEXLOWER.encode(&session.hash),
            user_id: session.user_id.to_string(),
            expires_at: session.expires_at.to_string(),
            ended: session_ids(ended),
            password_sha256: password.map(password_sha256),
        }
    }

    pub(crate) fn session(&self, at: Instant<Wall>) -> Option<Session> {
        Some(Session {
            session_id: SessionId::new(&self.session_id).ok()?,
            hash: digest(&self.session_sha256)?,
            user_id: UserId::new(&self.user_id).ok()?,
            created_at: at,
            renewed_at: at,
            expires_at: parse_timestamp(&self.expires_at).ok()?,
        })
    }
}

/// Payload of `log_out` and `end_session`.
#[derive(Serialize, Deserialize)]
pub(crate) struct SessionsEnded {
    user_id: String,
    pub(crate) ended: Vec<String>,
}

impl SessionsEnded {
    pub(crate) fn of(user_id: &UserId, ended: &[SessionId]) -> Self {
        Self { user_id: user_id.to_string(), ended: session_ids(ended) }
    }

    pub(crate) fn user_id(&self) -> &str {
        &self.user_id
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SessionRenewed {
    pub(crate) session_id: String,
}

/// Payload of `set_password`. The digest is of a password hash with a salt of its own, neither of which is included.
#[derive(Serialize, Deserialize)]
pub(crate) struct PasswordSet {
    pub(crate) user_id: String,
    pub(crate) password_sha256: String,
    pub(crate) ended: Vec<String>,
}

impl PasswordSet {
    pub(crate) fn of(password: &StoredPassword, ended: &[SessionId]) -> Self {
        Self {
            user_id: password.user_id.to_string(),
            password_sha256: password_sha256(password),
            ended: session_ids(ended),
        }
    }
}

fn password_sha256(password: &StoredPassword) -> String {
    data_encoding::HEXLOWER.encode(&password.digest())
}

fn session_ids(sessions: &[SessionId]) -> Vec<String> {
    sessions.iter().map(ToString::to_string).collect()
}
