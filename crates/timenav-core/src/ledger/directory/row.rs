//! The rows of the directory, to the byte.

use super::super::canonical::Writer;
use super::{Hash, sha256};
use crate::access::{RestrictionLevel, Scope};
use crate::horizon::Horizon;
use crate::ids::{KeyId, SessionId, TimelineId, UserId};
use crate::time::{Instant, Wall};

/// Before the name of a row where it is hashed.
const CONTEXT: &[u8] = b"timenav-directory/v1\n";

/// One row. All instants are host time; every `sha256` is of what the ledger tells of in the same way, so
/// that the rows follow from the entries of `system`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryRow<'a> {
    /// A user, and how far the user's time travel is restricted.
    User {
        /// The name.
        user_id: &'a UserId,
        /// Whether the user administers the service.
        operator: bool,
        /// The restriction.
        restriction: RestrictionLevel,
        /// Since when the user is known.
        created_at: Instant<Wall>,
    },
    /// An API key that was not revoked. A revocation removes the row: to make the key work again, the row
    /// must be put back, and the root tells.
    Key {
        /// The public id of the key.
        key_id: &'a KeyId,
        /// SHA-256 of the whole key.
        sha256: Hash,
        /// The user it belongs to.
        user_id: &'a UserId,
        /// The timeline meant where a request names none.
        timeline_id: &'a TimelineId,
        /// What it is for, in the owner's words.
        label: &'a str,
        /// What it may be used for, in any order; `None` for all that the user may do.
        scopes: Option<&'a [Scope]>,
        /// How far it sees.
        horizon: Horizon,
        /// When it was made.
        created_at: Instant<Wall>,
        /// When it stops working, if it does.
        expires_at: Option<Instant<Wall>>,
    },
    /// What is kept of a user's password.
    Password {
        /// The user it belongs to.
        user_id: &'a UserId,
        /// SHA-256 of the salted hash, as a PHC string.
        sha256: Hash,
        /// When it was set.
        set_at: Instant<Wall>,
    },
    /// A session that has not ended.
    Session {
        /// The public id of the session.
        session_id: &'a SessionId,
        /// SHA-256 of the whole secret.
        sha256: Hash,
        /// The user it belongs to.
        user_id: &'a UserId,
        /// How far it sees.
        horizon: Horizon,
        /// When the user logged in.
        created_at: Instant<Wall>,
        /// When it was last noted that the user does something in it.
        renewed_at: Instant<Wall>,
        /// When it ends at the latest.
        expires_at: Instant<Wall>,
    },
    /// A timeline that has ended. The row is never removed, and so its name is never used again.
    Ended {
        /// The timeline.
        timeline_id: &'a TimelineId,
        /// How many entries it has.
        size: u64,
        /// The root over all of them.
        root: Hash,
    },
}

/// Names a row: its kind, and an id that no other row of that kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowName<'a> {
    /// A user.
    User(&'a UserId),
    /// An API key.
    Key(&'a KeyId),
    /// A user's password.
    Password(&'a UserId),
    /// A session.
    Session(&'a SessionId),
    /// A timeline that has ended.
    Ended(&'a TimelineId),
}

impl RowName<'_> {
    /// Returns SHA-256(`timenav-directory/v1` ‖ 0x0A ‖ kind ‖ 0x0A ‖ id): where the row stands.
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
    /// Returns the row's name.
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

    /// Returns the bytes of the row: RFC 8785 JSON with sorted keys. Scopes stand from narrow to wide, none
    /// twice.
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

    /// Returns SHA-256 of the bytes of the row.
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
