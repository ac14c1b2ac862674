//! What somebody does to the lists of a timeline, and what becomes of them.

use std::collections::BTreeSet;

use crate::access::Permissions;
use crate::ids::UserId;

#[cfg(test)]
mod tests;

/// New lists. A list that is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionsCommand {
    /// Users with read access.
    pub read: Option<BTreeSet<UserId>>,
    /// Users with write access.
    pub write: Option<BTreeSet<UserId>>,
    /// Users with admin access.
    pub admin: Option<BTreeSet<UserId>>,
}

/// What happened to the lists: all of them, as they are from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionsSet(pub Permissions);

/// What the lists say no to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionsRefusal {
    /// A timeline must have an admin.
    #[error("the timeline would have no admin; name at least one user in `admin`")]
    LastAdmin,
}

/// Decides what a command does to the lists of a timeline. Changes nothing.
///
/// # Errors
/// [`PermissionsRefusal`]; the lists stay as they are.
pub fn decide(permissions: &Permissions, command: &PermissionsCommand) -> Result<PermissionsSet, PermissionsRefusal> {
    let after = |list: &Option<BTreeSet<UserId>>, before: &BTreeSet<UserId>| list.as_ref().unwrap_or(before).clone();
    let after = Permissions {
        read: after(&command.read, &permissions.read),
        write: after(&command.write, &permissions.write),
        admin: after(&command.admin, &permissions.admin),
    };
    if after.admin.is_empty() { Err(PermissionsRefusal::LastAdmin) } else { Ok(PermissionsSet(after)) }
}

/// Applies what happened to the lists. Cannot fail: live path and replay share it.
pub fn apply(permissions: &mut Permissions, set: &PermissionsSet) {
    permissions.clone_from(&set.0);
}
