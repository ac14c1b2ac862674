//! What is kept in memory: small, and true as of the last commit.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use timenav_core::access::{RestrictionLevel, Scope};
use timenav_core::clock::Moment;
use timenav_core::ids::{AnchorId, KeyId, SessionId, TimelineId, UserId};
use timenav_core::ledger::{Hash, sha256};
use timenav_core::limits::FORK_DEPTH_MAX;
use timenav_core::time::{Instant, Span, Virtual, Wall};

use crate::directory::Directory;
use crate::store::{Fork, Head, Layer, TimelineKey};

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

/// Everything kept in memory at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) timelines: HashMap<TimelineId, Arc<TimelineState>>,
    pub(crate) directory: Arc<Directory>,
    /// The highest store key given to a timeline. Only the committer uses it.
    pub(crate) last_key: i64,
    /// How many timelines each user has made. Only the committer uses it.
    made_by: HashMap<UserId, usize>,
}

impl World {
    pub(crate) fn new(timelines: HashMap<TimelineId, Arc<TimelineState>>, directory: Arc<Directory>) -> Self {
        let mut world = Self { directory, ..Self::default() };
        for state in timelines.into_values() {
            world.last_key = world.last_key.max(state.head.key.0);
            world.add(state);
        }
        world
    }

    /// Brings a new timeline in.
    pub(crate) fn add(&mut self, state: Arc<TimelineState>) {
        match self.made_by.get_mut(&state.head.created_by) {
            Some(count) => *count += 1,
            None => _ = self.made_by.insert(state.head.created_by.clone(), 1),
        }
        self.timelines.insert(state.head.id.clone(), state);
    }

    /// Takes back a timeline that was brought in.
    pub(crate) fn take_out(&mut self, timeline: &TimelineId) {
        let Some(state) = self.timelines.remove(timeline) else { return };
        if let Some(count) = self.made_by.get_mut(&state.head.created_by) {
            *count -= 1;
        }
    }

    /// Returns how many timelines a user has made.
    pub(crate) fn made_by(&self, user_id: &UserId) -> usize {
        self.made_by.get(user_id).copied().unwrap_or(0)
    }
}

/// Returns timelines as the engine knows them.
pub(crate) fn states_of(heads: Vec<Head>) -> HashMap<TimelineId, Arc<TimelineState>> {
    let forks: HashMap<TimelineKey, (Option<Fork>, bool)> =
        heads.iter().map(|head| (head.key, (head.fork, head.overrides_count > 0))).collect();
    // Few timelines are forks: only the names of their ancestors are looked for.
    let names: HashMap<TimelineKey, TimelineId> = if heads.iter().any(|head| head.fork.is_some()) {
        heads.iter().map(|head| (head.key, head.id.clone())).collect()
    } else {
        HashMap::new()
    };
    let state_of = |head: Head| {
        let root = head.frontier.root();
        // What changed before the start is older than anything decided since.
        let events_changed_at = head.frontier.size();
        let ancestors = ancestors(&forks, head.fork);
        let lineage = ancestors.iter().filter_map(|layer| names.get(&layer.timeline).cloned()).collect();
        (head.id.clone(), Arc::new(TimelineState { head, root, ancestors, lineage, events_changed_at }))
    };
    heads.into_iter().map(state_of).collect()
}

/// Returns what a timeline was forked from, as layers, the oldest first.
fn ancestors(forks: &HashMap<TimelineKey, (Option<Fork>, bool)>, fork: Option<Fork>) -> Arc<[Layer]> {
    let mut layers = Vec::new();
    let mut next = fork;
    // A file that says that a timeline is its own ancestor is damaged, and must not hang the start.
    while let Some(fork) = next.filter(|_| layers.len() < FORK_DEPTH_MAX) {
        let (before, overrides) = forks.get(&fork.of).copied().unwrap_or_default();
        layers.push(Layer { timeline: fork.of, as_of: fork.size, overrides });
        next = before;
    }
    layers.reverse();
    layers.into()
}
