//! Sessions and passwords: facts of the whole service, on the timeline `system`.

use std::sync::Arc;

use timenav_core::access::Denial;
use timenav_core::ids::{SessionId, TimelineId, UserId};
use timenav_core::limits::{SESSIONS_PER_USER_MAX, SESSIONS_SWEPT_MAX};
use timenav_core::time::Instant;

use super::decide::done;
use super::{Group, Outcome};
use crate::action::Action;
use crate::command::{Actor, Change};
use crate::directory::{KeptPassword, Session};
use crate::json::json;
use crate::payload::{LoggedIn, PasswordSet, SessionRenewed, SessionsEnded};
use crate::refusal::Refusal;
use crate::rows::DirectoryChange;
use crate::seals::{password_seal, session_seal};
use crate::session_command::{NewLogIn, NewPassword, SessionCommand, SessionsToEnd};

impl Group<'_> {
    pub(super) fn about_session(&mut self, actor: &Actor, command: SessionCommand) -> Result<Outcome, Refusal> {
        match command {
            SessionCommand::LogIn(new) => self.log_in(actor, new),
            SessionCommand::End { action, which } => self.end_sessions(actor, action, &which),
            SessionCommand::Renew(session_id) => self.renew_session(actor, &session_id),
            SessionCommand::SetPassword(new) => self.set_password(actor, new),
        }
    }

    /// Begins a session. The password was compared before; here it must still be the one that is kept.
    fn log_in(&mut self, actor: &Actor, new: NewLogIn) -> Result<Outcome, Refusal> {
        let NewLogIn { session, replaced, compared, rehashed } = new;
        self.check_password(&compared)?;
        let system = TimelineId::system();
        let host = self.host(&system);
        let ended = self.ended_by_log_in(&session.user_id, replaced.as_ref());
        // By the host's own clock, whatever the ledger's newest time is: a session lasts for real time.
        let expires_at = self.doors.clock.now().checked_add(self.options.session_spans().most).unwrap_or(Instant::MAX);
        let session = self.sealed(Session { created_at: host, renewed_at: host, expires_at, ..session });
        let payload = json(&LoggedIn::of(&session, &ended, rehashed.as_ref()));
        self.take_out(&ended);
        if let Some(password) = rehashed {
            self.put_password(password);
        }
        self.put_session(session.clone());
        let subject = session.session_id.as_str();
        let position = self.append(&system, actor.name(), Action::LogIn, subject, payload, host);
        Ok(done(&system, Change::Logged, position))
    }

    /// Notes that a session is used, unless somebody has noted it meanwhile.
    fn renew_session(&mut self, actor: &Actor, session_id: &SessionId) -> Result<Outcome, Refusal> {
        let system = TimelineId::system();
        let host = self.host(&system);
        let Some(session) = self.world.directory.sessions.get(session_id).cloned() else {
            return Err(no_session(session_id));
        };
        if !session.is_renewal_due(host, self.options.session_spans()) {
            let size = self.world.timelines.get(&system).map_or(0, |state| state.head.frontier.size());
            return Ok(done(&system, Change::Logged, size.saturating_sub(1)));
        }
        let session = self.sealed(Session { renewed_at: host, ..(*session).clone() });
        self.put_session(session);
        let payload = json(&SessionRenewed { session_id: session_id.to_string() });
        let position = self.append(&system, actor.name(), Action::RenewSession, session_id.as_str(), payload, host);
        Ok(done(&system, Change::Logged, position))
    }

    fn end_sessions(&mut self, actor: &Actor, action: Action, which: &SessionsToEnd) -> Result<Outcome, Refusal> {
        let (owner, ended) = match which {
            SessionsToEnd::AllOf(user_id) => {
                self.admit_own(actor, Some(user_id))?;
                (user_id.clone(), self.sessions_of(user_id))
            }
            SessionsToEnd::One(session_id) => {
                let found = self.world.directory.sessions.get(session_id).cloned();
                // Whether another user's session exists is not told.
                self.admit_own(actor, found.as_ref().map(|session| &session.user_id)).map_err(hidden)?;
                let Some(session) = found else { return Err(no_session(session_id)) };
                (session.user_id.clone(), vec![(*session).clone()])
            }
        };
        let system = TimelineId::system();
        let host = self.host(&system);
        self.take_out(&ended);
        let payload = json(&SessionsEnded::of(&owner, &ended));
        let position = self.append(&system, actor.name(), action, owner.as_str(), payload, host);
        Ok(done(&system, Change::Logged, position))
    }

    /// Keeps another password. The caller was allowed to before it was hashed, and must be still.
    fn set_password(&mut self, actor: &Actor, new: NewPassword) -> Result<Outcome, Refusal> {
        let NewPassword { password, compared, kept } = new;
        self.admit_own(actor, Some(&password.user_id))?;
        if !self.world.directory.users.contains_key(&password.user_id) {
            return Err(Refusal::NotFound { what: "user", id: password.user_id.to_string() });
        }
        if let Some(compared) = compared {
            self.check_password(&compared)?;
        }
        let system = TimelineId::system();
        let host = self.host(&system);
        let mut ended = self.sessions_of(&password.user_id);
        ended.retain(|session| kept.as_ref() != Some(&session.session_id));
        let mut password = KeptPassword { set_at: host, ..password };
        password.seal = password_seal(&*self.doors.signer, &password);
        self.take_out(&ended);
        let payload = json(&PasswordSet::of(&password, &ended));
        let user_id = password.user_id.clone();
        self.put_password(password);
        let position = self.append(&system, actor.name(), Action::SetPassword, user_id.as_str(), payload, host);
        Ok(done(&system, Change::Logged, position))
    }

    /// What was compared with a password is still what is kept, of a user who is still there.
    fn check_password(&self, compared: &KeptPassword) -> Result<(), Refusal> {
        let directory = &self.world.directory;
        let kept = directory.passwords.get(&compared.user_id);
        let stands = kept.is_some_and(|kept| kept.phc == compared.phc);
        if stands && directory.users.contains_key(&compared.user_id) { Ok(()) } else { Err(Refusal::WrongPassword) }
    }

    /// Returns the sessions that end when somebody logs in: the one in whose place the new one begins, those that
    /// have run out, whosever they are, and the user's oldest where there would be too many.
    fn ended_by_log_in(&self, user_id: &UserId, replaced: Option<&SessionId>) -> Vec<Session> {
        let (now, spans) = (self.doors.clock.now(), self.options.session_spans());
        let sessions = self.world.directory.sessions.values();
        let (mut live, mut ended): (Vec<_>, Vec<_>) =
            sessions.partition(|one| one.is_live(now, spans) && replaced != Some(&one.session_id));
        // The one that is replaced is among those that count, however many have run out.
        ended.sort_unstable_by_key(|one| (replaced != Some(&one.session_id), one.expires_at, one.session_id.clone()));
        ended.truncate(SESSIONS_SWEPT_MAX);
        live.retain(|session| session.user_id == *user_id);
        live.sort_unstable_by_key(|session| (session.created_at, session.session_id.clone()));
        let over = (live.len() + 1).saturating_sub(SESSIONS_PER_USER_MAX);
        ended.into_iter().chain(live.into_iter().take(over)).map(|session| (**session).clone()).collect()
    }

    fn sessions_of(&self, user_id: &UserId) -> Vec<Session> {
        self.world.directory.sessions.of_user(user_id).map(|session| (**session).clone()).collect()
    }

    fn sealed(&self, session: Session) -> Session {
        Session { seal: session_seal(self.doors, &session), ..session }
    }

    fn put_session(&mut self, session: Session) {
        Arc::make_mut(&mut self.directory_mut().sessions).put(session.clone());
        self.directory.push(DirectoryChange::PutSession(session));
    }

    pub(super) fn put_password(&mut self, password: KeptPassword) {
        let passwords = Arc::make_mut(&mut self.directory_mut().passwords);
        passwords.insert(password.user_id.clone(), Arc::new(password.clone()));
        self.directory.push(DirectoryChange::PutPassword(password));
    }

    fn take_out(&mut self, ended: &[Session]) {
        for session in ended {
            Arc::make_mut(&mut self.directory_mut().sessions).take_out(&session.session_id);
            self.directory.push(DirectoryChange::EndSession(session.session_id.clone()));
        }
    }
}

/// Whether what is another user's exists is not told.
const fn hidden(denial: Denial) -> Denial {
    match denial {
        Denial::OperatorOnly => Denial::Hidden,
        denial => denial,
    }
}

fn no_session(session_id: &SessionId) -> Refusal {
    Refusal::NotFound { what: "session", id: session_id.to_string() }
}
