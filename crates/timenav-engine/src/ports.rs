//! Traits for the outside world, and the rows that cross them.

pub(crate) mod entropy;
pub(crate) mod gazetteer;
pub(crate) mod signer;
pub(crate) mod outside;
pub(crate) mod vault;
pub(crate) mod passwords;
pub(crate) mod wall_clock;
pub(crate) mod webhook_door;
pub(crate) mod doors;
pub(crate) mod hint;
pub(crate) mod rows;
pub(crate) mod timer_rows;
pub(crate) mod timer_changes;
pub(crate) mod store_error;
pub(crate) mod leasing_door;
pub(crate) mod seen_events;
pub(crate) mod archive;
pub(crate) mod facts;
pub(crate) mod store;
pub(crate) mod one_fact;
