use std::sync::Arc;

use super::{Directory, DirectoryRefusal, Happened, Times};
use crate::access::Scope;
use crate::horizon::Horizon;
use crate::ids::{KeyId, TimelineId, UserId};
use crate::limits::KEYS_PER_USER_MAX;
use crate::time::{Instant, Wall};

/// An API key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub key_id: KeyId,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    pub user_id: UserId,
    /// The default timeline of requests that name none.
    pub timeline_id: TimelineId,
    pub label: String,
    /// What the key may be used for. `None` for everything that its user may do.
    pub scopes: Option<Arc<[Scope]>>,
    /// A legacy horizon, if an earlier version created the key. A key with a horizon is no longer valid.
    pub horizon: Horizon,
    pub created_at: Instant<Wall>,
    pub expires_at: Option<Instant<Wall>>,
    pub revoked_at: Option<Instant<Wall>>,
}

impl ApiKey {
    /// Returns whether the key is valid at a host instant. The expiry instant itself is excluded.
    #[must_use]
    pub fn is_live(&self, host: Instant<Wall>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| host < end)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyCommand {
    /// Create a key. `created_at` is set by the decision.
    Create(ApiKey),
    Stop(KeyId),
}

/// Decides what a command does. Has no side effects.
///
/// # Errors
/// [`DirectoryRefusal`]; nothing changes.
pub fn decide<P>(
    directory: &Directory<P>,
    command: &KeyCommand,
    times: Times,
) -> Result<Happened<P>, DirectoryRefusal> {
    match command {
        KeyCommand::Create(key) => {
            directory.user(&key.user_id)?;
            let live = directory.keys.of_user(&key.user_id).filter(|one| one.is_live(times.now));
            if live.count() >= KEYS_PER_USER_MAX {
                return Err(DirectoryRefusal::TooManyKeys);
            }
            if key.expires_at.is_some_and(|end| end <= times.now) {
                return Err(DirectoryRefusal::KeyExpired);
            }
            Ok(Happened::KeyMade(ApiKey { created_at: times.recorded, revoked_at: None, ..key.clone() }))
        }
        KeyCommand::Stop(key_id) => {
            let key = directory.keys.get(key_id).ok_or_else(|| DirectoryRefusal::NoKey(key_id.clone()))?;
            Ok(stopped(key, times))
        }
    }
}

pub(super) fn stopped<P>(key: &ApiKey, times: Times) -> Happened<P> {
    Happened::KeyStopped(ApiKey { revoked_at: Some(times.recorded), ..key.clone() })
}
