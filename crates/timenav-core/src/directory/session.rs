use super::{Directory, DirectoryRefusal, Happened, PasswordRow, StoredPassword, Times};
use crate::ids::{SessionId, UserId};
use crate::limits::{HOST_CLOCK_BEHIND_SECONDS_MAX, SESSIONS_PER_USER_MAX, SESSIONS_SWEPT_MAX};
use crate::time::{Instant, Span, Wall};

/// Renewals are recorded at most this many times per idle timeout, because each one is a ledger entry.
const RENEWALS_PER_IDLE_TIME: i64 = 30;

/// How far the host clock may be behind the ledgers. Clocks synchronized over a network step by less.
pub const HOST_CLOCK_TOLERANCE: Span = Span::from_micros(HOST_CLOCK_BEHIND_SECONDS_MAX * 1_000_000);

/// A session, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub session_id: SessionId,
    /// SHA-256 of the whole secret.
    pub hash: [u8; 32],
    pub user_id: UserId,
    pub created_at: Instant<Wall>,
    /// When use of the session was last recorded, in host time.
    pub renewed_at: Instant<Wall>,
    /// The latest end, in host time.
    pub expires_at: Instant<Wall>,
}

impl Session {
    /// Returns when the session ends if it is not used, in host time.
    #[must_use]
    pub fn idle_expires_at(&self, spans: SessionSpans) -> Instant<Wall> {
        self.renewed_at.checked_add(spans.idle).unwrap_or(Instant::MAX).min(self.expires_at)
    }

    /// Returns whether the session is valid at a host instant. The end instant itself is excluded.
    ///
    /// A session that ends later than any new session could is not valid either: it began while the host clock was
    /// wrong.
    #[must_use]
    pub fn is_live(&self, host: Instant<Wall>, spans: SessionSpans) -> bool {
        let latest = host.checked_add(spans.most).unwrap_or(Instant::MAX);
        let latest = latest.checked_add(HOST_CLOCK_TOLERANCE).unwrap_or(Instant::MAX);
        host < self.idle_expires_at(spans) && self.expires_at <= latest
    }

