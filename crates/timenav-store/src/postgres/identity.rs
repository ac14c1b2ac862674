use std::sync::Arc;

use timenav_core::access::Scope;
use timenav_core::horizon::Horizon;
use timenav_core::ids::{KeyId, SessionId, TimelineId, UserId};
use timenav_core::time::Instant;
use timenav_engine::{ApiKey, Directory, DirectoryChange, KeptPassword, PersistentMap, Secrets, Session, User};
use tokio_postgres::Row;

use super::ends;
use super::values::{Failed, bytes, count, damaged, get, id, instant, restriction, scopes, sql, text};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};

const PUT_USER: &str = "INSERT INTO users (user_id, operator, restriction, created_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id) DO UPDATE SET operator = excluded.operator, restriction = excluded.restriction";
const DELETE_USER: [&str; 3] = [
    "DELETE FROM users WHERE user_id = $1",
    "DELETE FROM passwords WHERE user_id = $1",
    "DELETE FROM sessions WHERE user_id = $1",
];
const INSERT_KEY: &str = "INSERT INTO api_keys (key_id, hash, user_id, timeline_id, label, scopes, created_at,
    expires_at, revoked_at, horizon, known_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const REVOKE_KEY: &str = "UPDATE api_keys SET revoked_at = $1 WHERE key_id = $2";
const PUT_PASSWORD: &str = "INSERT INTO passwords (user_id, phc, set_at) VALUES ($1, $2, $3)
    ON CONFLICT (user_id) DO UPDATE SET phc = excluded.phc, set_at = excluded.set_at";
const PUT_SESSION: &str = "INSERT INTO sessions (session_id, hash, user_id, created_at, renewed_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (session_id) DO UPDATE SET renewed_at = excluded.renewed_at";
const END_SESSION: &str = "DELETE FROM sessions WHERE session_id = $1";
const SELECT_USERS: &str = "SELECT user_id, operator, restriction, created_at FROM users";
const SELECT_KEYS: &str = "SELECT key_id, hash, user_id, timeline_id, label, scopes, created_at, expires_at,
    revoked_at, horizon, known_at FROM api_keys WHERE $1 OR revoked_at IS NULL";
const SELECT_KEYS_NAMED: &str = "SELECT key_id, hash, user_id, timeline_id, label, scopes, created_at, expires_at,
    revoked_at, horizon, known_at FROM api_keys WHERE key_id = ANY($1)";
const SELECT_KEYS_OF: &str = "SELECT key_id, hash, user_id, timeline_id, label, scopes, created_at, expires_at,
    revoked_at, horizon, known_at FROM api_keys WHERE user_id = $1 AND ($2::text IS NULL
        OR (created_at, key_id) < (SELECT created_at, key_id FROM api_keys WHERE key_id = $2))
    ORDER BY created_at DESC, key_id DESC LIMIT $3";
const SELECT_PASSWORDS: &str = "SELECT user_id, phc, set_at FROM passwords";
const SELECT_PASSWORDS_OF: &str = "SELECT user_id, phc, set_at FROM passwords WHERE user_id = ANY($1)";
const SELECT_SESSIONS: &str = "SELECT session_id, hash, user_id, created_at, renewed_at, expires_at FROM sessions";

pub(super) fn change<'a>(batch: &mut Batch<'a>, change: &'a DirectoryChange) {
    match change {
        DirectoryChange::PutUser(user) => {
            let (level, created_at) = (user.restriction.as_str(), user.created_at.micros());
            batch.add(PUT_USER, values![user.user_id.as_str(), user.operator, level, created_at]);
        }
        DirectoryChange::DeleteUser(user_id) => {
            for delete in DELETE_USER {
                batch.add(delete, values![user_id.as_str()]);
            }
        }
        DirectoryChange::PutKey(key) => insert_key(batch, key),
        DirectoryChange::RevokeKey { key_id, at } => batch.add(REVOKE_KEY, values![at.micros(), key_id.as_str()]),
        DirectoryChange::PutPassword(password) => {
            let set_at = password.set_at.micros();
            batch.add(PUT_PASSWORD, values![password.user_id.as_str(), &*password.phc, set_at]);
        }
        DirectoryChange::PutSession(session) => batch.add(
            PUT_SESSION,
            values![
                session.session_id.as_str(),
                &session.hash[..],
                session.user_id.as_str(),
                session.created_at.micros(),
                session.renewed_at.micros(),
                session.expires_at.micros(),
            ],
        ),
        DirectoryChange::EndSession(session_id) => batch.add(END_SESSION, values![session_id.as_str()]),
        DirectoryChange::EndTimeline(ended) => ends::end(batch, ended),
    }
}

fn insert_key<'a>(batch: &mut Batch<'a>, key: &'a ApiKey) {
    let scopes = key.scopes.as_ref().map(|scopes| {
        let words: Vec<&str> = scopes.iter().map(|scope: &Scope| scope.as_str()).collect();
        words.join(" ")
    });
    batch.add(
        INSERT_KEY,
        values![
            key.key_id.as_str(),
            &key.hash[..],
            key.user_id.as_str(),
            key.timeline_id.as_str(),
            key.label.as_bytes(),
            scopes,
            key.created_at.micros(),
            key.expires_at.map(Instant::micros),
            key.revoked_at.map(Instant::micros),
            key.horizon.until_clock.then_some(Horizon::CLOCK),
            key.horizon.known_at.map(sql),
        ],
    );
}

