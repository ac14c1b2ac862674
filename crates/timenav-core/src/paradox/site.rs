//! Compact identification of paradoxes, with numbers instead of names.

use foldhash::fast::FixedState;

use super::kinds::{Grade, Kind};

/// A map with a fixed hash seed, for reproducible runs.
pub(super) type Map<K, V> = hashbrown::HashMap<K, V, FixedState>;
pub(super) type Set<K> = hashbrown::HashSet<K, FixedState>;

pub(super) const NONE: u32 = u32::MAX;

/// One paradox of a view. Equality is identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Site {
    /// P01.
    Early { cause: u32, effect: u32, grade: Grade },
    /// P02: the smallest member, and a sum over the hashes of all.
    Cycle { first: u32, digest: u64 },
    /// P03.
    Bootstrap { first: u32, digest: u64 },
    /// P04.
    Grandfather { intervention: u32, event: u32 },
    /// P05.
    Orphan { cause: u32, effect: u32 },
    /// P06.
    Dangling { cause: u32, effect: u32 },
    /// P07.
    Apart { actor: u32, pair: [u32; 2], grade: Grade },
    /// P08.
    Contradiction { thing: u32, pair: [u32; 2], grade: Grade },
    /// P09.
    Duplicate { pair: [u32; 2], grade: Grade },
    /// P10.
    Future { event: u32 },
    /// P11.
    Late { event: u32, previous: u32, micros: i64 },
    /// P12: index of the jump.
    Jump { number: u32, grade: Grade },
    /// P13.
    Broken { anchor: u32, event: u32, grade: Grade },
    /// P14: the numbers between these are missing.
    Gap { source: u32, after: u64, before: u64 },
    /// P14: two events have the same number.
    Repeat { source: u32, pair: [u32; 2] },
    /// P15: the event ends before it starts.
    Inverted { event: u32 },
    /// P15: a version without a previous one, or a second first one.
    Unlinked { event: u32 },
}

impl Site {
    pub(super) const fn kind(&self) -> (Kind, Grade) {
        match *self {
            Self::Early { grade, .. } => (Kind::EffectBeforeCause, grade),
            Self::Cycle { .. } => (Kind::CausalCycle, Grade::Definite),
            Self::Bootstrap { .. } => (Kind::Bootstrap, Grade::Definite),
            Self::Grandfather { .. } => (Kind::Grandfather, Grade::Definite),
            Self::Orphan { .. } => (Kind::OrphanedEffect, Grade::Definite),
            Self::Dangling { .. } => (Kind::DanglingCause, Grade::Definite),
            Self::Apart { grade, .. } => (Kind::TwoPlacesAtOnce, grade),
            Self::Contradiction { grade, .. } => (Kind::ContradictoryState, grade),
            Self::Duplicate { grade, .. } => (Kind::Duplicate, grade),
            Self::Future { .. } => (Kind::FutureDated, Grade::Definite),
            Self::Late { .. } => (Kind::OutOfOrderRecording, Grade::Definite),
            Self::Jump { grade, .. } => (Kind::ClockDiscontinuity, grade),
            Self::Broken { grade, .. } => (Kind::AnchorBroken, grade),
            Self::Gap { .. } | Self::Repeat { .. } => (Kind::SequenceGap, Grade::Definite),
            Self::Inverted { .. } | Self::Unlinked { .. } => (Kind::IntervalInverted, Grade::Definite),
        }
    }
}

/// Returns a pair in ascending order.
pub(super) const fn pair(one: u32, other: u32) -> [u32; 2] {
    if one < other { [one, other] } else { [other, one] }
}

#[derive(Debug, Default)]
pub(super) struct Found {
    sites: Set<Site>,
    counts: Map<(Kind, Grade), u64>,
    /// The net changes since [`Found::note`]: created or resolved.
    net: Map<Site, bool>,
    is_noting: bool,
}

impl Found {
    pub(super) fn total(&self) -> usize {
        self.sites.len()
    }

    /// Adds or removes a paradox. Does nothing if that is the case already.
    pub(super) fn toggle(&mut self, site: Site, is_there: bool) {
        let is_change = if is_there { self.sites.insert(site) } else { self.sites.remove(&site) };
        if !is_change {
            return;
        }
        let count = self.counts.entry(site.kind()).or_default();
        if is_there {
            *count += 1;
        } else {
            *count -= 1;
        }
        // Creating and resolving it in one change, in either order, is no net change.
        if self.is_noting && self.net.remove(&site).is_none() {
            self.net.insert(site, is_there);
        }
    }

    pub(super) fn toggle_all(&mut self, sites: &[Site], is_there: bool) {
        for site in sites {
            self.toggle(*site, is_there);
        }
    }

    /// Starts recording net changes.
    pub(super) fn note(&mut self) {
        self.is_noting = true;
    }

    /// Returns the paradoxes created and resolved since [`Found::note`], and stops recording.
    pub(super) fn take_net(&mut self) -> (Vec<Site>, Vec<Site>) {
        self.is_noting = false;
        let (mut created, mut resolved) = (Vec::new(), Vec::new());
        for (site, is_there) in self.net.drain() {
            if is_there { created.push(site) } else { resolved.push(site) }
        }
        (created, resolved)
    }

    /// Returns all paradoxes, in unspecified order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Site> {
        self.sites.iter().copied()
    }

    pub(super) fn count(&self, kind: Kind, grade: Grade) -> u64 {
        self.counts.get(&(kind, grade)).copied().unwrap_or(0)
    }
}
