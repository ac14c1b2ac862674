pub(crate) mod follower_registry;
pub(crate) mod preview;
pub(crate) mod clock_offset;
pub(crate) mod faults;
pub(crate) mod followers;
pub(crate) mod clocks;
pub(crate) mod receipts;
pub(crate) mod host_clock;
