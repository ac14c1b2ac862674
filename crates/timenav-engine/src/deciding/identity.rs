//! Users and keys: facts of the whole service, on the timeline `system`.

use std::sync::Arc;

use timenav_core::access::{Denial, RestrictionLevel};
use timenav_core::ids::{KeyId, TimelineId, UserId};
use timenav_core::limits::KEYS_PER_USER_MAX;

use super::standing::hidden;
use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::changes::{KeyChanged, UserChanged};
use crate::directory::DirectoryChange;
use crate::directory::{ApiKey, User};
use crate::draft::{Done, Draft, Ledger};
use crate::json::json;
use crate::payload::{KeyRecord, UserRecord};
use crate::refusal::Refusal;
use crate::wall_clock::Host;

/// Make a user.
pub(crate) struct CreateUser {
    pub(crate) user_id: UserId,
    pub(crate) operator: bool,
}

/// Remove a user and their keys.
pub(crate) struct DeleteUser {
    pub(crate) user_id: UserId,
}

/// Make a key.
pub(crate) struct CreateKey(pub(crate) ApiKey);

/// Stop a key. `owner` is set where the key was stopped before: memory no longer has it.
pub(crate) struct RevokeKey {
    pub(crate) key_id: KeyId,
    pub(crate) owner: Option<UserId>,
}

impl Asking for CreateUser {
    fn action(&self) -> Action {
        Action::CreateUser
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }
}

impl Deciding for CreateUser {
    type Change = UserChanged;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<UserChanged>, Refusal> {
        let Self { user_id, operator } = self;
        if [UserId::UNKNOWN, TimelineId::SYSTEM].contains(&user_id.as_str()) {
            return Err(Refusal::invalid("user_id", format!("`{user_id}` is reserved")));
        }
        let users = &draft.directory().users;
        if users.contains_key(user_id) {
            return Err(Refusal::AlreadyExists { what: "user", id: user_id.to_string() });
        }
        let max = draft.options().users_max;
        if users.len() >= max {
            return Err(Refusal::LimitReached { what: "users", max });
        }
        let system = draft.system()?;
        let host = draft.host(system);
        let (user_id, restriction) = (user_id.clone(), RestrictionLevel::FullAccess);
        let user = User { user_id: user_id.clone(), operator: *operator, restriction, created_at: host };
        let payload = json(&UserRecord::of(&user));
        draft.change_directory(DirectoryChange::PutUser(user));
        let position = draft.append(system, Action::CreateUser, user_id.as_str(), payload, host);
        Ok(draft.done(system, position, UserChanged { user_id }))
    }
}

impl Asking for DeleteUser {
    fn action(&self) -> Action {
        Action::DeleteUser
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }
}

impl Deciding for DeleteUser {
    type Change = UserChanged;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<UserChanged>, Refusal> {
        let user_id = &self.user_id;
        let users = &draft.directory().users;
        let user = users.get(user_id);
        let user = user.ok_or_else(|| Refusal::NotFound { what: "user", id: user_id.to_string() })?;
        if user.operator && users.values().filter(|user| user.operator).count() == 1 {
            return Err(Refusal::LastOperator { user_id: user_id.to_string() });
        }
        let system = draft.system()?;
        let now = draft.now();
        let live: Vec<Arc<ApiKey>> = live_keys_of(draft, user_id, now).cloned().collect();
        for key in live {
            stop_key(draft, system, &key);
        }
        for change in draft.directory().removal(user_id) {
            draft.change_directory(change);
        }
        // Read after the keys were stopped: an entry is never recorded before the one before it.
        let host = draft.host(system);
        let payload = json(&UserRecord::of(user));
        let position = draft.append(system, Action::DeleteUser, user_id.as_str(), payload, host);
        Ok(draft.done(system, position, UserChanged { user_id: user_id.clone() }))
    }
}

impl Asking for CreateKey {
    fn action(&self) -> Action {
        Action::CreateApiKey
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }
}

impl Deciding for CreateKey {
    type Change = KeyChanged;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<KeyChanged>, Refusal> {
        let Self(key) = self;
        draft.admit_own(Some(&key.user_id))?;
        if !draft.directory().users.contains_key(&key.user_id) {
            return Err(Refusal::NotFound { what: "user", id: key.user_id.to_string() });
        }
        draft.check_standing(&key.timeline_id)?;
        if !draft.is_in_sight(&key.timeline_id) {
            return Err(Refusal::NotFound { what: "timeline", id: key.timeline_id.to_string() });
        }
        let system = draft.system()?;
        let (host, now) = (draft.host(system), draft.now());
        if live_keys_of(draft, &key.user_id, now).count() >= KEYS_PER_USER_MAX {
            return Err(Refusal::LimitReached { what: "live keys of this user", max: KEYS_PER_USER_MAX });
        }
        if key.expires_at.is_some_and(|end| end <= now) {
            return Err(Refusal::invalid("expires_at", "the key would have expired already; expiry is in host time"));
        }
        let key = ApiKey { created_at: host, ..key.clone() };
        let key_id = key.key_id.clone();
        let payload = json(&KeyRecord::of(&key));
        let own = draft.directory().keys.of_user(&key.user_id);
        // Those that have expired cannot matter any more.
        draft.forget_keys(own.filter(|one| !one.is_live(now)).map(|one| one.key_id.clone()).collect());
        draft.change_directory(DirectoryChange::PutKey(key));
        let position = draft.append(system, Action::CreateApiKey, key_id.as_str(), payload, host);
        Ok(draft.done(system, position, KeyChanged { key_id }))
    }

    fn check_told(&self, draft: &Draft<'_>, _change: &KeyChanged) -> Result<(), Denial> {
        draft.admit_own(Some(&self.0.user_id))
    }
}

impl Asking for RevokeKey {
    fn action(&self) -> Action {
        Action::RevokeApiKey
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }
}

impl Deciding for RevokeKey {
    type Change = KeyChanged;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<KeyChanged>, Refusal> {
        let Self { key_id, owner } = self;
        let key = draft.directory().keys.get(key_id);
        // Whether another user's key exists is not told.
        draft.admit_own(key.map(|key| &key.user_id).or(owner.as_ref())).map_err(hidden)?;
        let key = key.ok_or_else(|| Refusal::NotFound { what: "API key", id: key_id.to_string() })?;
        let system = draft.system()?;
        let position = stop_key(draft, system, key);
        Ok(draft.done(system, position, KeyChanged { key_id: key_id.clone() }))
    }
}

fn stop_key(draft: &mut Draft<'_>, system: Ledger, key: &ApiKey) -> u64 {
    let host = draft.host(system);
    let stopped = ApiKey { revoked_at: Some(host), ..key.clone() };
    let payload = json(&KeyRecord::of(&stopped));
    draft.change_directory(DirectoryChange::RevokeKey { key_id: key.key_id.clone(), at: host });
    draft.append(system, Action::RevokeApiKey, key.key_id.as_str(), payload, host)
}

fn live_keys_of<'d>(draft: &Draft<'d>, user_id: &UserId, host: Host) -> impl Iterator<Item = &'d Arc<ApiKey>> {
    draft.directory().keys.of_user(user_id).filter(move |key| key.is_live(host))
}
