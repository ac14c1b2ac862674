//! Checks whether the actor of an entry was authorized when it was decided.
//!
//! An entry names the key or session of its actor, and the version of the directory that it was decided against. The
//! permissions at that version are replayed from entries of `system`, and the roles from those of the timeline. Core
//! decides as it did for the writer.

use std::sync::Arc;

use timenav_core::access::{self, CallerAccess, Demand, Denial, Permissions};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Authority, LeafRecord, TrustedKeys, VerifierKey, origin, reads_in};
use timenav_core::scan::{LedgerScan, ReadBy};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use super::blocks;
use super::directory::RecordedDirectory;
use super::powers::{CredentialSpan, Powers};
use super::request::ScanRequest;
use crate::ledger::action::{Action, Demanded, MissingActor, OnDirectory};
use crate::ledger::payload::{KeyRecord, LoggedIn, PasswordSet, SessionsEnded, demanded};
use crate::ledger::stored_statement::open_newest;
use crate::ports::archive::{EntryRow, Snapshot};
use crate::ports::store_error::StoreError;
use crate::read::long_work::{off_thread, yielding};
use crate::requests::json::read;

pub(super) struct Claim<'a> {
    pub(super) record: &'a LeafRecord<'a>,
    pub(super) authority: &'a Authority<'a>,
    pub(super) recorded_at: Instant<Wall>,
    /// Whether the host's clock showed that time. If it was behind the previous entry, it showed an earlier one.
    pub(super) is_of_host: bool,
    pub(super) payload: Option<&'a [u8]>,
    /// The callers of its reads, if they are known already.
    pub(super) readers: Option<&'a [ReadBy]>,
    /// The permissions of the timeline right before. `None` on `system`, which has no roles.
    pub(super) permissions: Option<&'a Permissions>,
}

impl Claim<'_> {
    /// If the host's clock showed an unknown earlier time than the entry has, nothing counts as expired.
    const fn decided_at(&self) -> Instant<Wall> {
        if self.is_of_host { self.recorded_at } else { Instant::MIN }
    }
}

/// Checks that the actor of an entry was authorized.
pub(super) fn check(powers: &Powers, claim: &Claim<'_>) -> Result<(), String> {
    let Claim { record, authority, .. } = claim;
    let (version, newest) = (authority.directory, powers.version());
    if version > newest {
        return Err(format!("the entry names version {version} of the directory, but `system` has {newest} changes"));
    }
    // Unknown actions cannot be judged.
    let Some(action) = Action::of(record) else { return Ok(()) };
    if action == Action::Reads {
        return check_reads(powers, claim);
    }
    if authority.key.is_empty() {
        return check_missing_actor(powers, claim, action);
    }
    if action == Action::LogIn {
        return check_log_in(powers, claim);
    }
    // A rejected actor may have presented invalid credentials.
    if action == Action::Attempt {
        return credential(powers, (&authority.key, &record.actor)).map(|_| ());
    }
    let (user_id, caller) = caller_access(powers, claim, (&authority.key, &record.actor))?;
    let all = |demands: &[Demand]| demands.iter().try_for_each(|demand| access::decide(caller, *demand));
    let decided = match action.demands() {
        Demanded::All(demands) => all(demands),
        Demanded::Own if is_own(powers, claim, action, user_id) => all(&[Demand::Own]),
        Demanded::Own => all(&[Demand::Operate]),
        // Unknown operations cannot be judged.
        Demanded::Reading => decide_reading(caller, &record.subject),
        Demanded::Nothing if action == Action::RenewSession && record.subject != authority.key => {
            return Err(format!("the entry renews `{}`, but was requested in `{}`", record.subject, authority.key));
        }
        Demanded::Nothing => Ok(()),
        Demanded::Service => return Err(format!("only the service does this, but the entry names `{user_id}`")),
    };
    let word = action.word();
    decided.map_err(|denial| {
        format!("`{user_id}` was not allowed to `{word}` at version {version} of the directory: {denial}")
    })
}

/// Returns the named key or session, if it belongs to the named user.
fn credential<'p>(powers: &'p Powers, (id, named): (&str, &str)) -> Result<&'p CredentialSpan, String> {
    let credential = powers
        .credential(id)
        .ok_or_else(|| format!("the entry names `{id}`, but no such key or session was created"))?;
    let user_id = &credential.user_id;
    if user_id.as_str() == named {
        return Ok(credential);
    }
    Err(format!("the entry names `{named}`, but `{id}` belongs to `{user_id}`"))
}

