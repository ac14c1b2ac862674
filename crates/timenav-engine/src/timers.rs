//! Timers, their firings, and the time-driven work.

pub(crate) mod dropped_timers;
pub(crate) mod fork_timers;
pub(crate) mod timers_at;
pub(crate) mod agenda;
pub(crate) mod observing;
pub(crate) mod timing;
pub(crate) mod restoring;
pub(crate) mod redelivering;
pub(crate) mod commands;
pub(crate) mod holding;
pub(crate) mod handing_over;
pub(crate) mod firings;
pub(crate) mod webhooks;
pub(crate) mod timekeeping;
pub(crate) mod firing_list;
pub(crate) mod skipped;
pub(crate) mod pacing;
