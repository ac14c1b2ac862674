//! The directory, as the entries of `system` tell of it: what it is, and who might do what at each of its versions.

use std::collections::BTreeMap;

use timenav_core::ids::{KeyId, SessionId, TimelineId, UserId};
use timenav_core::ledger::{Adopted, AdoptedLayer, Hash, LeafRecord, TimelineEnded};
use timenav_core::scan::Findings;
use timenav_core::time::{Instant, Wall};

use super::powers::Powers;
use super::tables::compare_rows;
use crate::action::Action;
use crate::directory::{ApiKey, Directory, DirectoryChange, Session};
use crate::directory_rows::DirectoryRows;
use crate::json::read;
use crate::payload::{KeyRecord, LoggedIn, PasswordSet, SessionRenewed, SessionsEnded, UserRecord, password_sha256};

/// What the ledger tells of a password: when it was set, and the digest of what is kept of it.
#[derive(Debug, PartialEq, Eq)]
struct PasswordRow {
    sha256: String,
    set_at: Instant<Wall>,
}

/// One change, as far as an entry tells of it.
enum Change {
    Directory(DirectoryChange),
    /// A password is new.
    Password {
        user_id: UserId,
        sha256: String,
    },
    /// A timeline has ended.
    Timeline {
        timeline_id: TimelineId,
        size: u64,
        root: Hash,
    },
    /// A password was hashed anew. When it was set does not change.
    Rehashed {
        user_id: UserId,
        sha256: String,
    },
}

/// Users, and what shows who they are, as far as the entries of `system` read so far tell.
#[derive(Default)]
pub(super) struct DirectoryTold {
    /// Keys that were stopped are not among its keys, and it has no passwords.
    directory: Directory,
    stopped: BTreeMap<KeyId, ApiKey>,
    passwords: BTreeMap<UserId, PasswordRow>,
    /// Size and root of each timeline that has ended.
    timelines_ended: BTreeMap<TimelineId, (u64, Hash)>,
    powers: Powers,
    /// The version before the submission that the last entry belongs to, and whether more of it may follow.
    submission: (u64, bool),
}

impl DirectoryTold {
    /// Returns who might do what at each version so far.
    pub(super) const fn powers(&self) -> &Powers {
        &self.powers
    }

    pub(super) fn into_powers(self) -> Powers {
        self.powers
    }

    /// Says so where an entry of `system` tells of another version than the entries before it lead to.
    pub(super) fn check_version(&self, record: &LeafRecord<'_>) -> Result<(), String> {
        let Some(authority) = &record.authority else { return Ok(()) };
        let (told, made) = (authority.directory, self.directory.version);
        let (first, goes_on) = self.submission;
        // Whoever is removed has their keys stopped by entries of their own, all decided at once.
        let may_go_on = matches!(Action::of(record), Some(Action::RevokeApiKey | Action::DeleteUser));
        if told == made || (goes_on && may_go_on && told == first) {
            return Ok(());
        }
        Err(format!(
            "the entry tells of version {told} of the directory, and the entries before it lead to version {made}"
        ))
    }

    /// Takes the next entry of `system`. Returns `None` where it cannot be read.
    pub(super) fn take(
        &mut self,
        action: Action,
        record: &LeafRecord<'_>,
        recorded_at: Instant<Wall>,
        payload: Option<&[u8]>,
    ) -> Option<()> {
        if let Some(authority) = &record.authority {
            self.submission = (authority.directory, action == Action::RevokeApiKey);
        }
        for change in self.changes((action, &record.subject), recorded_at, payload)? {
            self.apply(change, recorded_at, record.authority.is_some());
        }
        Some(())
    }

    fn changes(
        &self,
        (action, subject): (Action, &str),
        at: Instant<Wall>,
        payload: Option<&[u8]>,
    ) -> Option<Vec<Change>> {
        let one = |change: DirectoryChange| vec![Change::Directory(change)];
        Some(match action {
            Action::CreateUser | Action::RestrictTimeTravel => {
                one(DirectoryChange::PutUser(read::<UserRecord>(payload?)?.user()?))
            }
            Action::DeleteUser => {
                let user_id = read::<UserRecord>(payload?)?.user_id()?;
                self.directory.removal(&user_id).into_iter().map(Change::Directory).collect()
            }
            Action::CreateApiKey => one(DirectoryChange::PutKey(read::<KeyRecord>(payload?)?.key(at)?)),
            Action::RevokeApiKey => {
                one(DirectoryChange::RevokeKey { key_id: read::<KeyRecord>(payload?)?.key_id()?, at })
            }
            Action::LogIn => {
                let told: LoggedIn = read(payload?)?;
                let session = told.session(at)?;
                let mut changes = ended(&told.ended)?;
                let user_id = session.user_id.clone();
                changes.extend(told.password_sha256.map(|sha256| Change::Rehashed { user_id, sha256 }));
                changes.push(Change::Directory(DirectoryChange::PutSession(session)));
                changes
            }
            Action::RenewSession => {
                let session_id = SessionId::new(&read::<SessionRenewed>(payload?)?.session_id).ok()?;
                // A scan that begins in the middle does not know every session.
                let Some(session) = self.directory.sessions.get(&session_id) else { return Some(Vec::new()) };
                one(DirectoryChange::PutSession(Session { renewed_at: at, ..(**session).clone() }))
            }
            Action::LogOut | Action::EndSession => ended(&read::<SessionsEnded>(payload?)?.ended)?,
            Action::SetPassword => {
                let PasswordSet { user_id, password_sha256: sha256, ended: sessions } = read(payload?)?;
                let mut changes = ended(&sessions)?;
                changes.push(Change::Password { user_id: UserId::new(&user_id).ok()?, sha256 });
                changes
            }
            Action::EndTimeline => {
                let TimelineEnded { timeline_id, size, root, .. } = TimelineEnded::decode(payload?).ok()?;
                vec![Change::Timeline { timeline_id, size, root }]
            }
            Action::Adopt => came_with(&TimelineId::new(subject).ok()?, payload?)?,
            Action::CreateTimeline
            | Action::Travel
            | Action::PauseTime
            | Action::ResumeTime
            | Action::FastForward
            | Action::Rewind
            | Action::SetRate
            | Action::ReturnToAnchor
            | Action::SetAnchor
            | Action::RecordEvent
            | Action::CorrectEvent
            | Action::ManipulateEvent
            | Action::EncryptData
            | Action::DecryptData
            | Action::EraseData
            | Action::EraseEvents
            | Action::EraseReads
            | Action::SetAccessControl
            | Action::DetectTampering
            | Action::Read
            | Action::Reads
            | Action::Attempt
            | Action::AttemptsCounted
            | Action::RotateSigningKey
            | Action::AcceptRollback
            | Action::HandedOver
            | Action::SetRetention
            | Action::Sweep
            | Action::AcceptHostClock => Vec::new(),
        })
    }

