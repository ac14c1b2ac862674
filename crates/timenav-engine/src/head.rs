//! The newest state of a timeline, and the layers that it is read with.

use std::sync::{Arc, OnceLock};

use timenav_core::access::Permissions;
use timenav_core::clock::Clock;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Frontier, Hash, RetentionPolicies};
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::Timers;

/// Names a timeline inside the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimelineKey(pub i64);

/// The newest state of one timeline: all that is kept in memory, and nothing that grows.
#[derive(Clone, Debug)]
pub struct Head {
    /// Names the timeline inside the store.
    pub key: TimelineKey,
    /// Names the timeline.
    pub id: TimelineId,
    /// When it was made.
    pub created_at: Instant<Wall>,
    /// Its clock.
    pub clock: Clock,
    /// Who may do what.
    pub permissions: Arc<Permissions>,
    /// The right edge of its Merkle tree; holds the size.
    pub frontier: Frontier,
    /// The signed note over that size and its root, where a version that signed it within the transaction has written the
    /// last entry. Empty since: a checkpoint is signed once it is known that its entries are there for good.
    pub carried_note: Arc<str>,
    /// Host time of the last entry. Never goes down.
    pub recorded_at: Instant<Wall>,
    /// How many events stand.
    pub events_count: u64,
    /// How many anchors are set.
    pub anchors_count: u64,
    /// Position of the entry whose payload tells of the clock.
    pub clock_entry: u64,
    /// Where the timeline came from, if it was forked.
    pub fork: Option<Fork>,
    /// How many events of the timelines it came from were changed on this one.
    pub overrides_count: u64,
    /// Who made it: a user, or the service.
    pub created_by: UserId,
    /// How many records were sealed on it, erased ones too.
    pub data_count: u64,
    /// The version of the directory after its last entry: how many changes there had been.
    pub directory: u64,
    /// What is kept of the head statement: what it says, and for each key that signs its id, its signature, and a code.
    /// Empty where the last entry is of version 1 of the format.
    pub statement: Arc<[u8]>,
    /// Whose entries the ledger begins with, where the timeline was adopted: stretch by stretch, in rising order.
    pub origins: Arc<[Origin]>,
    /// Whether it was handed over to another service, as its last entry of an action of users tells. Nothing is written
    /// to it here any more.
    pub is_handed_over: bool,
    /// When it ends by itself, by the host. What it was made with; its first entry tells.
    pub expires_at: Option<Instant<Wall>>,
    /// How long reads and refusals are kept: what was said of it so far.
    pub retention: Arc<RetentionPolicies>,
    /// What is known of its timers without looking at any.
    pub timers: Arc<Timers>,
}

impl Head {
    /// Returns how whoever an entry names is shown: users of another service by the name of the ledger there too. No user
    /// here is called so, since no name of a user has a slash.
    #[must_use]
    pub fn actor_shown(&self, position: u64, actor: &str) -> String {
        let of = self.origins.iter().find(|origin| position < origin.end);
        of.map_or_else(|| actor.to_owned(), |of| format!("{actor}@{}", of.origin))
    }

    /// Returns whether it was to end by itself, and that instant has come.
    #[must_use]
    pub fn has_expired(&self, host: Instant<Wall>) -> bool {
        self.expires_at.is_some_and(|end| end <= host)
    }
}

/// Entries that another service has written and signed: those before a position that are not of an origin before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The position of the entry `adopt` that ends them.
    pub end: u64,
    /// The name of the ledger at that service.
    pub origin: String,
}

/// A timeline that has ended: what is kept of it beside its leaves, its tree, and its contents as long as these are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTimeline {
    /// Names the timeline inside the store.
    pub key: TimelineKey,
    /// Its name, which no other timeline ever has.
    pub id: TimelineId,
    /// How many entries it has.
    pub size: u64,
    /// The root over all of them.
    pub root: Hash,
    /// When it ended, by the host.
    pub ended_at: Instant<Wall>,
    /// Where it came from, if it was forked: timelines that go on from it are read through it.
    pub fork: Option<Fork>,
    /// Whether events of the timelines it came from were changed on it.
    pub overrides: bool,
    /// From when on its contents may be let go, by the host.
    pub due_at: Instant<Wall>,
    /// Whether its contents were let go.
    pub is_let_go: bool,
}

/// Where a timeline was forked from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The other timeline.
    pub of: TimelineKey,
    /// How many of its entries the fork goes on from.
    pub size: u64,
}

/// A stretch of a ledger that a question is about: a timeline up to a size. A fork is read as
/// layers, the timeline it came from first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The timeline.
    pub timeline: TimelineKey,
    /// The ledger's size that counts; later entries do not exist.
    pub as_of: u64,
    /// Whether events of earlier layers may have been changed on this one.
    pub overrides: bool,
}

/// One timeline as the engine knows it.
#[derive(Clone, Debug)]
pub struct TimelineState {
    /// The newest state, as it is kept.
    pub head: Head,
    /// The root of the tree at the head's size.
    pub root: Hash,
    /// The root over the entries that a fork goes on from.
    pub fork_root: Option<Hash>,
    /// On `system`, the hash over all rows of the directory.
    pub directory_root: Option<Hash>,
    /// What the timeline was forked from, as layers, the oldest first.
    pub ancestors: Arc<[Layer]>,
    /// The names of these timelines, in the same order.
    pub lineage: Arc<[TimelineId]>,
    /// The ledger's size after the last change of an event, or a later one.
    pub events_changed_at: u64,
    /// The newest checkpoint, once it was signed.
    pub(crate) note: OnceLock<Arc<str>>,
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

    /// Returns for how many timelines this one counts: for itself, and for each layer that it came here with.
    #[must_use]
    pub fn counted(&self) -> usize {
        1 + self.own_layers().count()
    }

    /// Returns the timelines of another service that came here with this one, the oldest first. They stand nowhere else.
    pub(crate) fn own_layers(&self) -> impl Iterator<Item = &TimelineId> {
        self.lineage.iter().filter(|layer| layer.came_with().as_ref() == Some(&self.head.id))
    }

    /// Returns whether no event has changed since the moment that layers show.
    pub(crate) fn stands_as_on(&self, layers: &[Layer]) -> bool {
        let size = layers.last().map_or(0, |layer| layer.as_of);
        layers.len() == self.ancestors.len() + 1 && self.events_changed_at <= size
    }
}
