use std::sync::Arc;

use rusqlite::{Connection, Row, Transaction, params};
use timenav_core::access::{RestrictionLevel, Scope};
use timenav_core::horizon::Horizon;
use timenav_core::ids::{KeyId, SessionId, TimelineId, UserId};
use timenav_engine::{
    ApiKey, CarriedSeals, Directory, DirectoryChange, KeptPassword, PersistentMap, Secrets, Session, StoreError, User,
};

use super::ends;
use super::values::{bytes, count, damaged, failed, id, instant, restriction, scopes, sql};

const PUT_USER: &str = "INSERT INTO users (user_id, operator, restriction, created_at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (user_id) DO UPDATE SET operator = excluded.operator, restriction = excluded.restriction";
const INSERT_KEY: &str = "INSERT INTO api_keys (key_id, hash, user_id, timeline_id, label, scopes, created_at,
    expires_at, revoked_at, horizon, known_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
const PUT_PASSWORD: &str = "INSERT INTO passwords (user_id, phc, set_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (user_id) DO UPDATE SET phc = excluded.phc, set_at = excluded.set_at";
const PUT_SESSION: &str = "INSERT INTO sessions (session_id, hash, user_id, created_at, renewed_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (session_id) DO UPDATE SET renewed_at = excluded.renewed_at";
const SELECT_USERS: &str = "SELECT user_id, operator, restriction, created_at FROM users";
const SELECT_KEYS: &str = "SELECT key_id, hash, user_id, timeline_id, label, scopes, created_at, expires_at,
    revoked_at, horizon, known_at FROM api_keys";
const SELECT_PASSWORDS: &str = "SELECT user_id, phc, set_at FROM passwords";
const SELECT_SEALS: &str = "SELECT kind, id, seal FROM carried_seals
    WHERE EXISTS (SELECT 1 FROM timelines WHERE timeline_id = 'system' AND statement = x'')";
const SELECT_SESSIONS: &str = "SELECT session_id, hash, user_id, created_at, renewed_at, expires_at FROM sessions";

pub(super) fn change(transaction: &Transaction<'_>, change: &DirectoryChange) -> rusqlite::Result<()> {
    match change {
        DirectoryChange::PutUser(user) => {
            let level: RestrictionLevel = user.restriction;
            let row = params![user.user_id.as_str(), user.operator, level.as_str(), user.created_at.micros()];
            transaction.prepare_cached(PUT_USER)?.execute(row)?;
        }
        DirectoryChange::DeleteUser(user_id) => {
            for table in ["users", "passwords", "sessions"] {
                let delete = format!("DELETE FROM {table} WHERE user_id = ?1");
                transaction.prepare_cached(&delete)?.execute([user_id.as_str()])?;
            }
        }
        DirectoryChange::PutKey(key) => insert_key(transaction, key)?,
        DirectoryChange::RevokeKey { key_id, at } => {
            let mut update = transaction.prepare_cached("UPDATE api_keys SET revoked_at = ?1 WHERE key_id = ?2")?;
            update.execute(params![at.micros(), key_id.as_str()])?;
        }
        DirectoryChange::PutPassword(password) => {
            let row = params![password.user_id.as_str(), &*password.phc, password.set_at.micros()];
            transaction.prepare_cached(PUT_PASSWORD)?.execute(row)?;
        }
        DirectoryChange::PutSession(session) => put_session(transaction, session)?,
        DirectoryChange::EndSession(session_id) => {
            let mut delete = transaction.prepare_cached("DELETE FROM sessions WHERE session_id = ?1")?;
            delete.execute([session_id.as_str()])?;
        }
        DirectoryChange::EndTimeline(ended) => ends::end(transaction, ended)?,
    }
    Ok(())
}

