pub(crate) mod view_board;
pub(crate) mod views;
pub(crate) mod listing;
