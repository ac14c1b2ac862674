//! What counts as a paradox or as an observation about the data.

pub(crate) mod anchors;
pub(crate) mod fired;
pub(crate) mod firings;
pub(crate) mod negation;
pub(crate) mod pairs;
pub(crate) mod places;
pub(crate) mod sequences;
pub(crate) mod stream;
pub(crate) mod uncertain;
pub(crate) mod undo;
