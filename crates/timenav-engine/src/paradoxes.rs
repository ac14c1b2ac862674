//! Paradoxes, and the views in which they are found.

pub(crate) mod view_board;
pub(crate) mod views;
pub(crate) mod listing;