    fn apply(&mut self, change: Change, at: Instant<Wall>, is_counted: bool) {
        match change {
            Change::Directory(change) => {
                if let DirectoryChange::RevokeKey { key_id, at } = &change
                    && let Some(key) = self.directory.keys.get(key_id)
                {
                    self.stopped.insert(key_id.clone(), ApiKey { revoked_at: Some(*at), ..(**key).clone() });
                }
                if let DirectoryChange::DeleteUser(user_id) = &change {
                    self.passwords.remove(user_id);
                }
                self.directory.apply(&change);
                let version = self.reach(is_counted);
                self.powers.take(&change, version);
            }
            Change::Password { user_id, sha256 } => {
                self.directory.count();
                let version = self.reach(is_counted);
                self.powers.give_password(&user_id, version);
                self.passwords.insert(user_id, PasswordRow { sha256, set_at: at });
            }
            Change::Timeline { timeline_id, size, root } => {
                self.directory.count();
                self.reach(is_counted);
                self.timelines_ended.insert(timeline_id, (size, root));
            }
            Change::Rehashed { user_id, sha256 } => {
                self.directory.count();
                self.reach(is_counted);
                // A scan that begins in the middle does not know every password.
                self.passwords.entry(user_id).and_modify(|row| row.sha256 = sha256);
            }
        }
    }

    /// Returns the version after a change. Changes are counted from the first entry on that tells of a version.
    fn reach(&mut self, is_counted: bool) -> u64 {
        if !is_counted {
            self.directory.version = 0;
        }
        self.powers.reach(self.directory.version);
        self.directory.version
    }

    /// Returns the hash over all rows.
    pub(super) fn root(&self) -> Hash {
        let digest = |row: &PasswordRow| Hash::from_hex(&row.sha256).unwrap_or(Hash::from_bytes([0; Hash::BYTES]));
        let passwords = self.passwords.iter().map(|(user_id, row)| (user_id, digest(row), row.set_at));
        DirectoryRows::root_of(&self.directory, passwords, &self.timelines_ended)
    }

    /// Compares them with the tables. Returns how many rows were compared.
    pub(super) fn compare(&self, findings: &mut Findings, kept: &Directory) -> u64 {
        let users = |directory: &Directory| (*directory.users).clone();
        let mut rows = compare_rows(findings, "users", &users(&self.directory), &users(kept));
        let keys = |directory: &Directory| -> BTreeMap<KeyId, ApiKey> {
            directory.keys.values().map(|key| (key.key_id.clone(), (**key).clone())).collect()
        };
        let mut told = keys(&self.directory);
        told.extend(self.stopped.iter().map(|(key_id, key)| (key_id.clone(), key.clone())));
        rows += compare_rows(findings, "api_keys", &told, &keys(kept));
        let password =
            |row: &crate::directory::KeptPassword| PasswordRow { sha256: password_sha256(row), set_at: row.set_at };
        let passwords = kept.passwords.iter().map(|(user_id, row)| (user_id.clone(), password(row))).collect();
        rows += compare_rows(findings, "passwords", &self.passwords, &passwords);
        let sessions = |directory: &Directory| -> BTreeMap<SessionId, Session> {
            directory.sessions.values().map(|one| (one.session_id.clone(), (**one).clone())).collect()
        };
        rows + compare_rows(findings, "sessions", &sessions(&self.directory), &sessions(kept))
    }
}

/// Returns the rows of the layers that a fork came with: they are among what has ended from the start.
fn came_with(fork: &TimelineId, adopted: &[u8]) -> Option<Vec<Change>> {
    let ended = |AdoptedLayer { root, size, timeline_id, .. }| Change::Timeline {
        timeline_id: TimelineId::layer_of(fork, &timeline_id),
        size,
        root,
    };
    Some(Adopted::decode(adopted).ok()?.layers.into_iter().map(ended).collect())
}

fn ended(session_ids: &[String]) -> Option<Vec<Change>> {
    let end = |id: &String| Some(Change::Directory(DirectoryChange::EndSession(SessionId::new(id).ok()?)));
    session_ids.iter().map(end).collect()
}
