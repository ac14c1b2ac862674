//! The image that programs call in place of the kernel's vDSO, as `build.rs` compiled it from `image/image.c`.

/// The ELF file.
pub(crate) const IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.so"));
/// How much room the image has, in bytes: one page of memory.
pub(crate) const IMAGE_BYTES_MAX: usize = 4096;
