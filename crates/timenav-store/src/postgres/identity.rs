use std::sync::Arc;

use timenav_core::ids::{KeyId, UserId};
use timenav_engine::{ApiKey, Directory, DirectoryChange, PersistentMap, Secrets, Session, StoredPassword, User};

use super::ends;
use super::values::{Failed, sql};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, records, values};

const DELETE_USER: [&str; 3] = [
    "DELETE FROM users WHERE user_id = $1",
    "DELETE FROM passwords WHERE user_id = $1",
    "DELETE FROM sessions WHERE user_id = $1",
];
const REVOKE_KEY: &str = "UPDATE api_keys SET revoked_at = $1 WHERE key_id = $2";
const END_SESSION: &str = "DELETE FROM sessions WHERE session_id = $1";
const SELECT_USERS: &str = "SELECT * FROM users";
const SELECT_KEYS: &str = "SELECT * FROM api_keys WHERE $1 OR revoked_at IS NULL";
const SELECT_KEYS_NAMED: &str = "SELECT * FROM api_keys WHERE key_id = ANY($1)";
const SELECT_KEYS_OF: &str = "SELECT * FROM api_keys WHERE user_id = $1 AND ($2::text IS NULL
        OR (created_at, key_id) < (SELECT created_at, key_id FROM api_keys WHERE key_id = $2))
    ORDER BY created_at DESC, key_id DESC LIMIT $3";
const SELECT_PASSWORDS: &str = "SELECT * FROM passwords";
const SELECT_PASSWORDS_OF: &str = "SELECT * FROM passwords WHERE user_id = ANY($1)";
const SELECT_SESSIONS: &str = "SELECT * FROM sessions";

pub(super) fn change<'a>(batch: &mut Batch<'a>, change: &'a DirectoryChange) {
    match change {
        DirectoryChange::PutUser(user) => batch.insert(None, user),
        DirectoryChange::DeleteUser(user_id) => {
            for delete in DELETE_USER {
                batch.add(delete, values![user_id.as_str()]);
            }
        }
        DirectoryChange::PutKey(key) => batch.insert(None, key),
        DirectoryChange::RevokeKey { key_id, at } => batch.add(REVOKE_KEY, values![at.micros(), key_id.as_str()]),
        DirectoryChange::PutPassword(password) => batch.insert(None, password),
        DirectoryChange::PutSession(session) => batch.insert(None, session),
        DirectoryChange::EndSession(session_id) => batch.add(END_SESSION, values![session_id.as_str()]),
        DirectoryChange::EndTimeline(ended) => ends::end(batch, ended),
    }
}

/// Returns the directory, optionally with revoked keys.
pub(super) async fn directory(on: &Object, with_stopped_keys: bool) -> Result<Directory, Failed> {
    let (mut users, mut passwords) = (PersistentMap::default(), PersistentMap::default());
    let (mut keys, mut sessions) = (Secrets::default(), Secrets::default());
    for user in records::<User>(on, SELECT_USERS, &[]).await? {
        users.insert(user.user_id.clone(), user);
    }
    for key in records::<ApiKey>(on, SELECT_KEYS, &[&with_stopped_keys]).await? {
        keys.put(key);
    }
    for password in records::<StoredPassword>(on, SELECT_PASSWORDS, &[]).await? {
        passwords.insert(password.user_id.clone(), Arc::new(password));
    }
    for session in records::<Session>(on, SELECT_SESSIONS, &[]).await? {
        sessions.put(session);
    }
    let (users, keys) = (Arc::new(users), Arc::new(keys));
    Ok(Directory { users, keys, passwords: Arc::new(passwords), sessions: Arc::new(sessions), version: 0 })
}

pub(super) async fn passwords_of(on: &Object, users: &[UserId]) -> Result<Vec<StoredPassword>, Failed> {
    let users: Vec<&str> = users.iter().map(UserId::as_str).collect();
    records(on, SELECT_PASSWORDS_OF, &[&users]).await
}

pub(super) async fn keys_named(on: &Object, key_ids: &[KeyId]) -> Result<Vec<Option<ApiKey>>, Failed> {
    if key_ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<&str> = key_ids.iter().map(KeyId::as_str).collect();
    let found: Vec<ApiKey> = records(on, SELECT_KEYS_NAMED, &[&ids]).await?;
    Ok(key_ids.iter().map(|key_id| found.iter().find(|key| key.key_id == *key_id).cloned()).collect())
}

/// Returns keys of a user, newest first, starting after `after`.
pub(super) async fn keys_of(
    on: &Object,
    user_id: &UserId,
    after: Option<&KeyId>,
    items_max: usize,
) -> Result<Vec<ApiKey>, Failed> {
    let values = (after.map(KeyId::as_str), sql(items_max as u64));
    records(on, SELECT_KEYS_OF, &[&user_id.as_str(), &values.0, &values.1]).await
}
