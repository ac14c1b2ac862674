//! The lists of a timeline: what is to change in them, and their tag.

use std::collections::{BTreeMap, BTreeSet};

use timenav_core::access::{Permissions, Role};
use timenav_core::ids::UserId;
use timenav_core::ledger::sha256;
use timenav_core::permissions::End;

use crate::changes::LedgerPosition;
use crate::expected::Expected;
use crate::json::json;
use crate::payload::PermissionsRecord;

/// New lists of a timeline. A list that is left out stays as it is.
#[derive(Clone, Debug, Default)]
pub struct PermissionsChange {
    /// Users with read access.
    pub read: Option<BTreeSet<UserId>>,
    /// Users with write access.
    pub write: Option<BTreeSet<UserId>>,
    /// Users with admin access.
    pub admin: Option<BTreeSet<UserId>>,
    /// When permissions are to expire. Who is in a list and not named here keeps what they had.
    pub ends: BTreeMap<(Role, UserId), End>,
    /// What the permissions must be for the change to happen.
    pub expected: Option<Expected>,
}

/// Permissions that were set.
#[derive(Clone, Debug)]
pub struct PermissionsAnswer {
    /// Their tag.
    pub tag: String,
    /// Users in a list that was given whose permission there has expired, and who were given no other end.
    pub expired: Vec<String>,
    /// Where it stands.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// Returns the tag of permissions: equal lists with equal ends have equal tags, others never.
#[must_use]
pub fn permissions_tag(permissions: &Permissions) -> String {
    let text = json(&PermissionsRecord::of(permissions));
    sha256(&[text.as_bytes()]).to_hex()[..32].to_owned()
}
