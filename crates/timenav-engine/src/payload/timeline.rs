//! The payloads of the making of timelines, and of who may do what on them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use timenav_core::access::{Ends, Permissions, Role};
use timenav_core::ids::UserId;
use timenav_core::permissions::PermissionsSet;
use timenav_core::time::{Instant, TimestampError, Wall, parse_timestamp};

use super::clock::ClockRecord;
use super::faults::FaultOf;

/// Payload of `create_timeline`, on the new timeline and on `system`.
#[derive(Serialize, Deserialize)]
pub(crate) struct TimelineCreated {
    pub(crate) timeline_id: String,
    pub(crate) clock: ClockRecord,
    pub(crate) permissions: PermissionsRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fork: Option<ForkRecord>,
    /// Host time at which it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<String>,
}

impl TimelineCreated {
    /// Returns when the timeline ends by itself: `None` where it does not, and an error where that is no time.
    pub(crate) fn expires_at(&self) -> Result<Option<Instant<Wall>>, TimestampError> {
        self.expires_at.as_deref().map(parse_timestamp).transpose()
    }
}

/// Where a new timeline was forked from another.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ForkRecord {
    /// The other timeline.
    pub(crate) fork_of: String,
    /// How many of its entries the new one goes on from.
    pub(crate) size: u64,
    /// The root over these entries, as hexadecimal digits.
    pub(crate) root: String,
    /// A checkpoint of the other timeline that covers them: a signed note.
    pub(crate) checkpoint: String,
    /// How many events stand after them.
    pub(crate) events_count: u64,
    /// What positions of timers begin with that are set on the new one. Absent where there were never any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timers_base: Option<u64>,
    /// The last of them that changed timers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timers_last: Option<u64>,
    /// The first timer whose firings the service sends to webhooks, if those are sent that the new one took along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) webhooks_from: Option<u64>,
    /// Whose clocks are wrong from its beginning on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<FaultOf>,
}

/// The three lists of a timeline.
#[derive(Serialize, Deserialize)]
pub(crate) struct PermissionsRecord {
    read: Vec<String>,
    write: Vec<String>,
    admin: Vec<String>,
    /// When permissions expire, by the host. Absent where none does.
    #[serde(default, skip_serializing_if = "EndsRecord::is_empty")]
    expires_at: EndsRecord,
}

/// When permissions expire: user by user, list by list.
#[derive(Default, Serialize, Deserialize)]
struct EndsRecord {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    read: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    write: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    admin: BTreeMap<String, String>,
}

impl EndsRecord {
    fn of(ends: &Ends) -> Self {
        let one = |role| ends.of(role).iter().map(|(user, end)| (user.to_string(), end.to_string())).collect();
        Self { read: one(Role::Read), write: one(Role::Write), admin: one(Role::Admin) }
    }

    fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty() && self.admin.is_empty()
    }
}

impl PermissionsRecord {
    pub(crate) fn of(permissions: &Permissions) -> Self {
        let names = |users: &std::collections::BTreeSet<UserId>| users.iter().map(ToString::to_string).collect();
        Self {
            read: names(&permissions.read),
            write: names(&permissions.write),
            admin: names(&permissions.admin),
            expires_at: EndsRecord::of(&permissions.ends),
        }
    }

    /// Returns the lists, or `None` if one of them names what is no user, or an end is no time or of nobody in its list.
    pub(crate) fn permissions(&self) -> Option<Permissions> {
        let Self { read, write, admin, expires_at } = self;
        let lists = [(read, &expires_at.read), (write, &expires_at.write), (admin, &expires_at.admin)];
        let mut permissions = Permissions::default();
        for (role, (names, ends)) in Role::ALL.into_iter().zip(lists) {
            for name in names {
                permissions.put(role, UserId::new(name).ok()?, None);
            }
            for (name, end) in ends {
                let user = UserId::new(name).ok().filter(|user| permissions.list(role).contains(user))?;
                permissions.put(role, user, Some(parse_timestamp(end).ok()?));
            }
        }
        Some(permissions)
    }
}

/// Payload of `set_access_control`: the lists as they are after it.
#[derive(Serialize, Deserialize)]
pub(crate) struct PermissionsTold {
    permissions: PermissionsRecord,
}

impl PermissionsTold {
    pub(crate) fn of(set: &PermissionsSet) -> Self {
        Self { permissions: PermissionsRecord::of(&set.0) }
    }

    /// Returns what happened, or `None` if a list names what is no user.
    pub(crate) fn set(&self) -> Option<PermissionsSet> {
        self.permissions.permissions().map(PermissionsSet)
    }
}