    #[must_use]
    pub fn is_renewal_due(&self, host: Instant<Wall>, spans: SessionSpans) -> bool {
        let step = Span::from_micros(spans.idle.micros() / RENEWALS_PER_IDLE_TIME);
        self.renewed_at.checked_add(step).is_none_or(|due| host >= due)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSpans {
    /// The idle timeout.
    pub idle: Span,
    /// The maximum lifetime.
    pub most: Span,
}

#[derive(Clone, Debug)]
pub enum SessionCommand {
    /// Start a session. The password has been verified already; the start and end are set by the decision.
    LogIn {
        session: Session,
        replaced: Option<SessionId>,
        /// The stored password that the given one was compared with.
        compared: StoredPassword,
        rehashed: Option<StoredPassword>,
    },
    /// Record use of a session, unless that was recorded in the meantime.
    Renew(SessionId),
    End {
        which: SessionsToEnd,
        is_log_out: bool,
    },
    /// Replace a user's password with one that is already hashed. `set_at` is set by the decision.
    SetPassword {
        password: StoredPassword,
        /// The stored password that the given current one was compared with, if the caller had to give it.
        compared: Option<StoredPassword>,
        /// The session that does not end.
        surviving_session: Option<SessionId>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionsToEnd {
    One(SessionId),
    AllOf(UserId),
}

/// Decides what a command does, given the lifetimes of sessions. `None` if there is nothing to do. Has no side effects.
///
/// # Errors
/// [`DirectoryRefusal`]; nothing changes.
pub fn decide(
    directory: &Directory,
    command: &SessionCommand,
    spans: SessionSpans,
    times: Times,
) -> Result<Option<Happened>, DirectoryRefusal> {
    match command {
        SessionCommand::LogIn { session, replaced, compared, rehashed } => {
            check_password(directory, compared)?;
            let ended = ended_by_log_in(directory, (&session.user_id, replaced.as_ref()), spans, times);
            // By the host clock, not the ledger's newest time: a session lifetime is real time.
            let expires_at = times.now.checked_add(spans.most).unwrap_or(Instant::MAX);
            let (created_at, renewed_at) = (times.recorded, times.recorded);
            let session = Session { created_at, renewed_at, expires_at, ..session.clone() };
            Ok(Some(Happened::LoggedIn { session, ended, rehashed: rehashed.clone() }))
        }
        SessionCommand::Renew(session_id) => {
            let session = session(directory, session_id)?;
            let renewed = Happened::SessionRenewed { session_id: session_id.clone(), at: times.recorded };
            Ok(session.is_renewal_due(times.recorded, spans).then_some(renewed))
        }
        SessionCommand::End { which, is_log_out } => {
            let (user_id, ended) = match which {
                SessionsToEnd::AllOf(user_id) => (user_id.clone(), sessions_of(directory, user_id).collect()),
                SessionsToEnd::One(session_id) => {
                    (session(directory, session_id)?.user_id.clone(), vec![session_id.clone()])
                }
            };
            Ok(Some(Happened::SessionsEnded { user_id, ended, is_log_out: *is_log_out }))
        }
        SessionCommand::SetPassword { password, compared, surviving_session } => {
            directory.user(&password.user_id)?;
            compared.iter().try_for_each(|compared| check_password(directory, compared))?;
            let ended = sessions_of(directory, &password.user_id)
                .filter(|one| surviving_session.as_ref() != Some(one))
                .collect();
            let password = StoredPassword { set_at: times.recorded, ..password.clone() };
            Ok(Some(Happened::PasswordSet { password, ended }))
        }
    }
}

/// Checks that the password compared with is still the stored one, and that its user still exists.
fn check_password(directory: &Directory, compared: &StoredPassword) -> Result<(), DirectoryRefusal> {
    let stored = directory.passwords.get(compared.user_id());
    let is_same = stored.is_some_and(|stored| stored.phc == compared.phc);
    let is_user = directory.users.contains_key(compared.user_id());
    if is_same && is_user { Ok(()) } else { Err(DirectoryRefusal::WrongPassword) }
}

/// Returns the sessions that end at a login: the one that the new session replaces, expired sessions of all users, and
/// the user's oldest if there would be too many. A session that has expired only by a doubted clock is not valid, but
/// is kept.
fn ended_by_log_in(
    directory: &Directory,
    (user_id, replaced): (&UserId, Option<&SessionId>),
    spans: SessionSpans,
    times: Times,
) -> Vec<SessionId> {
    let sessions = directory.sessions.values();
    let (mut live, mut ended): (Vec<_>, Vec<_>) =
        sessions.partition(|one| one.is_live(times.now, spans) && replaced != Some(&one.session_id));
    ended.retain(|one| replaced == Some(&one.session_id) || !one.is_live(times.sure, spans));
    // The replaced session comes first, so that the limit on swept sessions never excludes it.
    ended.sort_unstable_by_key(|one| (replaced != Some(&one.session_id), one.expires_at, one.session_id.clone()));
    ended.truncate(SESSIONS_SWEPT_MAX);
    live.retain(|session| session.user_id == *user_id);
    live.sort_unstable_by_key(|session| (session.created_at, session.session_id.clone()));
    let over = (live.len() + 1).saturating_sub(SESSIONS_PER_USER_MAX);
    ended.into_iter().chain(live.into_iter().take(over)).map(|session| session.session_id.clone()).collect()
}

fn sessions_of(directory: &Directory, user_id: &UserId) -> impl Iterator<Item = SessionId> {
    directory.sessions.of_user(user_id).map(|session| session.session_id.clone())
}

fn session<'d>(directory: &'d Directory, session_id: &SessionId) -> Result<&'d Session, DirectoryRefusal> {
    let found = directory.sessions.get(session_id);
    found.map(|session| &**session).ok_or_else(|| DirectoryRefusal::NoSession(session_id.clone()))
}
