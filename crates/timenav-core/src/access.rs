//! Who may do what: roles on a timeline, restrictions on time travel, scopes of a key.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::{Moment, Rate};
use crate::ids::UserId;
use crate::time::{Instant, Span, Virtual, Wall};

#[cfg(test)]
mod tests;

/// What a user may do on one timeline. Each role includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look.
    Read,
    /// Move the clock, record events.
    Write,
    /// Say who may do what, read the access log.
    Admin,
}

impl Role {
    /// All of them, from low to high.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Returns the word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// The three lists of a timeline, and until when somebody is in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Users with read access.
    pub read: BTreeSet<UserId>,
    /// Users with write access.
    pub write: BTreeSet<UserId>,
    /// Users with admin access.
    pub admin: BTreeSet<UserId>,
    /// When permissions expire. Who is in a list and not here is in it for good.
    pub ends: Ends,
}

/// When permissions expire, by the host, list by list. Whoever is named is in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The ends of read access.
    pub read: BTreeMap<UserId, Instant<Wall>>,
    /// The ends of write access.
    pub write: BTreeMap<UserId, Instant<Wall>>,
    /// The ends of admin access.
    pub admin: BTreeMap<UserId, Instant<Wall>>,
}

impl Ends {
    /// Returns the ends of one list.
    #[must_use]
    pub const fn of(&self, role: Role) -> &BTreeMap<UserId, Instant<Wall>> {
        match role {
            Role::Read => &self.read,
            Role::Write => &self.write,
            Role::Admin => &self.admin,
        }
    }

    /// Returns the ends of one list, to change them.
    pub const fn of_mut(&mut self, role: Role) -> &mut BTreeMap<UserId, Instant<Wall>> {
        match role {
            Role::Read => &mut self.read,
            Role::Write => &mut self.write,
            Role::Admin => &mut self.admin,
        }
    }

    /// Returns whether no permission expires.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty() && self.admin.is_empty()
    }
}

impl Permissions {
    /// Returns the permissions of a new timeline: its creator administers it.
    #[must_use]
    pub fn of_creator(creator: UserId) -> Self {
        Self { admin: BTreeSet::from([creator]), ..Self::default() }
    }

    /// Returns the list of a role.
    #[must_use]
    pub const fn list(&self, role: Role) -> &BTreeSet<UserId> {
        match role {
            Role::Read => &self.read,
            Role::Write => &self.write,
            Role::Admin => &self.admin,
        }
    }

    /// Returns the list of a role, to change it.
    pub const fn list_mut(&mut self, role: Role) -> &mut BTreeSet<UserId> {
        match role {
            Role::Read => &mut self.read,
            Role::Write => &mut self.write,
            Role::Admin => &mut self.admin,
        }
    }

    /// Puts a user into the list of a role, up to an end if there is one.
    pub fn put(&mut self, role: Role, user: UserId, end: Option<Instant<Wall>>) {
        match end {
            Some(end) => self.ends.of_mut(role).insert(user.clone(), end),
            None => self.ends.of_mut(role).remove(&user),
        };
        self.list_mut(role).insert(user);
    }

    /// Returns the highest role that the user has at a host instant, if any. One that expires at that instant does not
    /// count.
    #[must_use]
    pub fn role(&self, user: &UserId, host: Instant<Wall>) -> Option<Role> {
        let has = |role: &Role| {
            self.list(*role).contains(user) && self.ends.of(*role).get(user).is_none_or(|end| host < *end)
        };
        Role::ALL.into_iter().rev().find(has)
    }

    /// Returns whether a list names the user, even if the permission has expired.
    #[must_use]
    pub fn names(&self, user: &UserId) -> bool {
        Role::ALL.into_iter().any(|role| self.list(role).contains(user))
    }

    /// Returns when the role that the user has at a host instant expires, if it does.
    #[must_use]
    pub fn role_end(&self, user: &UserId, host: Instant<Wall>) -> Option<Instant<Wall>> {
        self.ends.of(self.role(user, host)?).get(user).copied()
    }
}

/// How far a user's time travel is restricted, on every timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestrictionLevel {
    /// Not at all.
    #[default]
    FullAccess,
    /// Only near host time; no change of rate; no intervention.
    LimitedAccess,
    /// Look, do not touch.
    ReadOnly,
    /// Not even look at clocks and events.
    NoAccess,
}

impl RestrictionLevel {
    /// All of them, from open to closed.
    pub const ALL: [Self; 4] = [Self::FullAccess, Self::LimitedAccess, Self::ReadOnly, Self::NoAccess];

