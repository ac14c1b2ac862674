//! Users, and what shows who they are.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use timenav_core::access::{RestrictionLevel, Scope, Standing};
use timenav_core::ids::{KeyId, SessionId, TimelineId, UserId};
use timenav_core::ledger::sha256;
use timenav_core::time::{Instant, Span, Wall};

use crate::caller::{AuthFailure, Caller, Credential};
use crate::head::{EndedTimeline, TimelineState};

/// A session's use is noted once in this part of the time after which it ends unused: not at every request, since
/// each note is an entry.
const RENEWALS_PER_IDLE_TIME: i64 = 30;

/// One user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub user_id: UserId,
    /// Whether the user administers the service.
    pub operator: bool,
    /// How far the user's time travel is restricted.
    pub restriction: RestrictionLevel,
    /// Since when the user is known, by the host.
    pub created_at: Instant<Wall>,
}

/// One API key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Names the key without giving it away.
    pub key_id: KeyId,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// Whose it is.
    pub user_id: UserId,
    /// The timeline meant where a request names none.
    pub timeline_id: TimelineId,
    /// What it is for, in the owner's words.
    pub label: String,
    /// What it may be used for; `None` for all that the user may do.
    pub scopes: Option<Arc<[Scope]>>,
    /// When it was made, by the host.
    pub created_at: Instant<Wall>,
    /// When it stops working, by the host.
    pub expires_at: Option<Instant<Wall>>,
    /// Since when it does not work any more, by the host.
    pub revoked_at: Option<Instant<Wall>>,
}

impl ApiKey {
    /// Returns whether the key works at a host instant. One that expires at that instant does not.
    #[must_use]
    pub fn is_live(&self, host: Instant<Wall>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| host < end)
    }
}

/// What is kept of a user's password.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptPassword {
    /// Whose it is.
    pub user_id: UserId,
    /// The password, hashed with its own salt, as a PHC string. It stands in no ledger and no log.
    pub phc: Arc<str>,
    /// When it was set, by the host.
    pub set_at: Instant<Wall>,
}

impl KeptPassword {
    /// Returns the digest by which the ledger tells of it. Salted as it is, it gives nothing away.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *sha256(&[self.phc.as_bytes()]).as_bytes()
    }
}

impl fmt::Debug for KeptPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = data_encoding::HEXLOWER.encode(&self.digest());
        f.debug_struct("KeptPassword").field("sha256", &digest).field("set_at", &self.set_at).finish_non_exhaustive()
    }
}

/// A user's session, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Names the session without giving it away.
    pub session_id: SessionId,
    /// SHA-256 of the whole secret.
    pub hash: [u8; 32],
    /// Whose it is.
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
    pub(crate) fn is_renewal_due(&self, host: Instant<Wall>, spans: SessionSpans) -> bool {
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

/// How far the host's clock may be behind what the ledgers tell before that is called wrong: clocks that are kept right
/// over a network step by less.
pub(crate) const HOST_CLOCK_TOLERANCE: Span =
    Span::from_micros(timenav_core::limits::HOST_CLOCK_BEHIND_SECONDS_MAX * 1_000_000);

/// Users, and what shows who they are. Each part is shared until it changes: a clone costs next to nothing, and a
/// change copies the part that it is in.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// Every user.
    pub users: Arc<BTreeMap<UserId, User>>,
    /// Keys. The engine keeps those that were not revoked; the others are in the store.
    pub keys: Arc<Secrets<ApiKey>>,
    /// What is kept of every password.
    pub passwords: Arc<BTreeMap<UserId, Arc<KeptPassword>>>,
    /// Every session.
    pub sessions: Arc<Secrets<Session>>,
    /// How many changes there have been since the service began.
    pub version: u64,
}

/// A change to users, keys, passwords or sessions.
#[derive(Clone, Debug)]
pub enum DirectoryChange {
    /// A user is new or changed.
    PutUser(User),
    /// A user is gone, with password and sessions.
    DeleteUser(UserId),
    /// A key is new.
    PutKey(ApiKey),
    /// A key stops working.
    RevokeKey {
        /// Which.
        key_id: KeyId,
        /// Since when.
        at: Instant<Wall>,
    },
    /// A password is new or changed.
    PutPassword(KeptPassword),
    /// A session is new or goes on.
    PutSession(Session),
    /// A session has ended.
    EndSession(SessionId),
    /// A timeline has ended. Its name is never free again.
    EndTimeline(EndedTimeline),
}

impl DirectoryChange {
    /// Returns the timeline that ends by it, if one does.
    pub(crate) const fn ended(&self) -> Option<&EndedTimeline> {
        match self {
            Self::EndTimeline(ended) => Some(ended),
            Self::PutUser(_)
            | Self::DeleteUser(_)
            | Self::PutKey(_)
            | Self::RevokeKey { .. }
            | Self::PutPassword(_)
            | Self::PutSession(_)
            | Self::EndSession(_) => None,
        }
    }
}

