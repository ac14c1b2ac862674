//! API keys: whose they are, and as long as when they work.

use std::sync::Arc;

use super::{Directory, DirectoryRefusal, Happened, Times};
use crate::access::Scope;
use crate::horizon::Horizon;
use crate::ids::{KeyId, TimelineId, UserId};
use crate::limits::KEYS_PER_USER_MAX;
use crate::time::{Instant, Wall};

/// One API key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The public id of the key.
    pub key_id: KeyId,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// The user it belongs to.
    pub user_id: UserId,
    /// The timeline meant where a request names none.
    pub timeline_id: TimelineId,
    /// What it is for, in the owner's words.
    pub label: String,
    /// What it may be used for; `None` for all that the user may do.
    pub scopes: Option<Arc<[Scope]>>,
    /// How far it saw, if an earlier version created it. One with a horizon no longer works.
    pub horizon: Horizon,
    /// When it was made, by the host.
    pub created_at: Instant<Wall>,
    /// When it stops working, by the host.
    pub expires_at: Option<Instant<Wall>>,
    /// Since when it does not work any more, by the host.
    pub revoked_at: Option<Instant<Wall>>,
}

impl ApiKey {
    /// Returns whether the key works at a host instant. One that expires at that instant does not.
    #[must_use]
    pub fn is_live(&self, host: Instant<Wall>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| host < end)
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyCommand {
    /// Make a key. When it was made is decided.
    Create(ApiKey),
    /// Stop a key.
    Stop(KeyId),
}

/// Decides what a command does. Changes nothing.
///
/// # Errors
/// [`DirectoryRefusal`]; all stays as it is.
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
