use std::fmt;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::Hash;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivergenceKind {
    /// It has fewer entries.
    Rollback,
    /// It has other entries.
    Fork,
}

impl DivergenceKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rollback => "rollback",
            Self::Fork => "fork",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenTree {
    pub size: u64,
    pub root: Hash,
}

/// A ledger in the store that does not continue what this service has seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    pub timeline: TimelineId,
    pub kind: DivergenceKind,
    pub seen: SeenTree,
    pub found: SeenTree,
    /// The signed head statement of the tree in the store, in its text form. Empty if there is none.
    pub found_statement: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { timeline, kind, seen, found, .. } = self;
        match kind {
            DivergenceKind::Rollback => write!(f, "timeline `{timeline}` was rolled back")?,
            DivergenceKind::Fork => write!(f, "timeline `{timeline}` has a different history")?,
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
