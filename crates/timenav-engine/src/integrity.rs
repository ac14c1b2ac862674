//! Comparison of the store with what was signed.

pub(crate) mod rollback_check;
pub(crate) mod divergence;
pub(crate) mod scan_places;
pub(crate) mod witnessed;
pub(crate) mod scan;
pub(crate) mod opening;
pub(crate) mod accepting;
pub(crate) mod witnessing;
pub(crate) mod recalling;
pub(crate) mod evidence;
pub(crate) mod detection;
pub(crate) mod rotation;
