//! What services on one database share: leases, followers, hints and feature levels.

pub(crate) mod following;
pub(crate) mod hints;
pub(crate) mod leasing;
pub(crate) mod upgrading;
