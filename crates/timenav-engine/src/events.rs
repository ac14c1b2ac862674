//! Events: recording, finding, changing and erasing them.

pub(crate) mod parties;
pub(crate) mod event_columns;
pub(crate) mod length_class;
pub(crate) mod event_filter;
pub(crate) mod event_content;
pub(crate) mod location;
pub(crate) mod becoming;
pub(crate) mod places;
pub(crate) mod event_search;
pub(crate) mod commands;
pub(crate) mod import_rehearsal;
pub(crate) mod history;
pub(crate) mod timeline_check;
pub(crate) mod aggregate;
pub(crate) mod scan_events;
pub(crate) mod export;
pub(crate) mod erasing;
pub(crate) mod undoing;
