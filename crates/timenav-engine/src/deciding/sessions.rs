//! Sessions and passwords: facts of the whole service, on the timeline `system`.

use timenav_core::ids::{SessionId, UserId};
use timenav_core::limits::{SESSIONS_PER_USER_MAX, SESSIONS_SWEPT_MAX};
use timenav_core::time::Instant;

use super::standing::hidden;
use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::changes::Logged;
use crate::directory::DirectoryChange;
use crate::directory::{KeptPassword, Session};
use crate::draft::{Done, Draft};
use crate::json::json;
use crate::payload::{LoggedIn, PasswordSet, SessionRenewed, SessionsEnded};
use crate::refusal::Refusal;

/// Begin a session. Its user has shown a password already.
pub(crate) struct LogIn {
    pub(crate) session: Session,
    /// The session that the new one takes the place of.
    pub(crate) replaced: Option<SessionId>,
    /// What was compared with the password that was shown.
    pub(crate) compared: KeptPassword,
    /// The same password, hashed anew.
    pub(crate) rehashed: Option<KeptPassword>,
}

/// Note that somebody does something in a session, unless somebody has noted it meanwhile.
pub(crate) struct RenewSession(pub(crate) SessionId);

/// End sessions: as the word says, because somebody leaves or because they are to be ended.
pub(crate) struct EndSessions {
    pub(crate) action: Action,
    pub(crate) which: SessionsToEnd,
}

/// Which sessions to end.
pub(crate) enum SessionsToEnd {
    One(SessionId),
    AllOf(UserId),
}

/// Keep another password of a user, which is hashed already.
pub(crate) struct SetPassword {
    pub(crate) password: KeptPassword,
    /// What the current password was compared with, where it was asked for.
    pub(crate) compared: Option<KeptPassword>,
    /// The session that goes on.
    pub(crate) kept: Option<SessionId>,
}

impl Asking for LogIn {
    fn action(&self) -> Action {
        Action::LogIn
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }

    // Whoever logs in has shown a password, and has no session yet.
    fn needs_credential(&self) -> bool {
        false
    }
}

impl Deciding for LogIn {
    type Change = Logged;

    /// The password was compared before; here it must still be the one that is kept.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let Self { session, replaced, compared, rehashed } = self;
        check_password(draft, compared)?;
        let system = draft.system()?;
        let host = draft.host(system);
        let ended = ended_by_log_in(draft, &session.user_id, replaced.as_ref());
        // By the host's own clock, whatever the ledger's newest time is: a session lasts for real time.
        let expires_at = draft.now().checked_add(draft.options().session_spans().most).unwrap_or(Instant::MAX);
        let session = Session { created_at: host, renewed_at: host, expires_at, ..session.clone() };
        let payload = json(&LoggedIn::of(&session, &ended, rehashed.as_ref()));
        end(draft, &ended);
        if let Some(password) = rehashed {
            draft.change_directory(DirectoryChange::PutPassword(password.clone()));
        }
        let subject = session.session_id.to_string();
        draft.change_directory(DirectoryChange::PutSession(session));
        let position = draft.append(system, Action::LogIn, &subject, payload, host);
        Ok(draft.done(system, position, Logged {}))
    }
}

impl Asking for RenewSession {
    fn action(&self) -> Action {
        Action::RenewSession
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }
}

impl Deciding for RenewSession {
    type Change = Logged;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let Self(session_id) = self;
        let system = draft.system()?;
        let host = draft.host(system);
        let session = draft.directory().sessions.get(session_id).ok_or_else(|| no_session(session_id))?;
        if !session.is_renewal_due(host, draft.options().session_spans()) {
            return Ok(draft.done(system, draft.last_position(system), Logged {}));
        }
        let session = Session { renewed_at: host, ..(**session).clone() };
        draft.change_directory(DirectoryChange::PutSession(session));
        let payload = json(&SessionRenewed { session_id: session_id.to_string() });
        let position = draft.append(system, Action::RenewSession, session_id.as_str(), payload, host);
        Ok(draft.done(system, position, Logged {}))
    }
}

impl Asking for EndSessions {
    fn action(&self) -> Action {
        self.action
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }
}

