//! How far a key or session sees: to what the clock shows, to what was known at one position.
//!
//! What lies beyond does not exist for it. Backtests, evaluations and blind studies need that nothing
//! later leaks: no later event, no later version of one, and no count or spelling that tells of one.

use crate::event::EventDraft;
use crate::paradox::Uncertain;
use crate::time::{Instant, Virtual};

#[cfg(test)]
mod tests;

/// The horizon of a key or session. By default there is none, and everything is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horizon {
    /// Whether it ends at what the clock shows when it is asked: `horizon: "clock"`.
    pub until_clock: bool,
    /// The last position of the timeline's ledger whose entries count: `known_at`. An anchor stands for
    /// the position of the entry that set it.
    pub known_at: Option<u64>,
}

/// What a version of an event tells, as far as a horizon is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionReach {
    /// Position of the entry that made the version; 0 for one that a fork inherited, which was known before
    /// the fork's first entry.
    pub position: u64,
    /// The latest instant that the version tells of, from [`latest_instant`]; `None` for one that says that
    /// the event does not stand.
    pub latest: Option<Instant<Virtual>>,
}

impl Horizon {
    /// The word for a horizon that ends at what the clock shows.
    pub const CLOCK: &'static str = "clock";

    /// Returns whether anything lies beyond it.
    #[must_use]
    pub const fn is_open(self) -> bool {
        !self.until_clock && self.known_at.is_none()
    }

    /// Returns whether entries at a position count.
    #[must_use]
    pub fn knows(self, position: u64) -> bool {
        self.known_at.is_none_or(|known_at| position <= known_at)
    }

    /// Returns whether a version at a position that tells of nothing later than `latest` is seen while the
    /// clock shows `now`. What happens at that very instant is.
    ///
    /// An event may still be hidden by a later version of it that is known: [`Horizon::version`].
    #[must_use]
    pub fn shows(self, position: u64, latest: Instant<Virtual>, now: Instant<Virtual>) -> bool {
        self.knows(position) && (!self.until_clock || latest <= now)
    }

    /// Returns which of an event's versions is seen while the clock shows `now`; `None` if the event does
    /// not exist for the key. The versions come in the order of their positions.
    ///
    /// The newest version that is known decides alone. Where it lies beyond the clock, an older one is not
    /// shown in its place: it was wrong when the event was known to be later.
    pub fn version(
        self,
        versions: impl IntoIterator<Item = VersionReach>,
        now: Instant<Virtual>,
    ) -> Option<VersionReach> {
        let newest = versions.into_iter().filter(|version| self.knows(version.position)).last()?;
        newest.latest.filter(|latest| self.shows(newest.position, *latest, now)).map(|_| newest)
    }
}

/// Returns the latest instant that an event tells of: its end, or its time, each as late as its precision
/// allows. An event that is known to the year tells of the whole year.
#[must_use]
pub fn latest_instant(event: &EventDraft) -> Instant<Virtual> {
    let latest = |at| Uncertain::new(at, event.precision).max;
    event.end_time.map_or(latest(event.time), |end| latest(event.time).max(latest(end)))
}
