use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::directory::session::{SessionCommand, SessionsToEnd};
use timenav_core::directory::{Session, SessionSpans, StoredPassword};
use timenav_core::ids::{SessionId, TimelineId, UserId, type_id};
use timenav_core::key::{is_well_formed_session, session_text};
use timenav_core::password::Password;
use timenav_core::time::{Instant, Wall};
use zeroize::Zeroizing;

use crate::access::secrets::key_digest;
use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::payload::Reading;
use crate::ports::passwords::{PasswordMatch, Passwords};
use crate::ports::vault::VaultError;
use crate::read::live::{AccessChanges, Growth};
use crate::requests::caller::{AuthFailure, Caller, Credential};
use crate::requests::code::Code;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::access::sessions::ChangeSessions;
use crate::writer::deciding::logged::LogRefusal;

const SECRET_RANDOM_BYTES: usize = 96;
/// Suggested delay before a retry, in seconds, if too many passwords wait to be hashed.
const BUSY_SECONDS: u64 = 1;

#[derive(Clone, Debug)]
pub struct SessionView {
    pub session_id: SessionId,
    pub created_at: Instant<Wall>,
    pub last_seen_at: Instant<Wall>,
    pub idle_expires_at: Instant<Wall>,
    pub expires_at: Instant<Wall>,
    pub is_current: bool,
}

#[derive(Debug)]
pub struct NewSession {
    pub caller: Caller,
    /// Its secret, which is shown only once.
    pub secret: Zeroizing<String>,
}

#[derive(Debug)]
pub struct PasswordRequest {
    /// Defaults to the caller.
    pub user_id: Option<UserId>,
    pub password: Password,
    pub current: Option<Password>,
}

pub const CROSS_SITE_CODE: &str = "cross_site_request";

impl Engine {
    /// Logs a user in, and replaces the session they may be in. `None` if user and password do not match, which is
    /// logged. The response and its duration do not reveal whether the user exists.
    ///
    /// # Errors
    /// Too many logins are in progress, or the ledger cannot be written.
    #[boxed]
    pub async fn log_in(
        &self,
        user_id: UserId,
        password: Password,
        before: Option<&Caller>,
    ) -> Result<Option<NewSession>, Refusal> {
        let new = self.log_in_counted(user_id, password, before).await?;
        match new {
            Ok(new) => Ok(Some(new)),
            Err(detail) => self.log_failed_log_in(detail).await.map(|()| None),
        }
    }

    /// Like [`Engine::log_in`], but returns the reason of a rejection instead of logging it. The caller of this
    /// function counts rejections.
    ///
    /// # Errors
    /// As [`Engine::log_in`].
    #[boxed]
    pub async fn log_in_counted(
        &self,
        user_id: UserId,
        password: Password,
        before: Option<&Caller>,
    ) -> Result<Result<NewSession, String>, Refusal> {
        let passwords = self.passwords()?;
        self.catch_up_with(&TimelineId::system()).await?;
        let directory = self.directory();
        let stored = directory.passwords.get(&user_id).filter(|_| directory.users.contains_key(&user_id)).cloned();
        let phc = stored.as_ref().map(|stored| Arc::clone(&stored.phc));
        let matched = passwords.compare(None, password.clone(), phc).await.map_err(busy)?;
        let (Some(compared), PasswordMatch::Right | PasswordMatch::RightButWeak) = (stored, matched) else {
            // An unknown user name is not logged, because it may be a password typed into the wrong field.
            let whose = directory.users.get(&user_id).map_or("nobody", |user| user.user_id.as_str());
            let detail = format!("a password was shown that is not that of `{whose}`");
            return Ok(Err(detail));
        };
        let rehashed = match matched {
            PasswordMatch::RightButWeak => {
                let phc = passwords.hash(None, password).await.map_err(busy)?;
                // Rehashing does not change the time at which the password was set.
                Some(StoredPassword { phc: phc.into(), ..(*compared).clone() })
            }
            PasswordMatch::Wrong | PasswordMatch::Right => None,
        };
        let secret = Zeroizing::new(self.new_session_text());
        let session = self.new_session(&user_id, &secret)?;
        let caller = caller_in(&session);
        let replaced = before.and_then(Caller::session_id).cloned();
        let new = ChangeSessions(SessionCommand::LogIn { session, replaced, compared: (*compared).clone(), rehashed });
        match self.submit(&caller, TimelineId::system(), new, None).await {
            Ok(_) => Ok(Ok(NewSession { caller, secret })),
            // The password was changed or the user deleted during the comparison.
            Err(Refusal::WrongPassword) => Ok(Err("the password was changed in the meantime".to_owned())),
            Err(refusal) => Err(refusal),
        }
    }

    async fn log_failed_log_in(&self, detail: String) -> Result<(), Refusal> {
        let log = LogRefusal::new(Action::LogIn.word(), AuthFailure::Login.code(), &detail);
        self.submit_unknown(TimelineId::system(), log).await.map(|_| ())
    }