/// Something with a secret that shows who its user is.
pub trait Secret {
    /// Its public name.
    type Id: Clone + Ord + Hash;

    /// Returns its public name.
    fn id(&self) -> &Self::Id;
    /// Returns the SHA-256 of the secret.
    fn hash(&self) -> &[u8; 32];
    /// Returns the user it belongs to.
    fn user_id(&self) -> &UserId;
}

impl Secret for ApiKey {
    type Id = KeyId;

    fn id(&self) -> &KeyId {
        &self.key_id
    }

    fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    fn user_id(&self) -> &UserId {
        &self.user_id
    }
}

impl Secret for Session {
    type Id = SessionId;

    fn id(&self) -> &SessionId {
        &self.session_id
    }

    fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    fn user_id(&self) -> &UserId {
        &self.user_id
    }
}

/// Secrets of one kind, found in one step by what is shown, by name, and by user.
#[derive(Clone, Debug)]
pub struct Secrets<T: Secret> {
    all: HashMap<T::Id, Arc<T>>,
    /// By what is shown.
    shown: HashMap<[u8; 32], Arc<T>>,
    /// The names of each user's.
    names: HashMap<UserId, BTreeSet<T::Id>>,
}

impl<T: Secret> Default for Secrets<T> {
    fn default() -> Self {
        Self { shown: HashMap::new(), all: HashMap::new(), names: HashMap::new() }
    }
}

impl<T: Secret> Secrets<T> {
    /// Returns the one whose secret has that digest.
    #[must_use]
    pub fn shown(&self, hash: &[u8; 32]) -> Option<&Arc<T>> {
        self.shown.get(hash)
    }

    /// Returns the one of that name.
    #[must_use]
    pub fn get(&self, id: &T::Id) -> Option<&Arc<T>> {
        self.all.get(id)
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns those of a user, by name.
    pub fn of_user(&self, user_id: &UserId) -> impl Iterator<Item = &Arc<T>> {
        self.names.get(user_id).into_iter().flatten().filter_map(|id| self.all.get(id))
    }

    /// Returns all of them.
    pub fn values(&self) -> impl Iterator<Item = &Arc<T>> {
        self.all.values()
    }

    /// Puts one in, in the place of the one of the same name.
    pub fn put(&mut self, secret: T) {
        self.take_out(&secret.id().clone());
        let secret = Arc::new(secret);
        self.names.entry(secret.user_id().clone()).or_default().insert(secret.id().clone());
        self.shown.insert(*secret.hash(), Arc::clone(&secret));
        self.all.insert(secret.id().clone(), secret);
    }

    /// Takes one out.
    pub fn take_out(&mut self, id: &T::Id) {
        let Some(secret) = self.all.remove(id) else { return };
        self.shown.remove(secret.hash());
        if let Some(ids) = self.names.get_mut(secret.user_id()) {
            ids.remove(id);
            if ids.is_empty() {
                self.names.remove(secret.user_id());
            }
        }
    }

    /// Takes out those that are not to stay.
    pub fn retain(&mut self, stays: impl Fn(&T) -> bool) {
        let leaving: Vec<T::Id> =
            self.all.values().filter(|secret| !stays(secret)).map(|secret| secret.id().clone()).collect();
        for id in leaving {
            self.take_out(&id);
        }
    }
}

impl Directory {
    /// Makes a change. The same changes in the same order make the same directory.
    pub(crate) fn apply(&mut self, change: &DirectoryChange) {
        self.version += 1;
        match change {
            DirectoryChange::PutUser(user) => {
                Arc::make_mut(&mut self.users).insert(user.user_id.clone(), user.clone());
            }
            DirectoryChange::DeleteUser(user_id) => {
                Arc::make_mut(&mut self.users).remove(user_id);
                Arc::make_mut(&mut self.passwords).remove(user_id);
                Arc::make_mut(&mut self.sessions).retain(|session| session.user_id != *user_id);
            }
            DirectoryChange::PutKey(key) => Arc::make_mut(&mut self.keys).put(key.clone()),
            // Nobody is let in by it, so nothing of it is kept in memory.
            DirectoryChange::RevokeKey { key_id, .. } => self.forget_key(key_id),
            DirectoryChange::PutPassword(password) => {
                let password = Arc::new(password.clone());
                Arc::make_mut(&mut self.passwords).insert(password.user_id.clone(), password);
            }
            DirectoryChange::PutSession(session) => Arc::make_mut(&mut self.sessions).put(session.clone()),
            DirectoryChange::EndSession(session_id) => Arc::make_mut(&mut self.sessions).take_out(session_id),
            // It is among the rows, and nowhere else: there may be many.
            DirectoryChange::EndTimeline(_) => {}
        }
    }

