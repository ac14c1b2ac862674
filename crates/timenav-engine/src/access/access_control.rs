use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use timenav_core::access::{Demand, Permissions, RestrictionLevel};
use timenav_core::directory::User;
use timenav_core::directory::user::UserCommand;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::permissions::PermissionsCommand;

use crate::access::permissions::{PermissionsChange, permissions_tag};
use crate::engine::Engine;
use crate::ledger::changes::{PermissionsAfter, UserChanged};
use crate::ledger::payload::Reading;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::access::SetPermissions;
use crate::writer::deciding::access::identity::ChangeUser;
use crate::writer::submission::Answer;

impl Engine {
    /// Sets the permissions of a timeline, with effect from the next request.
    ///
    /// # Errors
    /// The timeline would eventually have no admin, an expiry is for a user without that permission or in the past, the
    /// precondition fails, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn set_access_control(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        change: PermissionsChange,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<PermissionsAfter>, Refusal> {
        let PermissionsChange { read, write, admin, ends, expected } = change;
        let setting = SetPermissions { command: PermissionsCommand { read, write, admin, ends }, expected };
        self.submit(caller, timeline, setting, idempotency).await
    }

    /// Empty unless the caller is an operator: only operators may list users.
    #[must_use]
    pub fn unknown_users(&self, caller: &Caller, named: &BTreeSet<UserId>) -> Vec<UserId> {
        if self.decide(caller, &TimelineId::system(), Demand::Operate).is_err() {
            return Vec::new();
        }
        let directory = self.directory();
        named.iter().filter(|user_id| !directory.users.contains_key(*user_id)).cloned().collect()
    }

    /// Reads the permissions of a timeline.
    ///
    /// # Errors
    /// The caller does not administer it, or the ledger cannot be written.
    #[boxed]
    pub async fn access_control(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
    ) -> Result<(Permissions, String), Refusal> {
        let look = self.look(caller, timeline.clone(), Demand::Administer, Reading::AccessControl {}).await?;
        let permissions = (*look.state.head.permissions).clone();
        let tag = permissions_tag(&permissions);
        Ok((permissions, tag))
    }

    /// Restricts a user's time travel, or lifts the restriction.
    ///
    /// # Errors
    /// There is no such user, the caller is not an operator, or the ledger cannot be written.
    #[boxed]
    pub async fn restrict_time_travel(
        &self,
        caller: &Caller,
        user_id: UserId,
        level: RestrictionLevel,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<UserChanged>, Refusal> {
        let restricting = ChangeUser(UserCommand::Restrict { user_id, level });
        self.submit(caller, TimelineId::system(), restricting, idempotency).await
    }

    /// Returns the users whose time travel is restricted, by name.
    ///
    /// # Errors
    /// The caller is not an operator, or the ledger cannot be written.
    #[boxed]
    pub async fn restrictions(&self, caller: &Caller) -> Result<Vec<User>, Refusal> {
        self.look(caller, TimelineId::system(), Demand::Operate, Reading::Restrictions {}).await?;
        let restricted = |user: &&User| user.restriction != RestrictionLevel::FullAccess;
        Ok(self.directory().users.values().filter(restricted).cloned().collect())
    }
}
