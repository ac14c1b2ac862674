use crate::ids::{KeyId, SessionId, UserId};
use crate::limits::KEYS_PER_USER_MAX;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryRefusal {
    #[error("`{0}` is reserved")]
    Reserved(UserId),
    #[error("the user `{0}` already exists")]
    UserExists(UserId),
    #[error("there are already {max} users, which is the limit")]
    TooManyUsers { max: usize },
    #[error("there is no user `{0}`")]
    NoUser(UserId),
    #[error("`{0}` is the last operator; create another one first")]
    LastOperator(UserId),
    /// There is no such key, or it is not valid anymore.
    #[error("there is no API key `{0}`")]
    NoKey(KeyId),
    #[error("this user already has {KEYS_PER_USER_MAX} active keys, which is the limit")]
    TooManyKeys,
    #[error("the expiry is in the past; give a later host time")]
    KeyExpired,
    /// There is no such session, or it has ended.
    #[error("there is no session `{0}`")]
    NoSession(SessionId),
    /// The password was compared with a hash that is not the stored one anymore.
    #[error("the current password is wrong")]
    WrongPassword,
}
