//! Code for programs on a virtual clock, compiled by `build.rs`: the image that replaces the kernel's vDSO, from
//! `image/image.c`, and the library.

pub(crate) const IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.so"));
/// Maximum size of the image in bytes: three memory pages.
pub(crate) const IMAGE_BYTES_MAX: usize = 12_288;
/// The function of the image that waits in place of a system call.
pub(crate) const WAIT: &str = "timenav_wait";
/// Where a thread continues that waits in the kernel.
pub(crate) const WAITING: &str = "timenav_waiting";
/// The library that programs load if the vDSO cannot be replaced, from `preload/`.
pub(crate) const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.so"));
