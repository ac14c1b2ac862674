use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use timenav_core::access::{Ends, Permissions, Role};
use timenav_core::ids::UserId;
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
    /// Host time at which it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<String>,
}

impl TimelineCreated {
    /// Returns when the timeline expires: `None` if it does not, and an error if that is not a valid time.
    pub(crate) fn expires_at(&self) -> Result<Option<Instant<Wall>>, TimestampError> {
        self.expires_at.as_deref().map(parse_timestamp).transpose()
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ForkRecord {
    pub(crate) fork_of: String,
    /// How many of its entries are shared.
    pub(crate) size: u64,
    /// The root over these entries, as hexadecimal digits.
    pub(crate) root: String,
    /// A checkpoint of the origin that covers them: a signed note.
    pub(crate) checkpoint: String,
    pub(crate) events_count: u64,
    /// The first position for timers set on the fork. Absent if there were no timers before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timers_base: Option<u64>,
    /// The last of them that changed timers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timers_last: Option<u64>,
    /// The first timer whose webhooks the service sends, if those of inherited timers are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) webhooks_from: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<FaultOf>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct PermissionsRecord {
    read: Vec<String>,
    write: Vec<String>,
    admin: Vec<String>,
    /// When permissions expire, in host time. Absent if none does.
    #[serde(default, skip_serializing_if = "EndsRecord::is_empty")]
    expires_at: EndsRecord,
}

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

    /// Returns the permissions; `None` if a list contains an invalid user, or if an expiry is invalid or for a user who
    /// is not in its list.
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

/// Payload of `set_access_control`: the lists after the change.
#[derive(Serialize, Deserialize)]
pub(crate) struct PermissionsPayload {
    permissions: PermissionsRecord,
}

impl PermissionsPayload {
    pub(crate) fn of(permissions: &Permissions) -> Self {
        Self { permissions: PermissionsRecord::of(permissions) }
    }

    pub(crate) fn permissions(&self) -> Option<Permissions> {
        self.permissions.permissions()
    }
}