    /// Counts a change that is not told whole.
    pub(crate) const fn count(&mut self) {
        self.version += 1;
    }

    /// Returns what becomes of a user who is removed: every session ends, one by one, and then they are gone.
    pub(crate) fn removal(&self, user_id: &UserId) -> Vec<DirectoryChange> {
        let sessions = self.sessions.of_user(user_id).map(|one| DirectoryChange::EndSession(one.session_id.clone()));
        sessions.chain([DirectoryChange::DeleteUser(user_id.clone())]).collect()
    }

    /// Forgets a key that lets nobody in any more. The store keeps it.
    pub(crate) fn forget_key(&mut self, key_id: &KeyId) {
        Arc::make_mut(&mut self.keys).take_out(key_id);
    }

    /// Leaves out keys that let nobody in any more. The store keeps them.
    pub(crate) fn leave_out_dead(&mut self, host: Instant<Wall>) {
        Arc::make_mut(&mut self.keys).retain(|key| key.is_live(host));
    }

    /// Returns whether what a caller showed is still good: the key works, or the session lasts, and the user is there.
    ///
    /// # Errors
    /// It is not. Why is not told.
    pub fn check_live(&self, caller: &Caller, host: Instant<Wall>, spans: SessionSpans) -> Result<(), AuthFailure> {
        let is_user = self.users.contains_key(&caller.user_id);
        match &caller.credential {
            Credential::Key(key_id) => {
                let key = self.keys.get(key_id).filter(|key| is_user && key.is_live(host));
                key.map(|_| ()).ok_or(AuthFailure::Invalid)
            }
            Credential::Session(session_id) => {
                let session = self.sessions.get(session_id).filter(|session| is_user && session.is_live(host, spans));
                session.map(|_| ()).ok_or(AuthFailure::Session)
            }
        }
    }

    /// Returns what is known about a caller with regard to a timeline.
    #[must_use]
    pub fn standing<'a>(&self, caller: &'a Caller, timeline: Option<&TimelineState>) -> Standing<'a> {
        let user = self.users.get(&caller.user_id);
        // `system` is for operators only, whatever its lists say.
        let lists = timeline.filter(|timeline| !timeline.head.id.is_system());
        Standing {
            operator: user.is_some_and(|user| user.operator),
            restriction: user.map(|user| user.restriction).unwrap_or_default(),
            role: user.and(lists).and_then(|timeline| timeline.head.permissions.role(&caller.user_id)),
            scopes: caller.scopes.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, hash: u8, user: &str) -> ApiKey {
        ApiKey {
            key_id: KeyId::new(name).unwrap(),
            hash: [hash; 32],
            user_id: UserId::new(user).unwrap(),
            timeline_id: timenav_core::ids::TimelineId::new("main").unwrap(),
            label: String::new(),
            scopes: None,
            created_at: Instant::EPOCH,
            expires_at: None,
            revoked_at: None,
        }
    }

    fn names(keys: &Secrets<ApiKey>, user: &str) -> Vec<String> {
        keys.of_user(&UserId::new(user).unwrap()).map(|key| key.key_id.to_string()).collect()
    }

    #[test]
    fn a_secret_is_found_every_way_or_not_at_all() {
        let mut keys = Secrets::default();
        for (name, hash, user) in [("key_a", 1, "ada"), ("key_b", 2, "ada"), ("key_c", 3, "bob")] {
            keys.put(key(name, hash, user));
        }
        assert_eq!(
            (names(&keys, "ada"), names(&keys, "bob")),
            (vec!["key_a".into(), "key_b".into()], vec!["key_c".into()])
        );
        assert_eq!(keys.shown(&[2; 32]).unwrap().key_id.as_str(), "key_b");
        // Another of the same name takes the place of the one before, its digest too.
        keys.put(key("key_b", 9, "bob"));
        assert!(keys.shown(&[2; 32]).is_none() && keys.shown(&[9; 32]).is_some());
        assert_eq!(
            (names(&keys, "ada"), names(&keys, "bob")),
            (vec!["key_a".into()], vec!["key_b".into(), "key_c".into()])
        );
        keys.retain(|key| key.user_id.as_str() == "ada");
        assert_eq!((names(&keys, "bob"), keys.values().count()), (Vec::<String>::new(), 1));
        assert!(keys.get(&KeyId::new("key_c").unwrap()).is_none() && keys.shown(&[3; 32]).is_none());
        assert!(!keys.names.contains_key(&UserId::new("bob").unwrap()), "nothing is left of a user without any");
    }
}
