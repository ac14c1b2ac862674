//! The image that programs call in place of the kernel's vDSO, as `build.rs` compiled it from `image/image.c`.

/// The ELF file.
pub(crate) const IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.so"));
/// How much room the image has, in bytes: two pages of memory.
pub(crate) const IMAGE_BYTES_MAX: usize = 8192;
/// The function of the image that waits in the place of a system call.
pub(crate) const WAIT: &str = "timenav_wait";
