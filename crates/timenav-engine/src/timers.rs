//! Timers, their firings, and the time-driven work.

pub(crate) mod agenda;
pub(crate) mod observing;
pub(crate) mod timing;
pub(crate) mod timers_then;
pub(crate) mod timers_left;
pub(crate) mod restoring;
pub(crate) mod redelivering;
pub(crate) mod carrying;
pub(crate) mod commands;
pub(crate) mod holding;
pub(crate) mod handing_over;
pub(crate) mod firings;
pub(crate) mod webhooks;
pub(crate) mod timekeeping;
pub(crate) mod firing_list;
pub(crate) mod skipped;
pub(crate) mod pacing;
