//! Anchors, and returning to them.

pub(crate) mod anchored;
pub(crate) mod returning;
pub(crate) mod commands;