    /// Returns the caller for a session's secret.
    ///
    /// # Errors
    /// The secret is malformed or unknown, or the session has ended. The error does not reveal which.
    pub fn authenticate_session(&self, secret: &str) -> Result<Caller, AuthFailure> {
        if !is_well_formed_session(secret) {
            return Err(AuthFailure::Session);
        }
        // The lookup uses a digest, so that its duration reveals nothing about the secret.
        let directory = self.directory();
        let session = directory.sessions.by_hash(&key_digest(secret));
        let session = session.filter(|session| session.is_live(self.now(), self.session_spans()));
        let session = session.filter(|session| directory.users.contains_key(&session.user_id));
        session.map(|session| caller_in(session)).ok_or(AuthFailure::Session)
    }

    /// Records activity in the caller's session, unless that was done recently.
    ///
    /// # Errors
    /// The session has ended, or the ledger cannot be written.
    #[boxed]
    pub async fn renew_session(&self, caller: &Caller) -> Result<(), Refusal> {
        let Some(session_id) = caller.session_id() else { return Ok(()) };
        let directory = self.directory();
        let is_due = directory
            .sessions
            .get(session_id)
            .is_none_or(|session| session.is_renewal_due(self.now(), self.session_spans()));
        if !is_due {
            return Ok(());
        }
        let renewing = ChangeSessions(SessionCommand::Renew(session_id.clone()));
        self.submit(caller, TimelineId::system(), renewing, None).await.map(|_| ())
    }

    /// Ends the caller's session, or all sessions of the caller.
    ///
    /// # Errors
    /// The request is not part of a session, or the ledger cannot be written.
    #[boxed]
    pub async fn log_out(&self, caller: &Caller, everywhere: bool) -> Result<(), Refusal> {
        let which = match (caller.session_id(), everywhere) {
            (_, true) => SessionsToEnd::AllOf(caller.user_id.clone()),
            (Some(session_id), false) => SessionsToEnd::One(session_id.clone()),
            (None, false) => {
                let detail = "an API key is not a session; `true` ends all sessions of its user";
                return Err(Refusal::invalid("everywhere", detail));
            }
        };
        let ending = ChangeSessions(SessionCommand::End { which, is_log_out: true });
        self.submit(caller, TimelineId::system(), ending, None).await.map(|_| ())
    }

