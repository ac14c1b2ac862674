//! All programs on one kernel read the same boot clock, apart from time namespace offsets.

use std::fs;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use data_encoding::HEXLOWER;

/// The kernel's boot id (`random(4)`).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Other users of the boot id hash it with other prefixes, so the results cannot be linked.
const PURPOSE: &[u8] = b"timenav boot id v1";
/// Published length of the hash, in bytes.
const DIGEST_BYTES: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// A hash of the kernel's boot id, which does not reveal it.
    pub(crate) boot_id: String,
    /// How far the boot clock of this process is ahead of the kernel's, in nanoseconds: its time namespace's offset.
    pub(crate) shift: i128,
}

impl Kernel {
    /// Detects the kernel; `None` if the system has no shared boot clock or does not expose enough about it.
    pub(crate) fn here() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let boot_id = fs::read_to_string(BOOT_ID).ok()?;
        Some(Self { boot_id: name_of(boot_id.trim())?, shift: shift()? })
    }
}

/// Returns the published name of a boot id; `None` if it is empty.
fn name_of(boot_id: &str) -> Option<String> {
    if boot_id.is_empty() {
        return None;
    }
    let key = hmac::Key::new(HMAC_SHA256, boot_id.as_bytes());
    Some(HEXLOWER.encode(&hmac::sign(&key, PURPOSE).as_ref()[..DIGEST_BYTES]))
}

/// Returns the offset of this process's boot clock, in nanoseconds (`time_namespaces(7)`).
fn shift() -> Option<i128> {
    let namespace = |name: &str| fs::read_link(format!("/proc/self/ns/{name}"));
    // The kernel has no time namespaces, so there is no offset.
    let Ok(own) = namespace("time") else { return Some(0) };
    // The file has the offset of child processes. After `unshare`, it differs from that of this process.
    if own != namespace("time_for_children").ok()? {
        return None;
    }
    shift_in(&fs::read_to_string("/proc/self/timens_offsets").ok()?)
}

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
    fn boot_id_is_shown_only_as_a_hash() {
        let boot_id = "5c6b7a2e-90f1-4c8e-8a37-d4b1b6d1c001";
        let name = name_of(boot_id).unwrap();
        assert_eq!(name, name_of(boot_id).unwrap());
        assert_eq!(name.len(), 2 * DIGEST_BYTES);
        assert_ne!(name, name_of("5c6b7a2e-90f1-4c8e-8a37-d4b1b6d1c002").unwrap());
        let digits = boot_id.replace('-', "");
        assert!(digits.as_bytes().windows(8).all(|some| !name.as_bytes().windows(8).any(|part| part == some)));
        assert_eq!(name_of(""), None);
    }

    #[test]
    fn time_namespace_offset_is_parsed() {
        assert_eq!(
            shift_in("monotonic           0         0\nboottime     1000000         5\n"),
            Some(1_000_000_000_000_005)
        );
        // A negative offset: nanoseconds are added to the seconds.
        assert_eq!(shift_in("monotonic -5 0\nboottime -5 999999999\n"), Some(-4_000_000_001));
        for wrong in ["", "monotonic 0 0\n", "boottime 0\n", "boottime x 0\n"] {
            assert_eq!(shift_in(wrong), None, "{wrong}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn current_kernel_is_identified() {
        assert_eq!(Kernel::here(), Kernel::here());
        assert!(Kernel::here().is_some());
    }
}
