//! A ledger in the store that does not go on from what this service has seen of it.

use std::fmt;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::Hash;

/// How a ledger in the store differs from what this service has seen of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivergenceKind {
    /// It has fewer entries.
    Rollback,
    /// It has others.
    Fork,
}

impl DivergenceKind {
    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rollback => "rollback",
            Self::Fork => "fork",
        }
    }
}

/// The tree of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenTree {
    /// How many entries it is over.
    pub size: u64,
    /// Its root.
    pub root: Hash,
}

/// A ledger in the store that does not go on from what this service has seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Which timeline.
    pub timeline: TimelineId,
    /// How it differs.
    pub kind: DivergenceKind,
    /// What this service has seen last.
    pub seen: SeenTree,
    /// What is in the store.
    pub found: SeenTree,
    /// The signed head statement of the tree in the store, as it is handed around. Empty, where there is none.
    pub found_statement: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { timeline, kind, seen, found, .. } = self;
        match kind {
            DivergenceKind::Rollback => write!(f, "timeline `{timeline}` went back")?,
            DivergenceKind::Fork => write!(f, "timeline `{timeline}` has another history")?,
        }
        write!(
            f,
            ": this service has seen {} entries with the root {}, and the database has {} with the root {}; nothing is \
             written until an operator has decided which one counts",
            seen.size,
            seen.root.to_hex(),
            found.size,
            found.root.to_hex()
        )
    }
}
