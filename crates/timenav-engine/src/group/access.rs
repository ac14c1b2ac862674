//! Who may do what, and who is restricted.

use std::sync::Arc;

use timenav_core::access::{Permissions, RestrictionLevel};
use timenav_core::ids::{TimelineId, UserId};

use super::decide::{done, gone};
use super::{Group, Outcome};
use crate::action::Action;
use crate::command::{Actor, Change};
use crate::directory::User;
use crate::json::json;
use crate::payload::{PermissionsRecord, PermissionsSet, UserRecord};
use crate::permissions::{PermissionsChange, permissions_tag};
use crate::refusal::Refusal;
use crate::rows::DirectoryChange;

impl Group<'_> {
    pub(super) fn set_permissions(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        change: PermissionsChange,
    ) -> Result<Outcome, Refusal> {
        let host = self.host(timeline);
        let state = self.world.timelines.get(timeline).ok_or_else(|| gone(timeline))?;
        let before = Arc::clone(&state.head.permissions);
        // Whose access is limited administers no clock that is out of reach, or leaves by itself.
        self.admit_clock(actor, &state.head.clock.moment(host), state.head.clock.rate())?;
        let found = permissions_tag(&before);
        if change.expected_tag.is_some_and(|expected| expected != found) {
            return Err(Refusal::TagDiffers { found });
        }
        let after = Permissions {
            read: change.read.unwrap_or_else(|| before.read.clone()),
            write: change.write.unwrap_or_else(|| before.write.clone()),
            admin: change.admin.unwrap_or_else(|| before.admin.clone()),
        };
        if after.admin.is_empty() {
            return Err(Refusal::LastAdmin { timeline_id: timeline.to_string() });
        }
        let payload = json(&PermissionsSet { permissions: PermissionsRecord::of(&after) });
        let tag = permissions_tag(&after);
        if let Some(state) = self.change(timeline) {
            state.head.permissions = Arc::new(after);
        }
        if let Some(touched) = self.touched.get_mut(timeline) {
            touched.permissions_changed = true;
        }
        let who = actor.name();
        let position = self.append(timeline, who, Action::SetAccessControl, "permissions", payload, host);
        Ok(done(timeline, Change::Permissions { tag }, position))
    }

    pub(super) fn restrict(
        &mut self,
        actor: &Actor,
        system: &TimelineId,
        user_id: &UserId,
        level: RestrictionLevel,
    ) -> Result<Outcome, Refusal> {
        let Some(user) = self.world.directory.users.get(user_id) else {
            return Err(Refusal::NotFound { what: "user", id: user_id.to_string() });
        };
        let user = User { restriction: level, ..user.clone() };
        let host = self.host(system);
        let payload = json(&UserRecord::of(&user));
        Arc::make_mut(&mut self.directory_mut().users).insert(user_id.clone(), user.clone());
        self.directory.push(DirectoryChange::PutUser(user));
        let position = self.append(system, actor.name(), Action::RestrictTimeTravel, user_id.as_str(), payload, host);
        Ok(done(system, Change::User { user_id: user_id.clone() }, position))
    }
}