    /// Returns the word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FullAccess => "full_access",
            Self::LimitedAccess => "limited_access",
            Self::ReadOnly => "read_only",
            Self::NoAccess => "no_access",
        }
    }
}

/// What a key may be used for, of what its user may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Everything that needs the role `read`.
    TimelineRead,
    /// Everything that needs the role `write`, and reading.
    TimelineWrite,
    /// Everything that needs the role `admin`, writing and reading.
    TimelineAdmin,
    /// Everything an operator does, and all of the above.
    Operator,
}

impl Scope {
    /// All of them, from narrow to wide.
    pub const ALL: [Self; 4] = [Self::TimelineRead, Self::TimelineWrite, Self::TimelineAdmin, Self::Operator];

    /// Returns the word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TimelineRead => "timeline:read",
            Self::TimelineWrite => "timeline:write",
            Self::TimelineAdmin => "timeline:admin",
            Self::Operator => "operator",
        }
    }
}

/// What a caller wants, as far as access is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// See a clock, anchors, events, or entries, which tell of them.
    Look,
    /// See what is neither clock nor event: the timeline's record, hashes of its tree, data with its key.
    Inspect,
    /// Move or change a clock, set an anchor or return to one.
    Steer,
    /// Change how fast a clock runs.
    SetRate,
    /// Record, import or correct events.
    Record,
    /// Intervene on events, and take history back to an anchor.
    Intervene,
    /// Say who may do what on a timeline, read its access log.
    Administer,
    /// Erase the content of events, or sealed data.
    Erase,
    /// Administer the service: users, keys of others, restrictions, the timeline `system`.
    Operate,
    /// Make a timeline.
    Create,
    /// Manage what is the caller's own: own keys.
    Own,
}

/// What is known about a caller at the moment of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing<'a> {
    /// Whether the user administers the service.
    pub operator: bool,
    /// The user's restriction.
    pub restriction: RestrictionLevel,
    /// The user's role on the timeline, if any.
    pub role: Option<Role>,
    /// The scopes of the key; `None` for a key without scopes, which may do all its user may.
    pub scopes: Option<&'a [Scope]>,
}

/// Why a caller may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// What the caller may not see does not exist for them.
    #[error("it does not exist, or you don't have access to it")]
    Hidden,
    /// The caller may see it, but not do this.
    #[error("this requires the role `{}` on the timeline", .needs.as_str())]
    Permission {
        /// The role that would do.
        needs: Role,
    },
    /// Only operators do this.
    #[error("this requires an operator")]
    OperatorOnly,
    /// The caller's time travel is restricted.
    #[error("time travel is restricted to `{}` for this user", .level.as_str())]
    Restricted {
        /// The level in force.
        level: RestrictionLevel,
    },
    /// The moment is too far from host time for this caller.
    #[error("a user with `limited_access` can travel at most {window_days} days from host time")]
    TooFar {
        /// How far would be allowed, in days.
        window_days: u32,
    },
    /// The key was not made for this.
    #[error("the key lacks the scope `{}`", .needs.as_str())]
    Scope {
        /// The scope that would do.
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

    /// Returns whether it changes clocks, events or data.
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

/// Decides whether a caller may do what they want.
///
/// The order is: may they know that the timeline is there, is their time travel restricted, do
/// they have the role, was their key made for it. Restrictions bind operators too.
///
/// # Errors
/// The first reason against it.
pub fn decide(standing: Standing<'_>, demand: Demand) -> Result<(), Denial> {
    if demand.role().is_some() && standing.role.is_none() && !standing.operator {
        return Err(Denial::Hidden);
    }
    if !demand.is_allowed_at(standing.restriction) {
        return Err(Denial::Restricted { level: standing.restriction });
    }
    if !standing.operator {
        if demand == Demand::Operate {
            return Err(Denial::OperatorOnly);
        }
        if let Some(needs) = demand.role().filter(|needs| standing.role < Some(*needs)) {
            return Err(Denial::Permission { needs });
        }
    }
    match standing.scopes {
        Some(scopes) if scopes.iter().all(|scope| *scope < demand.scope()) => {
            Err(Denial::Scope { needs: demand.scope() })
        }
        _ => Ok(()),
    }
}

/// Decides whether a caller may go to, or mark, a moment.
///
/// # Errors
/// The caller's access is limited and the moment lies further than `window_days` from host time.
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

/// Decides whether a caller may leave a clock like this that went at rate `before`, or be given one: what stands or goes
/// within the window, and does not leave it by itself.
///
/// # Errors
/// The caller's access is limited, and the clock shows a moment further than `window_days` from host time, moves at
/// another rate than host time, or has another rate than before.
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
