//! Access control: timeline roles, time-travel restrictions, key scopes.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::{Moment, Rate};
use crate::ids::UserId;
use crate::time::{Instant, Span, Virtual, Wall};

#[cfg(test)]
mod tests;

named! {
    /// A user's role on one timeline. Each role includes the ones before it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Role {
        /// Read clocks and events.
        Read = "read",
        /// Move the clock, record events.
        Write = "write",
        /// Manage permissions, read the access log.
        Admin = "admin",
    }
}

/// The three permission lists of a timeline, and when each grant expires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    pub read: BTreeSet<UserId>,
    pub write: BTreeSet<UserId>,
    pub admin: BTreeSet<UserId>,
    /// Expiry times. A grant without one is permanent.
    pub ends: Ends,
}

/// When grants expire, in host time, per list. Every user named here is also in the list of the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    pub read: BTreeMap<UserId, Instant<Wall>>,
    pub write: BTreeMap<UserId, Instant<Wall>>,
    pub admin: BTreeMap<UserId, Instant<Wall>>,
}

impl Ends {
    #[must_use]
    pub const fn of(&self, role: Role) -> &BTreeMap<UserId, Instant<Wall>> {
        match role {
            Role::Read => &self.read,
            Role::Write => &self.write,
            Role::Admin => &self.admin,
        }
    }

    pub const fn of_mut(&mut self, role: Role) -> &mut BTreeMap<UserId, Instant<Wall>> {
        match role {
            Role::Read => &mut self.read,
            Role::Write => &mut self.write,
            Role::Admin => &mut self.admin,
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty() && self.admin.is_empty()
    }
}

impl Permissions {
    /// Returns the permissions of a new timeline: its creator is its admin.
    #[must_use]
    pub fn of_creator(creator: UserId) -> Self {
        Self { admin: BTreeSet::from([creator]), ..Self::default() }
    }

    #[must_use]
    pub const fn list(&self, role: Role) -> &BTreeSet<UserId> {
        match role {
            Role::Read => &self.read,
            Role::Write => &self.write,
            Role::Admin => &self.admin,
        }
    }

    pub const fn list_mut(&mut self, role: Role) -> &mut BTreeSet<UserId> {
        match role {
            Role::Read => &mut self.read,
            Role::Write => &mut self.write,
            Role::Admin => &mut self.admin,
        }
    }

    /// Grants a role to a user, until `end` if given. Replaces the previous expiry.
    pub fn put(&mut self, role: Role, user: UserId, end: Option<Instant<Wall>>) {
        match end {
            Some(end) => self.ends.of_mut(role).insert(user.clone(), end),
            None => self.ends.of_mut(role).remove(&user),
        };
        self.list_mut(role).insert(user);
    }

    /// Returns the user's highest role at a host instant, if any. The expiry instant itself is excluded.
    #[must_use]
    pub fn role(&self, user: &UserId, host: Instant<Wall>) -> Option<Role> {
        let has = |role: &Role| {
            self.list(*role).contains(user) && self.ends.of(*role).get(user).is_none_or(|end| host < *end)
        };
        Role::ALL.into_iter().rev().find(has)
    }

    /// Returns whether any list names the user, including expired grants.
    #[must_use]
    pub fn names(&self, user: &UserId) -> bool {
        Role::ALL.into_iter().any(|role| self.list(role).contains(user))
    }

    /// Returns when the user's highest role at a host instant expires, if it does.
    #[must_use]
    pub fn role_end(&self, user: &UserId, host: Instant<Wall>) -> Option<Instant<Wall>> {
        self.ends.of(self.role(user, host)?).get(user).copied()
    }
}

named! {
    /// How far a user's time travel is restricted, on every timeline.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RestrictionLevel {
        #[default]
        FullAccess = "full_access",
        /// Time travel only near host time. No rate changes, no interventions.
        LimitedAccess = "limited_access",
        ReadOnly = "read_only",
        /// No changes, and no reads of clocks and events.
        NoAccess = "no_access",
    }
}

named! {
    /// A scope of an API key. It narrows the permissions of the key's user, and never extends them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Scope {
        /// Everything that requires the role `read`.
        TimelineRead = "timeline:read",
        /// Everything that requires the role `write`, and reading.
        TimelineWrite = "timeline:write",
        /// Everything that requires the role `admin`, and writing and reading.
        TimelineAdmin = "timeline:admin",
        /// Operator actions, and all of the above.
        Operator = "operator",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Read a clock, anchors, events, or the ledger entries about them.
    Look,
    /// Read anything other than clock and events: the timeline's record, tree hashes, sealed data with its key.
    Inspect,
    /// Move or change a clock, set an anchor or return to one.
    Steer,
    SetRate,
    /// Record, import or correct events.
    Record,
    /// Intervene on events, or return history to an anchor.
    Intervene,
    /// Manage the permissions of a timeline, read its access log.
    Administer,
    /// Erase the content of events, or sealed data.
    Erase,
    /// Administer the service: users, other users' keys, restrictions, the timeline `system`.
    Operate,
    Create,
    /// Manage the caller's own keys.
    Own,
}

