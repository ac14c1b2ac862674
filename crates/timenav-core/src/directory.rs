//! Users, and what shows who they are: what is kept, what happens to it, and what is refused.
//!
//! What happens is told by one entry of the ledger each ([`Happened`]), and makes changes to rows ([`DirectoryChange`]).
//! Who decides and who replays entries share [`Directory::changes`] and [`Directory::apply`]; they differ in what they know
//! of a password: one keeps it, the other knows only its digest.

use std::sync::Arc;

use crate::access::{Permissions, Scope, Standing};
use crate::ids::{KeyId, SessionId, UserId};
use crate::time::{Instant, Wall};

mod shelves;
mod secrets;
mod refusal;
mod password;
pub mod user;
pub mod key;
pub mod session;
#[cfg(test)]
mod tests;

pub use key::ApiKey;
pub use password::{KeptPassword, PasswordRow, PasswordTold};
pub use refusal::DirectoryRefusal;
pub use secrets::{Secret, Secrets};
pub use session::{Session, SessionSpans};
pub use shelves::Shelves;
pub use user::User;

/// Users, and what shows who they are. Each part is shared until it changes: a clone costs next to nothing, and a
/// change copies a shelf or two of the part that it is in ([`Shelves`]), however many users there are.
#[derive(Clone, Debug)]
pub struct Directory<P = KeptPassword> {
    /// Every user.
    pub users: Arc<Shelves<UserId, User>>,
    /// Keys. The engine keeps those that were not revoked; the others are in the store.
    pub keys: Arc<Secrets<ApiKey>>,
    /// What is known of every password.
    pub passwords: Arc<Shelves<UserId, Arc<P>>>,
    /// Every session.
    pub sessions: Arc<Secrets<Session>>,
    /// How many changes there have been since the service began.
    pub version: u64,
}

impl<P> Default for Directory<P> {
    fn default() -> Self {
        let (users, keys, passwords, sessions) = (Arc::default(), Arc::default(), Arc::default(), Arc::default());
        Self { users, keys, passwords, sessions, version: 0 }
    }
}

/// What happened: what one entry of `system` tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened<P = KeptPassword> {
    /// A user is new.
    UserMade(User),
    /// A user's time travel is restricted otherwise.
    UserRestricted(User),
    /// A user is gone. Their keys were stopped before, by entries of their own.
    UserRemoved(User),
    /// A key is new.
    KeyMade(ApiKey),
    /// A key stopped working when it says.
    KeyStopped(ApiKey),
    /// A session began.
    LoggedIn {
        /// The session.
        session: Session,
        /// Sessions that ended with it.
        ended: Vec<SessionId>,
        /// The password, if it was hashed anew. When it was set does not change.
        rehashed: Option<P>,
    },
    /// It was noted that somebody does something in a session.
    SessionRenewed {
        /// Which.
        session_id: SessionId,
        /// When, by the host.
        at: Instant<Wall>,
    },
    /// Sessions of a user ended.
    SessionsEnded {
        /// Whose.
        user_id: UserId,
        /// Which.
        ended: Vec<SessionId>,
        /// Whether somebody left, and was not made to.
        is_log_out: bool,
    },
    /// A password is new or changed.
    PasswordSet {
        /// What is known of it.
        password: P,
        /// Sessions that ended with it.
        ended: Vec<SessionId>,
    },
}

/// A change to one row of users, keys, passwords or sessions, or to the rows of timelines that have ended; `T` is what is
/// known of such a timeline.
#[derive(Clone, Debug)]
pub enum DirectoryChange<P, T> {
    /// A user is new or changed.
    PutUser(User),
    /// A user is gone, with password and sessions.
    DeleteUser(UserId),
    /// A key is new.
    PutKey(ApiKey),
    /// A key stops working.
    RevokeKey {
        /// Which.
        key_id: KeyId,
        /// Since when.
        at: Instant<Wall>,
    },
    /// A password is new or changed.
    PutPassword(P),
    /// A session is new or goes on.
    PutSession(Session),
    /// A session has ended.
    EndSession(SessionId),
    /// A timeline has ended. Its name is never free again.
    EndTimeline(T),
}

impl<P, T> DirectoryChange<P, T> {
    /// Returns the same change with something else known of a password, and of a timeline that ends.
    ///
    /// # Errors
    /// One of these does not return it.
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
            Self::PutPassword(told) => DirectoryChange::PutPassword(password(told)?),
            Self::PutSession(session) => DirectoryChange::PutSession(session),
            Self::EndSession(session_id) => DirectoryChange::EndSession(session_id),
            Self::EndTimeline(told) => DirectoryChange::EndTimeline(ended(told)?),
        })
    }

    /// Returns the timeline that ends by it, if one does.
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

/// The times by which something is decided, all of the host.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The time of the host's own clock: it says what works and what lasts.
    pub now: Instant<Wall>,
    /// The time that is recorded, which is never before that of the entry before.
    pub recorded: Instant<Wall>,
    /// The time that destroys: what has not run out by it stays.
    pub sure: Instant<Wall>,
}

impl<P: PasswordRow> Directory<P> {
    /// Returns what becomes of the rows by what happened, in order. What is known of a password there may be more than here,
    /// or less.
    #[must_use]
    pub fn changes<Q: Clone, T>(&self, happened: &Happened<Q>) -> Vec<DirectoryChange<Q, T>> {
        match happened {
            Happened::UserMade(user) | Happened::UserRestricted(user) => vec![DirectoryChange::PutUser(user.clone())],
            // Every session ends, one by one, and then they are gone.
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
            // Who reads entries from the middle does not know every session.
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

    /// Makes a change. Cannot fail, and the same changes in the same order make the same directory: live path and replay
    /// share it.
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
            // Nobody is let in by it, so nothing of it is kept in memory.
            DirectoryChange::RevokeKey { key_id, .. } => self.forget_key(key_id),
            DirectoryChange::PutPassword(password) => {
                let password = Arc::new(password.clone());
                Arc::make_mut(&mut self.passwords).insert(password.user_id().clone(), password);
            }
            DirectoryChange::PutSession(session) => Arc::make_mut(&mut self.sessions).put(session.clone()),
            DirectoryChange::EndSession(session_id) => Arc::make_mut(&mut self.sessions).take_out(session_id),
            // It is among the rows, and nowhere else: there may be many.
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

    /// Forgets a key that lets nobody in any more. The store keeps it.
    pub fn forget_key(&mut self, key_id: &KeyId) {
        Arc::make_mut(&mut self.keys).take_out(key_id);
    }

    /// Leaves out keys that let nobody in any more. The store keeps them.
    pub fn leave_out_dead(&mut self, host: Instant<Wall>) {
        Arc::make_mut(&mut self.keys).retain(|key| key.is_live(host));
    }

    /// Returns what is known at a host instant about a user who shows something with those scopes, with regard to a
    /// timeline with those lists.
    #[must_use]
    pub fn standing<'a>(
        &self,
        user_id: &UserId,
        scopes: Option<&'a [Scope]>,
        lists: Option<&Permissions>,
        host: Instant<Wall>,
    ) -> Standing<'a> {
        let user = self.users.get(user_id);
        Standing {
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
