use std::time::Duration;

/// Maximum length of a host name that the service accepts, in bytes.
const HOST_BYTES_MAX: usize = 253;

/// Returns the host's monotonic time in whole microseconds. On Linux and Apple systems, it includes suspended time,
/// like the clock of the service.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the client reads host time only here")]
pub(crate) fn monotonic_micros() -> i64 {
    // On macOS, this clock includes suspended time.
    #[cfg(target_vendor = "apple")]
    const COUNTER: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const COUNTER: rustix::time::ClockId = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_vendor = "apple", target_os = "linux", target_os = "android")))]
    const COUNTER: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    let counted = rustix::time::clock_gettime(COUNTER);
    counted.tv_sec * 1_000_000 + counted.tv_nsec / 1_000
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "the client reads host time only here")]
pub(crate) fn monotonic_micros() -> i64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    i64::try_from(START.get_or_init(Instant::now).elapsed().as_micros()).unwrap_or(i64::MAX)
}

/// Returns the host's time in whole seconds since 1970, for comparison with dates in response headers.
#[expect(clippy::disallowed_methods, reason = "the client reads host time only here")]
pub(crate) fn wall_seconds() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// Returns headers that identify this process in the list of followers. The host name is only available on Linux.
pub(crate) fn process_headers() -> Vec<(&'static str, String)> {
    let mut place = vec![("timenav-process", std::process::id().to_string())];
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    if (1..=HOST_BYTES_MAX).contains(&host.len()) && host.bytes().all(|byte| byte.is_ascii_graphic()) {
        place.push(("timenav-host", host.to_owned()));
    }
    place
}

/// Returns 0.5 to 1.5 times a delay, at random, so that clients that failed together do not retry together.
#[expect(clippy::disallowed_methods, reason = "the client draws random numbers only here")]
pub(crate) fn jitter(delay: Duration) -> Duration {
    let (draw, _) = uuid::Uuid::new_v4().as_u64_pair();
    delay / 2 + delay.mul_f64(f64::from(u32::try_from(draw >> 32).unwrap_or_default()) / f64::from(u32::MAX))
}

/// Returns a unique key (a UUID of version 4, RFC 9562 §5.4).
#[expect(clippy::disallowed_methods, reason = "the client draws random numbers only here")]
pub(crate) fn idempotency_key() -> String {
    uuid::Uuid::new_v4().to_string()
}