/// The facts about a caller that a decision is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerAccess<'a> {
    pub operator: bool,
    pub restriction: RestrictionLevel,
    pub role: Option<Role>,
    /// The scopes of the key. `None` for a key without scopes, which has all permissions of its user.
    pub scopes: Option<&'a [Scope]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The caller may not know that the resource exists.
    #[error("it does not exist, or you don't have access to it")]
    Hidden,
    /// The caller can see the resource, but lacks the role for this action.
    #[error("this requires the role `{}` on the timeline", .needs.as_str())]
    Permission {
        /// The lowest role that is sufficient.
        needs: Role,
    },
    #[error("this requires an operator")]
    OperatorOnly,
    #[error("time travel is restricted to `{}` for this user", .level.as_str())]
    Restricted { level: RestrictionLevel },
    #[error("a user with `limited_access` can travel at most {window_days} days from host time")]
    TooFar { window_days: u32 },
    #[error("the key lacks the scope `{}`", .needs.as_str())]
    Scope {
        /// The narrowest scope that is sufficient.
        needs: Scope,
    },
}

impl Demand {
    const fn role(self) -> Option<Role> {
        match self {
            Self::Look | Self::Inspect => Some(Role::Read),
            Self::Steer | Self::SetRate | Self::Record | Self::Intervene => Some(Role::Write),
            Self::Administer | Self::Erase => Some(Role::Admin),
            Self::Operate | Self::Create | Self::Own => None,
        }
    }

    const fn scope(self) -> Scope {
        match self {
            Self::Look | Self::Inspect => Scope::TimelineRead,
            Self::Steer | Self::SetRate | Self::Record | Self::Intervene | Self::Create => Scope::TimelineWrite,
            Self::Administer | Self::Erase => Scope::TimelineAdmin,
            Self::Operate | Self::Own => Scope::Operator,
        }
    }

    const fn is_allowed_at(self, level: RestrictionLevel) -> bool {
        match level {
            RestrictionLevel::FullAccess => true,
            RestrictionLevel::LimitedAccess => !matches!(self, Self::SetRate | Self::Intervene),
            RestrictionLevel::ReadOnly => !self.changes(),
            RestrictionLevel::NoAccess => !matches!(self, Self::Look) && !self.changes(),
        }
    }

    const fn changes(self) -> bool {
        matches!(self, Self::Steer | Self::SetRate | Self::Record | Self::Intervene | Self::Erase | Self::Create)
    }
}

/// Decides whether a caller has the access that `demand` needs.
///
/// Checks in order: whether the caller may know that the timeline exists, the restriction, the role, the key's scopes.
/// Restrictions apply to operators too.
///
/// # Errors
/// The first check that fails.
pub fn decide(caller: CallerAccess<'_>, demand: Demand) -> Result<(), Denial> {
    if demand.role().is_some() && caller.role.is_none() && !caller.operator {
        return Err(Denial::Hidden);
    }
    if !demand.is_allowed_at(caller.restriction) {
        return Err(Denial::Restricted { level: caller.restriction });
    }
    if !caller.operator {
        if demand == Demand::Operate {
            return Err(Denial::OperatorOnly);
        }
        if let Some(needs) = demand.role().filter(|needs| caller.role < Some(*needs)) {
            return Err(Denial::Permission { needs });
        }
    }
    match caller.scopes {
        Some(scopes) if scopes.iter().all(|scope| *scope < demand.scope()) => {
            Err(Denial::Scope { needs: demand.scope() })
        }
        _ => Ok(()),
    }
}

/// Decides whether a caller may travel to, or mark, a moment.
///
/// # Errors
/// The caller has limited access and the moment is more than `window_days` from host time.
pub fn decide_moment(
    level: RestrictionLevel,
    to: Instant<Virtual>,
    host: Instant<Wall>,
    window_days: u32,
) -> Result<(), Denial> {
    let window = Span::from_micros(i64::from(window_days) * 86_400_000_000);
    if level == RestrictionLevel::LimitedAccess && crate::clock::distance_from_host(to, host) > window {
        return Err(Denial::TooFar { window_days });
    }
    Ok(())
}

/// Decides whether a caller may leave a clock in this state, given that its rate was `before`, or be given such a
/// clock. For limited access the clock must be within the window and must not drift out of it: it is paused, or runs at
/// the rate of host time.
///
/// # Errors
/// The caller has limited access, and the clock shows a moment more than `window_days` from host time, runs at a rate
/// other than that of host time, or its rate differs from `before`.
pub fn decide_clock(
    level: RestrictionLevel,
    clock: &Moment,
    before: Rate,
    host: Instant<Wall>,
    window_days: u32,
) -> Result<(), Denial> {
    decide_moment(level, clock.at, host, window_days)?;
    let leaves = clock.running && clock.rate != Rate::NORMAL;
    let is_limited = level == RestrictionLevel::LimitedAccess;
    if is_limited && (leaves || clock.rate != before) { Err(Denial::Restricted { level }) } else { Ok(()) }
}
