//! Who may do what, and who is restricted.

use std::sync::Arc;

use timenav_core::access::RestrictionLevel;
use timenav_core::ids::UserId;
use timenav_core::permissions::{self, PermissionsCommand, PermissionsRefusal};

use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::changes::{PermissionsAfter, UserChanged};
use crate::directory::DirectoryChange;
use crate::directory::User;
use crate::draft::{Done, Draft};
use crate::expected::Expected;
use crate::json::json;
use crate::payload::{PermissionsTold, UserRecord};
use crate::permissions::permissions_tag;
use crate::refusal::Refusal;

/// Say who may do what on a timeline.
pub(crate) struct SetPermissions {
    pub(crate) command: PermissionsCommand,
    /// What the lists must be for it to happen.
    pub(crate) expected: Option<Expected>,
}

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
        let ledger = draft.aimed()?;
        let host = draft.host(ledger);
        let head = &draft.state(ledger).head;
        // Whose access is limited administers no clock that is out of reach, or leaves by itself.
        draft.admit_clock(&head.clock.moment(host), head.clock.rate())?;
        Expected::check(self.expected.as_ref(), permissions_tag(&head.permissions))?;
        let set = permissions::decide(&head.permissions, &self.command).map_err(|refusal| match refusal {
            PermissionsRefusal::LastAdmin => Refusal::LastAdmin { timeline_id: head.id.to_string() },
        })?;
        let payload = json(&PermissionsTold::of(&set));
        let step = draft.step_mut(ledger);
        permissions::apply(Arc::make_mut(&mut step.state.head.permissions), &set);
        step.permissions_changed = true;
        let tag = permissions_tag(&step.state.head.permissions);
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
