//! Who may do what, and who is restricted.

use std::sync::Arc;

use timenav_core::access::{Permissions, RestrictionLevel};
use timenav_core::ids::UserId;

use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::changes::{PermissionsAfter, UserChanged};
use crate::directory::DirectoryChange;
use crate::directory::User;
use crate::draft::{Done, Draft};
use crate::expected::Expected;
use crate::json::json;
use crate::payload::{PermissionsRecord, PermissionsSet, UserRecord};
use crate::permissions::{PermissionsChange, permissions_tag};
use crate::refusal::Refusal;

/// Say who may do what on a timeline.
pub(crate) struct SetPermissions(pub(crate) PermissionsChange);

/// Restrict a user's time travel.
pub(crate) struct Restrict {
    pub(crate) user_id: UserId,
    pub(crate) level: RestrictionLevel,
}

impl Asking for SetPermissions {
    fn action(&self) -> Action {
        Action::SetAccessControl
    }

    fn aim(&self) -> Aim {
        Aim::Timeline
    }
}

impl Deciding for SetPermissions {
    type Change = PermissionsAfter;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<PermissionsAfter>, Refusal> {
        let Self(change) = self;
        let ledger = draft.aimed()?;
        let host = draft.host(ledger);
        let head = &draft.state(ledger).head;
        // Whose access is limited administers no clock that is out of reach, or leaves by itself.
        draft.admit_clock(&head.clock.moment(host), head.clock.rate())?;
        let before = &head.permissions;
        Expected::check(change.expected.as_ref(), permissions_tag(before))?;
        let after = Permissions {
            read: change.read.clone().unwrap_or_else(|| before.read.clone()),
            write: change.write.clone().unwrap_or_else(|| before.write.clone()),
            admin: change.admin.clone().unwrap_or_else(|| before.admin.clone()),
        };
        if after.admin.is_empty() {
            return Err(Refusal::LastAdmin { timeline_id: draft.timeline().to_string() });
        }
        let payload = json(&PermissionsSet { permissions: PermissionsRecord::of(&after) });
        let tag = permissions_tag(&after);
        let step = draft.step_mut(ledger);
        step.state.head.permissions = Arc::new(after);
        step.permissions_changed = true;
        let position = draft.append(ledger, Action::SetAccessControl, "permissions", payload, host);
        Ok(draft.done(ledger, position, PermissionsAfter { tag }))
    }
}

impl Asking for Restrict {
    fn action(&self) -> Action {
        Action::RestrictTimeTravel
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }
}

impl Deciding for Restrict {
    type Change = UserChanged;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<UserChanged>, Refusal> {
        let Self { user_id, level } = self;
        let user = draft.directory().users.get(user_id);
        let user = user.ok_or_else(|| Refusal::NotFound { what: "user", id: user_id.to_string() })?;
        let user = User { restriction: *level, ..user.clone() };
        let system = draft.system()?;
        let host = draft.host(system);
        let payload = json(&UserRecord::of(&user));
        draft.change_directory(DirectoryChange::PutUser(user));
        let position = draft.append(system, Action::RestrictTimeTravel, user_id.as_str(), payload, host);
        Ok(draft.done(system, position, UserChanged { user_id: user_id.clone() }))
    }
}
