//! Entries about users, keys, sessions and passwords: writing and reading.

use timenav_core::directory::{ApiKey, Directory, Happened, PasswordRow, PasswordSummary};
use timenav_core::ids::{SessionId, UserId};
use timenav_core::ledger::Hash;
use timenav_core::time::{Instant, Wall};

use super::{KeyRecord, LoggedIn, PasswordSet, SessionRenewed, SessionsEnded, UserRecord};
use crate::ledger::action::{Action, OnDirectory};
use crate::requests::json::{json, read};

pub(crate) fn entry_of(happened: &Happened) -> (Action, &str, String) {
    match happened {
        Happened::UserMade(user) => (Action::CreateUser, user.user_id.as_str(), json(&UserRecord::of(user))),
        Happened::UserRestricted(user) => {
            (Action::RestrictTimeTravel, user.user_id.as_str(), json(&UserRecord::of(user)))
        }
        Happened::UserRemoved(user) => (Action::DeleteUser, user.user_id.as_str(), json(&UserRecord::of(user))),
        Happened::KeyMade(key) => (Action::CreateApiKey, key.key_id.as_str(), json(&KeyRecord::of(key))),
        Happened::KeyStopped(key) => (Action::RevokeApiKey, key.key_id.as_str(), json(&KeyRecord::of(key))),
        Happened::LoggedIn { session, ended, rehashed } => {
            let payload = json(&LoggedIn::of(session, ended, rehashed.as_ref()));
            (Action::LogIn, session.session_id.as_str(), payload)
        }
        Happened::SessionRenewed { session_id, .. } => {
            let payload = json(&SessionRenewed { session_id: session_id.to_string() });
            (Action::RenewSession, session_id.as_str(), payload)
        }
        Happened::SessionsEnded { user_id, ended, is_log_out } => {
            let action = if *is_log_out { Action::LogOut } else { Action::EndSession };
            (action, user_id.as_str(), json(&SessionsEnded::of(user_id, ended)))
        }
        Happened::PasswordSet { password, ended } => {
            (Action::SetPassword, password.user_id.as_str(), json(&PasswordSet::of(password, ended)))
        }
    }
}

/// Returns the directory change of an entry that was recorded at a host instant: `None` if the entry is about something
/// else, and an error if it cannot be parsed.
pub(crate) fn happened_in<P: PasswordRow>(
    directory: &Directory<P>,
    action: Action,
    at: Instant<Wall>,
    payload: Option<&[u8]>,
) -> Result<Option<Happened<PasswordSummary>>, Unreadable> {
    let Some(on_directory) = action.on_directory() else { return Ok(None) };
    Ok(Some(match on_directory {
        OnDirectory::MakesUser => Happened::UserMade(parse::<UserRecord>(payload)?.user().ok_or(Unreadable)?),
        OnDirectory::RestrictsUser => Happened::UserRestricted(parse::<UserRecord>(payload)?.user().ok_or(Unreadable)?),
        OnDirectory::RemovesUser => Happened::UserRemoved(parse::<UserRecord>(payload)?.user().ok_or(Unreadable)?),
        OnDirectory::MakesKey => Happened::KeyMade(parse::<KeyRecord>(payload)?.key(at).ok_or(Unreadable)?),
        OnDirectory::StopsKey => {
            let key = parse::<KeyRecord>(payload)?.key(at).ok_or(Unreadable)?;
            // Its creation time is in another entry.
            let created_at = directory.keys.get(&key.key_id).map_or(key.created_at, |known| known.created_at);
            Happened::KeyStopped(ApiKey { created_at, revoked_at: Some(at), ..key })
        }
        OnDirectory::LogsIn => {
            let parse: LoggedIn = parse(payload)?;
            let session = parse.session(at).ok_or(Unreadable)?;
            let rehashed = match &parse.password_sha256 {
                // A reader that starts in the middle of the ledger does not know every password.
                Some(text) => {
                    let sha256 = Hash::from_hex(text).ok_or(Unreadable)?;
                    let known = directory.passwords.get(&session.user_id);
                    known.map(|known| PasswordSummary {
                        user_id: known.user_id().clone(),
                        sha256,
                        set_at: known.set_at(),
                    })
                }
                None => None,
            };
            Happened::LoggedIn { ended: ids(&parse.ended)?, session, rehashed }
        }
        OnDirectory::RenewsSession => {
            Happened::SessionRenewed { session_id: id(&parse::<SessionRenewed>(payload)?.session_id)?, at }
        }
        OnDirectory::EndsSessions => {
            let parse: SessionsEnded = parse(payload)?;
            let user_id = UserId::new(parse.user_id()).map_err(|_| Unreadable)?;
            Happened::SessionsEnded { user_id, ended: ids(&parse.ended)?, is_log_out: action == Action::LogOut }
        }
        OnDirectory::SetsPassword => {
            let PasswordSet { user_id, password_sha256, ended } = parse(payload)?;
            let user_id = UserId::new(&user_id).map_err(|_| Unreadable)?;
            let sha256 = Hash::from_hex(&password_sha256).ok_or(Unreadable)?;
            Happened::PasswordSet { password: PasswordSummary { user_id, sha256, set_at: at }, ended: ids(&ended)? }
        }
    }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

fn parse<'p, T: serde::Deserialize<'p>>(payload: Option<&'p [u8]>) -> Result<T, Unreadable> {
    payload.and_then(read).ok_or(Unreadable)
}

fn id(text: &str) -> Result<SessionId, Unreadable> {
    SessionId::new(text).map_err(|_| Unreadable)
}

fn ids(texts: &[String]) -> Result<Vec<SessionId>, Unreadable> {
    texts.iter().map(|text| id(text)).collect()
}