/// Returns the directory, optionally with revoked keys.
pub(super) async fn directory(on: &Object, with_stopped_keys: bool) -> Result<Directory, Failed> {
    let mut users = PersistentMap::default();
    for row in rows(on, SELECT_USERS, &[]).await? {
        let user = user(&row)?;
        users.insert(user.user_id.clone(), user);
    }
    let mut keys = Secrets::default();
    for row in rows(on, SELECT_KEYS, &[&with_stopped_keys]).await? {
        keys.put(api_key(&row)?);
    }
    let mut passwords = PersistentMap::default();
    for row in rows(on, SELECT_PASSWORDS, &[]).await? {
        let password = password(&row)?;
        passwords.insert(password.user_id.clone(), Arc::new(password));
    }
    let mut sessions = Secrets::default();
    for row in rows(on, SELECT_SESSIONS, &[]).await? {
        sessions.put(session(&row)?);
    }
    let (users, keys) = (Arc::new(users), Arc::new(keys));
    Ok(Directory { users, keys, passwords: Arc::new(passwords), sessions: Arc::new(sessions), version: 0 })
}

pub(super) async fn passwords_of(on: &Object, users: &[UserId]) -> Result<Vec<KeptPassword>, Failed> {
    let users: Vec<&str> = users.iter().map(UserId::as_str).collect();
    let found = rows(on, SELECT_PASSWORDS_OF, &[&users]).await?;
    found.iter().map(password).collect()
}

pub(super) async fn keys_named(on: &Object, wanted: &[KeyId]) -> Result<Vec<Option<ApiKey>>, Failed> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<&str> = wanted.iter().map(KeyId::as_str).collect();
    let found = rows(on, SELECT_KEYS_NAMED, &[&ids]).await?;
    let found: Vec<ApiKey> = found.iter().map(api_key).collect::<Result<_, _>>()?;
    Ok(wanted.iter().map(|key_id| found.iter().find(|key| key.key_id == *key_id).cloned()).collect())
}

/// Returns keys of a user, newest first, starting after `after`.
pub(super) async fn keys_of(
    on: &Object,
    user_id: &UserId,
    after: Option<&KeyId>,
    items_max: usize,
) -> Result<Vec<ApiKey>, Failed> {
    let values = (after.map(KeyId::as_str), sql(items_max as u64));
    let found = rows(on, SELECT_KEYS_OF, &[&user_id.as_str(), &values.0, &values.1]).await?;
    found.iter().map(api_key).collect()
}

fn user(row: &Row) -> Result<User, Failed> {
    Ok(User {
        user_id: id(UserId::new(get(row, 0)?))?,
        operator: get(row, 1)?,
        restriction: restriction(get(row, 2)?)?,
        created_at: instant(get(row, 3)?)?,
    })
}

fn api_key(row: &Row) -> Result<ApiKey, Failed> {
    let words: Option<&str> = get(row, 5)?;
    Ok(ApiKey {
        key_id: id(KeyId::new(get(row, 0)?))?,
        hash: bytes(get(row, 1)?)?,
        user_id: id(UserId::new(get(row, 2)?))?,
        timeline_id: id(TimelineId::new(get(row, 3)?))?,
        label: text(row, 4)?,
        scopes: words.map(scopes).transpose()?.map(Into::into),
        created_at: instant(get(row, 6)?)?,
        expires_at: get::<Option<i64>>(row, 7)?.map(instant).transpose()?,
        revoked_at: get::<Option<i64>>(row, 8)?.map(instant).transpose()?,
        horizon: horizon(row)?,
    })
}

/// Reads the horizon of a key. An unknown value is an error and never means an unlimited horizon.
fn horizon(row: &Row) -> Result<Horizon, Failed> {
    let until_clock = match get::<Option<&str>>(row, 9)? {
        None => false,
        Some(Horizon::CLOCK) => true,
        Some(_) => return Err(damaged("an unknown horizon").into()),
    };
    Ok(Horizon { until_clock, known_at: get::<Option<i64>>(row, 10)?.map(count).transpose()? })
}

fn password(row: &Row) -> Result<KeptPassword, Failed> {
    Ok(KeptPassword {
        user_id: id(UserId::new(get(row, 0)?))?,
        phc: get::<&str>(row, 1)?.into(),
        set_at: instant(get(row, 2)?)?,
    })
}

fn session(row: &Row) -> Result<Session, Failed> {
    Ok(Session {
        session_id: id(SessionId::new(get(row, 0)?))?,
        hash: bytes(get(row, 1)?)?,
        user_id: id(UserId::new(get(row, 2)?))?,
        created_at: instant(get(row, 3)?)?,
        renewed_at: instant(get(row, 4)?)?,
        expires_at: instant(get(row, 5)?)?,
    })
}
