use super::firings::Firing;
use super::graph::Row;
use super::negation::Negation;
use super::site::Site;
use super::stream::Stream;

#[derive(Debug)]
pub(super) enum Undo {
    /// A row was replaced. The event had this many pins before.
    Row {
        node: u32,
        row: Box<Row>,
        pins: usize,
    },
    Anchor,
    Stream(Box<Stream>),
    Jump,
    Watermark {
        source: u32,
        before: Option<(i64, u32)>,
        late: Option<Site>,
    },
    Negation {
        node: u32,
        before: Option<Negation>,
    },
    Firing {
        node: u32,
        before: Option<Firing>,
    },
    /// History returned to an anchor; the value is the previous return.
    Return(Option<(u64, u64)>),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NameCounts(pub(super) [usize; 6]);