fn caller_access<'p>(
    powers: &'p Powers,
    claim: &Claim<'p>,
    named: (&str, &str),
) -> Result<(&'p UserId, CallerAccess<'p>), String> {
    let (credential, id, version) = (credential(powers, named)?, named.0, claim.authority.directory);
    let user_id = &credential.user_id;
    if !credential.is_there(version) {
        return Err(format!("the entry names `{id}`, which did not exist at version {version} of the directory"));
    }
    if let Some(end) = credential.expires_at.filter(|end| claim.is_of_host && claim.recorded_at >= *end) {
        return Err(format!("the entry names `{id}`, which had expired at {end}"));
    }
    let user = powers.user(user_id, version);
    let user =
        user.ok_or_else(|| format!("the user `{user_id}` did not exist at version {version} of the directory"))?;
    let access = CallerAccess {
        operator: user.operator,
        restriction: user.restriction,
        role: claim.permissions.and_then(|permissions| permissions.role(user_id, claim.decided_at())),
        scopes: credential.scopes.as_deref(),
    };
    Ok((user_id, access))
}

/// Unknown operations cannot be judged.
fn decide_reading(caller: CallerAccess<'_>, operation: &str) -> Result<(), Denial> {
    let lists = demanded(operation).unwrap_or(&[]);
    let all = |demands: &&[Demand]| demands.iter().try_for_each(|demand| access::decide(caller, *demand));
    let mut denied = lists.iter().map(all);
    let first = denied.next().unwrap_or(Ok(()));
    if denied.any(|one| one.is_ok()) { Ok(()) } else { first }
}

/// Each read of an entry names its caller. The remaining reads are compared with the entry elsewhere.
fn check_reads(powers: &Powers, claim: &Claim<'_>) -> Result<(), String> {
    if let Some(readers) = claim.readers {
        let each = |by: &ReadBy| check_read(powers, claim, (&by.key, &by.user), &by.action);
        return readers.iter().try_for_each(each);
    }
    let reads = claim.payload.and_then(|payload| reads_in(payload).ok()).unwrap_or_default();
    reads.iter().flatten().try_for_each(|read| check_read(powers, claim, (&read.key, &read.user), &read.action))
}

/// Checks one read. Reads of the same operation by the same key in one entry have the same result.
fn check_read<'p>(powers: &'p Powers, claim: &Claim<'p>, named: (&str, &str), operation: &str) -> Result<(), String> {
    let (user_id, caller) = caller_access(powers, claim, named)?;
    decide_reading(caller, operation).map_err(|denial| {
        let version = claim.authority.directory;
        format!("`{user_id}` was not allowed to read `{operation}` at version {version} of the directory: {denial}")
    })
}

/// Checks an entry without an actor, which is by the service or about an unidentified caller.
fn check_missing_actor(powers: &Powers, claim: &Claim<'_>, action: Action) -> Result<(), String> {
    let Claim { record, authority, .. } = claim;
    let (is_stranger, is_service) = (*record.actor == *UserId::UNKNOWN, *record.actor == *TimelineId::SYSTEM);
    let may = match action.missing_actor() {
        MissingActor::Stranger => is_stranger,
        MissingActor::Service => is_service,
        // An event recorded by a timer. Its firing is checked in the replay.
        MissingActor::Timer => is_service && *record.timeline_id != *TimelineId::SYSTEM,
        // The first operator has no creator.
        MissingActor::FirstStart => is_service && !powers.has_begun(authority.directory),
        MissingActor::Never => false,
    };
    if may {
        return Ok(());
    }
    Err(format!("the entry names `{}` but neither a key nor a session, and says `{}`", record.actor, record.action))
}

/// A login presents a password, and its session begins with the entry.
fn check_log_in(powers: &Powers, claim: &Claim<'_>) -> Result<(), String> {
    let Claim { record, authority, payload, .. } = claim;
    let session = payload.and_then(read::<LoggedIn>).and_then(|parsed| parsed.session(claim.recorded_at));
    // An unparsable payload is reported by the replay.
    let Some(session) = session else { return Ok(()) };
    let is_one = session.session_id.as_str() == authority.key && session.user_id.as_str() == record.actor;
    if !is_one || record.subject != authority.key {
        return Err(format!("the entry names `{}` and `{}`, but starts another session", record.actor, authority.key));
    }
    let (user_id, version) = (&session.user_id, authority.directory);
    if powers.user(user_id, version).is_none() || !powers.has_password(user_id, version) {
        return Err(format!("`{user_id}` had no password at version {version} of the directory"));
    }
    Ok(())
}

