//! Traits for the outside world, and the rows that cross them.

pub(crate) mod all;
pub(crate) mod lookups;
pub(crate) mod shared_leases;
pub(crate) mod webhooks;
pub(crate) mod entropy;
pub(crate) mod gazetteer;
pub(crate) mod signer;
pub(crate) mod outside;
pub(crate) mod vault;
pub(crate) mod passwords;
pub(crate) mod wall_clock;
pub(crate) mod hint;
pub(crate) mod rows;
pub(crate) mod timer_rows;
pub(crate) mod timer_changes;
pub(crate) mod store_error;
pub(crate) mod seen_events;
pub(crate) mod archive;
pub(crate) mod facts;
pub(crate) mod store;
