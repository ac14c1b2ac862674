//! Who may do what on a timeline.

use std::sync::Arc;

use timenav_core::permissions::{self, PermissionsCommand, PermissionsRefusal};

use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::changes::PermissionsAfter;
use crate::draft::{Done, Draft};
use crate::expected::Expected;
use crate::json::json;
use crate::payload::PermissionsTold;
use crate::permissions::permissions_tag;
use crate::refusal::Refusal;

/// Say who may do what on a timeline.
pub(crate) struct SetPermissions {
    pub(crate) command: PermissionsCommand,
    /// What the lists must be for it to happen.
    pub(crate) expected: Option<Expected>,
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
