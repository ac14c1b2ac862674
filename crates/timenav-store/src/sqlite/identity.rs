use std::sync::Arc;

use rusqlite::{Connection, Transaction, params};
use timenav_core::ids::{KeyId, SessionId, UserId};
use timenav_engine::{
    ApiKey, CarriedSeals, Directory, DirectoryChange, PersistentMap, Secrets, Session, StoreError, StoredPassword, User,
};

use super::ends;
use super::values::{bytes, each, failed, id, insert, records, sql};

const SELECT_SEALS: &str = "SELECT kind, id, seal FROM carried_seals
    WHERE EXISTS (SELECT 1 FROM timelines WHERE timeline_id = 'system' AND statement = x'')";
pub(super) fn change(transaction: &Transaction<'_>, change: &DirectoryChange) -> rusqlite::Result<()> {
    match change {
        DirectoryChange::PutUser(user) => insert(transaction, None, user)?,
        DirectoryChange::DeleteUser(user_id) => {
            for table in ["users", "passwords", "sessions"] {
                let delete = format!("DELETE FROM {table} WHERE user_id = ?1");
                transaction.prepare_cached(&delete)?.execute([user_id.as_str()])?;
            }
        }
        DirectoryChange::PutKey(key) => insert(transaction, None, key)?,
        DirectoryChange::RevokeKey { key_id, at } => {
            let mut update = transaction.prepare_cached("UPDATE api_keys SET revoked_at = ?1 WHERE key_id = ?2")?;
            update.execute(params![at.micros(), key_id.as_str()])?;
        }
        DirectoryChange::PutPassword(password) => insert(transaction, None, password)?,
        DirectoryChange::PutSession(session) => insert(transaction, None, session)?,
        DirectoryChange::EndSession(session_id) => {
            let mut delete = transaction.prepare_cached("DELETE FROM sessions WHERE session_id = ?1")?;
            delete.execute([session_id.as_str()])?;
        }
        DirectoryChange::EndTimeline(ended) => ends::end(transaction, ended)?,
    }
    Ok(())
}

/// Returns the whole directory, including revoked keys.
pub(super) fn directory(connection: &Connection) -> Result<Directory, StoreError> {
    with_keys(connection, "SELECT * FROM api_keys")
}

/// Returns the directory without revoked keys.
pub(super) fn working(connection: &Connection) -> Result<Directory, StoreError> {
    with_keys(connection, "SELECT * FROM api_keys WHERE revoked_at IS NULL")
}

fn with_keys(connection: &Connection, select_keys: &str) -> Result<Directory, StoreError> {
    let (mut users, mut passwords) = (PersistentMap::default(), PersistentMap::default());
    let (mut keys, mut sessions) = (Secrets::default(), Secrets::default());
    each(connection, "SELECT * FROM users", [], |user: User| _ = users.insert(user.user_id.clone(), user))?;
    each(connection, select_keys, [], |key: ApiKey| keys.put(key))?;
    each(connection, "SELECT * FROM passwords", [], |password: StoredPassword| {
        passwords.insert(password.user_id.clone(), Arc::new(password));
    })?;
    each(connection, "SELECT * FROM sessions", [], |session: Session| sessions.put(session))?;
    let (users, keys) = (Arc::new(users), Arc::new(keys));
    Ok(Directory { users, keys, passwords: Arc::new(passwords), sessions: Arc::new(sessions), version: 0 })
}

pub(super) fn key_named(connection: &Connection, key_id: &KeyId) -> Result<Option<ApiKey>, StoreError> {
    Ok(records(connection, "SELECT * FROM api_keys WHERE key_id = ?1", [key_id.as_str()])?.pop())
}

/// Returns keys of a user, newest first, starting after `after`.
pub(super) fn keys_of(
    connection: &Connection,
    user_id: &UserId,
    after: Option<&KeyId>,
    items_max: usize,
) -> Result<Vec<ApiKey>, StoreError> {
    let select = "SELECT * FROM api_keys WHERE user_id = ?1 AND (?2 IS NULL
            OR (created_at, key_id) < (SELECT created_at, key_id FROM api_keys WHERE key_id = ?2))
        ORDER BY created_at DESC, key_id DESC LIMIT ?3";
    records(connection, select, params![user_id.as_str(), after.map(KeyId::as_str), sql(items_max as u64)])
}

/// Returns the seals of a database that has no head statement of `system` yet.
pub(super) fn seals(connection: &Connection) -> Result<CarriedSeals, StoreError> {
    let mut seals = CarriedSeals::default();
    let mut select = connection.prepare(SELECT_SEALS).map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let (kind, name) = (row.get::<_, String>(0).map_err(failed)?, row.get::<_, String>(1).map_err(failed)?);
        let seal = bytes(&row.get::<_, Vec<u8>>(2).map_err(failed)?)?;
        match kind.as_str() {
            "password" => _ = seals.passwords.insert(id(UserId::new(&name))?, seal),
            _ => _ = seals.sessions.insert(id(SessionId::new(&name))?, seal),
        }
    }
    Ok(seals)
}
