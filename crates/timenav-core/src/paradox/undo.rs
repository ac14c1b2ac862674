//! Undo information of a record.

use super::firings::Firing;
use super::graph::Row;
use super::negation::Negation;
use super::site::Site;
use super::stream::Stream;

/// One step to undo.
#[derive(Debug)]
pub(super) enum Undo {
    /// A row was replaced. The event had this many pins before.
    Row { node: u32, row: Box<Row>, pins: usize },
    /// An anchor was set.
    Anchor,
    /// The stream state changed.
    Stream(Box<Stream>),
    /// A jump was added.
    Jump,
    /// A source recorded an event.
    Watermark { source: u32, before: Option<(i64, u32)>, late: Option<Site> },
    /// A negation was added or deactivated.
    Negation { node: u32, before: Option<Negation> },
    /// A firing was added, revoked or restored.
    Firing { node: u32, before: Option<Firing> },
    /// History returned to an anchor; the value is the previous return.
    Return(Option<(u64, u64)>),
}

/// Number of names of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameCounts(pub(super) [usize; 6]);
