//! Password rows: the stored hash, or its digest as recorded in the ledger.

use std::fmt;
use std::sync::Arc;

use crate::ids::UserId;
use crate::ledger::{Hash, sha256};
use crate::time::{Instant, Wall};

/// The part of a password row that the ledger makes public.
pub trait PasswordRow: Clone {
    fn user_id(&self) -> &UserId;
    fn sha256(&self) -> Hash;
    fn set_at(&self) -> Instant<Wall>;
}

#[derive(Clone, PartialEq, Eq)]
pub struct StoredPassword {
    pub user_id: UserId,
    /// The salted hash as a PHC string. It never appears in a ledger or a log.
    pub phc: Arc<str>,
    pub set_at: Instant<Wall>,
}

impl StoredPassword {
    /// Returns the digest recorded in the ledger. The hash is salted, so the digest reveals nothing.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *sha256(&[self.phc.as_bytes()]).as_bytes()
    }

    /// Returns the ledger's record of it.
    #[must_use]
    pub fn summary(&self) -> PasswordSummary {
        PasswordSummary { user_id: self.user_id.clone(), sha256: self.sha256(), set_at: self.set_at }
    }
}

impl fmt::Debug for StoredPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = data_encoding::HEXLOWER.encode(&self.digest());
        f.debug_struct("KeptPassword").field("sha256", &digest).field("set_at", &self.set_at).finish_non_exhaustive()
    }
}

impl PasswordRow for StoredPassword {
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

/// A password as recorded in the ledger.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordSummary {
    pub user_id: UserId,
    pub sha256: Hash,
    pub set_at: Instant<Wall>,
}

impl fmt::Debug for PasswordSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = f.debug_struct("PasswordSummary");
        output.field("sha256", &self.sha256.to_hex()).field("set_at", &self.set_at).finish_non_exhaustive()
    }
}

impl PasswordRow for PasswordSummary {
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