fn is_own(powers: &Powers, claim: &Claim<'_>, action: Action, actor: &UserId) -> bool {
    let Claim { record, payload, .. } = claim;
    let is_of_actor = |id: &str| powers.credential(id).is_some_and(|credential| credential.user_id == *actor);
    let Some(payload) = payload else { return false };
    match action.on_directory() {
        Some(OnDirectory::MakesKey) => {
            read::<KeyRecord>(payload).is_some_and(|parsed| parsed.user_id() == actor.as_str())
        }
        Some(OnDirectory::StopsKey) => is_of_actor(&record.subject),
        Some(OnDirectory::SetsPassword) => {
            read::<PasswordSet>(payload).is_some_and(|parsed| parsed.user_id == actor.as_str())
        }
        Some(OnDirectory::EndsSessions) => {
            let parsed = read::<SessionsEnded>(payload).filter(|parsed| parsed.user_id() == actor.as_str());
            parsed.is_some_and(|parsed| parsed.ended.iter().all(|id| is_of_actor(id)))
        }
        Some(
            OnDirectory::MakesUser
            | OnDirectory::RestrictsUser
            | OnDirectory::RemovesUser
            | OnDirectory::LogsIn
            | OnDirectory::RenewsSession,
        )
        | None => false,
    }
}

/// The history up to at least a version; the reason why it is unknown if `system` is not as it was signed.
pub(super) async fn powers(request: &ScanRequest<'_>, version: u64) -> Result<Result<Arc<Powers>, String>, StoreError> {
    let mut stored = request.authority.0.lock().await;
    if let Some(powers) = stored.as_ref().filter(|powers| powers.version() >= version) {
        return Ok(Ok(Arc::clone(powers)));
    }
    match replay(request).await {
        Ok(Ok(powers)) => Ok(Ok(Arc::clone(stored.insert(Arc::new(powers))))),
        Ok(Err(why)) => Ok(Err(why)),
        Err(StoreError::Damaged(what)) => Ok(Err(format!("`system` cannot be read: {what}"))),
        Err(error) => Err(error),
    }
}

struct Carried {
    ledger: LedgerScan,
    directory: RecordedDirectory,
    unread: bool,
}

async fn replay(request: &ScanRequest<'_>) -> Result<Result<Powers, String>, StoreError> {
    let system = TimelineId::system();
    let Some(Snapshot { head, .. }) = request.source.snapshot(&system).await? else {
        return Ok(Err("the timeline `system` is missing".to_owned()));
    };
    let signed = keys_of_system(&request.keys).and_then(|keys| open_newest(&head, &keys, request.verify).ok());
    let Some(signed) = signed else { return Ok(Err("`system` has no signed head".to_owned())) };
    let ledger = LedgerScan::new(system.as_str(), Vec::new());
    let mut carried = Carried { ledger, directory: RecordedDirectory::default(), unread: false };
    let (size, mut at) = (head.frontier.size(), 0);
    while at < size {
        let (rows, end) = blocks::read(request.source, head.key, at, size).await?;
        // Not on a thread that serves requests.
        carried = off_thread(move || carried.take(&rows, end)).await?;
        at = end;
    }
    let Carried { ledger, directory, unread } = carried;
    let is_damaged = unread || ledger.is_damaged();
    let (findings, _) = ledger.finish(&head.frontier, Some(&signed));
    if is_damaged || !findings.is_empty() {
        return Ok(Err("`system` does not match what was signed: scan it".to_owned()));
    }
    Ok(Ok(directory.into_powers()))
}

fn keys_of_system(keys: &TrustedKeys) -> Option<TrustedKeys> {
    let (service, _) = keys.current.name().rsplit_once('/')?;
    let name = origin(service, TimelineId::SYSTEM);
    let named = |key: &VerifierKey| VerifierKey::new(&name, *key.public_key()).ok();
    let retired = keys.retired.iter().filter_map(named).collect();
    Some(TrustedKeys { current: named(&keys.current)?, retired })
}

impl Carried {
    fn take(mut self, rows: &[EntryRow], end: u64) -> Self {
        for row in yielding(rows) {
            if row.position > self.ledger.position() {
                self.ledger.gap(row.position);
            }
            let bytes = row.as_bytes();
            let Some(record) = self.ledger.entry(bytes) else { continue };
            let payload = (!bytes.is_erased()).then_some(bytes.payload);
            let recorded_at = parse_timestamp::<Wall>(&record.recorded_at).ok();
            let read = recorded_at.zip(Action::of(&record));
            let taken = read.map(|(at, action)| self.directory.take(action, &record, at, payload).is_some());
            // An unknown action has no known effect.
            self.unread |= taken == Some(false) || recorded_at.is_none();
        }
        if self.ledger.position() < end {
            self.ledger.gap(end);
        }
        self
    }
}
