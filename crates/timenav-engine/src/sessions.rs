//! Passwords, and the sessions that begin with one.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::directory::session::{SessionCommand, SessionsToEnd};
use timenav_core::directory::{KeptPassword, Session, SessionSpans};
use timenav_core::ids::{SessionId, TimelineId, UserId, type_id};
use timenav_core::key::{is_well_formed_session, session_text};
use timenav_core::password::Password;
use timenav_core::time::{Instant, Wall};
use zeroize::Zeroizing;

use crate::action::Action;
use crate::caller::{AuthFailure, Caller, Credential};
use crate::deciding::logged::LogRefusal;
use crate::deciding::sessions::ChangeSessions;
use crate::engine::Engine;
use crate::live::{AccessChanges, Growth};
use crate::passwords::{PasswordMatch, Passwords};
use crate::payload::Reading;
use crate::refusal::Refusal;
use crate::secrets::key_digest;
use crate::vault::VaultError;

/// Random bytes of which the secret of a session is made.
const SECRET_RANDOM_BYTES: usize = 96;
/// After how many seconds it is worth trying again where too many passwords wait to be hashed.
const BUSY_SECONDS: u64 = 1;

/// A session, as it is shown to its user.
#[derive(Clone, Debug)]
pub struct SessionView {
    /// The public id of the session.
    pub session_id: SessionId,
    /// When the user logged in, by the host.
    pub created_at: Instant<Wall>,
    /// When it was last noted that the user does something in it, by the host.
    pub last_seen_at: Instant<Wall>,
    /// When it ends if nobody uses it, by the host.
    pub idle_expires_at: Instant<Wall>,
    /// When it ends at the latest, by the host.
    pub expires_at: Instant<Wall>,
    /// Whether it is the current session.
    pub is_current: bool,
}

/// A session that just began.
#[derive(Debug)]
pub struct NewSession {
    /// Who may ask in it.
    pub caller: Caller,
    /// Its secret, shown this once.
    pub secret: Zeroizing<String>,
}

/// A password to set.
#[derive(Debug)]
pub struct PasswordRequest {
    /// Whose; the caller's own where there is none.
    pub user_id: Option<UserId>,
    /// The new one.
    pub password: Password,
    /// The one before it.
    pub current: Option<Password>,
}

/// The stable word for a request that a page of another site sends with a user's cookie.
pub const CROSS_SITE_CODE: &str = "cross_site_request";

impl Engine {
    /// Begins a session for a user who shows their password, in the place of the one that they may be in. `None`
    /// where user and password do not belong together, which is logged; whether there is such a user is not told,
    /// and takes as long.
    ///
    /// # Errors
    /// Too many log in at this moment, or the ledger cannot be written.
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

    /// As [`Engine::log_in`], but a refusal is not logged: it is the reason that is returned, and whoever asks counts it.
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
        self.hear_of(&TimelineId::system()).await?;
        let directory = self.directory();
        let kept = directory.passwords.get(&user_id).filter(|_| directory.users.contains_key(&user_id)).cloned();
        let phc = kept.as_ref().map(|kept| Arc::clone(&kept.phc));
        let matched = passwords.compare(None, password.clone(), phc).await.map_err(busy)?;
        let (Some(compared), PasswordMatch::Right | PasswordMatch::RightButWeak) = (kept, matched) else {
            // A name that is no user's may be a password in the wrong field.
            let whose = directory.users.get(&user_id).map_or("nobody", |user| user.user_id.as_str());
            let detail = format!("a password was shown that is not that of `{whose}`");
            return Ok(Err(detail));
        };
        let rehashed = match matched {
            PasswordMatch::RightButWeak => {
                let phc = passwords.hash(None, password).await.map_err(busy)?;
                // When it was set does not change.
                Some(KeptPassword { phc: phc.into(), ..(*compared).clone() })
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
            // The password was changed or the user removed while this one was compared.
            Err(Refusal::WrongPassword) => Ok(Err("the password was changed in the meantime".to_owned())),
            Err(refusal) => Err(refusal),
        }
    }

    async fn log_failed_log_in(&self, detail: String) -> Result<(), Refusal> {
        let (operation, code) = (Action::LogIn.word().to_owned(), AuthFailure::LogIn.code());
        self.submit_unknown(TimelineId::system(), LogRefusal { operation, code, detail }).await.map(|_| ())
    }

    /// Returns who asks in the session of that secret.
    ///
    /// # Errors
    /// The secret is malformed or unknown, or the session has ended; which of these is not told.
    pub fn authenticate_session(&self, secret: &str) -> Result<Caller, AuthFailure> {
        if !is_well_formed_session(secret) {
            return Err(AuthFailure::Session);
        }
        // Looking up a digest tells nothing about the secret, however long it takes.
        let directory = self.directory();
        let session = directory.sessions.shown(&key_digest(secret));
        let session = session.filter(|session| session.is_live(self.now(), self.session_spans()));
        let session = session.filter(|session| directory.users.contains_key(&session.user_id));
        session.map(|session| caller_in(session)).ok_or(AuthFailure::Session)
    }

