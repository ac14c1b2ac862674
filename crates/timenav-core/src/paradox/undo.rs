//! How to take back what one record did.

use super::firings::Firing;
use super::graph::Row;
use super::negation::Negation;
use super::site::Site;
use super::stream::Stream;

/// How to take back one step.
#[derive(Debug)]
pub(super) enum Undo {
    /// A row stood in place of another one, and so many pins were noted before.
    Row { node: u32, row: Box<Row>, pins: usize },
    /// An anchor was set.
    Anchor,
    /// The stream of records went on.
    Stream(Box<Stream>),
    /// A jump was noted.
    Jump,
    /// A source recorded something.
    Watermark { source: u32, before: Option<(i64, u32)>, late: Option<Site> },
    /// A negation came or went.
    Negation { node: u32, before: Option<Negation> },
    /// A firing came, was taken back, or occurs again.
    Firing { node: u32, before: Option<Firing> },
    /// History returned to an anchor; so far as was known before.
    Return(Option<(u64, u64)>),
}

/// How many names there were of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameCounts(pub(super) [usize; 6]);
