//! The hash over all rows of the directory, which is part of the signed head statement of `system`.

use timenav_core::directory::{ApiKey, Directory, PasswordRow, Session, StoredPassword, User};
use timenav_core::horizon::Horizon;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{DirectoryRow, DirectoryTree, Hash, RowName};

use crate::access::directory::DirectoryChange;
use crate::ledger::head::EndedTimeline;

/// Includes the rows of credentials that are no longer valid, until an entry records their removal.
#[derive(Clone, Debug)]
pub(crate) struct DirectoryRows {
    tree: DirectoryTree,
    root: Hash,
}

impl Default for DirectoryRows {
    fn default() -> Self {
        Self::of(&Directory::<StoredPassword>::default(), [])
    }
}

impl DirectoryRows {
    pub(crate) fn of<'e, P: PasswordRow>(
        directory: &Directory<P>,
        ended: impl IntoIterator<Item = DirectoryRow<'e>>,
    ) -> Self {
        let mut tree = DirectoryTree::default();
        directory.users.values().for_each(|user| tree.put(&user_row(user)));
        directory.keys.values().for_each(|key| tree.put(&key_row(key)));
        directory.passwords.values().for_each(|password| tree.put(&password_row(&**password)));
        directory.sessions.values().for_each(|session| tree.put(&session_row(session)));
        tree.extend(ended);
        let root = tree.root();
        Self { tree, root }
    }

    pub(crate) fn after(&self, changes: &[DirectoryChange]) -> Self {
        let mut tree = self.tree.clone();
        for change in changes {
            match change {
                DirectoryChange::PutUser(user) => tree.put(&user_row(user)),
                DirectoryChange::DeleteUser(user_id) => remove_user(&mut tree, user_id),
                DirectoryChange::PutKey(key) => tree.put(&key_row(key)),
                DirectoryChange::RevokeKey { key_id, .. } => _ = tree.remove(RowName::Key(key_id)),
                DirectoryChange::PutPassword(password) => tree.put(&password_row(password)),
                DirectoryChange::PutSession(session) => tree.put(&session_row(session)),
                DirectoryChange::EndSession(session_id) => _ = tree.remove(RowName::Session(session_id)),
                DirectoryChange::EndTimeline(EndedTimeline { id, size, root, .. }) => {
                    tree.put(&ended_row(id, *size, *root));
                }
            }
        }
        let root = tree.root();
        Self { tree, root }
    }

    /// After pruning, memory holds nothing else about the timeline.
    pub(crate) fn has_ended(&self, timeline: &TimelineId) -> bool {
        self.tree.contains(RowName::Ended(timeline))
    }

    pub(crate) const fn root(&self) -> Hash {
        self.root
    }
}

/// A removed user has no sessions left: they were ended individually before.
fn remove_user(tree: &mut DirectoryTree, user_id: &UserId) {
    tree.remove(RowName::User(user_id));
    tree.remove(RowName::Password(user_id));
}

const fn user_row(user: &User) -> DirectoryRow<'_> {
    DirectoryRow::User {
        user_id: &user.user_id,
        operator: user.operator,
        restriction: user.restriction,
        created_at: user.created_at,
    }
}

fn key_row(key: &ApiKey) -> DirectoryRow<'_> {
    DirectoryRow::Key {
        key_id: &key.key_id,
        sha256: Hash::from_bytes(key.hash),
        user_id: &key.user_id,
        timeline_id: &key.timeline_id,
        label: &key.label,
        scopes: key.scopes.as_deref(),
        horizon: key.horizon,
        created_at: key.created_at,
        expires_at: key.expires_at,
    }
}

fn password_row(password: &impl PasswordRow) -> DirectoryRow<'_> {
    DirectoryRow::Password { user_id: password.user_id(), sha256: password.sha256(), set_at: password.set_at() }
}

pub(crate) const fn ended_row(timeline_id: &TimelineId, size: u64, root: Hash) -> DirectoryRow<'_> {
    DirectoryRow::Ended { timeline_id, size, root }
}

fn session_row(session: &Session) -> DirectoryRow<'_> {
    DirectoryRow::Session {
        session_id: &session.session_id,
        sha256: Hash::from_bytes(session.hash),
        user_id: &session.user_id,
        horizon: Horizon::default(),
        created_at: session.created_at,
        renewed_at: session.renewed_at,
        expires_at: session.expires_at,
    }
}
