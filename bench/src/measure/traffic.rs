//! The file I/O of this process, whether or not it reaches the disk.

use anyhow::Context;

use crate::load::count;

/// Bytes read and written by system calls, from `/proc/self/io`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) bytes_read: f64,
    pub(crate) bytes_written: f64,
}

impl Traffic {
    /// Returns the totals since the process started.
    pub(crate) fn now() -> anyhow::Result<Self> {
        let text = std::fs::read_to_string("/proc/self/io").context("this system does not tell of files")?;
        Self::of(&text).context("/proc/self/io has other lines than expected")
    }

    fn of(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse().ok()
        };
        Some(Self { bytes_read: field("rchar:")?, bytes_written: field("wchar:")? })
    }

    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            bytes_read: self.bytes_read - earlier.bytes_read,
            bytes_written: self.bytes_written - earlier.bytes_written,
        }
    }

    pub(crate) fn of_each(self, of: u64) -> anyhow::Result<Self> {
        let of = count(usize::try_from(of)?);
        Ok(Self { bytes_read: self.bytes_read / of, bytes_written: self.bytes_written / of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_counts_bytes_of_read_and_write_calls() {
        let text = "rchar: 300\nwchar: 40\nsyscr: 5\nsyscw: 6\nread_bytes: 7\nwrite_bytes: 8\n";
        let traffic = Traffic::of(text).unwrap();
        assert_eq!(traffic, Traffic { bytes_read: 300.0, bytes_written: 40.0 });
        let each = traffic.since(Traffic { bytes_read: 100.0, bytes_written: 0.0 }).of_each(10).unwrap();
        assert_eq!(each, Traffic { bytes_read: 20.0, bytes_written: 4.0 });
        assert_eq!(Traffic::of("rchar: 300\n"), None);
    }
}