    /// Ends a session.
    ///
    /// # Errors
    /// There is no such session, the caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn end_session(&self, caller: &Caller, session_id: SessionId) -> Result<(), Refusal> {
        let which = SessionsToEnd::One(session_id);
        let ending = ChangeSessions(SessionCommand::End { which, is_log_out: false });
        self.submit(caller, TimelineId::system(), ending, None).await.map(|_| ())
    }

    /// Returns the live sessions of the caller or of another user, newest first.
    ///
    /// # Errors
    /// They are another user's and the caller is not an operator, or the ledger cannot be written.
    #[boxed]
    pub async fn sessions(&self, caller: &Caller, user_id: Option<UserId>) -> Result<Vec<SessionView>, Refusal> {
        let of = user_id.unwrap_or_else(|| caller.user_id.clone());
        let demand = if of == caller.user_id { Demand::Own } else { Demand::Operate };
        self.look(caller, TimelineId::system(), demand, Reading::Sessions {}).await?;
        let (directory, now, spans) = (self.directory(), self.now(), self.session_spans());
        let live = directory.sessions.of_user(&of).filter(|one| one.is_live(now, spans));
        let mut sessions: Vec<SessionView> = live.map(|session| self.session_view(session, caller)).collect();
        sessions.sort_unstable_by(|a, b| (b.created_at, &b.session_id).cmp(&(a.created_at, &a.session_id)));
        Ok(sessions)
    }

    /// The read is not logged, because the caller knows the session anyway.
    #[must_use]
    pub fn session_of(&self, caller: &Caller) -> Option<SessionView> {
        self.directory().sessions.get(caller.session_id()?).map(|session| self.session_view(session, caller))
    }

    #[must_use]
    pub fn user_of(&self, caller: &Caller) -> Option<timenav_core::directory::User> {
        self.directory().users.get(&caller.user_id).cloned()
    }

    #[must_use]
    pub fn is_first_run(&self) -> bool {
        let directory = self.directory();
        let has_password = |user: &UserId| directory.passwords.contains_key(user);
        !directory.users.values().any(|user| user.operator && has_password(&user.user_id))
    }

    /// Sets the caller's own password or, as an operator, another user's. Ends all sessions of that user except the one
    /// of this request.
    ///
    /// # Errors
    /// The password is weak, the current one is required and wrong, there is no such user, the caller is not
    /// authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn set_password(&self, caller: &Caller, request: PasswordRequest) -> Result<UserId, Refusal> {
        let passwords = self.passwords()?;
        let PasswordRequest { user_id, password, current } = request;
        let of = user_id.unwrap_or_else(|| caller.user_id.clone());
        let is_own = of == caller.user_id;
        let demand = if is_own { Demand::Own } else { Demand::Operate };
        self.admit(caller, &TimelineId::system(), demand, Action::SetPassword.word()).await?;
        let compared = match (is_own, current) {
            (false, Some(_)) => {
                return Err(Refusal::invalid("current_password", "give it only when you change your own password"));
            }
            (true, None) if caller.session_id().is_some() => {
                return Err(Refusal::invalid("current_password", "in a session, give your current password too"));
            }
            (_, None) => None,
            (true, Some(current)) => Some(self.compare_current(caller, passwords, current).await?),
        };
        password.check(&of).map_err(|weak| Refusal::invalid("password", weak.to_string()))?;
        let phc = passwords.hash(Some(&caller.user_id), password).await.map_err(busy)?;
        let stored = StoredPassword { user_id: of.clone(), phc: phc.into(), set_at: self.now() };
        let surviving_session = caller.session_id().filter(|_| is_own).cloned();
        let new = ChangeSessions(SessionCommand::SetPassword { password: stored, compared, surviving_session });
        self.submit(caller, TimelineId::system(), new, None).await?;
        Ok(of)
    }

    /// Compares the current password that a caller must repeat, and logs the attempt if it is wrong.
    async fn compare_current(
        &self,
        caller: &Caller,
        passwords: &dyn Passwords,
        current: Password,
    ) -> Result<StoredPassword, Refusal> {
        let stored = self.directory().passwords.get(&caller.user_id).cloned();
        let phc = stored.as_ref().map(|stored| Arc::clone(&stored.phc));
        let matched = passwords.compare(Some(&caller.user_id), current, phc).await.map_err(busy)?;
        if let Some(stored) = stored.filter(|_| matched != PasswordMatch::Wrong) {
            return Ok((*stored).clone());
        }
        let code = Code::WrongPassword.as_str();
        let log = LogRefusal::new(Action::SetPassword.word(), code, &Refusal::WrongPassword);
        self.submit(caller, TimelineId::system(), log, None).await?;
        Err(Refusal::WrongPassword)
    }

    /// Logs a cross-site request that carried a user's cookie, and returns the timeline of the attempt.
    ///
    /// # Errors
    /// The ledger cannot be written.
    #[boxed]
    pub async fn log_cross_site(
        &self,
        caller: Option<&Caller>,
        aimed: Option<TimelineId>,
        operation: &str,
    ) -> Result<(), Refusal> {
        let aimed = aimed.unwrap_or_else(TimelineId::system);
        let reason = "a page of another site sent the cookie of a session";
        let refused = LogRefusal::new(operation, CROSS_SITE_CODE, reason);
        match caller {
            Some(caller) => self.submit(caller, aimed, refused, None).await.map(|_| ()),
            None => self.submit_unknown(aimed, refused).await.map(|_| ()),
        }
    }

    /// Returns a signal for changes of sessions and keys. It may fire without one.
    #[must_use]
    pub fn identity_changes(&self) -> Growth {
        self.growth_of(&TimelineId::system())
    }

    /// Signals changes of keys, sessions and permissions, to detect loss of access. It may fire without one.
    #[must_use]
    pub fn access_changes(&self) -> AccessChanges {
        self.shared().live.listen_to_access(self.identity_changes())
    }

    fn passwords(&self) -> Result<&dyn Passwords, Refusal> {
        self.ports().passwords.as_deref().ok_or(Refusal::FeatureDisabled { what: "logging in" })
    }

    pub(crate) fn session_spans(&self) -> SessionSpans {
        self.options().session_spans()
    }

    fn session_view(&self, session: &Session, caller: &Caller) -> SessionView {
        SessionView {
            session_id: session.session_id.clone(),
            created_at: session.created_at,
            last_seen_at: session.renewed_at,
            idle_expires_at: session.idle_expires_at(self.session_spans()),
            expires_at: session.expires_at,
            is_current: caller.session_id() == Some(&session.session_id),
        }
    }

    fn new_session_text(&self) -> String {
        loop {
            let mut random = Zeroizing::new([0; SECRET_RANDOM_BYTES]);
            self.ports().entropy.fill(&mut *random);
            // Too few usable characters occur practically never with this many bytes.
            if let Some(text) = session_text(&*random) {
                return text;
            }
        }
    }

    fn new_session(&self, user_id: &UserId, secret: &str) -> Result<Session, Refusal> {
        let session_id = SessionId::new(&type_id("session", self.uuid()));
        let now = self.now();
        Ok(Session {
            session_id: session_id.map_err(|error| Refusal::id("session_id", error))?,
            hash: key_digest(secret),
            user_id: user_id.clone(),
            created_at: now,
            renewed_at: now,
            expires_at: now,
        })
    }
}

/// Returns the caller of a session, which may do everything its user may.
fn caller_in(session: &Session) -> Caller {
    Caller {
        user_id: session.user_id.clone(),
        credential: Credential::Session(session.session_id.clone()),
        timeline_id: TimelineId::main(),
        scopes: None,
    }
}

fn busy(error: VaultError) -> Refusal {
    match error {
        VaultError::Busy => Refusal::RateLimited { what: "passwords to be checked", retry_after_seconds: BUSY_SECONDS },
        VaultError::Closed | VaultError::Failed => Refusal::Damaged(error.to_string()),
    }
}
