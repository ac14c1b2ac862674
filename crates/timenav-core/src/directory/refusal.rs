//! What the directory says no to.

use crate::ids::{KeyId, SessionId, UserId};
use crate::limits::KEYS_PER_USER_MAX;

/// Why nothing happens to users, and to what shows who they are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryRefusal {
    /// The name means something else.
    #[error("`{0}` is reserved")]
    Reserved(UserId),
    /// There is a user of that name.
    #[error("the user `{0}` already exists")]
    UserExists(UserId),
    /// There are as many users as there may be.
    #[error("there are already {max} users, which is the limit")]
    TooManyUsers {
        /// The limit.
        max: usize,
    },
    /// There is no such user.
    #[error("there is no user `{0}`")]
    NoUser(UserId),
    /// The service always has an operator.
    #[error("`{0}` is the last operator; create another one first")]
    LastOperator(UserId),
    /// There is no such key, or it works no more.
    #[error("there is no API key `{0}`")]
    NoKey(KeyId),
    /// The user has as many keys that work as they may have.
    #[error("this user already has {KEYS_PER_USER_MAX} active keys, which is the limit")]
    TooManyKeys,
    /// The key would not work at all.
    #[error("the expiry is in the past; give a later host time")]
    KeyExpired,
    /// There is no such session, or it has ended.
    #[error("there is no session `{0}`")]
    NoSession(SessionId),
    /// What was compared with a password is not what is kept of it now.
    #[error("the current password is wrong")]
    WrongPassword,
}