fn insert_key(transaction: &Transaction<'_>, key: &ApiKey) -> rusqlite::Result<()> {
    let scopes = key.scopes.as_ref().map(|scopes| {
        let words: Vec<&str> = scopes.iter().map(|scope: &Scope| scope.as_str()).collect();
        words.join(" ")
    });
    let mut insert = transaction.prepare_cached(INSERT_KEY)?;
    insert.execute(params![
        key.key_id.as_str(),
        key.hash,
        key.user_id.as_str(),
        key.timeline_id.as_str(),
        key.label,
        scopes,
        key.created_at.micros(),
        key.expires_at.map(timenav_core::time::Instant::micros),
        key.revoked_at.map(timenav_core::time::Instant::micros),
        key.horizon.until_clock.then_some(Horizon::CLOCK),
        key.horizon.known_at.map(sql),
    ])?;
    Ok(())
}

fn put_session(transaction: &Transaction<'_>, session: &Session) -> rusqlite::Result<()> {
    let mut put = transaction.prepare_cached(PUT_SESSION)?;
    put.execute(params![
        session.session_id.as_str(),
        session.hash,
        session.user_id.as_str(),
        session.created_at.micros(),
        session.renewed_at.micros(),
        session.expires_at.micros(),
    ])?;
    Ok(())
}

/// Returns the whole directory, including revoked keys.
pub(super) fn directory(connection: &Connection) -> Result<Directory, StoreError> {
    with_keys(connection, SELECT_KEYS)
}

/// Returns the directory without revoked keys.
pub(super) fn working(connection: &Connection) -> Result<Directory, StoreError> {
    with_keys(connection, &format!("{SELECT_KEYS} WHERE revoked_at IS NULL"))
}

fn with_keys(connection: &Connection, select_keys: &str) -> Result<Directory, StoreError> {
    let mut users = PersistentMap::default();
    each(connection, SELECT_USERS, |row| {
        let user = user(row)?;
        users.insert(user.user_id.clone(), user);
        Ok(())
    })?;
    let mut keys = Secrets::default();
    each(connection, select_keys, |row| {
        keys.put(api_key(row)?);
        Ok(())
    })?;
    let mut passwords = PersistentMap::default();
    each(connection, SELECT_PASSWORDS, |row| {
        let password = password(row)?;
        passwords.insert(password.user_id.clone(), Arc::new(password));
        Ok(())
    })?;
    let mut sessions = Secrets::default();
    each(connection, SELECT_SESSIONS, |row| {
        sessions.put(session(row)?);
        Ok(())
    })?;
    let (users, keys) = (Arc::new(users), Arc::new(keys));
    Ok(Directory { users, keys, passwords: Arc::new(passwords), sessions: Arc::new(sessions), version: 0 })
}

pub(super) fn key_named(connection: &Connection, key_id: &KeyId) -> Result<Option<ApiKey>, StoreError> {
    let select = format!("{SELECT_KEYS} WHERE key_id = ?1");
    let mut select = connection.prepare_cached(&select).map_err(failed)?;
    let mut rows = select.query([key_id.as_str()]).map_err(failed)?;
    rows.next().map_err(failed)?.map(api_key).transpose()
}

/// Returns keys of a user, newest first, starting after `after`.
pub(super) fn keys_of(
    connection: &Connection,
    user_id: &UserId,
    after: Option<&KeyId>,
    items_max: usize,
) -> Result<Vec<ApiKey>, StoreError> {
    let select = format!(
        "{SELECT_KEYS} WHERE user_id = ?1 AND (?2 IS NULL
            OR (created_at, key_id) < (SELECT created_at, key_id FROM api_keys WHERE key_id = ?2))
        ORDER BY created_at DESC, key_id DESC LIMIT ?3"
    );
    let mut select = connection.prepare_cached(&select).map_err(failed)?;
    let values = params![user_id.as_str(), after.map(KeyId::as_str), sql(items_max as u64)];
    let mut rows = select.query(values).map_err(failed)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        keys.push(api_key(row)?);
    }
    Ok(keys)
}

