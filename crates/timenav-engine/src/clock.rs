pub(crate) mod clock_offset;
pub(crate) mod faults;
pub(crate) mod roll;
pub(crate) mod followers;
pub(crate) mod clocks;
pub(crate) mod receipts;
pub(crate) mod foresight;
pub(crate) mod host_clock;
