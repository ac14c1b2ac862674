use timenav_core::access::CallerAccess;
use timenav_core::directory::{self, Directory, SessionSpans, StoredPassword};
use timenav_core::time::{Instant, Wall};

use crate::ledger::head::{EndedTimeline, TimelineState};
use crate::requests::caller::{AuthFailure, Caller, Credential};

pub type DirectoryChange = directory::DirectoryChange<StoredPassword, EndedTimeline>;

/// Checks that a caller's credentials are still valid: the key or session is live, and the user exists. Sessions expire
/// by the host's clock, keys by the time for expiry.
///
/// # Errors
/// They are not. The error does not reveal why.
pub(crate) fn check_live(
    directory: &Directory,
    caller: &Caller,
    (host, for_expiry): (Instant<Wall>, Instant<Wall>),
    spans: SessionSpans,
) -> Result<(), AuthFailure> {
    let is_user = directory.users.contains_key(&caller.user_id);
    match &caller.credential {
        Credential::Key(key_id) => {
            let key = directory.keys.get(key_id).filter(|key| is_user && key.is_live(for_expiry));
            key.map(|_| ()).ok_or(AuthFailure::Invalid)
        }
        Credential::Session(session_id) => {
            let session = directory.sessions.get(session_id).filter(|session| is_user && session.is_live(host, spans));
            session.map(|_| ()).ok_or(AuthFailure::Session)
        }
    }
}

/// Permissions expire by `host`.
pub(crate) fn caller_access<'a>(
    directory: &Directory,
    caller: &'a Caller,
    timeline: Option<&TimelineState>,
    host: Instant<Wall>,
) -> CallerAccess<'a> {
    // `system` is for operators only, regardless of its permissions.
    let lists = timeline.filter(|timeline| !timeline.head.id.is_system()).map(|timeline| &*timeline.head.permissions);
    directory.caller_access(&caller.user_id, caller.scopes.as_deref(), lists, host)
}
