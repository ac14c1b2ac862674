use std::sync::Arc;

use async_trait::async_trait;
use timenav_core::ids::UserId;
use timenav_core::password::Password;

use crate::ports::vault::VaultError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordMatch {
    /// It differs, or the user has none. Callers cannot tell which, nor by the duration.
    Wrong,
    Right,
    /// It matches, but its hash is weaker than the current setting: hash it again.
    RightButWeak,
}

/// Hashes passwords with individual salts, at a configured cost and with limited concurrency. Stores none, and wipes
/// them from memory.
///
/// An implementation sees every password, and decides who can log in.
#[async_trait]
pub trait Passwords: Send + Sync + 'static {
    /// Returns the hash of a user's password as a PHC string, in the turn of the requesting user. Two calls with the
    /// same password return different hashes.
    ///
    /// # Errors
    /// [`VaultError::Busy`] or [`VaultError::Failed`].
    async fn hash(&self, asker: Option<&UserId>, password: Password) -> Result<String, VaultError>;

    /// Compares a password with a hash, in the turn of the requesting user, if known. Takes as long if there is no
    /// hash.
    ///
    /// # Errors
    /// [`VaultError::Busy`] or [`VaultError::Failed`].
    async fn compare(
        &self,
        asker: Option<&UserId>,
        password: Password,
        stored: Option<Arc<str>>,
    ) -> Result<PasswordMatch, VaultError>;
}
