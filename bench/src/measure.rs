//! How a run is measured, compared and reported.

pub(crate) mod cores;
pub(crate) mod interrupt;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod rounds;
pub(crate) mod selection;
pub(crate) mod setting;
pub(crate) mod traffic;
pub(crate) mod turns;
pub(crate) mod wall_clock;