fn each(
    connection: &Connection,
    select: &str,
    mut take: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut select = connection.prepare(select).map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        take(row)?;
    }
    Ok(())
}

/// Returns the seals of a database that has no head statement of `system` yet.
pub(super) fn seals(connection: &Connection) -> Result<CarriedSeals, StoreError> {
    let mut seals = CarriedSeals::default();
    each(connection, SELECT_SEALS, |row| {
        let (kind, name) = (row.get::<_, String>(0).map_err(failed)?, row.get::<_, String>(1).map_err(failed)?);
        let seal = bytes(&row.get::<_, Vec<u8>>(2).map_err(failed)?)?;
        match kind.as_str() {
            "password" => _ = seals.passwords.insert(id(UserId::new(&name))?, seal),
            _ => _ = seals.sessions.insert(id(SessionId::new(&name))?, seal),
        }
        Ok(())
    })?;
    Ok(seals)
}

fn user(row: &Row<'_>) -> Result<User, StoreError> {
    Ok(User {
        user_id: id(UserId::new(&row.get::<_, String>(0).map_err(failed)?))?,
        operator: row.get(1).map_err(failed)?,
        restriction: restriction(&row.get::<_, String>(2).map_err(failed)?)?,
        created_at: instant(row.get(3).map_err(failed)?)?,
    })
}

fn api_key(row: &Row<'_>) -> Result<ApiKey, StoreError> {
    let text = |at: usize| row.get::<_, String>(at).map_err(failed);
    let hash: Vec<u8> = row.get(1).map_err(failed)?;
    let words: Option<String> = row.get(5).map_err(failed)?;
    let (expires_at, revoked_at): (Option<i64>, Option<i64>) =
        (row.get(7).map_err(failed)?, row.get(8).map_err(failed)?);
    Ok(ApiKey {
        key_id: id(KeyId::new(&text(0)?))?,
        hash: bytes(&hash)?,
        user_id: id(UserId::new(&text(2)?))?,
        timeline_id: id(TimelineId::new(&text(3)?))?,
        label: text(4)?,
        scopes: words.map(|words| scopes(&words)).transpose()?.map(Into::into),
        created_at: instant(row.get(6).map_err(failed)?)?,
        expires_at: expires_at.map(instant).transpose()?,
        revoked_at: revoked_at.map(instant).transpose()?,
        horizon: horizon(row)?,
    })
}

/// Reads the horizon of a key. An unknown value is an error and never means an unlimited horizon.
fn horizon(row: &Row<'_>) -> Result<Horizon, StoreError> {
    let (word, known_at): (Option<String>, Option<i64>) = (row.get(9).map_err(failed)?, row.get(10).map_err(failed)?);
    let until_clock = match word.as_deref() {
        None => false,
        Some(Horizon::CLOCK) => true,
        Some(_) => return Err(damaged("an unknown horizon")),
    };
    Ok(Horizon { until_clock, known_at: known_at.map(count).transpose()? })
}

fn password(row: &Row<'_>) -> Result<KeptPassword, StoreError> {
    let text = |at: usize| row.get::<_, String>(at).map_err(failed);
    Ok(KeptPassword {
        user_id: id(UserId::new(&text(0)?))?,
        phc: text(1)?.into(),
        set_at: instant(row.get(2).map_err(failed)?)?,
    })
}

fn session(row: &Row<'_>) -> Result<Session, StoreError> {
    let text = |at: usize| row.get::<_, String>(at).map_err(failed);
    let at = |at: usize| instant(row.get(at).map_err(failed)?);
    let blob = |at: usize| row.get::<_, Vec<u8>>(at).map_err(failed);
    Ok(Session {
        session_id: id(SessionId::new(&text(0)?))?,
        hash: bytes(&blob(1)?)?,
        user_id: id(UserId::new(&text(2)?))?,
        created_at: at(3)?,
        renewed_at: at(4)?,
        expires_at: at(5)?,
    })
}
