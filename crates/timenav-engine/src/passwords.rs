//! The door to what hashes passwords and compares them.

use std::sync::Arc;

use async_trait::async_trait;
use timenav_core::ids::UserId;
use timenav_core::password::Password;

use crate::vault::VaultError;

/// Whether a password is the one that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordMatch {
    /// It is not, or none is kept. Which of these is not told, and takes as long to find out.
    Wrong,
    /// It is.
    Right,
    /// It is, and what is kept was made with less work than is asked for now: it is to be hashed anew.
    RightButWeak,
}

/// Hashes passwords with a salt of their own, at some cost, so many at a time. Keeps none, and wipes them from the
/// memory that it used.
///
/// Whoever controls an implementation reads every password that passes through it, and lets in whom they like.
#[async_trait]
pub trait Passwords: Send + Sync + 'static {
    /// Returns what is to be kept of a user's password, as a PHC string, in the turn of the user who asks. Two calls with the same password give different
    /// ones.
    ///
    /// # Errors
    /// [`VaultError::Busy`] or [`VaultError::Failed`].
    async fn hash(&self, asker: Option<&UserId>, password: Password) -> Result<String, VaultError>;

    /// Compares a password with what is kept, in the turn of the user who asks, if that is known. It takes as long where nothing is.
    ///
    /// # Errors
    /// [`VaultError::Busy`] or [`VaultError::Failed`].
    async fn compare(
        &self,
        asker: Option<&UserId>,
        password: Password,
        kept: Option<Arc<str>>,
    ) -> Result<PasswordMatch, VaultError>;
}
