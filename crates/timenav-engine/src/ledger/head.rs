use std::sync::{Arc, OnceLock};

use timenav_core::access::Permissions;
use timenav_core::clock::Clock;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Frontier, Hash, RetentionPolicies};
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::Timers;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimelineKey(pub i64);

/// The newest state of one timeline, which is kept in memory. Its size does not grow with history.
#[derive(Clone, Debug)]
pub struct Head {
    pub key: TimelineKey,
    pub id: TimelineId,
    pub created_at: Instant<Wall>,
    pub clock: Clock,
    pub permissions: Arc<Permissions>,
    /// The right edge of its Merkle tree, including the size.
    pub frontier: Frontier,
    /// The signed note over that size and root, if the last entry was written by a version that signed within the
    /// transaction. Empty otherwise: a checkpoint is signed only once its entries are durable.
    pub carried_note: Arc<str>,
    /// Never decreases.
    pub recorded_at: Instant<Wall>,
    pub events_count: u64,
    pub anchors_count: u64,
    /// Position of the entry whose payload records the clock.
    pub clock_entry: u64,
    pub fork: Option<Fork>,
    /// How many inherited events were changed on this timeline.
    pub overrides_count: u64,
    pub created_by: UserId,
    /// The number of sealed records, including erased ones.
    pub data_count: u64,
    /// The version of the directory after its last entry: the number of changes so far.
    pub directory: u64,
    /// The stored part of the head statement: its content, and id, signature and authentication code of each signing
    /// key. Empty if the last entry has format version 1.
    pub statement: Arc<[u8]>,
    /// For an adopted timeline: the services that wrote its first entries, by ascending position.
    pub origins: Arc<[Origin]>,
    /// As recorded by the last entry of a user action. Nothing is written to it here any more.
    pub is_handed_over: bool,
    /// Set at creation and recorded in its first entry.
    pub expires_at: Option<Instant<Wall>>,
    /// How long reads and refusals are kept: all policies so far.
    pub retention: Arc<RetentionPolicies>,
    pub timers: Arc<Timers>,
}

impl Head {
    /// Returns how to display the actor of an entry. Users of another service get the name of its ledger as a suffix.
    /// This is unambiguous, because names of users contain no slash.
    #[must_use]
    pub fn displayed_actor(&self, position: u64, actor: &str) -> String {
        let of = self.origins.iter().find(|origin| position < origin.end);
        of.map_or_else(|| actor.to_owned(), |of| format!("{actor}@{}", of.origin))
    }

    #[must_use]
    pub fn has_expired(&self, host: Instant<Wall>) -> bool {
        self.expires_at.is_some_and(|end| end <= host)
    }
}

/// Entries written and signed by another service: those before a position that do not belong to an earlier origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The position of the `adopt` entry that ends them.
    pub end: u64,
    pub origin: String,
}

/// The stored data of a timeline that has ended, in addition to its leaves, its tree and, until they are pruned, its
/// contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTimeline {
    pub key: TimelineKey,
    /// Its name, which is never used again.
    pub id: TimelineId,
    pub size: u64,
    pub root: Hash,
    pub ended_at: Instant<Wall>,
    /// Forks of the timeline are read through it.
    pub fork: Option<Fork>,
    /// Whether inherited events were changed on it.
    pub overrides: bool,
    pub due_at: Instant<Wall>,
    pub is_pruned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    pub of: TimelineKey,
    /// How many entries of it the fork shares.
    pub size: u64,
}

/// A timeline up to some ledger size. A fork is read as layers, beginning with the oldest ancestor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    pub timeline: TimelineKey,
    /// The ledger size; later entries are ignored.
    pub as_of: u64,
    /// Whether events of earlier layers may have been changed on this one.
    pub overrides: bool,
}

#[derive(Clone, Debug)]
pub struct TimelineState {
    pub head: Head,
    pub root: Hash,
    /// The root over the entries shared with the timeline it was forked from.
    pub fork_root: Option<Hash>,
    /// For `system`, the hash over all rows of the directory.
    pub directory_root: Option<Hash>,
    /// The ancestors of a fork as layers, the oldest first.
    pub ancestors: Arc<[Layer]>,
    /// The names of these timelines, in the same order.
    pub lineage: Arc<[TimelineId]>,
    /// The ledger's size after the last change of an event, or a later one.
    pub events_changed_at: u64,
    /// The newest checkpoint, once it is signed.
    pub(crate) note: OnceLock<Arc<str>>,
}

impl TimelineState {
    #[must_use]
    pub fn layers(&self, as_of: u64) -> Arc<[Layer]> {
        let overrides = self.head.overrides_count > 0;
        let own = Layer { timeline: self.head.key, as_of, overrides };
        self.ancestors.iter().copied().chain(std::iter::once(own)).collect()
    }

    #[must_use]
    pub fn layers_now(&self) -> Arc<[Layer]> {
        self.layers(self.head.frontier.size())
    }

    #[must_use]
    pub fn names_of(&self, layers: &[Layer]) -> Vec<TimelineId> {
        let own = std::iter::once(&self.head.id);
        self.lineage.iter().chain(own).take(layers.len()).cloned().collect()
    }

    /// Returns whether it was forked from another timeline, directly or indirectly.
    pub(crate) fn is_fork_of(&self, timeline: TimelineKey) -> bool {
        self.ancestors.iter().any(|layer| layer.timeline == timeline)
    }

    /// Returns how many timelines this one counts as: itself, and each layer that was adopted with it.
    #[must_use]
    pub fn counted(&self) -> usize {
        1 + self.own_layers().count()
    }

    /// Returns the ancestors that were adopted with this timeline, the oldest first. No other timeline uses them.
    pub(crate) fn own_layers(&self) -> impl Iterator<Item = &TimelineId> {
        self.lineage.iter().filter(|layer| layer.adopting_fork().as_ref() == Some(&self.head.id))
    }

    /// Returns whether no event has changed since the state that layers show.
    pub(crate) fn has_layers(&self, layers: &[Layer]) -> bool {
        let size = layers.last().map_or(0, |layer| layer.as_of);
        layers.len() == self.ancestors.len() + 1 && self.events_changed_at <= size
    }
}
