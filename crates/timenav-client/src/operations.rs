//! Typed calls for the operations of the API.

pub(crate) mod access;
pub(crate) mod cause;
pub(crate) mod clock;
pub(crate) mod event;
pub(crate) mod intervention;
pub(crate) mod ledger;
pub(crate) mod paradox;
pub(crate) mod place;
pub(crate) mod timeline;
pub(crate) mod timers;
