//! Sessions, and the passwords that they begin with.

use super::{Directory, DirectoryRefusal, Happened, KeptPassword, PasswordRow, Times};
use crate::ids::{SessionId, UserId};
use crate::limits::{HOST_CLOCK_BEHIND_SECONDS_MAX, SESSIONS_PER_USER_MAX, SESSIONS_SWEPT_MAX};
use crate::time::{Instant, Span, Wall};

/// A session's use is noted once in this part of the time after which it ends unused: not at every request, since
/// each note is an entry.
const RENEWALS_PER_IDLE_TIME: i64 = 30;

/// How far the host's clock may be behind what the ledgers tell before that is called wrong: clocks that are kept right
/// over a network step by less.
pub const HOST_CLOCK_TOLERANCE: Span = Span::from_micros(HOST_CLOCK_BEHIND_SECONDS_MAX * 1_000_000);

/// A user's session, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The public id of the session.
    pub session_id: SessionId,
    /// SHA-256 of the whole secret.
    pub hash: [u8; 32],
    /// The user it belongs to.
    pub user_id: UserId,
    /// When the user logged in, by the host.
    pub created_at: Instant<Wall>,
    /// When it was last noted that the user does something in it, by the host.
    pub renewed_at: Instant<Wall>,
    /// When it ends at the latest, by the host.
    pub expires_at: Instant<Wall>,
}

impl Session {
    /// Returns when the session ends if nobody uses it, by the host.
    #[must_use]
    pub fn idle_expires_at(&self, spans: SessionSpans) -> Instant<Wall> {
        self.renewed_at.checked_add(spans.idle).unwrap_or(Instant::MAX).min(self.expires_at)
    }

    /// Returns whether the session lasts at a host instant. One that ends at that instant does not.
    ///
    /// Nor does one that would last longer from here than any session may: it began while the host's clock was wrong.
    #[must_use]
    pub fn is_live(&self, host: Instant<Wall>, spans: SessionSpans) -> bool {
        let latest = host.checked_add(spans.most).unwrap_or(Instant::MAX);
        let latest = latest.checked_add(HOST_CLOCK_TOLERANCE).unwrap_or(Instant::MAX);
        host < self.idle_expires_at(spans) && self.expires_at <= latest
    }

    /// Returns whether the use of the session is to be noted again.
    #[must_use]
    pub fn is_renewal_due(&self, host: Instant<Wall>, spans: SessionSpans) -> bool {
        let step = Span::from_micros(spans.idle.micros() / RENEWALS_PER_IDLE_TIME);
        self.renewed_at.checked_add(step).is_none_or(|due| host >= due)
    }
}

/// How long sessions last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSpans {
    /// At most, where nobody uses them.
    pub idle: Span,
    /// At most.
    pub most: Span,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub enum SessionCommand {
    /// Begin a session. Its user has shown a password already, and when it began and ends is decided.
    LogIn {
        /// The session.
        session: Session,
        /// The session that the new one takes the place of.
        replaced: Option<SessionId>,
        /// What was compared with the password that was shown.
        compared: KeptPassword,
        /// The same password, hashed anew.
        rehashed: Option<KeptPassword>,
    },
    /// Note that somebody does something in a session, unless somebody has noted it meanwhile.
    Renew(SessionId),
    /// End sessions.
    End {
        /// Which.
        which: SessionsToEnd,
        /// Whether somebody leaves, and is not made to.
        is_log_out: bool,
    },
    /// Keep another password of a user, which is hashed already. When it was set is decided.
    SetPassword {
        /// What is kept of it.
        password: KeptPassword,
        /// What the current password was compared with, where it was asked for.
        compared: Option<KeptPassword>,
        /// The session that goes on.
        kept: Option<SessionId>,
    },
}

/// Which sessions to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionsToEnd {
    /// That one.
    One(SessionId),
    /// All that a user has.
    AllOf(UserId),
}

/// Decides what a command does, where sessions last so long. `None` where there is nothing to do. Changes nothing.
///
/// # Errors
/// [`DirectoryRefusal`]; all stays as it is.
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
            // By the host's own clock, whatever the ledger's newest time is: a session lasts for real time.
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
        SessionCommand::SetPassword { password, compared, kept } => {
            directory.user(&password.user_id)?;
            compared.iter().try_for_each(|compared| check_password(directory, compared))?;
            let ended = sessions_of(directory, &password.user_id).filter(|one| kept.as_ref() != Some(one)).collect();
            let password = KeptPassword { set_at: times.recorded, ..password.clone() };
            Ok(Some(Happened::PasswordSet { password, ended }))
        }
    }
}

/// What was compared with a password is still what is kept, of a user who is still there.
fn check_password(directory: &Directory, compared: &KeptPassword) -> Result<(), DirectoryRefusal> {
    let kept = directory.passwords.get(compared.user_id());
    let stands = kept.is_some_and(|kept| kept.phc == compared.phc);
    let is_user = directory.users.contains_key(compared.user_id());
    if stands && is_user { Ok(()) } else { Err(DirectoryRefusal::WrongPassword) }
}

/// Returns the sessions that end when somebody logs in: the one in whose place the new one begins, those that have run
/// out, whosever they are, and the user's oldest where there would be too many. One that has run out by a clock that is
/// doubted lets nobody in, and stays.
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
    // The one that is replaced is among those that count, however many have run out.
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
