//! What follows from the entries about passwords and sessions.

use std::collections::BTreeMap;

use timenav_core::ids::{SessionId, UserId};
use timenav_core::scan::Findings;
use timenav_core::time::{Instant, Wall};

use super::compare::compare_rows;
use crate::directory::{Directory, Session};
use crate::json::read;
use crate::payload::{LoggedIn, PasswordSet, SessionRenewed, SessionsEnded, password_sha256};

/// What the ledger tells of a password: when it was set, and the digest of what is kept of it.
#[derive(Debug, PartialEq, Eq)]
struct PasswordRow {
    sha256: String,
    set_at: Instant<Wall>,
}

/// Passwords and sessions, as far as the entries read so far tell.
#[derive(Default)]
pub(super) struct Sessions {
    passwords: BTreeMap<UserId, PasswordRow>,
    sessions: BTreeMap<SessionId, Session>,
}

impl Sessions {
    /// Takes in that a session began. As the others, it returns `None` where the entry cannot be read.
    pub(super) fn begin(&mut self, at: Instant<Wall>, payload: &[u8]) -> Option<()> {
        let told: LoggedIn = read(payload)?;
        let session = told.session(at)?;
        self.take_out(&told.ended)?;
        if let Some(sha256) = told.password_sha256 {
            // A scan that starts in the middle does not know every password.
            self.passwords.entry(session.user_id.clone()).and_modify(|row| row.sha256 = sha256);
        }
        self.sessions.insert(session.session_id.clone(), session);
        Some(())
    }

    pub(super) fn renew(&mut self, at: Instant<Wall>, payload: &[u8]) -> Option<()> {
        let told: SessionRenewed = read(payload)?;
        if let Some(session) = self.sessions.get_mut(&SessionId::new(&told.session_id).ok()?) {
            session.renewed_at = at;
        }
        Some(())
    }

    pub(super) fn set_password(&mut self, at: Instant<Wall>, payload: &[u8]) -> Option<()> {
        let told: PasswordSet = read(payload)?;
        self.take_out(&told.ended)?;
        let row = PasswordRow { sha256: told.password_sha256, set_at: at };
        self.passwords.insert(UserId::new(&told.user_id).ok()?, row);
        Some(())
    }

    pub(super) fn end(&mut self, payload: &[u8]) -> Option<()> {
        let told: SessionsEnded = read(payload)?;
        self.take_out(&told.ended)
    }

    /// Forgets what was a user's.
    pub(super) fn remove_user(&mut self, user_id: &UserId) {
        self.passwords.remove(user_id);
        self.sessions.retain(|_, session| session.user_id != *user_id);
    }

    fn take_out(&mut self, ended: &[String]) -> Option<()> {
        for id in ended {
            self.sessions.remove(&SessionId::new(id).ok()?);
        }
        Some(())
    }

    /// Compares them with the tables. Returns how many rows were compared.
    pub(super) fn compare(&self, findings: &mut Findings, directory: &Directory) -> u64 {
        let password =
            |row: &crate::directory::KeptPassword| PasswordRow { sha256: password_sha256(row), set_at: row.set_at };
        let kept = directory.passwords.iter().map(|(user_id, row)| (user_id.clone(), password(row))).collect();
        let rows = compare_rows(findings, "passwords", &self.passwords, &kept);
        // The seal is made with a key that a scan does not have. What it is made over is compared.
        let unsealed = |session: &Session| Session { seal: [0; 32], ..session.clone() };
        let kept = directory.sessions.values().map(|one| (one.session_id.clone(), unsealed(one))).collect();
        rows + compare_rows(findings, "sessions", &self.sessions, &kept)
    }
}
