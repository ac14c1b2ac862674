//! File descriptors: every connection takes one, and the database and the log need theirs.

use anyhow::bail;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::limits::CONNECTIONS_DEFAULT;

/// Descriptors that connections leave to the database, its readers, the log and whatever else the process opens.
const RESERVED: u64 = 128;

/// Raises the limit of descriptors as far as connections need it, and returns how many connections there may be.
///
/// # Errors
/// The process may not have as many descriptors as what is asked for needs.
pub(crate) fn make_room_for(asked: Option<u32>) -> anyhow::Result<u32> {
    let limit = getrlimit(Resource::Nofile);
    let needed = u64::from(asked.unwrap_or(CONNECTIONS_DEFAULT)) + RESERVED;
    let raised = raised(limit.current, limit.maximum, needed);
    let current = if raised == limit.current {
        raised
    } else {
        // Where it cannot be raised, it stays as it is, and there are fewer connections.
        let result = setrlimit(Resource::Nofile, Rlimit { current: raised, maximum: limit.maximum });
        if result.is_ok() { raised } else { limit.current }
    };
    connections(asked, current)
}

/// Returns the limit to have where so many are needed. `None` is no limit.
fn raised(current: Option<u64>, maximum: Option<u64>, needed: u64) -> Option<u64> {
    let current = current?;
    Some(current.max(maximum.map_or(needed, |maximum| needed.min(maximum))))
}

/// Returns how many connections there may be with so many descriptors.
///
/// # Errors
/// They are too few for what is asked.
pub(crate) fn connections(asked: Option<u32>, descriptors: Option<u64>) -> anyhow::Result<u32> {
    let wanted = asked.unwrap_or(CONNECTIONS_DEFAULT);
    let Some(descriptors) = descriptors else { return Ok(wanted) };
    // Where there are hardly any, nobody has all.
    let room = u32::try_from(descriptors - RESERVED.min(descriptors / 2)).unwrap_or(u32::MAX);
    match asked {
        Some(asked) if asked > room => bail!(
            "--connections-max {asked} needs {} file descriptors, but this process can have only {descriptors}: raise \
             the limit (ulimit -n, or LimitNOFILE= of systemd), or set at most {room} connections",
            u64::from(asked) + RESERVED
        ),
        _ => Ok(wanted.min(room)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_descriptors_are_left_to_others() {
        let check = |asked, descriptors, expected: Option<u32>| {
            assert_eq!(connections(asked, descriptors).ok(), expected, "{asked:?} of {descriptors:?}");
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
    fn the_limit_is_raised_as_far_as_needed_and_never_lowered() {
        assert_eq!(raised(Some(1_024), Some(524_288), 10_128), Some(10_128));
        assert_eq!(raised(Some(1_024), Some(4_096), 10_128), Some(4_096));
        assert_eq!(raised(Some(20_000), Some(20_000), 10_128), Some(20_000));
        assert_eq!(raised(Some(1_024), None, 10_128), Some(10_128));
        assert_eq!(raised(None, None, 10_128), None);
    }
}
