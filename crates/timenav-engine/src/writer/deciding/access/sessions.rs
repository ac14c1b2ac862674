//! Sessions and passwords, which belong to the whole service and are recorded on `system`.

use timenav_core::directory::session::{self, SessionCommand, SessionsToEnd};

use crate::ledger::action::Action;
use crate::ledger::changes::Logged;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::admission::hidden;
use crate::writer::deciding::{Aim, Command, CommandSpec};
use crate::writer::draft::{Done, Draft};

pub(crate) struct ChangeSessions(pub(crate) SessionCommand);

impl Command for ChangeSessions {
    type Output = Logged;

    fn spec(&self) -> CommandSpec<'_> {
        let action = match &self.0 {
            SessionCommand::LogIn { .. } => Action::LogIn,
            SessionCommand::Renew(_) => Action::RenewSession,
            SessionCommand::End { is_log_out: true, .. } => Action::LogOut,
            SessionCommand::End { is_log_out: false, .. } => Action::EndSession,
            SessionCommand::SetPassword { .. } => Action::SetPassword,
        };
        // A login presents a password, and has no session yet.
        let needs_credential = action != Action::LogIn;
        CommandSpec { needs_credential, ..CommandSpec::of(action, Aim::Ledger) }
    }

    /// The password comparison and the authorization came earlier, and must still hold.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        match &self.0 {
            SessionCommand::LogIn { .. } | SessionCommand::Renew(_) => {}
            SessionCommand::End { which: SessionsToEnd::AllOf(user_id), .. } => draft.admit_own(Some(user_id))?,
            SessionCommand::End { which: SessionsToEnd::One(session_id), .. } => {
                let found = draft.directory().sessions.get(session_id);
                // Do not reveal whether another user's session exists.
                draft.admit_own(found.map(|session| &session.user_id)).map_err(hidden)?;
            }
            SessionCommand::SetPassword { password, .. } => draft.admit_own(Some(&password.user_id))?,
        }
        let system = draft.system()?;
        let spans = draft.options().session_spans();
        let happened = session::decide(draft.directory(), &self.0, spans, draft.times(system))?;
        let position = draft.happen(system, happened.as_slice());
        Ok(draft.done(system, position, Logged {}))
    }
}
