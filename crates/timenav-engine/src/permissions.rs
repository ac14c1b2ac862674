//! The lists of a timeline: what is to change in them, and their tag.

use std::collections::BTreeSet;

use timenav_core::access::Permissions;
use timenav_core::ids::UserId;
use timenav_core::ledger::sha256;

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
    /// What the permissions must be for the change to happen.
    pub expected: Option<Expected>,
}

/// Returns the tag of permissions: equal lists have equal tags, others never.
#[must_use]
pub fn permissions_tag(permissions: &Permissions) -> String {
    let text = json(&PermissionsRecord::of(permissions));
    sha256(&[text.as_bytes()]).to_hex()[..32].to_owned()
}
