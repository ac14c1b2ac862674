//! Users and keys: facts of the whole service, on the timeline `system`.

use std::sync::Arc;

use timenav_core::access::{Denial, RestrictionLevel};
use timenav_core::ids::{KeyId, TimelineId, UserId};
use timenav_core::limits::KEYS_PER_USER_MAX;

use super::decide::done;
use super::{Group, Outcome};
use crate::action::Action;
use crate::command::{Actor, Change};
use crate::directory::{ApiKey, Directory, User};
use crate::json::json;
use crate::payload::{KeyRecord, UserRecord};
use crate::refusal::Refusal;
use crate::rows::DirectoryChange;

impl Group<'_> {
    pub(super) fn create_user(&mut self, actor: &Actor, user_id: UserId, operator: bool) -> Result<Outcome, Refusal> {
        if [UserId::UNKNOWN, TimelineId::SYSTEM].contains(&user_id.as_str()) {
            return Err(Refusal::invalid("user_id", format!("`{user_id}` is reserved")));
        }
        if self.world.directory.users.contains_key(&user_id) {
            return Err(Refusal::AlreadyExists { what: "user", id: user_id.to_string() });
        }
        let max = self.options.users_max;
        if self.world.directory.users.len() >= max {
            return Err(Refusal::LimitReached { what: "users", max });
        }
        let system = TimelineId::system();
        let host = self.host(&system);
        let user =
            User { user_id: user_id.clone(), operator, restriction: RestrictionLevel::FullAccess, created_at: host };
        let payload = json(&UserRecord::of(&user));
        Arc::make_mut(&mut self.directory_mut().users).insert(user_id.clone(), user.clone());
        self.directory.push(DirectoryChange::PutUser(user));
        let position = self.append(&system, actor.name(), Action::CreateUser, user_id.as_str(), payload, host);
        Ok(done(&system, Change::User { user_id }, position))
    }

    pub(super) fn delete_user(&mut self, actor: &Actor, user_id: &UserId) -> Result<Outcome, Refusal> {
        let users = &self.world.directory.users;
        let Some(user) = users.get(user_id).cloned() else {
            return Err(Refusal::NotFound { what: "user", id: user_id.to_string() });
        };
        if user.operator && users.values().filter(|user| user.operator).count() == 1 {
            return Err(Refusal::LastOperator { user_id: user_id.to_string() });
        }
        let system = TimelineId::system();
        let live = self.live_keys_of(user_id, self.doors.clock.now());
        let keys: Vec<KeyId> = live.map(|key| key.key_id.clone()).collect();
        for key_id in keys {
            self.stop_key(actor, &key_id)?;
        }
        // Read after the keys were stopped: an entry is never recorded before the one before it.
        let host = self.host(&system);
        let directory = self.directory_mut();
        Arc::make_mut(&mut directory.users).remove(user_id);
        Arc::make_mut(&mut directory.passwords).remove(user_id);
        Arc::make_mut(&mut directory.sessions).retain(|session| session.user_id != *user_id);
        self.directory.push(DirectoryChange::DeleteUser(user_id.clone()));
        let payload = json(&UserRecord::of(&user));
        let position = self.append(&system, actor.name(), Action::DeleteUser, user_id.as_str(), payload, host);
        Ok(done(&system, Change::User { user_id: user_id.clone() }, position))
    }

    pub(super) fn create_key(&mut self, actor: &Actor, mut key: ApiKey) -> Result<Outcome, Refusal> {
        self.admit_own(actor, Some(&key.user_id))?;
        if !self.world.directory.users.contains_key(&key.user_id) {
            return Err(Refusal::NotFound { what: "user", id: key.user_id.to_string() });
        }
        let system = TimelineId::system();
        // What works is a question to the host's clock, as where it is shown; not to the newest entry, which may be later.
        let (host, now) = (self.host(&system), self.doors.clock.now());
        if self.live_keys_of(&key.user_id, now).count() >= KEYS_PER_USER_MAX {
            return Err(Refusal::LimitReached { what: "live keys of this user", max: KEYS_PER_USER_MAX });
        }
        if key.expires_at.is_some_and(|end| end <= now) {
            return Err(Refusal::invalid("expires_at", "the key would have expired already; expiry is in host time"));
        }
        key.created_at = host;
        let key_id = key.key_id.clone();
        let payload = json(&KeyRecord::of(&key));
        let keys = Arc::make_mut(&mut self.directory_mut().keys);
        // Those that have expired cannot matter any more. The store keeps them.
        let expired: Vec<KeyId> =
            keys.of_user(&key.user_id).filter(|one| !one.is_live(now)).map(|one| one.key_id.clone()).collect();
        for key_id in &expired {
            keys.take_out(key_id);
        }
        keys.put(key.clone());
        self.directory.push(DirectoryChange::PutKey(key));
        let position = self.append(&system, actor.name(), Action::CreateApiKey, key_id.as_str(), payload, host);
        Ok(done(&system, Change::Key { key_id }, position))
    }

    pub(super) fn revoke_key(
        &mut self,
        actor: &Actor,
        key_id: &KeyId,
        owner: Option<UserId>,
    ) -> Result<Outcome, Refusal> {
        let owner = self.world.directory.keys.get(key_id).map(|key| key.user_id.clone()).or(owner);
        // Whether another user's key exists is not told.
        self.admit_own(actor, owner.as_ref()).map_err(|denial| match denial {
            Denial::OperatorOnly => Denial::Hidden,
            denial => denial,
        })?;
        let position = self.stop_key(actor, key_id)?;
        Ok(done(&TimelineId::system(), Change::Key { key_id: key_id.clone() }, position))
    }

    fn stop_key(&mut self, actor: &Actor, key_id: &KeyId) -> Result<u64, Refusal> {
        let Some(key) = self.world.directory.keys.get(key_id).cloned() else {
            return Err(Refusal::NotFound { what: "API key", id: key_id.to_string() });
        };
        let system = TimelineId::system();
        let host = self.host(&system);
        let stopped = ApiKey { revoked_at: Some(host), ..(*key).clone() };
        let payload = json(&KeyRecord::of(&stopped));
        // Nobody is let in by it, so nothing of it is kept in memory.
        Arc::make_mut(&mut self.directory_mut().keys).take_out(key_id);
        self.directory.push(DirectoryChange::RevokeKey { key_id: key_id.clone(), at: host });
        Ok(self.append(&system, actor.name(), Action::RevokeApiKey, key_id.as_str(), payload, host))
    }

    fn live_keys_of(&self, user_id: &UserId, host: crate::wall_clock::Host) -> impl Iterator<Item = &Arc<ApiKey>> {
        self.world.directory.keys.of_user(user_id).filter(move |key| key.is_live(host))
    }

    pub(super) fn directory_mut(&mut self) -> &mut Directory {
        Arc::make_mut(&mut self.world.directory)
    }
}
