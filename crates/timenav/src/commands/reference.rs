//! Commands that say what the program and the API have.

pub(crate) mod api;
pub(crate) mod completing;
pub(crate) mod completions;
pub(crate) mod limits;
pub(crate) mod man;
pub(crate) mod markdown_help;
pub(crate) mod openapi;
pub(crate) mod operations;
