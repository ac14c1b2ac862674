//! Users and API keys, which belong to the whole service and are recorded on `system`.

use timenav_core::access::Denial;
use timenav_core::directory::key::{self, KeyCommand};
use timenav_core::directory::user::{self, UserCommand};
use timenav_core::directory::{ApiKey, Happened, Times};
use timenav_core::ids::{KeyId, UserId};

use crate::ledger::action::Action;
use crate::ledger::changes::{KeyChanged, UserChanged};
use crate::ledger::payload::entry_of;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::admission::hidden;
use crate::writer::deciding::{Aim, Command, CommandSpec};
use crate::writer::draft::{Done, Draft, Ledger};

pub(crate) struct ChangeUser(pub(crate) UserCommand);

pub(crate) struct CreateKey(pub(crate) ApiKey);

/// `owner` is set for a key that was already revoked, because memory no longer has it.
pub(crate) struct RevokeKey {
    pub(crate) key_id: KeyId,
    pub(crate) owner: Option<UserId>,
}

impl Command for ChangeUser {
    type Output = UserChanged;

    fn spec(&self) -> CommandSpec<'_> {
        let action = match &self.0 {
            UserCommand::Create { .. } => Action::CreateUser,
            UserCommand::Remove { .. } => Action::DeleteUser,
            UserCommand::Restrict { .. } => Action::RestrictTimeTravel,
        };
        CommandSpec::of(action, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<UserChanged>, Refusal> {
        let system = draft.system()?;
        let users_max = draft.options().users_max;
        let happened = user::decide(draft.directory(), &self.0, users_max, draft.times(system))?;
        let position = draft.happen(system, &happened);
        Ok(draft.done(system, position, UserChanged { user_id: self.0.user_id().clone() }))
    }
}

impl Command for CreateKey {
    type Output = KeyChanged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::CreateApiKey, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<KeyChanged>, Refusal> {
        let Self(key) = self;
        draft.admit_own(Some(&key.user_id))?;
        draft.directory().user(&key.user_id)?;
        draft.check_exists(&key.timeline_id)?;
        if !draft.is_in_sight(&key.timeline_id) {
            return Err(Refusal::NotFound { what: "timeline", id: key.timeline_id.to_string() });
        }
        let system = draft.system()?;
        let made = key::decide(draft.directory(), &KeyCommand::Create(key.clone()), draft.times(system))?;
        // Expired keys have no effect any more.
        let own = draft.directory().keys.of_user(&key.user_id);
        draft.forget_keys(own.filter(|one| !one.is_live(draft.now())).map(|one| one.key_id.clone()).collect());
        let position = draft.happen(system, &[made]);
        Ok(draft.done(system, position, KeyChanged { key_id: key.key_id.clone() }))
    }

    fn check_output(&self, draft: &Draft<'_>, _change: &KeyChanged) -> Result<(), Denial> {
        draft.admit_own(Some(&self.0.user_id))
    }
}

impl Command for RevokeKey {
    type Output = KeyChanged;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::RevokeApiKey, Aim::Ledger)
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<KeyChanged>, Refusal> {
        let Self { key_id, owner } = self;
        let key = draft.directory().keys.get(key_id);
        // Do not reveal whether another user's key exists.
        draft.admit_own(key.map(|key| &key.user_id).or(owner.as_ref())).map_err(hidden)?;
        let system = draft.system()?;
        let stopped = key::decide(draft.directory(), &KeyCommand::Stop(key_id.clone()), draft.times(system))?;
        let position = draft.happen(system, &[stopped]);
        Ok(draft.done(system, position, KeyChanged { key_id: key_id.clone() }))
    }
}

impl Draft<'_> {
    pub(in crate::writer::deciding) fn times(&self, ledger: Ledger) -> Times {
        Times { now: self.now(), recorded: self.host(ledger), sure: self.sure() }
    }

    /// Appends one entry per change; changes take effect after this draft. Returns the last entry's position.
    pub(in crate::writer::deciding) fn happen(&mut self, system: Ledger, happened: &[Happened]) -> u64 {
        for one in happened {
            for change in self.directory().changes(one) {
                self.change_directory(change);
            }
            let (action, subject, payload) = entry_of(one);
            self.append(system, action, subject, payload, self.host(system));
        }
        self.last_position(system)
    }
}
