//! The directory according to the entries of `system`, and the permissions at each of its versions.

use std::collections::BTreeMap;

use timenav_core::directory::{ApiKey, Directory, PasswordSummary, PersistentMap, Secret, Secrets, User};
use timenav_core::ids::{KeyId, TimelineId, UserId};
use timenav_core::ledger::{Hash, LeafRecord};
use timenav_core::scan::Findings;
use timenav_core::time::{Instant, Wall};

use super::powers::Powers;
use super::tables::compare_rows;
use crate::access::directory_changes::{Change, TimelineEndRecord, recorded_changes};
use crate::access::directory_rows::{DirectoryRows, ended_row};
use crate::ledger::action::Action;

#[derive(Default)]
pub(super) struct RecordedDirectory {
    /// Does not include revoked keys.
    directory: Directory<PasswordSummary>,
    stopped: BTreeMap<KeyId, ApiKey>,
    /// Size and root of each ended timeline.
    timelines_ended: BTreeMap<TimelineId, (u64, Hash)>,
    powers: Powers,
    /// The version before the submission of the last entry, and whether that submission may continue.
    submission: (u64, bool),
}

impl RecordedDirectory {
    pub(super) const fn powers(&self) -> &Powers {
        &self.powers
    }

    pub(super) fn into_powers(self) -> Powers {
        self.powers
    }

    /// Returns the version after all changes so far; 0 if the last one was recorded by an entry of version 1.
    pub(super) const fn version(&self) -> u64 {
        self.directory.version
    }

    pub(super) fn check_version(&self, record: &LeafRecord<'_>) -> Result<(), String> {
        let Some(authority) = &record.authority else { return Ok(()) };
        let (claimed, made) = (authority.directory, self.directory.version);
        let (first, goes_on) = self.submission;
        // Deleting a user also revokes their keys, by entries of the same submission.
        let may_go_on = matches!(Action::of(record), Some(Action::RevokeApiKey | Action::DeleteUser));
        if claimed == made || (goes_on && may_go_on && claimed == first) {
            return Ok(());
        }
        Err(format!(
            "the entry names version {claimed} of the directory, but the entries before it lead to version {made}"
        ))
    }

    /// Returns `None` if it cannot be parsed.
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
        let changes = recorded_changes(&self.directory, action, record, recorded_at, payload)?;
        for change in &changes {
            self.apply(change, record.authority.is_some());
        }
        Some(())
    }

    fn apply(&mut self, change: &Change, is_counted: bool) {
        if let Change::RevokeKey { key_id, at } = change
            && let Some(key) = self.directory.keys.get(key_id)
        {
            self.stopped.insert(key_id.clone(), ApiKey { revoked_at: Some(*at), ..(**key).clone() });
        }
        if let Some(TimelineEndRecord { timeline_id, size, root }) = change.ended() {
            self.timelines_ended.insert(timeline_id.clone(), (*size, *root));
        }
        self.directory.apply(change);
        // Changes are counted from the first entry with a version.
        if !is_counted {
            self.directory.version = 0;
        }
        self.powers.take(change, self.directory.version);
    }

    pub(super) fn root(&self) -> Hash {
        let ended = self.timelines_ended.iter();
        DirectoryRows::of(
            &self.directory,
            ended.map(|(timeline_id, (size, root))| ended_row(timeline_id, *size, *root)),
        )
        .root()
    }

    /// Returns the number of compared rows.
    pub(super) fn compare(&self, findings: &mut Findings, stored: &Directory) -> u64 {
        let users = |of: &PersistentMap<UserId, User>| {
            of.iter().map(|(user_id, user)| (user_id.clone(), user.clone())).collect()
        };
        let mut rows = compare_rows(findings, "users", &users(&self.directory.users), &users(&stored.users));
        let mut expected = by_name(&self.directory.keys);
        expected.extend(self.stopped.iter().map(|(key_id, key)| (key_id.clone(), key.clone())));
        rows += compare_rows(findings, "api_keys", &expected, &by_name(&stored.keys));
        let expected = self
            .directory
            .passwords
            .iter()
            .map(|(user_id, expected)| (user_id.clone(), (**expected).clone()))
            .collect();
        let passwords = stored.passwords.iter().map(|(user_id, stored)| (user_id.clone(), stored.summary())).collect();
        rows += compare_rows(findings, "passwords", &expected, &passwords);
        rows + compare_rows(findings, "sessions", &by_name(&self.directory.sessions), &by_name(&stored.sessions))
    }
}

fn by_name<T: Secret + Clone>(secrets: &Secrets<T>) -> BTreeMap<T::Id, T> {
    secrets.values().map(|one| (one.id().clone(), (**one).clone())).collect()
}
