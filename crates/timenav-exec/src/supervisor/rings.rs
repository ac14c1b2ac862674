//! Detects timeouts in `io_uring` rings, which use the host clock.
//!
//! Ring entries are only read by the kernel: filters do not see them, and they cannot be changed in time. Most rings
//! never contain a realtime timeout, so rings are not forbidden. Programs that create one are checked a few times
//! afterward, and whenever the clock changes: an entry remains in the ring's memory until another one overwrites it.

use crate::kernel::process::boot_now;
use crate::kernel::ptrace;
use crate::page::Sleeps;

const MILLISECOND: i128 = 1_000_000;
/// When a program is checked after it created a ring, in nanoseconds.
const LOOKS: [i128; 5] =
    [50 * MILLISECOND, 500 * MILLISECOND, 5_000 * MILLISECOND, 30_000 * MILLISECOND, 120_000 * MILLISECOND];
/// How many programs are checked. Later ones are ignored.
const OWNERS_MAX: usize = 64;
/// How much of a ring's entries is checked, in bytes.
const ENTRIES_MAX: u64 = 1 << 18;
/// The mapping offset of entries: `IORING_OFF_SQES`, as shown by `proc_pid_maps(5)`.
const ENTRIES_AT: &str = "10000000";
const RING: &str = "anon_inode:[io_uring]";

/// `struct io_uring_sqe`: its size, and offsets.
const ENTRY: usize = 64;
const OPERATION: usize = 0;
const FLAGS: usize = 28;
/// `IORING_OP_TIMEOUT`, `IORING_OP_TIMEOUT_REMOVE`, which can also change one, and `IORING_OP_LINK_TIMEOUT`.
const TIMEOUTS: [u8; 3] = [11, 12, 15];
/// `IORING_TIMEOUT_ABS` and `IORING_TIMEOUT_REALTIME`.
const DATE: u32 = 1 | 8;

/// A thread that has created a ring.
struct Owner {
    pid: i32,
    /// When it did, in nanoseconds of the boot clock.
    since: i128,
    looks: usize,
}

impl Owner {
    fn next_look(&self) -> Option<i128> {
        LOOKS.get(self.looks).map(|after| self.since + after)
    }
}

pub(crate) struct Rings {
    owners: Vec<Owner>,
    is_reported: bool,
    sleeps: Sleeps,
}

impl Rings {
    pub(crate) const fn new(sleeps: Sleeps) -> Self {
        Self { owners: Vec::new(), is_reported: false, sleeps }
    }

    /// Records that a thread creates a ring. Does nothing after a timeout was found.
    pub(crate) fn add(&mut self, pid: i32) {
        self.owners.retain(|owner| owner.pid != pid);
        if pid != 0 && !self.is_reported && self.owners.len() < OWNERS_MAX {
            self.owners.push(Owner { pid, since: boot_now().nanos_in_all(), looks: 0 });
        }
    }

    /// Checks the programs that are due, or all. Returns the first thread with a timeout on a virtual clock, once per run.
    pub(crate) fn look(&mut self, at_all: bool) -> Option<i32> {
        if self.owners.is_empty() {
            return None;
        }
        let (now, mut found) = (boot_now().nanos_in_all(), None);
        self.owners.retain_mut(|owner| {
            let is_due = owner.next_look().is_some_and(|next| next <= now);
            if found.is_some() || !(is_due || at_all) {
                return true;
            }
            owner.looks += usize::from(is_due);
            match has_timeout(owner.pid, self.sleeps) {
                Some(true) => found = Some(owner.pid),
                Some(false) => {}
                // It is gone.
                None => return false,
            }
            true
        });
        if found.is_some() {
            (self.owners, self.is_reported) = (Vec::new(), true);
        }
        found
    }

    /// Returns when the next check is, on the boot clock.
    pub(crate) fn next_look(&self) -> Option<i128> {
        self.owners.iter().filter_map(Owner::next_look).min()
    }
}

/// Returns whether the rings of a process contain a timeout on a virtual clock; `None` if there is no such process.
fn has_timeout(pid: i32, sleeps: Sleeps) -> Option<bool> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    Some(maps.lines().filter_map(entries).any(|(from, length)| {
        let mut bytes = vec![0; usize::try_from(length.min(ENTRIES_MAX)).unwrap_or_default()];
        ptrace::read(pid, from, &mut bytes).is_ok() && bytes.chunks_exact(ENTRY).any(|entry| is_virtual(entry, sleeps))
    }))
}

/// Returns the address and size of ring entries, if a line of a process's maps describes them.
fn entries(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_whitespace();
    let (range, offset, name) = (words.next()?, words.nth(1)?, words.nth(2)?);
    let (from, to) = range.split_once('-')?;
    let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
    (offset == ENTRIES_AT && name == RING).then(|| (from, to.saturating_sub(from)))
}

/// Returns whether an entry is a timeout on a virtual clock: until a realtime moment, or if sleeps are virtual, any.
fn is_virtual(entry: &[u8], sleeps: Sleeps) -> bool {
    let flags = entry.get(FLAGS..FLAGS + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
    entry.get(OPERATION).is_some_and(|operation| TIMEOUTS.contains(operation))
        && (flags & DATE == DATE || sleeps.are_virtual())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ring_entries_are_found_in_memory_maps() {
        for (line, expected) in [
            (
                "7f8a3909a000-7f8a3909b000 rw-s 10000000 00:10 26090   anon_inode:[io_uring]",
                Some((0x7f8a_3909_a000, 4096)),
            ),
            ("7f8a3909b000-7f8a3909c000 rw-s 00000000 00:10 26090   anon_inode:[io_uring]", None),
            ("7f8a3909b000-7f8a3909c000 rw-s 10000000 00:10 26090   /tmp/file", None),
            ("7f8a3909b000-7f8a3909c000 rw-s 10000000 00:00 0", None),
        ] {
            assert_eq!(entries(line), expected, "{line}");
        }
    }

    #[test]
    fn realtime_ring_timeouts_are_recognized_by_operation_and_flags() {
        for (operation, flags, expected) in [
            (11, 9, true),
            (12, 11, true),
            (15, 9, true),
            (11, 8, false),
            (11, 1, false),
            (11, 0, false),
            (1, 9, false),
        ] {
            let mut entry = [0; ENTRY];
            (entry[OPERATION], entry[FLAGS]) = (operation, flags);
            assert_eq!(is_virtual(&entry, Sleeps::Native), expected, "{operation} {flags}");
            let sleeps = Sleeps::Virtual { native_below: Duration::ZERO };
            assert_eq!(is_virtual(&entry, sleeps), operation != 1, "{operation} {flags}");
        }
    }

    #[test]
    fn thread_without_rings_is_watched_until_it_ends() {
        let mut rings = Rings::new(Sleeps::Native);
        assert_eq!(rings.next_look(), None);
        rings.add(std::process::id().cast_signed());
        rings.add(i32::MAX);
        assert!(rings.next_look().is_some());
        assert_eq!((rings.look(true), rings.owners.len()), (None, 1));
    }
}
