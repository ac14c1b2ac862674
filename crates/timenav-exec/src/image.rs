//! What programs on a virtual clock call, as `build.rs` compiled it: the image in the place of the kernel's vDSO, from
//! `image/image.c`, and the library.

/// The ELF file.
pub(crate) const IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.so"));
/// How much room the image has, in bytes: two pages of memory.
pub(crate) const IMAGE_BYTES_MAX: usize = 8192;
/// The function of the image that waits in the place of a system call.
pub(crate) const WAIT: &str = "timenav_wait";
/// The library that programs load where no vDSO can be put in place, as `build.rs` compiled it from `preload/`.
pub(crate) const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.so"));
