//! The permissions at each version of the directory.
//!
//! Stored by subject and not by version: the size depends on the number of users, keys and sessions, but not on how
//! often they are used or on the number of checked entries.

use std::collections::HashMap;
use std::sync::Arc;

use timenav_core::access::{RestrictionLevel, Scope};
use timenav_core::ids::UserId;
use timenav_core::time::{Instant, Wall};
use tokio::sync::Mutex;

use crate::access::directory_changes::Change;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UserPower {
    pub(super) operator: bool,
    pub(super) restriction: RestrictionLevel,
}

#[derive(Clone, Debug)]
pub(super) struct CredentialSpan {
    pub(super) user_id: UserId,
    pub(super) scopes: Option<Arc<[Scope]>>,
    pub(super) expires_at: Option<Instant<Wall>>,
    /// The first version with it, and the first one without it.
    from: u64,
    until: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Powers {
    /// By ascending versions; `None` if the user was deleted.
    users: HashMap<UserId, Vec<(u64, Option<UserPower>)>>,
    passwords: HashMap<UserId, Vec<(u64, bool)>>,
    credentials: HashMap<Box<str>, CredentialSpan>,
    first_key: Option<u64>,
    version: u64,
}

/// The history of permissions, replayed from `system` once for several scans of the same data.
#[derive(Debug, Default)]
pub struct ReplayedAuthority(pub(super) Mutex<Option<Arc<Powers>>>);

impl CredentialSpan {
    pub(super) fn is_there(&self, version: u64) -> bool {
        self.from <= version && self.until.is_none_or(|until| version < until)
    }
}

impl Powers {
    pub(super) const fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn credential(&self, id: &str) -> Option<&CredentialSpan> {
        self.credentials.get(id)
    }

    pub(super) fn user(&self, user_id: &UserId, version: u64) -> Option<UserPower> {
        at(self.users.get(user_id)?, version).flatten()
    }

    pub(super) fn has_password(&self, user_id: &UserId, version: u64) -> bool {
        self.passwords.get(user_id).and_then(|changes| at(changes, version)).unwrap_or(false)
    }

    /// Returns whether a key existed at a version, so that there could be callers.
    pub(super) fn has_begun(&self, version: u64) -> bool {
        self.first_key.is_some_and(|first| first <= version)
    }

    pub(super) fn take(&mut self, change: &Change, version: u64) {
        self.version = self.version.max(version);
        match change {
            Change::PutUser(user) => {
                let power = UserPower { operator: user.operator, restriction: user.restriction };
                self.users.entry(user.user_id.clone()).or_default().push((version, Some(power)));
            }
            Change::DeleteUser(user_id) => {
                self.users.entry(user_id.clone()).or_default().push((version, None));
                self.passwords.entry(user_id.clone()).or_default().push((version, false));
            }
            Change::PutKey(key) => {
                self.first_key.get_or_insert(version);
                let (user_id, scopes) = (key.user_id.clone(), key.scopes.clone());
                let credential =
                    CredentialSpan { user_id, scopes, expires_at: key.expires_at, from: version, until: None };
                self.put(key.key_id.as_str(), credential);
            }
            Change::PutSession(session) => {
                let (user_id, expires_at) = (session.user_id.clone(), Some(session.expires_at));
                let credential = CredentialSpan { user_id, scopes: None, expires_at, from: version, until: None };
                self.put(session.session_id.as_str(), credential);
            }
            Change::RevokeKey { key_id, .. } => self.end(key_id.as_str(), version),
            Change::EndSession(session_id) => self.end(session_id.as_str(), version),
            Change::PutPassword(password) => {
                self.passwords.entry(password.user_id.clone()).or_default().push((version, true));
            }
            // This does not affect permissions.
            Change::EndTimeline(_) => {}
        }
    }

    /// Renewing a session does not change it.
    fn put(&mut self, id: &str, credential: CredentialSpan) {
        self.credentials.entry(id.into()).or_insert(credential);
    }

    fn end(&mut self, id: &str, version: u64) {
        if let Some(credential) = self.credentials.get_mut(id) {
            credential.until.get_or_insert(version);
        }
    }
}

fn at<T: Copy>(changes: &[(u64, T)], version: u64) -> Option<T> {
    let count = changes.partition_point(|(from, _)| *from <= version);
    changes.get(count.checked_sub(1)?).map(|(_, what)| *what)
}
