//! What is known of a password: all that is kept of it, or what the ledger tells of that.

use std::fmt;
use std::sync::Arc;

use crate::ids::UserId;
use crate::ledger::{Hash, sha256};
use crate::time::{Instant, Wall};

/// What everybody knows of a password who reads the ledger.
pub trait PasswordRow: Clone {
    /// Returns whose it is.
    fn user_id(&self) -> &UserId;
    /// Returns the digest of what is kept of it.
    fn sha256(&self) -> Hash;
    /// Returns when it was set, by the host.
    fn set_at(&self) -> Instant<Wall>;
}

/// What is kept of a user's password.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptPassword {
    /// The user it belongs to.
    pub user_id: UserId,
    /// The password, hashed with its own salt, as a PHC string. It is in no ledger and no log.
    pub phc: Arc<str>,
    /// When it was set, by the host.
    pub set_at: Instant<Wall>,
}

impl KeptPassword {
    /// Returns the digest by which the ledger tells of it. Salted as it is, it gives nothing away.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *sha256(&[self.phc.as_bytes()]).as_bytes()
    }

    /// Returns what the ledger tells of it.
    #[must_use]
    pub fn told(&self) -> PasswordTold {
        PasswordTold { user_id: self.user_id.clone(), sha256: self.sha256(), set_at: self.set_at }
    }
}

impl fmt::Debug for KeptPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = data_encoding::HEXLOWER.encode(&self.digest());
        f.debug_struct("KeptPassword").field("sha256", &digest).field("set_at", &self.set_at).finish_non_exhaustive()
    }
}

impl PasswordRow for KeptPassword {
    fn user_id(&self) -> &UserId {
        &self.user_id
    }

    fn sha256(&self) -> Hash {
        Hash::from_bytes(self.digest())
    }

    fn set_at(&self) -> Instant<Wall> {
        self.set_at
    }
}

/// What the ledger tells of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordTold {
    /// The user it belongs to.
    pub user_id: UserId,
    /// The digest of what is kept of it.
    pub sha256: Hash,
    /// When it was set, by the host.
    pub set_at: Instant<Wall>,
}

impl fmt::Debug for PasswordTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = f.debug_struct("PasswordTold");
        told.field("sha256", &self.sha256.to_hex()).field("set_at", &self.set_at).finish_non_exhaustive()
    }
}

impl PasswordRow for PasswordTold {
    fn user_id(&self) -> &UserId {
        &self.user_id
    }

    fn sha256(&self) -> Hash {
        self.sha256
    }

    fn set_at(&self) -> Instant<Wall> {
        self.set_at
    }
}