    /// Notes that a caller does something in their session, unless that was noted a moment ago.
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

    /// Ends the session that the caller asks in, or all of the caller's sessions.
    ///
    /// # Errors
    /// The caller asks in none, or the ledger cannot be written.
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
    /// There is no such session, the caller may not, or the ledger cannot be written.
    #[boxed]
    pub async fn end_session(&self, caller: &Caller, session_id: SessionId) -> Result<(), Refusal> {
        let which = SessionsToEnd::One(session_id);
        let ending = ChangeSessions(SessionCommand::End { which, is_log_out: false });
        self.submit(caller, TimelineId::system(), ending, None).await.map(|_| ())
    }

    /// Returns the caller's sessions that last, or those of a user, newest first.
    ///
    /// # Errors
    /// They are another user's and the caller is no operator, or the ledger cannot be written.
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

    /// Returns the session that a caller asks in, if it is one. Nothing is logged: it is what the caller knows.
    #[must_use]
    pub fn session_of(&self, caller: &Caller) -> Option<SessionView> {
        self.directory().sessions.get(caller.session_id()?).map(|session| self.session_view(session, caller))
    }

    /// Returns whether a user administers the service, and how far their time travel is restricted.
    #[must_use]
    pub fn user_of(&self, caller: &Caller) -> Option<timenav_core::directory::User> {
        self.directory().users.get(&caller.user_id).cloned()
    }

    /// Returns whether nobody has set the password of an operator yet.
    #[must_use]
    pub fn is_first_run(&self) -> bool {
        let directory = self.directory();
        let has_password = |user: &UserId| directory.passwords.contains_key(user);
        !directory.users.values().any(|user| user.operator && has_password(&user.user_id))
    }

    /// Sets a password: one's own, or as an operator somebody else's. It ends the sessions of that user, except the
    /// one that is asked in.
    ///
    /// # Errors
    /// The password is weak, the current one is asked for and wrong, there is no such user, the caller may not, or
    /// the ledger cannot be written.
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
        let kept = KeptPassword { user_id: of.clone(), phc: phc.into(), set_at: self.now() };
        let kept_session = caller.session_id().filter(|_| is_own).cloned();
        let new = ChangeSessions(SessionCommand::SetPassword { password: kept, compared, kept: kept_session });
        self.submit(caller, TimelineId::system(), new, None).await?;
        Ok(of)
    }

    /// Compares the password that a caller shows again, and logs the attempt where it is wrong.
    async fn compare_current(
        &self,
        caller: &Caller,
        passwords: &dyn Passwords,
        current: Password,
    ) -> Result<KeptPassword, Refusal> {
        let kept = self.directory().passwords.get(&caller.user_id).cloned();
        let phc = kept.as_ref().map(|kept| Arc::clone(&kept.phc));
        let matched = passwords.compare(Some(&caller.user_id), current, phc).await.map_err(busy)?;
        if let Some(kept) = kept.filter(|_| matched != PasswordMatch::Wrong) {
            return Ok((*kept).clone());
        }
        let (operation, detail) = (Action::SetPassword.word().to_owned(), Refusal::WrongPassword.to_string());
        let refused = LogRefusal { operation, code: "wrong_password", detail };
        self.submit(caller, TimelineId::system(), refused, None).await?;
        Err(Refusal::WrongPassword)
    }

    /// Logs that a page of another site asked with a user's cookie, and returns where the attempt was aimed.
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
        let detail = "a page of another site sent the cookie of a session".to_owned();
        let refused = LogRefusal { operation: operation.to_owned(), code: CROSS_SITE_CODE, detail };
        match caller {
            Some(caller) => self.submit(caller, aimed, refused, None).await.map(|_| ()),
            None => self.submit_unknown(aimed, refused).await.map(|_| ()),
        }
    }

    /// Returns something that changes whenever sessions or keys may have, for those who wait for the end of one.
    #[must_use]
    pub fn identity_changes(&self) -> Growth {
        let system = TimelineId::system();
        let size = || self.state(&system).map_or(0, |state| state.head.frontier.size());
        self.live().listen_to_growth(&system, size)
    }

    /// Returns something that changes whenever keys, sessions or permissions may have, for those who wait until somebody
    /// may not look any more.
    #[must_use]
    pub fn access_changes(&self) -> AccessChanges {
        self.live().listen_to_access(self.identity_changes())
    }

    fn passwords(&self) -> Result<&dyn Passwords, Refusal> {
        self.doors().passwords.as_deref().ok_or(Refusal::FeatureDisabled { what: "logging in" })
    }

    /// Returns how long sessions last.
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

    /// Returns the text of a new secret.
    fn new_session_text(&self) -> String {
        loop {
            let mut random = Zeroizing::new([0; SECRET_RANDOM_BYTES]);
            self.doors().entropy.fill(&mut *random);
            // So many bytes give 43 characters all but once in many lifetimes.
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

/// Returns who asks in a session: its user, who may do there all that they may.
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
