use std::collections::{BTreeMap, BTreeSet};

use crate::access::{Permissions, Role};
use crate::ids::UserId;
use crate::time::{Instant, Span, Wall};

#[cfg(test)]
mod tests;

/// New lists. A list that is `None` is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionsCommand {
    pub read: Option<BTreeSet<UserId>>,
    pub write: Option<BTreeSet<UserId>>,
    pub admin: Option<BTreeSet<UserId>>,
    /// When grants expire. Users that are in a list but not here keep their expiry.
    pub ends: BTreeMap<(Role, UserId), End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Never,
    At(Instant<Wall>),
    /// This long after the change, in host time.
    In(Span),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionsRefusal {
    #[error("the timeline would have no admin; name at least one user in `admin`")]
    LastAdmin,
    #[error("the timeline would eventually have no admin; leave at least one user in `admin` without an expiry")]
    EveryAdminExpires,
    #[error("`{user}` is not in `{}`, so no permission can expire", .role.as_str())]
    NotListed { role: Role, user: UserId },
    #[error("the permission of `{user}` in `{}` would have expired already; give a later time", .role.as_str())]
    Expired { role: Role, user: UserId },
}

/// Decides what a command does to the lists of a timeline at a host instant. Has no side effects.
///
/// An unchanged expiry may be in the past, so that sending back the current lists is always possible.
///
/// # Errors
/// [`PermissionsRefusal`]; the lists are unchanged.
pub fn decide(
    permissions: &Permissions,
    command: &PermissionsCommand,
    host: Instant<Wall>,
) -> Result<Permissions, PermissionsRefusal> {
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
    Ok(after)
}
