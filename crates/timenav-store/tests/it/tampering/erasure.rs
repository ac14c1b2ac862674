//! Attacks on erased and pruned contents, and on ended timelines.

mod ended;
mod erasing;
pub(crate) mod retention;
