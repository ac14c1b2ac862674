use std::fs;
use std::sync::OnceLock;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use timenav_engine::WallClock as _;
use timenav_http::ProcessStats;

use crate::wiring::ports::HostClock;

/// When the process started, in seconds since 1970.
static STARTED: OnceLock<f64> = OnceLock::new();

/// Records the start of the process. In a sandbox, `/proc` does not report the boot time.
#[expect(clippy::cast_precision_loss, reason = "microseconds since 1970 are below 2^53 for two centuries")]
pub(crate) fn note_start() {
    STARTED.get_or_init(|| HostClock::start().now().micros() as f64 / 1e6);
}

/// Reads the resource usage. Only Linux has `/proc`; other systems report less.
pub(crate) fn read() -> ProcessStats {
    let statm = fs::read_to_string("/proc/self/statm").ok();
    let (virtual_bytes, resident_bytes) = memory(statm.as_deref().unwrap_or_default());
    ProcessStats {
        cpu_seconds: cpu_seconds(),
        resident_bytes,
        virtual_bytes,
        // The directory itself is open during the count.
        open_descriptors: fs::read_dir("/proc/self/fd").ok().map(|all| (all.count() as u64).saturating_sub(1)),
        descriptors_max: getrlimit(Resource::Nofile).current,
        start_seconds: STARTED.get().copied(),
    }
}

#[expect(clippy::disallowed_methods, reason = "the processor time of the process is not the time of day")]
#[expect(clippy::cast_precision_loss, reason = "seconds of processor time are below 2^53")]
fn cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Returns virtual and resident memory in bytes (`proc_pid_statm(5)`).
fn memory(statm: &str) -> (Option<u64>, Option<u64>) {
    let page = rustix::param::page_size() as u64;
    let mut pages = statm.split_whitespace().map(|word| word.parse::<u64>().ok());
    let mut bytes = || pages.next().flatten().map(|pages| pages * page);
    (bytes(), bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn process_stats_report_memory_and_descriptors() {
        note_start();
        let ProcessStats { cpu_seconds, resident_bytes, virtual_bytes, open_descriptors, .. } = read();
        assert!(cpu_seconds > 0.0 && resident_bytes.unwrap() > 100_000);
        assert!(virtual_bytes >= resident_bytes && open_descriptors.unwrap() >= 3);
        // 2020-01-01.
        assert!(read().start_seconds.unwrap() > 1_577_836_800.0);
        assert_eq!(memory(""), (None, None));
    }
}
