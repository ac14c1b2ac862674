use crate::paradox::graph::Row;
use crate::paradox::rules::firings::Firing;
use crate::paradox::rules::negation::Negation;
use crate::paradox::rules::stream::Stream;
use crate::paradox::site::Site;

#[derive(Debug)]
pub(in crate::paradox) enum Undo {
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
pub(in crate::paradox) struct NameCounts(pub(in crate::paradox) [usize; 6]);
