//! Which kernel this is, and what its boot clock shows to everybody.
//!
//! All programs on one kernel read the same boot clock, but for what time namespaces add to it.

use std::fs;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use data_encoding::HEXLOWER;

/// Where the kernel says which of its starts this is (`random(4)`).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// What is hashed with the boot id. What others derive from it is another text, so that neither leads to the other.
const PURPOSE: &[u8] = b"timenav boot id v1";
/// How much of the hash is told, in bytes.
const TOLD_BYTES: usize = 16;

/// This start of the kernel on which the process runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Names this start. It is a hash of the kernel's boot id, and tells nothing of it to whoever does not know it.
    pub(crate) boot_id: String,
    /// By how much the boot clock of this process is ahead of the kernel's own, in nanoseconds: the offset of its time
    /// namespace.
    pub(crate) shift: i128,
}

impl Kernel {
    /// Looks; `None` where the system has no boot clock that others can read, or does not say enough of it.
    pub(crate) fn here() -> Option<Self> {
        // Elsewhere what counts is not the boot clock, or nobody says of which start.
        if !cfg!(target_os = "linux") {
            return None;
        }
        let boot_id = fs::read_to_string(BOOT_ID).ok()?;
        Some(Self { boot_id: name_of(boot_id.trim())?, shift: shift()? })
    }
}

/// Returns the name that stands for a boot id in answers; `None` for an empty one.
fn name_of(boot_id: &str) -> Option<String> {
    if boot_id.is_empty() {
        return None;
    }
    let key = hmac::Key::new(HMAC_SHA256, boot_id.as_bytes());
    Some(HEXLOWER.encode(&hmac::sign(&key, PURPOSE).as_ref()[..TOLD_BYTES]))
}

/// Returns the offset of this process's boot clock, in nanoseconds (`time_namespaces(7)`).
fn shift() -> Option<i128> {
    let namespace = |name: &str| fs::read_link(format!("/proc/self/ns/{name}"));
    // Without time namespaces nothing is shifted.
    let Ok(own) = namespace("time") else { return Some(0) };
    // The file tells the offset of children. After `unshare`, that is another one than the process has itself.
    if own != namespace("time_for_children").ok()? {
        return None;
    }
    shift_in(&fs::read_to_string("/proc/self/timens_offsets").ok()?)
}

/// Reads the offset of the boot clock, in nanoseconds.
fn shift_in(offsets: &str) -> Option<i128> {
    let line = offsets.lines().find(|line| line.starts_with("boottime"))?;
    let mut numbers = line.split_whitespace().skip(1).map(|word| word.parse::<i128>().ok());
    let (seconds, nanos) = (numbers.next()??, numbers.next()??);
    Some(seconds * 1_000_000_000 + nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_id_is_named_and_not_told() {
        let boot_id = "5c6b7a2e-90f1-4c8e-8a37-d4b1b6d1c001";
        let name = name_of(boot_id).unwrap();
        assert_eq!(name, name_of(boot_id).unwrap());
        assert_eq!(name.len(), 2 * TOLD_BYTES);
        assert_ne!(name, name_of("5c6b7a2e-90f1-4c8e-8a37-d4b1b6d1c002").unwrap());
        let digits = boot_id.replace('-', "");
        assert!(digits.as_bytes().windows(8).all(|some| !name.as_bytes().windows(8).any(|told| told == some)));
        assert_eq!(name_of(""), None);
    }

    #[test]
    fn the_offset_of_a_time_namespace_is_read() {
        assert_eq!(
            shift_in("monotonic           0         0\nboottime     1000000         5\n"),
            Some(1_000_000_000_000_005)
        );
        // One that is before the kernel's own: the nanoseconds count up from the second.
        assert_eq!(shift_in("monotonic -5 0\nboottime -5 999999999\n"), Some(-4_000_000_001));
        for wrong in ["", "monotonic 0 0\n", "boottime 0\n", "boottime x 0\n"] {
            assert_eq!(shift_in(wrong), None, "{wrong}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_kernel_is_known() {
        assert_eq!(Kernel::here(), Kernel::here());
        assert!(Kernel::here().is_some());
    }
}
