//! What is asked about sessions and passwords.

use timenav_core::ids::{SessionId, UserId};

use crate::action::Action;
use crate::directory::{KeptPassword, Session};

/// What is to be done about sessions and passwords.
pub(crate) enum SessionCommand {
    /// Begin a session. Its user has shown a password already.
    LogIn(NewLogIn),
    /// End sessions.
    End { action: Action, which: SessionsToEnd },
    /// Note that somebody does something in a session.
    Renew(SessionId),
    /// Keep another password of a user, which is hashed already.
    SetPassword(NewPassword),
}

impl SessionCommand {
    /// Returns how the command stands in the ledger.
    pub(crate) const fn action(&self) -> Action {
        match self {
            Self::LogIn(_) => Action::LogIn,
            Self::End { action, .. } => *action,
            Self::Renew(_) => Action::RenewSession,
            Self::SetPassword(_) => Action::SetPassword,
        }
    }
}

/// A session to begin.
pub(crate) struct NewLogIn {
    pub(crate) session: Session,
    /// The session that the new one takes the place of.
    pub(crate) replaced: Option<SessionId>,
    /// What was compared with the password that was shown.
    pub(crate) compared: KeptPassword,
    /// The same password, hashed anew.
    pub(crate) rehashed: Option<KeptPassword>,
}

/// Which sessions to end.
pub(crate) enum SessionsToEnd {
    One(SessionId),
    AllOf(UserId),
}

/// A password to keep.
pub(crate) struct NewPassword {
    pub(crate) password: KeptPassword,
    /// What the current password was compared with, where it was asked for.
    pub(crate) compared: Option<KeptPassword>,
    /// The session that goes on.
    pub(crate) kept: Option<SessionId>,
}