impl Deciding for EndSessions {
    type Change = Logged;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let (owner, ended) = match &self.which {
            SessionsToEnd::AllOf(user_id) => {
                draft.admit_own(Some(user_id))?;
                (user_id.clone(), sessions_of(draft, user_id))
            }
            SessionsToEnd::One(session_id) => {
                let found = draft.directory().sessions.get(session_id);
                // Whether another user's session exists is not told.
                draft.admit_own(found.map(|session| &session.user_id)).map_err(hidden)?;
                let session = found.ok_or_else(|| no_session(session_id))?;
                (session.user_id.clone(), vec![(**session).clone()])
            }
        };
        let system = draft.system()?;
        let host = draft.host(system);
        end(draft, &ended);
        let payload = json(&SessionsEnded::of(&owner, &ended));
        let position = draft.append(system, self.action, owner.as_str(), payload, host);
        Ok(draft.done(system, position, Logged {}))
    }
}

impl Asking for SetPassword {
    fn action(&self) -> Action {
        Action::SetPassword
    }

    fn aim(&self) -> Aim {
        Aim::Ledger
    }
}

impl Deciding for SetPassword {
    type Change = Logged;

    /// The caller was allowed to before the password was hashed, and must be still.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Logged>, Refusal> {
        let Self { password, compared, kept } = self;
        let user_id = &password.user_id;
        draft.admit_own(Some(user_id))?;
        if !draft.directory().users.contains_key(user_id) {
            return Err(Refusal::NotFound { what: "user", id: user_id.to_string() });
        }
        if let Some(compared) = compared {
            check_password(draft, compared)?;
        }
        let system = draft.system()?;
        let host = draft.host(system);
        let mut ended = sessions_of(draft, user_id);
        ended.retain(|session| kept.as_ref() != Some(&session.session_id));
        let password = KeptPassword { set_at: host, ..password.clone() };
        end(draft, &ended);
        let payload = json(&PasswordSet::of(&password, &ended));
        draft.change_directory(DirectoryChange::PutPassword(password));
        let position = draft.append(system, Action::SetPassword, user_id.as_str(), payload, host);
        Ok(draft.done(system, position, Logged {}))
    }
}

/// What was compared with a password is still what is kept, of a user who is still there.
fn check_password(draft: &Draft<'_>, compared: &KeptPassword) -> Result<(), Refusal> {
    let directory = draft.directory();
    let kept = directory.passwords.get(&compared.user_id);
    let stands = kept.is_some_and(|kept| kept.phc == compared.phc);
    if stands && directory.users.contains_key(&compared.user_id) { Ok(()) } else { Err(Refusal::WrongPassword) }
}

/// Returns the sessions that end when somebody logs in: the one in whose place the new one begins, those that have run
/// out, whosever they are, and the user's oldest where there would be too many. One that has run out by a clock that is
/// doubted lets nobody in, and stays.
fn ended_by_log_in(draft: &Draft<'_>, user_id: &UserId, replaced: Option<&SessionId>) -> Vec<Session> {
    let (now, sure, spans) = (draft.now(), draft.sure(), draft.options().session_spans());
    let sessions = draft.directory().sessions.values();
    let (mut live, mut ended): (Vec<_>, Vec<_>) =
        sessions.partition(|one| one.is_live(now, spans) && replaced != Some(&one.session_id));
    ended.retain(|one| replaced == Some(&one.session_id) || !one.is_live(sure, spans));
    // The one that is replaced is among those that count, however many have run out.
    ended.sort_unstable_by_key(|one| (replaced != Some(&one.session_id), one.expires_at, one.session_id.clone()));
    ended.truncate(SESSIONS_SWEPT_MAX);
    live.retain(|session| session.user_id == *user_id);
    live.sort_unstable_by_key(|session| (session.created_at, session.session_id.clone()));
    let over = (live.len() + 1).saturating_sub(SESSIONS_PER_USER_MAX);
    ended.into_iter().chain(live.into_iter().take(over)).map(|session| (**session).clone()).collect()
}

fn sessions_of(draft: &Draft<'_>, user_id: &UserId) -> Vec<Session> {
    draft.directory().sessions.of_user(user_id).map(|session| (**session).clone()).collect()
}

fn end(draft: &mut Draft<'_>, ended: &[Session]) {
    for session in ended {
        draft.change_directory(DirectoryChange::EndSession(session.session_id.clone()));
    }
}

fn no_session(session_id: &SessionId) -> Refusal {
    Refusal::NotFound { what: "session", id: session_id.to_string() }
}
