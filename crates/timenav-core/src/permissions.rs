//! What somebody does to the lists of a timeline, and what becomes of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::access::{Permissions, Role};
use crate::ids::UserId;
use crate::time::{Instant, Span, Wall};

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
    /// When permissions are to expire. Who is in a list and not named here keeps what they had.
    pub ends: BTreeMap<(Role, UserId), End>,
}

/// When a permission is to expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Not by itself.
    Never,
    /// At a host instant.
    At(Instant<Wall>),
    /// So long after it is given, by the host.
    In(Span),
}

/// What happened to the lists: all of them, as they are from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionsSet(pub Permissions);

/// What the lists say no to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionsRefusal {
    /// A timeline must have an admin.
    #[error("the timeline would have no admin; name at least one user in `admin`")]
    LastAdmin,
    /// A timeline must have an admin after every permission that expires has expired.
    #[error(
        "the timeline would have no admin in the end; leave at least one user in `admin` whose permission does not expire"
    )]
    EveryAdminExpires,
    /// A permission is to expire that is not there.
    #[error("`{user}` is not in `{}`, so there is no permission that could expire", .role.as_str())]
    NotListed {
        /// The role of the list.
        role: Role,
        /// Who is not in it.
        user: UserId,
    },
    /// A permission is to expire that would have expired already.
    #[error("the permission of `{user}` in `{}` would have expired already; give a later time", .role.as_str())]
    Expired {
        /// The role of the list.
        role: Role,
        /// Whose permission.
        user: UserId,
    },
}

/// Decides what a command does to the lists of a timeline at a host instant. Changes nothing.
///
/// An end that stays as it is may have passed: whoever sends back what they have read changes nothing by it.
///
/// # Errors
/// [`PermissionsRefusal`]; the lists stay as they are.
pub fn decide(
    permissions: &Permissions,
    command: &PermissionsCommand,
    host: Instant<Wall>,
) -> Result<PermissionsSet, PermissionsRefusal> {
    let given = [&command.read, &command.write, &command.admin];
    let mut after = Permissions::default();
    for (role, list) in Role::ALL.into_iter().zip(given) {
        let ends = permissions.ends.of(role);
        for user in list.as_ref().unwrap_or_else(|| permissions.list(role)) {
            after.put(role, user.clone(), ends.get(user).copied());
        }
    }
    for ((role, user), end) in &command.ends {
        if !after.list(*role).contains(user) {
            return Err(PermissionsRefusal::NotListed { role: *role, user: user.clone() });
        }
        let end = match end {
            End::Never => None,
            End::At(end) => Some(*end),
            End::In(span) => Some(host.checked_add(*span).unwrap_or(Instant::MAX)),
        };
        let before = after.ends.of(*role).get(user).copied();
        if end != before && end.is_some_and(|end| end <= host) {
            return Err(PermissionsRefusal::Expired { role: *role, user: user.clone() });
        }
        after.put(*role, user.clone(), end);
    }
    if after.admin.is_empty() {
        return Err(PermissionsRefusal::LastAdmin);
    }
    if after.admin.len() == after.ends.admin.len() {
        return Err(PermissionsRefusal::EveryAdminExpires);
    }
    Ok(PermissionsSet(after))
}

/// Applies what happened to the lists. Cannot fail: live path and replay share it.
pub fn apply(permissions: &mut Permissions, set: &PermissionsSet) {
    permissions.clone_from(&set.0);
}
