//! Users and their credentials: state, changes, and the reasons for rejection.
//!
//! Each change is recorded by one ledger entry ([`Happened`]) and results in row changes ([`DirectoryChange`]). Live
//! path and replay share [`Directory::changes`] and [`Directory::apply`]. They differ in the password type: the live
//! path stores the hash, replay knows only its digest.

use std::sync::Arc;

use crate::access::{CallerAccess, Permissions, Scope};
use crate::ids::{KeyId, SessionId, UserId};
use crate::time::{Instant, Wall};

pub(crate) mod persistent_map;
mod secrets;
mod refusal;
mod password;
pub mod user;
pub mod key;
pub mod session;
#[cfg(test)]
mod tests;

pub use key::ApiKey;
pub use password::{PasswordRow, PasswordSummary, StoredPassword};
pub use persistent_map::PersistentMap;
pub use refusal::DirectoryRefusal;
pub use secrets::{Secret, Secrets};
pub use session::{Session, SessionSpans};
pub use user::User;

/// Users and their credentials. Each part is shared until it changes: a clone is cheap, and a change copies a shelf or
/// two of the affected part ([`PersistentMap`]), regardless of the number of users.
#[derive(Clone, Debug)]
pub struct Directory<P = StoredPassword> {
    pub users: Arc<PersistentMap<UserId, User>>,
    /// API keys. The engine keeps those that are not revoked; the store has the others.
    pub keys: Arc<Secrets<ApiKey>>,
    pub passwords: Arc<PersistentMap<UserId, Arc<P>>>,
    pub sessions: Arc<Secrets<Session>>,
    /// Number of changes since the service started.
    pub version: u64,
}

impl<P> Default for Directory<P> {
    fn default() -> Self {
        let (users, keys, passwords, sessions) = (Arc::default(), Arc::default(), Arc::default(), Arc::default());
        Self { users, keys, passwords, sessions, version: 0 }
    }
}

/// What one entry of `system` records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened<P = StoredPassword> {
    UserMade(User),
    UserRestricted(User),
    /// A user was deleted. Separate entries revoked their keys before.
    UserRemoved(User),
    KeyMade(ApiKey),
    /// A key was revoked, as of its `revoked_at`.
    KeyStopped(ApiKey),
    LoggedIn {
        session: Session,
        /// Sessions that ended because of it.
        ended: Vec<SessionId>,
        /// The password, if it was rehashed. `set_at` does not change.
        rehashed: Option<P>,
    },
    /// A session was used. Recorded at intervals, not on each request.
    SessionRenewed {
        session_id: SessionId,
        at: Instant<Wall>,
    },
    SessionsEnded {
        user_id: UserId,
        ended: Vec<SessionId>,
        /// Whether the user logged out, as opposed to an operator ending the sessions.
        is_log_out: bool,
    },
    PasswordSet {
        password: P,
        ended: Vec<SessionId>,
    },
}

/// A change to one row of the directory, or an ended timeline, whose record is `T`.
#[derive(Clone, Debug)]
pub enum DirectoryChange<P, T> {
    PutUser(User),
    /// Delete a user, with password and sessions.
    DeleteUser(UserId),
    PutKey(ApiKey),
    RevokeKey {
        key_id: KeyId,
        at: Instant<Wall>,
    },
    PutPassword(P),
    PutSession(Session),
    EndSession(SessionId),
    /// A timeline has ended. Its name is never available again.
    EndTimeline(T),
}

impl<P, T> DirectoryChange<P, T> {
    /// Maps the password and the ended timeline, and keeps everything else.
    ///
    /// # Errors
    /// The error of either function.
    pub fn try_with<Q, U, E>(
        self,
        password: impl FnOnce(P) -> Result<Q, E>,
        ended: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<DirectoryChange<Q, U>, E> {
        Ok(match self {
            Self::PutUser(user) => DirectoryChange::PutUser(user),
            Self::DeleteUser(user_id) => DirectoryChange::DeleteUser(user_id),
            Self::PutKey(key) => DirectoryChange::PutKey(key),
            Self::RevokeKey { key_id, at } => DirectoryChange::RevokeKey { key_id, at },
            Self::PutPassword(summary) => DirectoryChange::PutPassword(password(summary)?),
            Self::PutSession(session) => DirectoryChange::PutSession(session),
            Self::EndSession(session_id) => DirectoryChange::EndSession(session_id),
            Self::EndTimeline(summary) => DirectoryChange::EndTimeline(ended(summary)?),
        })
    }

    #[must_use]
    pub const fn ended(&self) -> Option<&T> {
        match self {
            Self::EndTimeline(ended) => Some(ended),
            Self::PutUser(_)
            | Self::DeleteUser(_)
            | Self::PutKey(_)
            | Self::RevokeKey { .. }
            | Self::PutPassword(_)
            | Self::PutSession(_)
            | Self::EndSession(_) => None,
        }
    }
}

/// The host times of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The host clock. Decides which credentials are valid and when they expire.
    pub now: Instant<Wall>,
    /// The recorded time, which is never before that of the previous entry.
    pub recorded: Instant<Wall>,
    /// The time for destructive decisions: anything that has not expired by it is kept.
    pub sure: Instant<Wall>,
}

