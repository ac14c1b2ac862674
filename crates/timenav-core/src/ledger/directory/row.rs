use super::super::canonical::Writer;
use super::{Hash, sha256};
use crate::access::{RestrictionLevel, Scope};
use crate::horizon::Horizon;
use crate::ids::{KeyId, SessionId, TimelineId, UserId};
use crate::time::{Instant, Wall};

const CONTEXT: &[u8] = b"timenav-directory/v1\n";

/// One row. All instants are host time. Every `sha256` is the digest that the ledger records, so that the rows can be
/// derived from the entries of `system`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryRow<'a> {
    User {
        user_id: &'a UserId,
        operator: bool,
        restriction: RestrictionLevel,
        created_at: Instant<Wall>,
    },
    /// An API key that is not revoked. Revocation removes the row, so restoring a revoked key changes the root.
    Key {
        key_id: &'a KeyId,
        sha256: Hash,
        user_id: &'a UserId,
        timeline_id: &'a TimelineId,
        label: &'a str,
        /// In any order; `None` for all permissions of the user.
        scopes: Option<&'a [Scope]>,
        horizon: Horizon,
        created_at: Instant<Wall>,
        expires_at: Option<Instant<Wall>>,
    },
    Password {
        user_id: &'a UserId,
        /// SHA-256 of the salted hash, as a PHC string.
        sha256: Hash,
        set_at: Instant<Wall>,
    },
    Session {
        session_id: &'a SessionId,
        sha256: Hash,
        user_id: &'a UserId,
        horizon: Horizon,
        created_at: Instant<Wall>,
        renewed_at: Instant<Wall>,
        expires_at: Instant<Wall>,
    },
    /// An ended timeline. The row is never removed, so that the name is never reused.
    Ended {
        timeline_id: &'a TimelineId,
        size: u64,
        root: Hash,
    },
}

/// The name of a row: its kind, and an id that is unique within the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowName<'a> {
    User(&'a UserId),
    Key(&'a KeyId),
    Password(&'a UserId),
    Session(&'a SessionId),
    Ended(&'a TimelineId),
}

impl RowName<'_> {
    /// Returns SHA-256(`timenav-directory/v1` ‖ 0x0A ‖ kind ‖ 0x0A ‖ id), which determines the position of the row.
    #[must_use]
    pub fn digest(self) -> Hash {
        let (kind, id) = match self {
            Self::User(id) => ("user", id.as_str()),
            Self::Key(id) => ("key", id.as_str()),
            Self::Password(id) => ("password", id.as_str()),
            Self::Session(id) => ("session", id.as_str()),
            Self::Ended(id) => ("ended", id.as_str()),
        };
        sha256(&[CONTEXT, kind.as_bytes(), b"\n", id.as_bytes()])
    }
}

impl<'a> DirectoryRow<'a> {
    #[must_use]
    pub const fn name(&self) -> RowName<'a> {
        match self {
            Self::User { user_id, .. } => RowName::User(user_id),
            Self::Key { key_id, .. } => RowName::Key(key_id),
            Self::Password { user_id, .. } => RowName::Password(user_id),
            Self::Session { session_id, .. } => RowName::Session(session_id),
            Self::Ended { timeline_id, .. } => RowName::Ended(timeline_id),
        }
    }

    /// Returns RFC 8785 JSON with sorted keys. Scopes are listed from narrow to wide, without duplicates.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match *self {
            Self::User { user_id, operator, restriction, created_at } => {
                writer.raw("{\"created_at\":").instant(created_at);
                writer.raw(",\"kind\":\"user\",\"operator\":").boolean(operator);
                writer.raw(",\"restriction_level\":").text(restriction.as_str());
                writer.raw(",\"user_id\":").text(user_id.as_str())
            }
            Self::Key { key_id, sha256, user_id, timeline_id, label, scopes, horizon, created_at, expires_at } => {
                writer.raw("{\"created_at\":").instant(created_at).raw(",\"expires_at\":");
                match expires_at {
                    Some(at) => writer.instant(at),
                    None => writer.raw("null"),
                };
                writer.raw(",\"horizon\":").raw(horizon_json(horizon));
                writer.raw(",\"key_id\":").text(key_id.as_str()).raw(",\"key_sha256\":").hash(&sha256);
                write_known_at(writer.raw(",\"kind\":\"key\",\"known_at\":"), horizon);
                writer.raw(",\"label\":").text(label).raw(",\"scopes\":");
                write_scopes(&mut writer, scopes);
                writer.raw(",\"timeline_id\":").text(timeline_id.as_str());
                writer.raw(",\"user_id\":").text(user_id.as_str())
            }
            Self::Password { user_id, sha256, set_at } => {
                writer.raw("{\"kind\":\"password\",\"password_sha256\":").hash(&sha256);
                writer.raw(",\"set_at\":").instant(set_at).raw(",\"user_id\":").text(user_id.as_str())
            }
            Self::Session { session_id, sha256, user_id, horizon, created_at, renewed_at, expires_at } => {
                writer.raw("{\"created_at\":").instant(created_at).raw(",\"expires_at\":").instant(expires_at);
                writer.raw(",\"horizon\":").raw(horizon_json(horizon));
                write_known_at(writer.raw(",\"kind\":\"session\",\"known_at\":"), horizon);
                writer.raw(",\"renewed_at\":").instant(renewed_at);
                writer.raw(",\"session_id\":").text(session_id.as_str());
                writer.raw(",\"session_sha256\":").hash(&sha256).raw(",\"user_id\":").text(user_id.as_str())
            }
            Self::Ended { timeline_id, size, root } => {
                writer.raw("{\"kind\":\"ended\",\"root\":").hash(&root).raw(",\"size\":").integer(size);
                writer.raw(",\"timeline_id\":").text(timeline_id.as_str())
            }
        };
        writer.raw("}");
        writer.into_bytes()
    }

    #[must_use]
    pub fn digest(&self) -> Hash {
        sha256(&[&self.encode()])
    }
}

const fn horizon_json(horizon: Horizon) -> &'static str {
    if horizon.until_clock { "\"clock\"" } else { "null" }
}

fn write_known_at(writer: &mut Writer, horizon: Horizon) {
    match horizon.known_at {
        Some(position) => writer.integer(position),
        None => writer.raw("null"),
    };
}

fn write_scopes(writer: &mut Writer, scopes: Option<&[Scope]>) {
    match scopes {
        Some(scopes) => {
            let sorted: std::collections::BTreeSet<_> = scopes.iter().collect();
            writer.array(sorted, |writer, scope| _ = writer.text(scope.as_str()))
        }
        None => writer.raw("null"),
    };
}
