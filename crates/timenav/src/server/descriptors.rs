//! File descriptors: every connection needs one, and the database and the log need some too.

use anyhow::bail;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::limits::CONNECTIONS_DEFAULT;

/// Descriptors reserved for the database, its readers, the log and other files.
const RESERVED: u64 = 128;

/// Raises the descriptor limit. Returns the resulting connection limit; fails if it is lower than configured.
pub(crate) fn make_room_for(requested: Option<u32>) -> anyhow::Result<u32> {
    let limit = getrlimit(Resource::Nofile);
    let needed = u64::from(requested.unwrap_or(CONNECTIONS_DEFAULT)) + RESERVED;
    let raised = raised(limit.current, limit.maximum, needed);
    let current = if raised == limit.current {
        raised
    } else {
        // If it cannot be raised, there are fewer connections.
        let result = setrlimit(Resource::Nofile, Rlimit { current: raised, maximum: limit.maximum });
        if result.is_ok() { raised } else { limit.current }
    };
    connections(requested, current)
}

/// Returns the descriptor limit to set for `needed`. `None` is unlimited.
fn raised(current: Option<u64>, maximum: Option<u64>, needed: u64) -> Option<u64> {
    let current = current?;
    Some(current.max(maximum.map_or(needed, |maximum| needed.min(maximum))))
}

/// Fails if the descriptors do not suffice for the configured number.
pub(crate) fn connections(requested: Option<u32>, descriptors: Option<u64>) -> anyhow::Result<u32> {
    let desired = requested.unwrap_or(CONNECTIONS_DEFAULT);
    let Some(descriptors) = descriptors else { return Ok(desired) };
    // With very few descriptors, the reserve is half of them.
    let room = u32::try_from(descriptors - RESERVED.min(descriptors / 2)).unwrap_or(u32::MAX);
    match requested {
        Some(requested) if requested > room => bail!(
            "--connections-max {requested} needs {} file descriptors, but this process can have only {descriptors}: raise \
             the limit (ulimit -n, or LimitNOFILE= of systemd), or set at most {room} connections",
            u64::from(requested) + RESERVED
        ),
        _ => Ok(desired.min(room)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_limit_reserves_file_descriptors() {
        let check = |requested, descriptors, expected: Option<u32>| {
            assert_eq!(connections(requested, descriptors).ok(), expected, "{requested:?} of {descriptors:?}");
        };
        check(None, None, Some(10_000));
        check(None, Some(1 << 40), Some(10_000));
        check(None, Some(10_128), Some(10_000));
        check(None, Some(1_024), Some(896));
        check(None, Some(64), Some(32));
        check(Some(50_000), None, Some(50_000));
        check(Some(896), Some(1_024), Some(896));
        check(Some(897), Some(1_024), None);
        check(Some(1), Some(64), Some(1));
    }

    #[test]
    fn descriptor_limit_is_raised_as_needed_and_never_lowered() {
        assert_eq!(raised(Some(1_024), Some(524_288), 10_128), Some(10_128));
        assert_eq!(raised(Some(1_024), Some(4_096), 10_128), Some(4_096));
        assert_eq!(raised(Some(20_000), Some(20_000), 10_128), Some(20_000));
        assert_eq!(raised(Some(1_024), None, 10_128), Some(10_128));
        assert_eq!(raised(None, None, 10_128), None);
    }
}