impl<P: PasswordRow> Directory<P> {
    /// Returns the row changes of an entry, in order. `Q` may hold more or less about a password than `P`.
    #[must_use]
    pub fn changes<Q: Clone, T>(&self, happened: &Happened<Q>) -> Vec<DirectoryChange<Q, T>> {
        match happened {
            Happened::UserMade(user) | Happened::UserRestricted(user) => vec![DirectoryChange::PutUser(user.clone())],
            // All sessions end individually before the user is deleted.
            Happened::UserRemoved(user) => {
                let sessions = self.sessions.of_user(&user.user_id);
                let ended = sessions.map(|one| DirectoryChange::EndSession(one.session_id.clone()));
                ended.chain([DirectoryChange::DeleteUser(user.user_id.clone())]).collect()
            }
            Happened::KeyMade(key) => vec![DirectoryChange::PutKey(key.clone())],
            Happened::KeyStopped(key) => {
                let stop = |at| DirectoryChange::RevokeKey { key_id: key.key_id.clone(), at };
                key.revoked_at.map(stop).into_iter().collect()
            }
            Happened::LoggedIn { session, ended, rehashed } => {
                let password = rehashed.clone().map(DirectoryChange::PutPassword);
                let begun = DirectoryChange::PutSession(session.clone());
                ends(ended).chain(password).chain([begun]).collect()
            }
            // A reader that starts in the middle of the ledger does not know every session.
            Happened::SessionRenewed { session_id, at } => {
                let known = self.sessions.get(session_id);
                let renewed = known.map(|session| Session { renewed_at: *at, ..(**session).clone() });
                renewed.map(DirectoryChange::PutSession).into_iter().collect()
            }
            Happened::SessionsEnded { ended, .. } => ends(ended).collect(),
            Happened::PasswordSet { password, ended } => {
                ends(ended).chain([DirectoryChange::PutPassword(password.clone())]).collect()
            }
        }
    }

    /// Applies a change. Infallible and deterministic: live path and replay share it.
    pub fn apply<T>(&mut self, change: &DirectoryChange<P, T>) {
        self.version += 1;
        match change {
            DirectoryChange::PutUser(user) => {
                Arc::make_mut(&mut self.users).insert(user.user_id.clone(), user.clone());
            }
            DirectoryChange::DeleteUser(user_id) => {
                Arc::make_mut(&mut self.users).remove(user_id);
                Arc::make_mut(&mut self.passwords).remove(user_id);
                let sessions = Arc::make_mut(&mut self.sessions);
                let ended: Vec<SessionId> = sessions.of_user(user_id).map(|one| one.session_id.clone()).collect();
                for session_id in &ended {
                    sessions.take_out(session_id);
                }
            }
            DirectoryChange::PutKey(key) => Arc::make_mut(&mut self.keys).put(key.clone()),
            // A revoked key never authenticates, so it is not kept in memory.
            DirectoryChange::RevokeKey { key_id, .. } => self.forget_key(key_id),
            DirectoryChange::PutPassword(password) => {
                let password = Arc::new(password.clone());
                Arc::make_mut(&mut self.passwords).insert(password.user_id().clone(), password);
            }
            DirectoryChange::PutSession(session) => Arc::make_mut(&mut self.sessions).put(session.clone()),
            DirectoryChange::EndSession(session_id) => Arc::make_mut(&mut self.sessions).take_out(session_id),
            // Ended timelines are kept only in the store: there may be many.
            DirectoryChange::EndTimeline(_) => {}
        }
    }
}

impl<P> Directory<P> {
    /// Returns a user.
    ///
    /// # Errors
    /// There is no such user.
    pub fn user(&self, user_id: &UserId) -> Result<&User, DirectoryRefusal> {
        self.users.get(user_id).ok_or_else(|| DirectoryRefusal::NoUser(user_id.clone()))
    }

    /// Drops an invalid key from memory. The store keeps it.
    pub fn forget_key(&mut self, key_id: &KeyId) {
        Arc::make_mut(&mut self.keys).take_out(key_id);
    }

    /// Drops all invalid keys from memory. The store keeps them.
    pub fn leave_out_dead(&mut self, host: Instant<Wall>) {
        Arc::make_mut(&mut self.keys).retain(|key| key.is_live(host));
    }

    /// Returns the facts about a user whose credential has `scopes`, on a timeline with the permissions `lists`.
    #[must_use]
    pub fn caller_access<'a>(
        &self,
        user_id: &UserId,
        scopes: Option<&'a [Scope]>,
        lists: Option<&Permissions>,
        host: Instant<Wall>,
    ) -> CallerAccess<'a> {
        let user = self.users.get(user_id);
        CallerAccess {
            operator: user.is_some_and(|user| user.operator),
            restriction: user.map(|user| user.restriction).unwrap_or_default(),
            role: user.and(lists).and_then(|lists| lists.role(user_id, host)),
            scopes,
        }
    }
}

fn ends<P, T>(ended: &[SessionId]) -> impl Iterator<Item = DirectoryChange<P, T>> {
    ended.iter().cloned().map(DirectoryChange::EndSession)
}
