//! What is kept in memory: small, and true as of the last commit.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use timenav_core::access::{RestrictionLevel, Scope, Standing};
use timenav_core::clock::Moment;
use timenav_core::ids::{AnchorId, KeyId, SessionId, TimelineId, UserId};
use timenav_core::ledger::{Hash, sha256};
use timenav_core::time::{Instant, Span, Virtual, Wall};

use crate::caller::Caller;
use crate::store::{Head, Layer};

/// One timeline as the engine knows it.
#[derive(Clone, Debug)]
pub struct TimelineState {
    /// The newest state, as it is kept.
    pub head: Head,
    /// The root of the tree at the head's size.
    pub root: Hash,
    /// What the timeline was forked from, as layers, the oldest first.
    pub ancestors: Arc<[Layer]>,
    /// The names of these timelines, in the same order.
    pub lineage: Arc<[TimelineId]>,
    /// The ledger's size after the last change of an event, or a later one.
    pub events_changed_at: u64,
}

impl TimelineState {
    /// Returns the layers that the timeline is read with up to a size of its ledger.
    #[must_use]
    pub fn layers(&self, as_of: u64) -> Arc<[Layer]> {
        let overrides = self.head.overrides_count > 0;
        let own = Layer { timeline: self.head.key, as_of, overrides };
        self.ancestors.iter().copied().chain(std::iter::once(own)).collect()
    }

    /// Returns the layers that the timeline is read with now.
    #[must_use]
    pub fn layers_now(&self) -> Arc<[Layer]> {
        self.layers(self.head.frontier.size())
    }

    /// Returns the names of the timelines of layers that this one is read with.
    #[must_use]
    pub fn names_of(&self, layers: &[Layer]) -> Vec<TimelineId> {
        let own = std::iter::once(&self.head.id);
        self.lineage.iter().chain(own).take(layers.len()).cloned().collect()
    }

    /// Returns whether no event has changed since the moment that layers show.
    pub(crate) fn stands_as_on(&self, layers: &[Layer]) -> bool {
        let size = layers.last().map_or(0, |layer| layer.as_of);
        layers.len() == self.ancestors.len() + 1 && self.events_changed_at <= size
    }
}

/// A marked moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Its name.
    pub anchor_id: AnchorId,
    /// Position of the entry that set it.
    pub position: u64,
    /// When it was set, by the host.
    pub set_at: Instant<Wall>,
    /// The moment anchored.
    pub timestamp: Instant<Virtual>,
    /// What it is for.
    pub description: String,
    /// Whether changes to what came before it are paradoxes.
    pub fixed: bool,
    /// How the clock stood: what returning restores, at `timestamp`.
    pub moment: Moment,
}

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
    /// Made by the service over the rest with a key that is not in the store: a row that somebody else wrote
    /// opens nothing.
    pub seal: [u8; 32],
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
    /// As that of a password.
    pub seal: [u8; 32],
}

impl Session {
    /// Returns when the session ends if nobody uses it, by the host.
    #[must_use]
    pub fn idle_expires_at(&self, idle: Span) -> Instant<Wall> {
        self.renewed_at.checked_add(idle).unwrap_or(Instant::MAX).min(self.expires_at)
    }

    /// Returns whether the session lasts at a host instant. One that ends at that instant does not.
    #[must_use]
    pub fn is_live(&self, host: Instant<Wall>, idle: Span) -> bool {
        host < self.idle_expires_at(idle)
    }
}

/// Users, and what shows who they are.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// Every user.
    pub users: BTreeMap<UserId, User>,
    /// Every key, by the SHA-256 of its text.
    pub keys: HashMap<[u8; 32], Arc<ApiKey>>,
    /// What is kept of every password.
    pub passwords: BTreeMap<UserId, Arc<KeptPassword>>,
    /// Every session, by the SHA-256 of its secret.
    pub sessions: HashMap<[u8; 32], Arc<Session>>,
}

impl Directory {
    /// Returns a key by its public name.
    #[must_use]
    pub fn key(&self, id: &KeyId) -> Option<&Arc<ApiKey>> {
        self.keys.values().find(|key| key.key_id == *id)
    }

    /// Returns a session by its public name.
    #[must_use]
    pub fn session(&self, id: &SessionId) -> Option<&Arc<Session>> {
        self.sessions.values().find(|session| session.session_id == *id)
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

/// Everything kept in memory at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) timelines: HashMap<TimelineId, Arc<TimelineState>>,
    pub(crate) directory: Arc<Directory>,
    /// The highest store key given to a timeline. Only the committer uses it.
    pub(crate) last_key: i64,
}
