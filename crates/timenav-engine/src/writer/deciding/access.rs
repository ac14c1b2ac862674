use std::collections::BTreeSet;

use timenav_core::access::{Permissions, Role};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::permissions::{self, End, PermissionsCommand, PermissionsRefusal};
use timenav_core::time::{Instant, Wall};

use super::{Aim, Command, CommandSpec};
use crate::access::permissions::permissions_tag;
use crate::ledger::action::Action;
use crate::ledger::changes::PermissionsAfter;
use crate::ledger::payload::{PermissionsPayload, StatePayload};
use crate::requests::expected::Expected;
use crate::requests::options::LEVEL_OF_EXPIRING_PERMISSIONS;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

pub(crate) mod identity;
pub(crate) mod sessions;

pub(crate) struct SetPermissions {
    pub(crate) command: PermissionsCommand,
    pub(crate) expected: Option<Expected>,
}

impl Command for SetPermissions {
    type Output = PermissionsAfter;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::SetAccessControl, Aim::Timeline)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<PermissionsAfter>, Refusal> {
        let ledger = draft.aimed()?;
        let (host, now) = (draft.host(ledger), draft.now());
        let head = &draft.state(ledger).head;
        // A user with a time travel restriction cannot administer a clock that is out of range, or will leave it.
        draft.admit_clock(&head.clock.moment(host), head.clock.rate())?;
        Expected::check(self.expected.as_ref(), permissions_tag(&head.permissions))?;
        let set = permissions::decide(&head.permissions, &self.command, now)
            .map_err(|refusal| self.refused(&head.id, refusal))?;
        check_level(&set, draft.level())?;
        let payload = StatePayload::Permissions(PermissionsPayload::of(&set));
        let entry = (Action::SetAccessControl, "permissions");
        let position = draft.record(ledger, entry, &payload, host)?;
        let after = &draft.state(ledger).head.permissions;
        let change = PermissionsAfter { tag: permissions_tag(after), expired: self.expired(after, now) };
        Ok(draft.done(ledger, position, change))
    }
}

/// Rejects expiring permissions while a service that does not support them may run.
pub(super) fn check_level(permissions: &Permissions, level: u64) -> Result<(), Refusal> {
    if permissions.ends.is_empty() || level >= LEVEL_OF_EXPIRING_PERMISSIONS {
        return Ok(());
    }
    Err(Refusal::NotUpgraded { what: "a permission that expires", level: LEVEL_OF_EXPIRING_PERMISSIONS })
}

impl SetPermissions {
    /// Returns the users in a given list who get no access by it, because their permission there has expired.
    fn expired(&self, after: &Permissions, now: Instant<Wall>) -> Vec<String> {
        let given = [&self.command.read, &self.command.write, &self.command.admin];
        let given = Role::ALL.into_iter().zip(given).filter(|(_, list)| list.is_some());
        let expired = given.flat_map(|(role, _)| after.ends.of(role).iter().filter(|(_, end)| **end <= now));
        let expired: BTreeSet<&UserId> = expired.map(|(user, _)| user).collect();
        expired.into_iter().map(ToString::to_string).collect()
    }

    fn refused(&self, timeline_id: &TimelineId, refusal: PermissionsRefusal) -> Refusal {
        let (timeline_id, detail) = (timeline_id.to_string(), refusal.to_string());
        match refusal {
            PermissionsRefusal::LastAdmin => Refusal::LastAdmin { timeline_id, expires: false },
            PermissionsRefusal::EveryAdminExpires => Refusal::LastAdmin { timeline_id, expires: true },
            PermissionsRefusal::NotListed { role, user } | PermissionsRefusal::Expired { role, user } => {
                let list = role.as_str();
                let end = self.command.ends.get(&(role, user.clone()));
                let field = if matches!(end, Some(End::In(_))) { "expires_in" } else { "expires_at" };
                Refusal::invalid(&format!("permissions/{field}/{list}/{user}"), detail)
            }
        }
    }
}
