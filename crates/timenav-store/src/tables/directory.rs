//! How rows of the directory are written to their tables and read from them.

use std::borrow::Cow;
use std::sync::Arc;

use timenav_core::access::Scope;
use timenav_core::horizon::Horizon;
use timenav_engine::{ApiKey, Session, StoreError, StoredPassword, User};

use super::list::{API_KEYS, PASSWORDS, SESSIONS, USERS};
use super::records::record;
use super::{Field, Fields, Record, Table, Value};
use crate::persistence::values::{damaged, scopes};

record!(User, USERS, user_id, operator, restriction, created_at);
record!(StoredPassword, PASSWORDS, user_id, phc, set_at);
record!(Session, SESSIONS, session_id, hash, user_id, created_at, renewed_at, expires_at);

impl Field for Arc<[Scope]> {
    fn stored(&self) -> Value<'_> {
        let words: Vec<&str> = self.iter().map(|scope| scope.as_str()).collect();
        Value::Word(Cow::Owned(words.join(" ")))
    }

    fn read(value: Value<'_>) -> Result<Self, StoreError> {
        scopes(&String::read(value)?).map(Into::into)
    }
}

impl Record for ApiKey {
    const TABLE: &'static Table = &API_KEYS;

    fn values(&self) -> Vec<Value<'_>> {
        let Self { key_id, hash, user_id, timeline_id, label, scopes, .. } = self;
        let Horizon { until_clock, known_at } = &self.horizon;
        vec![
            key_id.stored(),
            hash.stored(),
            user_id.stored(),
            timeline_id.stored(),
            label.stored(),
            scopes.stored(),
            self.created_at.stored(),
            self.expires_at.stored(),
            self.revoked_at.stored(),
            if *until_clock { Value::word(Horizon::CLOCK) } else { Value::Null },
            known_at.stored(),
        ]
    }

    fn read(row: &mut Fields<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            key_id: row.get()?,
            hash: row.get()?,
            user_id: row.get()?,
            timeline_id: row.get()?,
            label: row.get()?,
            scopes: row.get()?,
            created_at: row.get()?,
            expires_at: row.get()?,
            revoked_at: row.get()?,
            horizon: horizon(row)?,
        })
    }
}

/// Reads the horizon of a key. An unknown value is an error and never means an unlimited horizon.
fn horizon(row: &mut Fields<'_>) -> Result<Horizon, StoreError> {
    let until_clock = match row.get::<Option<String>>()?.as_deref() {
        None => false,
        Some(Horizon::CLOCK) => true,
        Some(_) => return Err(damaged("an unknown horizon")),
    };
    Ok(Horizon { until_clock, known_at: row.get()? })
}
