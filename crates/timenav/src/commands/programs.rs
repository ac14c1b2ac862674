//! Commands that put programs and other clocks on a virtual clock.

pub(crate) mod exec;
pub(crate) mod sntp;
pub(crate) mod sql_clock;
pub(crate) mod sweep;
