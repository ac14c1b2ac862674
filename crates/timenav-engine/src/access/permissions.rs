use std::collections::{BTreeMap, BTreeSet};

use timenav_core::access::{Permissions, Role};
use timenav_core::ids::UserId;
use timenav_core::ledger::sha256;
use timenav_core::permissions::End;

use crate::ledger::payload::PermissionsRecord;
use crate::requests::expected::Expected;
use crate::requests::json::json;

/// A list that is `None` does not change.
#[derive(Clone, Debug, Default)]
pub struct PermissionsChange {
    pub read: Option<BTreeSet<UserId>>,
    pub write: Option<BTreeSet<UserId>>,
    pub admin: Option<BTreeSet<UserId>>,
    /// When permissions expire. Users of a list that are not named here keep their expiry.
    pub ends: BTreeMap<(Role, UserId), End>,
    pub expected: Option<Expected>,
}

/// Returns the tag of permissions: equal if and only if lists and expiries are equal.
#[must_use]
pub fn permissions_tag(permissions: &Permissions) -> String {
    let text = json(&PermissionsRecord::of(permissions));
    sha256(&[text.as_bytes()]).to_hex()[..32].to_owned()
}
